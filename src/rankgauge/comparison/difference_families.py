"""Differences that are tested and corrected together: over all queries, with weights, and within groups.

The first measure is the primary one: it carries the answer, and its systems are corrected for each other only. All
other measures are secondary, and are one family with all systems; those of which lower is better are another, so that
guarding against leaks or false answers costs the others no power. If there is no baseline that was chosen, three or
more systems are compared in all pairs (``system_ranking``); here, each is compared with the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.differences import Difference, GroupDifference, Interaction, Mask, Pair
from rankgauge.comparison.significance import PairedColumns, TestedDifference, difference_range, family_tests
from rankgauge.comparison.statistics_options import (
    CORRECTION_LABELS,
    Statistics,
    describe_family,
    of_weighted_means,
    separate_correction,
    separately_corrected,
)
from rankgauge.core.arrays import Column, Floats
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ints
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.query_groups import groups
from rankgauge.measures.aggregates import weighted_mean
from rankgauge.measures.measure import Direction
from rankgauge.stats.corrections import correct, tukey
from rankgauge.stats.draws import RESAMPLES, Resampling
from rankgauge.stats.group_interaction import interaction
from rankgauge.stats.samples import effective_number, unit_numbers

ASSUMPTIONS = {
    "bh": "Benjamini–Hochberg assumes that tests are independent or positively dependent",
    "tukey": "joint permutations assume that under the null the systems of a query are exchangeable",
}
SIGN_FLIPS = "joint sign flips assume that under the null all signs of a query flip together"
NO_SHARED_QUERY = "no query has a value for every system"
OTHERS, LOWER = "other measures", "lower is better"  # names of families


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

    @property
    def direction(self) -> Direction:
        """The sign of an improvement of the measure."""
        return self.pair.system.measures[self.column].definition.direction


@dataclass(frozen=True)
class Family:
    """Differences that were corrected together."""

    rows: tuple[Difference, ...]
    size: int  # the number of p values corrected for
    description: str
    notes: tuple[Note, ...] = ()
    name: str = ""


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
    rows = [with_queries_needed(row, statistics) for row in rows]
    size = sum(row.p is not None for row in rows)
    return Family(tuple(rows), size, describe_family(statistics.correction, size, *factors))


def baseline_family(pairs: Sequence[Pair], columns: Sequence[int], statistics: Statistics) -> Family | None:
    """Every system against the baseline on some of the measures; None without any."""
    if not columns:
        return None
    factors = [(len(pairs), "system"), *([] if columns[0] == 0 else [(len(columns), "measure")])]
    family = make_family(cells_of(pairs, columns), statistics, *factors, strata=pairs[0].classes)
    return _with_tukey(family, pairs, statistics) if statistics.correction == "tukey" else family


def family_columns(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """The measures of each family, by its name: the primary one, the others, and those of which lower is better."""
    primary, *others = pairs[0].system.measures
    columns: dict[str, list[int]] = {f"{primary.name} (primary)": [0], OTHERS: [], LOWER: []}
    for column, measure in enumerate(others, 1):
        columns[LOWER if measure.definition.direction < 0 else OTHERS].append(column)
    return {name: found for name, found in columns.items() if found}


def family_sizes(families: Sequence[Family]) -> tuple[int, ...]:
    """The number of p values of the primary measure, of the others, and of those of which lower is better, if any."""
    sizes = {family.name: family.size for family in families}
    return families[0].size, sizes.get(OTHERS, 0), *([sizes[LOWER]] if LOWER in sizes else [])


def describe_families(families: Sequence[Family], statistics: Statistics) -> str:
    """The test, the correction of each family, and what they assume."""
    parts = [statistics.description]
    if len(families) == 1:
        parts.append(families[0].description)
    else:
        parts += [f"{family.name}: {family.description}" for family in families]
    if statistics.correction == "maxt" and not statistics.is_joint:
        parts.append(SIGN_FLIPS)
    assumption = ASSUMPTIONS.get(statistics.correction)
    return "; ".join([*parts, *([assumption] if assumption else [])])


def with_queries_needed(row: Difference, statistics: Statistics) -> Difference:
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
        p = None if row.not_comparable is not None else p_of[row.system, row.measure]
        reason = NO_SHARED_QUERY if p is None and row.p is not None else row.reason
        rows.append(replace(row, p_corrected=p, reason=reason))
    size = _pairs_of_systems(len(pairs))
    description = f"{CORRECTION_LABELS['tukey']} over all {plural(size, 'pair')} of systems on each measure"
    return Family(tuple(rows), size, description, joint_query_notes(rows, query_counts))


def _pairs_of_systems(systems: int) -> int:
    """The number of pairs that Tukey's test compares: the baseline is one more system."""
    return (systems + 1) * systems // 2


