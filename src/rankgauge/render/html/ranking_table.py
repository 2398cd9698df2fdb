"""The ranking of three or more systems, with letters, and the matrix of all pairs."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.comparison.ranking import RankedPair
from rankgauge.comparison.result import Comparison
from rankgauge.comparison.sentences import interval_text
from rankgauge.core.formatting import p_equals
from rankgauge.render.html.text import measure_text


@dataclass(frozen=True)
class PairCell:
    """The better system of a row minus the system of a column."""

    difference: str
    is_significant: bool
    details: str  # its interval and p


@dataclass(frozen=True)
class RankingRow:
    """One system: its value, its letters, and its differences from the systems below it."""

    name: str
    value: str
    letters: str
    cells: tuple[PairCell | None, ...]


@dataclass(frozen=True)
class RankingTable:
    """Systems from the best to the worst."""

    measure: str
    names: tuple[str, ...]
    rows: tuple[RankingRow, ...]


def ranking_table(comparison: Comparison | None) -> RankingTable | None:
    """The matrix; None for fewer than three systems."""
    ranking = None if comparison is None else comparison.ranking
    if comparison is None or ranking is None:
        return None
    pairs = {(pair.first, pair.second): pair for pair in ranking.pairs}
    names = tuple(system.name for system in ranking.systems)
    measure = comparison.scores[0].measures[0]
    rows = tuple(
        RankingRow(
            system.name,
            measure_text(measure, system.value),
            system.letters,
            tuple(_cell(pairs.get((system.name, other))) for other in names[1:]),
        )
        for system in ranking.systems
    )
    return RankingTable(ranking.measure, names[1:], rows)


def _cell(pair: RankedPair | None) -> PairCell | None:
    if pair is None or pair.difference.difference is None:
        return None
    row = pair.difference
    details = ", ".join(part for part in (interval_text(row), p_equals(row.p_corrected)) if part)
    return PairCell(row.text(pair.difference.difference or 0.0), pair.is_significant, details)
