"""Which system is better, in sentences: the result first, then the evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.comparison.result import Comparison, Difference
from rankgauge.core.formatting import p_equals, percent, plural
from rankgauge.evaluation.scores import Scores
from rankgauge.stats.results import Interval


def answer(comparison: Comparison) -> str:
    """Which system is better, by how much and with what confidence: a sentence per system, over all measures."""
    return " ".join(_of_system(comparison, system) for system in comparison.systems)


def headline(comparison: Comparison) -> list[str]:
    """The same on the first measure only: a sentence per system, and what else a reader must know at once."""
    measure = comparison.scores[0].measures[0].name
    rows = [row for row in comparison.differences if row.measure == measure]
    lines = [_on_measure(comparison, row) for row in rows]
    others = [row for row in comparison.differences if row.measure != measure and row.is_significant(comparison.alpha)]
    if others:
        listed = (f"{row.system} on {row.measure} ({row.text(row.difference or 0.0)})" for row in others)
        lines.append(f"Significant on other measures, vs. {comparison.baseline}: {', '.join(listed)}.")
    hardest = least_sensitive(rows)
    if hardest is not None:
        sentence = _detectable(hardest)
        lines.append(f"{sentence[0].upper()}{sentence[1:]}.")
    hopeless = next((row for row in rows if row.too_few_queries), None)
    if hopeless is not None:
        lines.append(f"{_too_few(comparison, hopeless)}.")
    return lines


def best_challenger(comparison: Comparison) -> str:
    """The best system besides the baseline, on the first measure."""
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
    significant = [row for row in rows if row.is_significant(comparison.alpha)]
    inconclusive = [row for row in rows if not row.is_significant(comparison.alpha)]
    parts = [
        f"{system} is {row.comparative} than {comparison.baseline} on {row.measure}: {evidence(row)}"
        for row in significant
    ]
    if inconclusive:
        names, first = ", ".join(row.measure for row in inconclusive), inconclusive[0]
        text = f"no significant difference on {names}"
        if not significant:
            span = interval_text(first) if first.difference is not None else ""
            detail = f" ({first.measure} {first.text(first.difference or 0.0)}, {span})" if span else ""
            text = f"{system} vs. {comparison.baseline}: {text}{detail}"
        if first.too_few_queries:
            text += f"; {_too_few(comparison, first)}"
        if first.detectable is not None:
            text += f"; {_detectable(first)}"
        parts.append(text)
    return "; ".join(parts) + "."


def _on_measure(comparison: Comparison, row: Difference) -> str:
    against = f"{row.system} vs. {comparison.baseline} on {row.measure}"
    if row.is_unchanged:
        return f"{against}: the same value for every query."
    if not row.is_significant(comparison.alpha):
        span = interval_text(row)
        return f"{against}: inconclusive ({row.text(row.difference or 0.0)}{f', {span}' if span else ''})."
    corrected = f" ({comparison.correction_label})" if comparison.correction_label else ""
    return f"{row.system} is {row.comparative} than {comparison.baseline} on {row.measure}: {evidence(row)}{corrected}."


def _detectable(row: Difference) -> str:
    size = size_text(row, row.detectable or 0.0)
    return f"minimum detectable difference on {row.measure} with {plural(row.n, 'query')}: {size} (80% power)"


def _too_few(comparison: Comparison, row: Difference) -> str:
    verb = "is" if row.n == 1 else "are"
    return f"{plural(row.n, 'query')} {verb} too few for the {comparison.statistics.test} test to be significant at all"
