"""The rank column: whole numbers from 1, each once a query, in the order of the scores.

Evaluation never looks at it; whoever reads the file, or cuts it by rank, does. Each function finds rows; what one
fault explains is not named a second time by another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.core.tables import count_by
from rankgauge.errors import shown
from rankgauge.io.checks.ranks import CODE, EXPECTED, said
from rankgauge.io.checks.ranks import contradictions as ranks_against_scores
from rankgauge.validation.table import NONE, Table

REVERSED = 0.9  # from this share of neighbours on, scores that grow with the rank are no accident


def check(table: Table) -> None:
    """All that can be wrong with the ranks."""
    ranks = table.ranks
    rank = table.rows.rank
    if ranks is None or rank is None:
        return
    # A reader that makes scores of ranks has looked at these itself.
    bad = NONE if table.has("rank") else no_number(table)
    table.add("rank", bad, expected="a whole number as rank", found=lambda at: shown(rank[int(bad[at])]))
    first, again = (NONE, NONE) if table.has("duplicate-rank") else repeated(table)
    table.add(
        "duplicate-rank",
        again,
        expected="each rank once a query",
        found=lambda at: (
            f"rank {ranks[again[at]]:.0f} of {table.of(int(again[at]))} again{table.first_on(int(first[at]))}"
        ),
    )
    before, after = gaps(table)
    table.add(
        "rank-gap",
        after,
        expected="ranks without gaps",
        found=lambda at: f"rank {ranks[after[at]]:.0f} after {ranks[before[at]]:.0f} in {table.of(int(after[at]))}",
    )
    lowest = late_starts(table)
    table.add(
        "rank-start",
        lowest,
        expected="ranks from 1",
        found=lambda at: f"ranks from {ranks[lowest[at]]:.0f} in {table.of(int(lowest[at]))}",
    )
    higher, lower = contradictions(table)
    pairs = max(1, len(table) - len(table.queries))
    backwards = "are the scores distances? negate them" if len(lower) > REVERSED * pairs else None
    score = table.rows.value
    table.add(
        CODE,
        lower,
        expected=EXPECTED,
        found=lambda at: said(ranks, score, int(higher[at]), int(lower[at]), table.of(int(lower[at]))),
        action=backwards,
    )


def faulty_queries(table: Table) -> Ints:
    """The queries whose ranks have any fault."""
    if table.ranks is None:
        return NONE
    rows = [no_number(table), repeated(table)[1], gaps(table)[1], late_starts(table), contradictions(table)[1]]
    return np.unique(table.query[np.concatenate(rows)])


def no_number(table: Table) -> Ints:
    """The rows whose rank is no whole number."""
    return np.flatnonzero(np.isnan(table.ranks)) if table.ranks is not None else NONE


def repeated(table: Table) -> tuple[Ints, Ints]:
    """Pairs of rows with the same rank in the same query: (an earlier row, the later one)."""
    one, other, ranks = _neighbours(table)
    same = ranks[one] == ranks[other]
    return one[same], other[same]


def gaps(table: Table) -> tuple[Ints, Ints]:
    """Pairs of rows between whose ranks one is missing, unless a line between them could not be read."""
    one, other, ranks = _neighbours(table)
    wide = (ranks[other] > ranks[one] + 1) & ~_ambiguous(table)[table.query[one]]
    one, other = one[wide], other[wide]
    whole = ~_skipped_between(table, table.rows.line[one], table.rows.line[other])
    return one[whole], other[whole]


def late_starts(table: Table) -> Ints:
    """The best-ranked row of each query that does not begin at 1, unless the line above could not be read."""
    order, ranks = _by_rank(table)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = table.query[order[1:]] != table.query[order[:-1]]
    lowest = order[begins]
    lowest = lowest[(ranks[lowest] != 1) & ~_ambiguous(table)[table.query[lowest]]]
    line = table.rows.line
    above = np.where(lowest > 0, line[lowest - 1], 0)
    found: Ints = lowest[~_skipped_between(table, above, line[lowest])]
    return found


def contradictions(table: Table) -> tuple[Ints, Ints]:
    """Pairs of rows next to each other in rank of which the lower-ranked has the higher score."""
    if table.ranks is None:
        return NONE, NONE
    return ranks_against_scores(table.query, table.ranks, table.rows.value)


def _by_rank(table: Table) -> tuple[Ints, NDArray[np.float64]]:
    """The rows that have a rank, by query and rank; all the ranks."""
    ranks = table.ranks if table.ranks is not None else np.full(len(table), np.nan)
    order = np.lexsort((ranks, table.query)) if _messy(table, ranks) else np.arange(len(ranks))
    return order[~np.isnan(ranks[order])], ranks


def _messy(table: Table, ranks: NDArray[np.float64]) -> bool:
    """Whether the rows do not stand by query and rank as they are."""
    step = table.query[1:] - table.query[:-1]
    return not bool(np.all((step > 0) | ((step == 0) & (ranks[1:] >= ranks[:-1]))))


def _neighbours(table: Table) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Pairs of rows that follow each other in a query by rank, and all the ranks."""
    order, ranks = _by_rank(table)
    together = table.query[order[1:]] == table.query[order[:-1]]
    return order[:-1][together], order[1:][together], ranks


def _ambiguous(table: Table) -> NDArray[np.bool_]:
    """The queries with a rank that is repeated or no number: what is missing there cannot be told."""
    rows = np.concatenate([no_number(table), repeated(table)[1]])
    return count_by(table.query[rows], len(table.queries)) > 0


def _skipped_between(table: Table, one: Ints, other: Ints) -> NDArray[np.bool_]:
    """Whether a line that could not be read stands between two lines."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    found: NDArray[np.bool_] = np.searchsorted(table.skipped, high) > np.searchsorted(table.skipped, low)
    return found
