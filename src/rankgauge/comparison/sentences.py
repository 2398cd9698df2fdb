"""Which system is better, in sentences: the result first, then the evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.comparison.result import Comparison, Difference, Outcome
from rankgauge.core.formatting import p_equals, percent, plural
from rankgauge.evaluation.scores import Scores
from rankgauge.stats.results import Interval


def answer(comparison: Comparison) -> str:
    """Which system is better, by how much and with what confidence: a sentence per system, over all measures."""
    best = [best_sentence(comparison)] if comparison.ranking is not None else []
    return " ".join([*best, *(_of_system(comparison, system) for system in comparison.systems)])


def best_sentence(comparison: Comparison) -> str:
    """The best of three or more systems, and those that cannot be distinguished from it; empty for two systems."""
    ranking = comparison.ranking
    if ranking is None:
        return ""
    others = ranking.indistinguishable
    rest = f"not distinguishable from it: {', '.join(others)}" if others else "better than every other system"
    return f"Best on {ranking.measure}: {ranking.best.name}; {rest}."


def headline(comparison: Comparison) -> list[str]:
    """The same on the primary measure only: a sentence per system, and what else a reader must know at once."""
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    lines = [best_sentence(comparison)] if comparison.ranking is not None else []
    lines += [_on_measure(comparison, row) for row in rows]
    others = [row for row in comparison.differences if row.measure != comparison.primary]
    significant = [row for row in others if row.is_significant(comparison.alpha)]
    if significant:
        listed = (f"{row.system} on {row.measure} ({row.text(row.difference or 0.0)})" for row in significant)
        lines.append(f"Significant on secondary measures, vs. {comparison.baseline}: {', '.join(listed)}.")
    hardest = least_sensitive(rows)
    if hardest is not None:
        sentence = _detectable(hardest)
        lines.append(f"{sentence[0].upper()}{sentence[1:]}.")
    hopeless = next((row for row in rows if row.too_few_queries), None)
    if hopeless is not None:
        lines.append(f"{_too_few(comparison, hopeless)}.")
    return lines


def best_challenger(comparison: Comparison) -> str:
    """The best system besides the baseline, on the primary measure."""
    measure = comparison.scores[0].measures[0]
    sign = measure.definition.direction or 1

    def improvement(run: Scores) -> float:
        value = run[measure]
        return -math.inf if value is None else sign * value

    return max((run for run in comparison.scores if run.run != comparison.baseline), key=improvement).run


def least_sensitive(rows: Sequence[Difference]) -> Difference | None:
    """The row with the largest minimum detectable difference; None if it is known for none."""
    known = [row for row in rows if row.detectable]
    return max(known, key=lambda row: row.detectable or 0.0, default=None)


def evidence(row: Difference) -> str:
    """A difference with its interval and p: ``+0.031 (95% CI +0.012 to +0.050), p = 0.002``."""
    span = interval_text(row)
    p = "" if row.p_corrected is None else f", {p_equals(row.p_corrected)}"
    return f"{row.text(row.difference or 0.0)}{f' ({span})' if span else ''}{p}"


def interval_text(row: Difference) -> str:
    """The interval of a difference with its confidence; empty if there is none."""
    span = span_text(row.interval, row)
    return f"{percent(row.interval.confidence)} CI {span}" if span else ""


def span_text(interval: Interval, row: Difference) -> str:
    """The ends of an interval, or the one end of a one-sided one; empty if there is none."""
    if interval.low is None or interval.high is None:
        return ""
    if interval.alternative == "greater":
        return f"at least {row.text(interval.low)}"
    if interval.alternative == "less":
        return f"at most {row.text(interval.high)}"
    return f"{row.text(interval.low)} to {row.text(interval.high)}"


def size_text(row: Difference, difference: float) -> str:
    """The size of a difference: two significant digits, or a ratio."""
    if row.is_ratio:
        return row.text(difference)
    return f"{difference:.2g}" if difference < 10 else f"{difference:,.0f}"


def _of_system(comparison: Comparison, system: str) -> str:
    rows = comparison.of_system(system)
    if all(row.is_unchanged for row in rows):
        return f"{system} and {comparison.baseline} have the same value for every query on every measure."
    outcomes = [(row, row.outcome(comparison.alpha)) for row in rows]
    parts = [
        f"{system} is {_verdict(row, comparison.baseline)} on {row.measure}: {evidence(row)}"
        for row, outcome in outcomes
        if outcome not in ("equivalent", "inconclusive", "unchanged")
    ]
    start = "" if parts else f"{system} vs. {comparison.baseline}: "
    parts += [f"equivalent on {_with_ropes(rows)}" for rows in [_with(outcomes, "equivalent")] if rows]
    parts += [f"unchanged on {_names(rows)}" for rows in [_with(outcomes, "unchanged")] if rows]
    inconclusive = _with(outcomes, "inconclusive")
    if inconclusive:
        parts.append(f"inconclusive on {_names(inconclusive)}{_why_inconclusive(comparison, inconclusive[0])}")
    return f"{start}{'; '.join(parts)}."


def _with(outcomes: Sequence[tuple[Difference, Outcome]], wanted: Outcome) -> list[Difference]:
    return [row for row, outcome in outcomes if outcome == wanted]


def _names(rows: Sequence[Difference]) -> str:
    return ", ".join(row.measure for row in rows)


def _with_ropes(rows: Sequence[Difference]) -> str:
    return ", ".join(f"{row.measure} (within ±{row.rope:g})" for row in rows)


def _verdict(row: Difference, baseline: str) -> str:
    """Better or worse than the baseline; different but negligibly so, if the interval says that it does not matter."""
    if row.is_negligible:
        return f"different from {baseline}, negligibly (within ±{row.rope:g}),"
    return f"{row.comparative} than {baseline}"


def _why_inconclusive(comparison: Comparison, row: Difference) -> str:
    """The interval of a difference that is neither shown nor excluded, and what the queries could show."""
    span = interval_text(row) if row.difference is not None else ""
    details = [f"{row.measure} {row.text(row.difference or 0.0)}, {span}"] if span else []
    if row.too_few_queries:
        details.append(_too_few(comparison, row))
    elif row.changes_needed is not None and row.effect.ties < row.n:
        details.append(_changes(row))
    if row.detectable is not None:
        details.append(_detectable(row))
    return f" ({'; '.join(details)})" if details else ""


def _changes(row: Difference) -> str:
    changed = row.n - row.effect.ties
    verb = "query changed" if changed == 1 else "queries changed"
    return f"{changed} {verb}; at least {row.changes_needed} one-way changes would be significant"


def _on_measure(comparison: Comparison, row: Difference) -> str:
    against = f"{row.system} vs. {comparison.baseline} on {row.measure}"
    outcome = row.outcome(comparison.alpha)
    span = interval_text(row)
    if outcome == "unchanged":
        return f"{against}: the same value for every query."
    if outcome in ("equivalent", "inconclusive"):
        within = f" within ±{row.rope:g}" if outcome == "equivalent" else ""
        return f"{against}: {outcome}{within} ({row.text(row.difference or 0.0)}{f', {span}' if span else ''})."
    return f"{row.system} is {_verdict(row, comparison.baseline)} on {row.measure}: {evidence(row)}."


def _detectable(row: Difference) -> str:
    size = size_text(row, row.detectable or 0.0)
    return f"minimum detectable difference on {row.measure} with {plural(row.n, 'query')}: {size} (80% power)"


def _too_few(comparison: Comparison, row: Difference) -> str:
    verb = "is" if row.n == 1 else "are"
    return f"{plural(row.n, 'query')} {verb} too few for the {comparison.statistics.test} test to be significant at all"
