"""What a comparison says besides its table: the queries that would be needed, agreement of measures."""

from __future__ import annotations

import math

from rankgauge.comparison.agreement import FEW_SYSTEMS
from rankgauge.comparison.result import Comparison
from rankgauge.comparison.sentences import evidence
from rankgauge.comparison.statistics import is_significant
from rankgauge.core.formatting import MISSING, number, p_equals, plural, text_of

MAX_MEASURE_PAIRS = 6  # JSON has all of them


def remarks(comparison: Comparison) -> list[str]:
    """One sentence each; none if nothing was asked for."""
    statistics, systems = comparison.statistics, comparison.systems
    out = [_queries_needed(comparison, system) for system in systems] if statistics.target_difference else []
    return out + weighted_remarks(comparison) + ([_agreement(comparison)] if comparison.agreement else [])


def group_remarks(comparison: Comparison, by: str, measure: str | None = None) -> list[str]:
    """Over what p is corrected in the groups of a column, and which differences differ between them."""
    differing = [
        f"the difference of {test.system} on {test.measure} differs between groups of {by}: "
        f"{p_equals(test.p_corrected)}, groups shuffled, {comparison.interaction_family}"
        for test in comparison.interactions
        if test.by == by and measure in (None, test.measure)
        if is_significant(test.p_corrected, comparison.alpha)
    ]
    family = comparison.group_families.get(by)
    return ([] if family is None else [f"p by {by}: {family}"]) + differing


def weighted_remarks(comparison: Comparison) -> list[str]:
    """The differences of weighted means, and how many queries of equal weight would tell as much."""
    family = comparison.weighted
    if family is None:
        return []
    rows = [row.difference for row in family.rows]
    listed = [f"{row.system} {evidence(row) if row.difference is not None else MISSING}" for row in rows]
    effective = min((row.effective_queries for row in family.rows if row.effective_queries is not None), default=0.0)
    queries = plural(max(row.n for row in rows), "query")
    counted = text_of(effective, "given", digits=3)
    return [
        f"weighted {rows[0].measure}, difference from {comparison.baseline}: {'; '.join(listed)}; "
        f"{family.description}; with these weights, {queries} count as {counted} of equal weight"
    ]


def _queries_needed(comparison: Comparison, system: str) -> str:
    counts = [
        f"{row.measure} {'unknown' if row.queries_needed is None else f'{row.queries_needed:,}'}"
        for row in comparison.of_system(system)
    ]
    corrected = ", at the corrected level" if comparison.correction_label else ""
    target = text_of(comparison.statistics.target_difference, "given")
    return (
        f"queries needed to detect a true difference of {target} between {system} "
        f"and {comparison.baseline} with 80% power{corrected}: {', '.join(counts)}"
    )


def _agreement(comparison: Comparison) -> str:
    systems = comparison.agreement[0].systems
    pairs = sorted(comparison.agreement, key=lambda row: 2.0 if row.tau is None else row.tau)
    listed = [f"{' and '.join(row.measures)} {number(row.tau, 2)}" for row in pairs[:MAX_MEASURE_PAIRS]]
    more = f", and {len(pairs) - MAX_MEASURE_PAIRS} more pairs" if len(pairs) > MAX_MEASURE_PAIRS else ""
    caveat = ""
    if systems < FEW_SYSTEMS:
        caveat = f"; two random orders of {systems} systems are the same in 1 of {math.factorial(systems)} cases"
    return f"agreement of measures on the order of {systems} systems (Kendall's tau): {', '.join(listed)}{more}{caveat}"
