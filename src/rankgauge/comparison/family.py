"""The differences of one comparison as families: tested and corrected together.

The first measure is the primary one: it carries the answer, and its systems are corrected for each other only. All
other measures are secondary, and are one family with all systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.intervals import difference_range
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference
from rankgauge.comparison.shared_queries import Mask
from rankgauge.comparison.statistics import CORRECTION_LABELS, Statistics, describe_family
from rankgauge.comparison.testing import PairedColumns, family_tests
from rankgauge.core.formatting import plural
from rankgauge.core.tables import Column
from rankgauge.evaluation.notes import Note
from rankgauge.stats.seeds import Resampling
from rankgauge.stats.tukey_hsd import tukey

ASSUMPTIONS = {
    "bh": "Benjamini–Hochberg assumes that tests are independent or positively dependent",
    "tukey": "joint permutations assume that under the null the systems of a query are exchangeable",
}
SIGN_FLIPS = "joint sign flips assume that under the null all signs of a query flip together"
NO_SHARED_QUERY = "no query has a value for every system"


@dataclass(frozen=True)
class Hypothesis:
    """A system on a measure, over some of the queries that it shares with the baseline."""

    pair: Pair
    column: int
    queries: Mask

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.pair.system.measures[self.column].name


@dataclass(frozen=True)
class Family:
    """Differences that were corrected together."""

    rows: tuple[Difference, ...]
    size: int  # the number of p values corrected for
    description: str
    notes: tuple[Note, ...] = ()


def cells_of(pairs: Sequence[Pair], columns: Sequence[int]) -> list[Hypothesis]:
    """Every system on some of the measures."""
    return [Hypothesis(pair, column, pair.shared) for pair in pairs for column in columns]


def paired_columns(cells: Sequence[Hypothesis], strata: Column | None = None) -> PairedColumns:
    """The values behind the cells; ``strata`` are the groups of the queries, if each cell is one group."""
    values = [cell.pair.masked_values(cell.column, cell.queries) for cell in cells]
    return PairedColumns(
        np.column_stack([system for system, _ in values]),
        np.column_stack([baseline for _, baseline in values]),
        tuple(difference_range(cell.pair.system.measures[cell.column]) for cell in cells),
        cells[0].pair.units,
        strata,
    )


def make_family(
    cells: Sequence[Hypothesis], statistics: Statistics, *factors: tuple[int, str], strata: Column | None = None
) -> Family:
    """Test the cells together; ``factors`` say what they are, ``strata`` the groups of queries they belong to."""
    systems = len({cell.pair.name for cell in cells})
    level = _pairs_of_systems(systems) if statistics.correction == "tukey" else None
    tested = family_tests(paired_columns(cells, strata), statistics, level)
    rows = [cell.pair.difference(cell.column, cell.queries, test) for cell, test in zip(cells, tested, strict=True)]
    rows = [_with_queries_needed(row, statistics) for row in rows]
    size = sum(row.p is not None for row in rows)
    return Family(tuple(rows), size, describe_family(statistics.correction, size, *factors))


def compared_families(pairs: Sequence[Pair], statistics: Statistics) -> tuple[Family, Family | None]:
    """The primary measure of all systems, and the other measures if there are any."""
    measures = len(pairs[0].system.measures)
    systems = (len(pairs), "system")
    primary = make_family(cells_of(pairs, [0]), statistics, systems)
    others = list(range(1, measures))
    secondary = None
    if others:
        secondary = make_family(cells_of(pairs, others), statistics, systems, (len(others), "measure"))
    if statistics.correction == "tukey":
        primary = _with_tukey(primary, pairs, statistics)
        secondary = None if secondary is None else _with_tukey(secondary, pairs, statistics)
    return primary, secondary


def describe_families(primary: Family, secondary: Family | None, statistics: Statistics) -> str:
    """The test, the correction of each family, and what they assume."""
    measure = primary.rows[0].measure
    parts = [statistics.description, f"{measure} (primary): {primary.description}"]
    if secondary is None:
        parts[-1] = primary.description
    else:
        parts.append(f"other measures: {secondary.description}")
    if statistics.correction == "maxt" and not statistics.is_joint:
        parts.append(SIGN_FLIPS)
    assumption = ASSUMPTIONS.get(statistics.correction)
    return "; ".join([*parts, *([assumption] if assumption else [])])


def _with_queries_needed(row: Difference, statistics: Statistics) -> Difference:
    """The row with the number of queries whose minimum detectable difference is the target difference.

    It shrinks with the square root of the number of queries.
    """
    target = statistics.target_difference
    if target is None or row.aggregate != "mean" or row.detectable is None:
        return row
    return replace(row, queries_needed=math.ceil(row.n * (row.detectable / target) ** 2))


def _with_tukey(family: Family, pairs: Sequence[Pair], statistics: Statistics) -> Family:
    """Each system against the baseline, corrected for all pairs of systems on its measure."""
    shared = np.logical_and.reduce([pair.shared for pair in pairs])
    names = [measure.name for measure in pairs[0].system.measures]
    p_of: dict[tuple[str, str], float | None] = {}
    query_counts: dict[str, int] = {}
    for name in dict.fromkeys(row.measure for row in family.rows):
        column = names.index(name)
        values = [pairs[0].baseline_values[:, column], *(pair.system_values[:, column] for pair in pairs)]
        matrix = np.column_stack(values)
        kept = shared & ~np.isnan(matrix).any(axis=1)
        query_counts[name] = int(kept.sum())
        units = None if pairs[0].units is None else pairs[0].units[kept]
        result = tukey(matrix[kept], units=units, resampling=Resampling(statistics.resamples, statistics.seed))
        for (first, second), p in zip(result.pairs, result.p, strict=True):
            if first == 0:
                p_of[pairs[second - 1].name, name] = p
    rows = []
    for row in family.rows:
        p = p_of[row.system, row.measure]
        reason = NO_SHARED_QUERY if p is None and row.p is not None else row.reason
        rows.append(replace(row, p_corrected=p, reason=reason))
    size = _pairs_of_systems(len(pairs))
    description = f"{CORRECTION_LABELS['tukey']} over all {plural(size, 'pair')} of systems on each measure"
    return Family(tuple(rows), size, description, _joint_query_notes(rows, query_counts))


def _pairs_of_systems(systems: int) -> int:
    """The number of pairs that Tukey's test compares: the baseline is one more system."""
    return (systems + 1) * systems // 2


def _joint_query_notes(rows: Sequence[Difference], query_counts: dict[str, int]) -> tuple[Note, ...]:
    """Tukey's test needs the value of every system: a note if a difference is over more queries than its p."""
    fewer = dict.fromkeys(row.measure for row in rows if row.n > query_counts[row.measure])
    if not fewer:
        return ()
    counts = ", ".join(f"{query_counts[measure]} for {measure}" for measure in fewer)
    return (Note("joint-queries", f"Tukey's test uses only the queries that all systems have: {counts}"),)