def joint_query_notes(rows: Sequence[Difference], query_counts: dict[str, int]) -> tuple[Note, ...]:
    """Tukey's test needs the value of every system: a note if a difference is over more queries than its p."""
    fewer = dict.fromkeys(row.measure for row in rows if row.n > query_counts[row.measure])
    if not fewer:
        return ()
    counts = ", ".join(f"{query_counts[measure]} for {measure}" for measure in fewer)
    return (Note("joint-queries", f"Tukey's test uses only the queries that all systems have: {counts}"),)


# The primary measure with each query counting by its weight: a family of its own beside the plain one.


@dataclass(frozen=True)
class WeightedDifference:
    """The difference of two weighted means, and the number of queries of equal weight that would tell as much."""

    difference: Difference
    effective_queries: float | None


@dataclass(frozen=True)
class WeightedFamily:
    """Every system on the primary measure, corrected together."""

    rows: tuple[WeightedDifference, ...]
    description: str


def weighted_family(pairs: Sequence[Pair], statistics: Statistics) -> WeightedFamily | None:
    """The weighted differences; None if the queries have no weights or the primary measure is not a mean.

    Queries of weight 0 are left out.
    """
    weights, measure = pairs[0].system.weights, pairs[0].system.measures[0]
    if weights is None or measure.definition.aggregate != "mean":
        return None
    counted, statistics = weights > 0, of_weighted_means(statistics)
    cells = [Hypothesis(pair, 0, pair.shared & counted) for pair in pairs]
    tested = family_tests(replace(paired_columns(cells), weights=weights).select(counted), statistics)
    rows = [_weighted(cell, weights, test) for cell, test in zip(cells, tested, strict=True)]
    size = sum(row.difference.p is not None for row in rows)
    family = describe_family(statistics.correction, size, (len(pairs), "system"))
    return WeightedFamily(tuple(rows), f"{statistics.test} test; {family}")


def _weighted(cell: Hypothesis, weights: Floats, tested: TestedDifference) -> WeightedDifference:
    system, baseline, kept = cell.pair.values(cell.column, cell.queries)
    value, base, difference = (weighted_mean(values, weights[kept]) for values in (system, baseline, system - baseline))
    row = cell.pair.difference(cell.column, cell.queries, tested)
    row = replace(row, value=value, baseline=base, difference=difference)
    return WeightedDifference(row, effective_number(weights[kept]) if row.n else None)


# Differences within groups of queries, and whether they differ between groups.

MIN_GROUP_SIZE = 2
MIN_TESTED_GROUP = 10  # of the test between groups, which errs too often with smaller ones


def group_differences(
    pairs: Sequence[Pair], totals: Sequence[Difference], by: str, statistics: Statistics
) -> tuple[list[GroupDifference], str]:
    """The differences within the groups of a column, and the family they are corrected over: the whole column."""
    labeled = [(label, cell) for pair in pairs for label, cell in _cells(pair, by)]
    labels = [label for label, _ in labeled]
    if not labeled:
        return [], CORRECTION_LABELS["none"]
    strata = _strata([members for _, members in groups(pairs[0].system.columns, by)], pairs[0].units)
    total = {(row.system, row.measure): row.difference or 0.0 for row in totals}
    found: dict[int, GroupDifference] = {}
    descriptions: list[str] = []
    for is_lower in (False, True):
        members = [place for place, (_, cell) in enumerate(labeled) if (cell.direction < 0) == is_lower]
        if not members:
            continue
        cells = [labeled[place][1] for place in members]
        measures = len({cell.measure for cell in cells})
        factors = (len(pairs), "system"), (measures, "measure"), (len(set(labels)), "group")
        family = make_family(cells, separately_corrected(statistics), *factors, strata=strata)
        descriptions.append(f"lower is better: {family.description}" if descriptions else family.description)
        for place, row in zip(members, family.rows, strict=True):
            is_opposite = _is_opposite(row, total[row.system, row.measure], statistics.alpha)
            found[place] = GroupDifference(by, labels[place], row, is_opposite)
    return [found[place] for place in range(len(labeled))], "; ".join(descriptions)


