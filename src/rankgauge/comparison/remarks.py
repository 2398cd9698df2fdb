"""What a comparison says besides its table: equivalence, the queries that would be needed, agreement of measures."""

from __future__ import annotations

import math

from rankgauge.comparison.agreement import FEW_SYSTEMS
from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.statistics import CORRECTION_LABELS, is_significant, separate_correction
from rankgauge.core.formatting import number, p_equals

MAX_MEASURE_PAIRS = 6  # JSON has all of them


def remarks(comparison: Comparison) -> list[str]:
    """One sentence each; none if nothing was asked for."""
    statistics, systems = comparison.statistics, comparison.systems
    equivalence = statistics.equivalence_margin is not None
    out = [_equivalence(comparison, system) for system in systems] if equivalence else []
    out += [_queries_needed(comparison, system) for system in systems] if statistics.target_difference else []
    return out + ([_agreement(comparison)] if comparison.agreement else [])


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


def _equivalence(comparison: Comparison, system: str) -> str:
    rows = [row for row in comparison.of_system(system) if row.aggregate == "mean"]
    undefined = [row.measure for row in comparison.of_system(system) if row.aggregate != "mean"]
    equivalent = [row for row in rows if row.is_equivalent(comparison.alpha)]
    open_rows = [row for row in rows if not row.is_equivalent(comparison.alpha)]
    within = f"equivalent within ±{comparison.statistics.equivalence_margin:g}"
    pair = f"{system} and {comparison.baseline}"
    parts = []
    if equivalent:
        parts.append(f"{pair} are {within} on {_with_p(equivalent)}")
    if open_rows:
        subject = "" if equivalent else f"{pair} are "
        parts.append(f"{subject}not shown to be {within} on {_with_p(open_rows)}")
    if rows:
        tested = sum(row.p_equivalent is not None for row in comparison.differences)
        correction = separate_correction(comparison.statistics.correction) if tested > 1 else "none"
        parts[-1] += f" (two one-sided t tests, {CORRECTION_LABELS[correction]})"
    if undefined:
        subject = "" if rows else f"{pair}: "
        reason = "is not a mean" if len(undefined) == 1 else "are not means"
        parts.append(f"{subject}equivalence is not defined for {', '.join(undefined)}, which {reason}")
    return "; ".join(parts)


def _with_p(rows: list[Difference]) -> str:
    return ", ".join(f"{row.measure} ({p_equals(row.p_equivalent_corrected)})" for row in rows)


def _queries_needed(comparison: Comparison, system: str) -> str:
    counts = [
        f"{row.measure} {'unknown' if row.queries_needed is None else f'{row.queries_needed:,}'}"
        for row in comparison.of_system(system)
    ]
    corrected = f", corrected over {comparison.family_size} comparisons" if comparison.correction_label else ""
    return (
        f"queries needed to detect a true difference of {comparison.statistics.target_difference:g} between {system} "
        f"and {comparison.baseline} with 80% power{corrected}: {', '.join(counts)}"
    )


def _agreement(comparison: Comparison) -> str:
    systems = comparison.agreement[0].systems
    pairs = sorted(comparison.agreement, key=lambda row: 2.0 if row.tau is None else row.tau)
    listed = [f"{' and '.join(row.measures)} {number(row.tau, 2)}" for row in pairs[:MAX_MEASURE_PAIRS]]
    more = f", and {len(pairs) - MAX_MEASURE_PAIRS} more pairs" if len(pairs) > MAX_MEASURE_PAIRS else ""
    caveat = ""
    if systems < FEW_SYSTEMS:
        orders = math.factorial(systems)
        caveat = f"; weak evidence: {systems} systems agree fully by chance in 1 of {orders} orders"
    return f"agreement of measures on the order of {systems} systems (Kendall's tau): {', '.join(listed)}{more}{caveat}"
