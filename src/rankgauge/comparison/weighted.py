"""The primary measure with each query counting by its weight: a family of its own beside the plain one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankgauge.comparison.family import Hypothesis, paired_columns
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference
from rankgauge.comparison.statistics import Statistics, describe_family, of_weighted_means
from rankgauge.comparison.testing import TestedDifference, family_tests
from rankgauge.core.tables import Floats
from rankgauge.measures.weights import weighted_mean
from rankgauge.stats.samples import effective_number


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