def _strata(groups: Sequence[Mask], units: Column | None) -> Column | None:
    """The group of each query, so that draws keep the sizes of groups; None if a unit belongs to several."""
    stratum = np.zeros(len(groups[0]), dtype=np.int64)
    for number, members in enumerate(groups, start=1):
        stratum[members] = number
    if units is None or len({*zip(units.tolist(), stratum.tolist(), strict=True)}) == len(set(units.tolist())):
        return stratum
    return None


def _is_opposite(row: Difference, total: float, alpha: float) -> bool:
    """Whether a group differs significantly, and against the overall direction."""
    return row.is_significant(alpha) and (row.difference or 0.0) * total < 0


def _cells(pair: Pair, by: str) -> list[tuple[str, Hypothesis]]:
    """One system, on each measure that can be compared, in each group that is large enough."""
    by_group = [
        (label, members & pair.shared)
        for label, members in groups(pair.system.columns, by)
        if int((members & pair.shared).sum()) >= MIN_GROUP_SIZE
    ]
    return [
        (label, Hypothesis(pair, column, members))
        for column in range(len(pair.system.measures))
        if column not in pair.problems
        for label, members in by_group
    ]


def interactions(pairs: Sequence[Pair], by: Sequence[str], statistics: Statistics) -> tuple[list[Interaction], str]:
    """Whether groups differ, per column, system and measure, corrected over all of them; and that family."""
    measures = len(pairs[0].system.measures)
    alpha = statistics.strictest_alpha(len(by) * len(pairs) * measures)
    tests = [_interaction(pair, index, column, alpha) for column in by for pair in pairs for index in range(measures)]
    method = separate_correction(statistics.correction)
    corrected = correct([test.p for test in tests], method)
    factors = (len(by), "column"), (len(pairs), "system"), (measures, "measure")
    family = describe_family(method, corrected.family, *factors)
    return [replace(test, p_corrected=p) for test, p in zip(tests, corrected.p, strict=True)], family


def _interaction(pair: Pair, index: int, by: str, alpha: float) -> Interaction:
    """Whether the differences differ between the groups that are large enough; p is not corrected yet.

    ``alpha`` is the strictest level that the correction can leave to this p, which must be small enough to reach it.
    """
    measure, statistics = pair.system.measures[index].name, pair.statistics
    values = pair.values(index, pair.shared)
    rows = np.cumsum(values.kept) - 1  # of the values, which only some queries have
    by_label = {label: np.flatnonzero(members & values.kept) for label, members in groups(pair.system.columns, by)}
    large = {label: queries for label, queries in by_label.items() if _units(pair, queries) >= MIN_TESTED_GROUP}
    if len(large) < 2:
        noun = "queries" if pair.units is None else "units"
        reason = f"fewer than two groups with at least {MIN_TESTED_GROUP} {noun}"
        return Interaction(by, pair.name, measure, None, None, reason)
    queries = np.concatenate(list(large.values()))
    tested = interaction(
        (values.system - values.baseline)[rows[queries]],
        [label for label, members in large.items() for _ in members],
        units=None if pair.units is None else pair.units[queries],
        alpha=alpha,
        resampling=Resampling(min(statistics.resamples or RESAMPLES, RESAMPLES), statistics.seed, (measure, by)),
    )
    return Interaction(by, pair.name, measure, tested.p, tested.p, tested.reason)


def _units(pair: Pair, queries: Ints) -> int:
    """The number of units among some queries; without units each query is one."""
    return len(queries) if pair.units is None else len(set(unit_numbers(pair.units[queries], len(queries)).tolist()))
