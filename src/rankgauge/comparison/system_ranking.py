"""Three or more systems in the order of the primary measure, and which of them can be distinguished.

All pairs of systems are one family, tested as every other difference. Two systems have a letter in common exactly if
their difference is not significant. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons,
Journal of Computational and Graphical Statistics 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from rankgauge.comparison.difference_families import Hypothesis, paired_columns
from rankgauge.comparison.differences import Difference, Pair
from rankgauge.comparison.significance import TestedDifference, family_tests
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.evaluation.scores import Scores, best_first
from rankgauge.stats.corrections import tukey
from rankgauge.stats.draws import Resampling

FEWEST_SYSTEMS, MOST_SYSTEMS = 3, 40  # 40 systems are 780 pairs


@dataclass(frozen=True)
class RankedSystem:
    """A system in the ranking."""

    name: str
    value: float | None
    letters: str


@dataclass(frozen=True)
class RankedPair:
    """Two systems on the primary measure, the better one first; the difference is first − second."""

    first: str
    second: str
    difference: Difference
    is_significant: bool


@dataclass(frozen=True)
class SystemRanking:
    """Systems from the best to the worst, with letters, and all of their pairs."""

    measure: str
    systems: tuple[RankedSystem, ...]
    pairs: tuple[RankedPair, ...]

    @property
    def best(self) -> RankedSystem:
        """The system with the best value."""
        return self.systems[0]

    @property
    def indistinguishable(self) -> list[str]:
        """The systems that no test tells apart from the best."""
        apart = {pair.second for pair in self.pairs if pair.first == self.best.name and pair.is_significant}
        return [system.name for system in self.systems[1:] if system.name not in apart]

    @property
    def worse(self) -> list[str]:
        """The systems that are significantly worse than the best."""
        return [system.name for system in self.systems[1:] if system.name not in self.indistinguishable]


def rank_systems(scores: Sequence[Scores], statistics: Statistics) -> SystemRanking | None:
    """The ranking of three or more systems; None for fewer, and for too many."""
    if not FEWEST_SYSTEMS <= len(scores) <= MOST_SYSTEMS:
        return None
    measure = scores[0].measures[0]
    ordered = best_first(scores, measure)
    statistics = replace(statistics, alternative="two-sided")
    numbers = list(combinations(range(len(ordered)), 2))
    pairs = [Pair(ordered[first], ordered[second], statistics) for first, second in numbers]
    cells = [Hypothesis(pair, 0, pair.shared) for pair in pairs]
    rows = [
        cell.pair.difference(0, cell.queries, test)
        for cell, test in zip(cells, _tests(cells, ordered, statistics), strict=True)
    ]
    significant = [row.is_significant(statistics.alpha) for row in rows]
    letters = letters_of(len(ordered), [pair for pair, is_apart in zip(numbers, significant, strict=True) if is_apart])
    return SystemRanking(
        measure.name,
        tuple(RankedSystem(run.run, run[measure], text) for run, text in zip(ordered, letters, strict=True)),
        tuple(
            RankedPair(pair.name, pair.baseline.run, row, is_apart)
            for pair, row, is_apart in zip(pairs, rows, significant, strict=True)
        ),
    )


def _tests(cells: Sequence[Hypothesis], ordered: Sequence[Scores], statistics: Statistics) -> list[TestedDifference]:
    """The tests of all pairs; Tukey's are of all systems together."""
    if statistics.correction != "tukey":
        return family_tests(paired_columns(cells), statistics, sensitivity=False)
    alone = family_tests(paired_columns(cells), replace(statistics, correction="none"), sensitivity=False)
    averaged = np.logical_and.reduce([run.averaged for run in ordered])
    matrix = np.column_stack([run.values[:, 0] for run in ordered])
    kept = averaged & ~np.isnan(matrix).any(axis=1)
    units = cells[0].pair.units
    result = tukey(
        matrix[kept],
        units=None if units is None else units[kept],
        resampling=Resampling(statistics.resamples, statistics.seed),
    )
    return [replace(test, p_corrected=p) for test, p in zip(alone, result.p, strict=True)]


def letters_of(count: int, separate: Iterable[tuple[int, int]]) -> list[str]:
    """The letters of each system: two have one in common unless they are a separate pair."""
    groups = [frozenset(range(count))]
    for first, second in separate:
        split = []
        for group in groups:
            both = first in group and second in group
            split += [group - {first}, group - {second}] if both else [group]
        groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    groups.sort(key=lambda group: sorted(group))
    names = ascii_lowercase if len(groups) <= len(ascii_lowercase) else [f"{number} " for number in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=False) if system in group).strip()
        for system in range(count)
    ]
