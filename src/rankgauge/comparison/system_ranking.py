"""Three or more systems in the order of the primary measure, and which of them can be distinguished.

All pairs of systems are one family, tested as every other difference, and the differences from the first system are
among them: marks and letters cannot disagree. Two systems have a letter in common exactly if their difference is not
significant. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons,
Journal of Computational and Graphical Statistics 2004.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_lowercase

from rankgauge.comparison.difference_families import (
    Family,
    Hypothesis,
    baseline_family,
    family_columns,
    paired_columns,
    with_queries_needed,
)
from rankgauge.comparison.differences import Difference, Pair, turned
from rankgauge.comparison.significance import family_tests
from rankgauge.comparison.statistics_options import (
    FEWEST_SYSTEMS,
    MOST_SYSTEMS,
    Scope,
    Statistics,
    describe_family,
)
from rankgauge.evaluation.scores import Scores, best_first


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


def family_scope(systems: int, statistics: Statistics, *, is_chosen: bool) -> Scope:
    """What is compared: with a baseline that was chosen, or else all pairs, or too many systems with the best.

    Pairs have no direction, so a one-sided test is of the first system.
    """
    if is_chosen or systems < FEWEST_SYSTEMS or statistics.alternative != "two-sided":
        return "baseline"
    return "all pairs" if systems <= MOST_SYSTEMS else "best"


def compared_families(
    pairs: Sequence[Pair], scores: Sequence[Scores], scope: Scope, statistics: Statistics
) -> tuple[list[Family], SystemRanking | None]:
    """The families of the primary measure and of the others, and the ranking if all pairs are compared."""
    families: list[Family] = []
    ranking: SystemRanking | None = None
    for name, columns in family_columns(pairs).items():
        if scope == "all pairs" and columns == [0]:
            family, ranking = _all_pairs(pairs, scores, statistics)
            families.append(replace(family, name=name))
        elif (against := baseline_family(pairs, columns, statistics)) is not None:
            families.append(replace(against, name=name))
    return families, ranking


def _all_pairs(pairs: Sequence[Pair], scores: Sequence[Scores], statistics: Statistics) -> tuple[Family, SystemRanking]:
    """All pairs on the primary measure: those with the baseline as they are, of others the better one first."""
    base = pairs[0].baseline.run
    ordered = best_first(scores, scores[0].measures[0])
    others = [Pair(*two, statistics) for two in combinations([run for run in ordered if run.run != base], 2)]
    cells = [Hypothesis(pair, 0, pair.shared) for pair in [*pairs, *others]]
    shown = [cell.pair.baseline.run == base for cell in cells]  # what is detectable is known of the baseline's
    tests = family_tests(paired_columns(cells), statistics, sensitivity=shown)
    rows = [
        with_queries_needed(cell.pair.difference(cell.column, cell.queries, test), statistics)
        for cell, test in zip(cells, tests, strict=True)
    ]
    by_pair = {(cell.pair.name, cell.pair.baseline.run): row for cell, row in zip(cells, rows, strict=True)}
    size = sum(row.p_corrected is not None for row in rows)
    description = describe_family(statistics.correction, size, (len(rows), "pair"))
    kept = tuple(row for cell, row in zip(cells, rows, strict=True) if cell.pair.baseline.run == base)
    return Family(kept, size, description), _ranking(ordered, by_pair, statistics)


def _ranking(
    ordered: Sequence[Scores], rows: Mapping[tuple[str, str], Difference], statistics: Statistics
) -> SystemRanking:
    measure = ordered[0].measures[0]
    found, separate = [], []
    for first, second in combinations(range(len(ordered)), 2):
        names = ordered[first].run, ordered[second].run
        row = rows.get(names)
        if row is None:  # the baseline is the better one: its difference from the other was tested
            row = turned(rows[names[1], names[0]], names[0])
        is_apart = row.is_significant(statistics.alpha)
        separate += [(first, second)] if is_apart else []
        found.append(RankedPair(*names, row, is_apart))
    letters = letters_of(len(ordered), separate)
    systems = (RankedSystem(run.run, run[measure], text) for run, text in zip(ordered, letters, strict=True))
    return SystemRanking(measure.name, tuple(systems), tuple(found))


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
