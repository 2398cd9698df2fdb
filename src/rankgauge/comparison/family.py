"""The differences of one comparison as a family: p values corrected together, and what each can detect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference
from rankgauge.comparison.statistics import (
    CORRECTION_LABELS,
    SIGN_TESTS,
    Statistics,
    describe_family,
    separate_correction,
)
from rankgauge.core.formatting import plural
from rankgauge.core.tables import Floats
from rankgauge.evaluation.notes import Note
from rankgauge.stats.correction import correct
from rankgauge.stats.max_t import maxt
from rankgauge.stats.power_analysis import detectable_difference, queries_needed
from rankgauge.stats.seeds import Resampling
from rankgauge.stats.tukey_hsd import tukey

ASSUMPTIONS = {
    "bh": ", assumes that tests are independent or positively dependent",
    "maxt": ", joint sign flips: assumes that under the null all signs of a query flip together",
    "tukey": ", joint permutations: assumes that under the null the systems of a query are exchangeable",
}
RESAMPLING_TESTS = ("randomization", "bootstrap", "bootstrap-centered")
NO_SHARED_QUERY = "no query has a value for every system"


@dataclass(frozen=True)
class CorrectedFamily:
    """A p for each of some differences, corrected together."""

    p: Sequence[float | None]
    size: int  # the number of p values corrected for
    description: str
    notes: tuple[Note, ...] = ()


def correct_separately(
    rows: Sequence[Difference], statistics: Statistics, *factors: tuple[int, str]
) -> CorrectedFamily:
    """Correct the p value that each row has already."""
    method = separate_correction(statistics.correction)
    corrected = correct([row.p for row in rows], method)
    return CorrectedFamily(corrected.p, corrected.family, describe_family(method, corrected.family, *factors))


def correct_jointly(rows: Sequence[Difference], pairs: Sequence[Pair], statistics: Statistics) -> CorrectedFamily:
    """Correct every system on every measure, as the correction requires; ``rows`` are ordered by pair."""
    factors = (len(pairs), "system"), (len(pairs[0].system.measures), "measure")
    if statistics.correction == "maxt":
        family = _maxt(rows, pairs, statistics, *factors)
    elif statistics.correction == "tukey":
        family = _tukey(rows, pairs, statistics)
    else:
        family = correct_separately(rows, statistics, *factors)
    resampled = statistics.test in RESAMPLING_TESTS or statistics.correction in ("maxt", "tukey")
    draws = f", {statistics.resamples:,} resamples, seed {statistics.seed}" if resampled else ""
    assumption = ASSUMPTIONS.get(statistics.correction, "")
    return replace(family, description=f"{statistics.test} test{draws}; {family.description}{assumption}")


def with_corrected_p(rows: Sequence[Difference], family: CorrectedFamily, statistics: Statistics) -> list[Difference]:
    """The rows with the p values of their family, and with what the queries can show at the corrected level."""
    equivalence = correct([row.p_equivalent for row in rows], separate_correction(statistics.correction)).p
    alpha = statistics.strictest_alpha(family.size)
    out = []
    for row, p, p_equivalent in zip(rows, family.p, equivalence, strict=True):
        reason = NO_SHARED_QUERY if p is None and row.p is not None else row.reason
        corrected = replace(row, p_corrected=p, p_equivalent_corrected=p_equivalent, reason=reason)
        out.append(_with_power(corrected, statistics, alpha))
    return out


def _with_power(row: Difference, statistics: Statistics, alpha: float) -> Difference:
    """The row with its minimum detectable difference, and with the queries that the target difference needs."""
    if row.spread is None:
        return row
    sd, units = row.spread
    side = statistics.alternative if statistics.alternative == "two-sided" else "greater"
    if statistics.test in SIGN_TESTS and 2.0 ** (int(side == "two-sided") - units) > alpha:
        return replace(row, too_few_queries=True)  # not significant even if every query points the same way
    detectable = detectable_difference(sd, units, alpha=alpha, alternative=side).difference
    if statistics.target_difference is None or row.aggregate != "mean":
        return replace(row, detectable=detectable)
    needed = queries_needed(statistics.target_difference, sd, alpha=alpha, alternative=side).n
    return replace(
        row, detectable=detectable, queries_needed=None if needed is None else math.ceil(needed * row.n / units)
    )


def _maxt(
    rows: Sequence[Difference], pairs: Sequence[Pair], statistics: Statistics, *factors: tuple[int, str]
) -> CorrectedFamily:
    """By joint sign flips. A query that a pair lacks is a difference of 0, which no sign changes."""
    columns = range(len(pairs[0].system.measures))
    differences = np.array([pair.all_differences(column) for pair in pairs for column in columns])
    tested = [index for index, row in enumerate(rows) if row.n]
    queries = np.logical_or.reduce([pair.shared for pair in pairs])
    units = None if pairs[0].units is None else pairs[0].units[queries]
    matrix: Floats = differences[tested][:, queries].T
    result = maxt(
        matrix,
        alternative=statistics.alternative,
        units=units,
        resampling=Resampling(statistics.resamples, statistics.seed),
    )
    p_of = dict(zip(tested, result.p, strict=True))
    return CorrectedFamily(
        [p_of.get(index) for index in range(len(rows))], len(tested), describe_family("maxt", len(tested), *factors)
    )


def _tukey(rows: Sequence[Difference], pairs: Sequence[Pair], statistics: Statistics) -> CorrectedFamily:
    """Each system against the baseline, corrected for all pairs of systems on its measure."""
    shared = np.logical_and.reduce([pair.shared for pair in pairs])
    p_of: dict[tuple[str, str], float | None] = {}
    query_counts: dict[str, int] = {}
    for column, measure in enumerate(pairs[0].system.measures):
        values = [pairs[0].baseline_values[:, column], *(pair.system_values[:, column] for pair in pairs)]
        matrix = np.column_stack(values)
        kept = shared & ~np.isnan(matrix).any(axis=1)
        query_counts[measure.name] = int(kept.sum())
        units = None if pairs[0].units is None else pairs[0].units[kept]
        result = tukey(matrix[kept], units=units, resampling=Resampling(statistics.resamples, statistics.seed))
        for (first, second), p in zip(result.pairs, result.p, strict=True):
            if first == 0:
                p_of[pairs[second - 1].name, measure.name] = p
    size = (len(pairs) + 1) * len(pairs) // 2
    return CorrectedFamily(
        [p_of[row.system, row.measure] for row in rows],
        size,
        f"{CORRECTION_LABELS['tukey']} over all {plural(size, 'pair')} of systems on each measure",
        _joint_query_notes(rows, query_counts),
    )


def _joint_query_notes(rows: Sequence[Difference], query_counts: dict[str, int]) -> tuple[Note, ...]:
    """Tukey's test needs the value of every system: a note if a difference is over more queries than its p."""
    fewer = dict.fromkeys(row.measure for row in rows if row.n > query_counts[row.measure])
    if not fewer:
        return ()
    counts = ", ".join(f"{query_counts[measure]} for {measure}" for measure in fewer)
    return (Note("joint-queries", f"Tukey's test uses only the queries that all systems have: {counts}"),)
