"""A comparison in words: which system is better, first the result, then the evidence; and remarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rankgauge.comparison.comparability import Incomparable, shared_causes
from rankgauge.comparison.statistics_options import MOST_SYSTEMS
from rankgauge.core.formatting import given, number, p_equals, percent, plural, text_of
from rankgauge.evaluation.scores import best_first
from rankgauge.stats.results import Interval

if TYPE_CHECKING:
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.comparison.differences import Difference

MAX_LINES = 5  # of further measures; more are summarized by outcome
MAX_NAMES = 8  # of systems in a sentence; the table has all of them


def answer(comparison: Comparison) -> str:
    """Which system is better, by how much and with what confidence."""
    return " ".join(headline(comparison))


def headline(comparison: Comparison) -> list[str]:
    """Which system is better, one sentence each: on the primary measure first, then what else a reader must know."""
    return _of_two(comparison) if len(comparison.systems) == 1 else _of_many(comparison)


def _of_two(comparison: Comparison) -> list[str]:
    """The primary measure, then each further one."""
    (system,) = comparison.systems
    first, *others = comparison.of_system(system)
    if others and all(row.is_unchanged for row in (first, *others)):
        return [f"{system} and {comparison.baseline} have the same value for every query on every measure."]
    lines, open_lines = [_primary(comparison, first)], []
    if first.not_comparable is not None:
        lines = _incomparable(comparison)
    elif problems := _problems(others):
        open_lines = [f"Not comparable: {cause}." for cause in shared_causes(problems)]
    others = [row for row in others if row.not_comparable is None]
    if len(others) <= MAX_LINES:
        return [*lines, *(f"{row.shown}: {_finding(comparison, row)}." for row in others), *open_lines]
    for outcome in dict.fromkeys(row.outcome(comparison.alpha) for row in others):
        rows = [row for row in others if row.outcome(comparison.alpha) == outcome]
        listed = ", ".join(f"{row.shown} ({row.text(row.difference or 0.0)})" for row in rows)
        lines.append(f"{outcome.capitalize()}: {listed}.")
    return lines + open_lines


def _of_many(comparison: Comparison) -> list[str]:
    """The best system and its group, then what is significant elsewhere, and what the queries can show."""
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    lines = [" ".join(best_sentences(comparison)), *_family_sentences(comparison), *_incomparable(comparison)]
    others = [row for row in comparison.differences if row.measure != comparison.primary]
    significant = [row for row in others if row.is_significant(comparison.alpha)]
    if significant:
        values_of: dict[str, list[str]] = {}
        for row in significant:
            values_of.setdefault(row.system, []).append(f"{row.shown} ({row.text(row.difference or 0.0)})")
        listed = [f"{system} on {' and '.join(values)}" for system, values in values_of.items()]
        lines.append(f"Significant on further measures, vs. {comparison.baseline}: {_some(listed)}.")
    sizes = detectable_sizes(rows)
    if sizes:
        counts = sorted({row.n for row in rows if row.detectable})
        queries = plural(counts[-1], "query") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} queries"
        lines.append(f"Minimum detectable difference with {queries}: {sizes} (80% power).")
    hopeless = next((row for row in rows if row.too_few_queries), None)
    return lines if hopeless is None else [*lines, f"{_too_few(comparison, hopeless)}."]


def _incomparable(comparison: Comparison) -> list[str]:
    """What cannot be compared with the baseline, each cause once."""
    lines = []
    for system in comparison.systems:
        problems = _problems(comparison.of_system(system))
        for cause in dict.fromkeys(one.cause for one in problems):
            own = [one for one in problems if one.cause == cause]
            measures, why = _some([one.measure for one in own]), cause if len(own) > 1 else str(own[0])
            lines.append(f"{system} and {comparison.baseline} are not comparable on {measures}: {why}.")
    return lines


def _problems(rows: Iterable[Difference]) -> list[Incomparable]:
    return [row.not_comparable for row in rows if row.not_comparable is not None]


def best_sentences(comparison: Comparison) -> list[str]:
    """The best of three or more systems, those that cannot be distinguished from it, and those that are worse.

    None is called the best if some cannot be compared.
    """
    measure = comparison.scores[0].measures[0]
    if any(row.not_comparable is not None for row in comparison.differences if row.measure == measure.name):
        return [f"Not all systems can be compared on {measure.shown}."]
    best = best_first(comparison.scores, measure)[0]
    first, last = ("Best", "Worse") if measure.definition.direction else ("Highest", "Lower")
    value, digits = best[measure], 0 if measure.definition.aggregate == "sum" else 3
    start = f"{first}: {best.run} ({measure.shown}{'' if value is None else f' {number(value, digits)}'})."
    ranking = comparison.ranking
    if ranking is None:  # each against the baseline, or against the best of many
        return [start, *_against_baseline(comparison)]
    worse = ranking.worse
    if ranking.best.name != comparison.baseline:  # the table has the p of each against the baseline only
        p_of = {pair.second: pair.difference.p_corrected for pair in ranking.pairs if pair.first == ranking.best.name}
        worse = [f"{name} ({p_equals(p_of.get(name))})" for name in worse]
    groups = [("Not distinguishable from it", ranking.indistinguishable), (last, worse)]
    return [start, *(f"{label}: {_some(names)}." for label, names in groups if names)]


def _against_baseline(comparison: Comparison) -> list[str]:
    """The systems by what they are, compared with the baseline."""
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row.comparative if row.is_significant(comparison.alpha) else "", []).append(row.system)
    baseline = comparison.baseline if comparison.scope == "baseline" else "it"
    apart = [f"{word.capitalize()} than {baseline}: {_some(listed)}." for word, listed in names.items() if word]
    rest = names.get("", [])
    return [*apart, *([f"Not distinguishable from {baseline}: {_some(rest)}."] if rest else [])]


def _family_sentences(comparison: Comparison) -> list[str]:
    """Over which differences p and the intervals on the primary measure are corrected, if there are several."""
    tested = [row for row in comparison.differences if row.measure == comparison.primary and not row.not_comparable]
    count, systems = len(tested), len(comparison.names)
    compared = {
        "all pairs": f"all {systems * (systems - 1) // 2:,} pairs of {systems} systems",
        "baseline": f"{plural(count, 'comparison')} with {comparison.baseline}",
        "best": f"{plural(count, 'comparison')} with the best, {comparison.baseline}",
    }[comparison.scope]
    if count < 2:
        return []
    verb = "p is corrected over" if comparison.family_sizes[0] > 1 else "p is not corrected for"
    many = f" (more than {MOST_SYSTEMS} systems: not all pairs)" if comparison.scope == "best" else ""
    return [f"On {comparison.shown_primary}, {verb} {compared}{many}."]


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MAX_NAMES])} and {more:,} more"


def best_challenger(comparison: Comparison) -> str:
    """The best system besides the baseline, on the primary measure."""
    others = [run for run in comparison.scores if run.run != comparison.baseline]
    return best_first(others, comparison.scores[0].measures[0])[0].run


def detectable_sizes(rows: Sequence[Difference]) -> str:
    """The smallest and the largest minimum detectable difference of some rows; empty if it is known for none."""
    known = sorted((row for row in rows if row.detectable), key=lambda row: row.detectable or 0.0)
    ends = dict.fromkeys(size_text(row, row.detectable or 0.0) for row in (*known[:1], *known[-1:]))
    return " to ".join(ends)


def evidence(row: Difference, *more: str) -> str:
    """A difference with its interval and p: ``+0.031 (95% CI +0.012 to +0.050, p = 0.002)``, and ``more``."""
    p = "" if row.p_corrected is None else p_equals(row.p_corrected)
    details = "; ".join(filter(None, [", ".join(filter(None, [interval_text(row), p])), *more]))
    return f"{row.text(row.difference or 0.0)}{f' ({details})' if details else ''}"


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
    return text_of(difference, "given", digits=2) if difference < 10 else text_of(difference, "count")


def _primary(comparison: Comparison, row: Difference) -> str:
    """The answer of two systems: the result, then the evidence."""
    system, baseline, rope = row.system, comparison.baseline, given(row.rope or 0.0)
    outcome = row.outcome(comparison.alpha)
    if outcome == "unchanged":
        unseen = "".join(f"; {text}" for text in _unseen_losses(row))
        return f"{system} and {baseline} have the same {row.shown} for every query{unseen}."
    if outcome == "equivalent":
        return f"{system} and {baseline} are equivalent within ±{rope}: {row.shown} {evidence(row)}."
    if outcome in ("inconclusive", "undecided"):
        found = evidence(row, *_sensitivity(comparison, row))
        return f"{system} vs. {baseline} is {outcome}: {row.shown} {found}."
    if outcome == "negligible":
        return f"{system} differs from {baseline} negligibly, within ±{rope}: {row.shown} {evidence(row)}."
    return f"{system} is {row.comparative} than {baseline}: {row.shown} {evidence(row)}."


def _finding(comparison: Comparison, row: Difference) -> str:
    """A further measure of two systems, in the same order."""
    outcome = row.outcome(comparison.alpha)
    if outcome == "unchanged":
        return "the same value for every query"
    within = f" within ±{given(row.rope or 0.0)}" if outcome in ("equivalent", "negligible") else ""
    difference, span = row.text(row.difference or 0.0), span_text(row.interval, row)
    details = [f"{difference}, {span}" if span else difference]
    if outcome in ("inconclusive", "undecided"):
        details += _sensitivity(comparison, row)
    elif outcome != "equivalent" and row.p_corrected is not None:
        details[0] += f", {p_equals(row.p_corrected)}"
    return f"{outcome}{within} ({'; '.join(details)})"


def _sensitivity(comparison: Comparison, row: Difference) -> list[str]:
    """What the queries could show of a difference that is neither shown nor excluded."""
    details = ["no difference observed", *_unseen_losses(row)] if row.is_negligible else []
    if row.too_few_queries:
        details.append(_too_few(comparison, row))
    elif row.changes_needed is not None and row.effect.ties < row.n:
        details.append(_changes(row))
    if row.detectable is not None:
        details.append(f"minimum detectable difference {size_text(row, row.detectable)}")
    return details


def _unseen_losses(row: Difference) -> list[str]:
    """What a claim of equivalence would overlook; nothing if the queries are enough for it."""
    if row.rope is None or row.supports_equivalence or row.smallest_margin is None:
        return []
    return [row.unseen_losses.sentence("±")]


def _changes(row: Difference) -> str:
    changed = row.n - row.effect.ties
    verb = "query changed" if changed == 1 else "queries changed"
    return f"{changed} {verb}; at least {row.changes_needed} one-way changes would be significant"


def _too_few(comparison: Comparison, row: Difference) -> str:
    verb = "is" if row.n == 1 else "are"
    return f"{plural(row.n, 'query')} {verb} too few for the {comparison.statistics.test} test to be significant at all"


# Remarks besides the table: the queries that would be needed, groups.


def remarks(comparison: Comparison) -> list[str]:
    """One sentence each; none if nothing was asked for."""
    statistics, systems = comparison.statistics, comparison.systems
    return [_queries_needed(comparison, system) for system in systems] if statistics.target_difference else []


def group_remarks(comparison: Comparison, by: str) -> list[str]:
    """Over what p is corrected in the groups of a column."""
    family = comparison.group_families.get(by)
    return [] if family is None else [f"p by {by}: {family}"]


def _queries_needed(comparison: Comparison, system: str) -> str:
    counts = [
        f"{row.shown} {'unknown' if row.queries_needed is None else f'{row.queries_needed:,}'}"
        for row in comparison.of_system(system)
    ]
    corrected = ", at the corrected level" if comparison.correction_label else ""
    target = text_of(comparison.statistics.target_difference, "given")
    return (
        f"queries needed to detect a true difference of {target} between {system} "
        f"and {comparison.baseline} with 80% power{corrected}: {', '.join(counts)}"
    )


# How often the same queries were used to choose between systems: a winner of many comparisons may win by chance.
# Corrections cover the comparisons of one family; counted here is everything that one report or tuning compares.


def comparisons_made(comparison: Comparison) -> int:
    """The number of differences in a comparison: over all queries, in groups, and between systems of the ranking."""
    pairs = () if comparison.ranking is None else comparison.ranking.pairs
    others = sum(comparison.baseline not in (pair.first, pair.second) for pair in pairs)
    return len(comparison.differences) + len(comparison.groups) + others


def reuse_sentence(count: int, noun: str, verb: str, queries: int) -> str | None:
    """How many comparisons or choices the queries were used for; None if there was only one."""
    if count < 2:
        return None
    return (
        f"{count:,} {noun}s were {verb} on these {plural(queries, 'query')}; "
        f"the more are {verb}, the more likely a chance winner"
    )
