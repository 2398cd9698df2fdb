"""The rank column beside the scores. Evaluation goes by the scores; where the ranks say another order, one is wrong.

Two rows of a query contradict each other if they are next to each other in rank and the lower-ranked has the higher
score. To see that costs as much as to read the scores, so not every rank is read: of a query whose scores never grow
from row to row the first ten and every fiftieth must not fall; of every other query, and where one falls, all are read.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import WORD_BYTES, Ids, Ints, Words
from rankgauge.core.ranking import comparable
from rankgauge.core.tables import Floats, within
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import decimals

CODE = "rank-order"
EXPECTED = "scores that do not grow with the rank"
Cells = Callable[[Ints], Ids]  # those of some rows
CLOSELY, SPARSELY = 10, 50  # the first so many rows of a query, and every so-manieth


def add_contradictions(
    faults: Faults, line: Ints, query: Callable[[int], bytes], rank: Cells, scores: Floats, offsets: Ints
) -> None:
    """A warning for each row whose rank contradicts the scores. The rows stand by query; the cells are asked for."""
    odd = np.zeros(len(offsets) - 1, dtype=bool)
    odd[_growing(scores, offsets)] = True
    odd[_falling(rank, offsets)] = True
    suspect = np.flatnonzero(odd)
    if not len(suspect):
        return
    rows = within(suspect, offsets)
    ranks = numbers(rank(rows))
    higher, lower = contradictions(np.repeat(suspect, np.diff(offsets)[suspect]), ranks, scores[rows])
    by = np.argsort(line[rows[lower]], kind="stable")
    higher, lower = higher[by], lower[by]
    faults.add(
        CODE,
        line[rows[lower]],
        expected=EXPECTED,
        found=lambda at: said(
            ranks, scores[rows], int(higher[at]), int(lower[at]), f"query {shown(query(int(rows[lower[at]])))}"
        ),
        severity="warning",
    )


def contradictions(query: Ints, ranks: Floats, scores: Floats) -> tuple[Ints, Ints]:
    """Pairs of rows next to each other in rank of which the second has the higher score. A rank of NaN is none."""
    order = np.lexsort((ranks, query))
    order = order[~np.isnan(ranks[order])]
    one, other = order[:-1], order[1:]
    key = comparable(scores, "trec_eval-9")
    grows = (query[one] == query[other]) & (key[other] > key[one]) & (ranks[other] > ranks[one])
    return one[grows], other[grows]


def said(ranks: Floats, scores: Floats, higher: int, lower: int, query: str) -> str:
    """Two rows that contradict each other, for a message."""
    return (
        f"score {scores[lower]:g} at rank {ranks[lower]:.0f}, {scores[higher]:g} at rank {ranks[higher]:.0f} of {query}"
    )


def numbers(rank: Ids) -> Floats:
    """What the column says: whole numbers, NaN where it holds none."""
    values, bad = decimals.read(rank)
    values[bad] = np.nan
    values[np.floor(values) != values] = np.nan
    return values


def _growing(scores: Floats, offsets: Ints) -> Ints:
    """The queries in which a score is higher than the one before, once for each."""
    grows = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    query: Ints = np.searchsorted(offsets, grows, side="right") - 1
    found: Ints = query[offsets[query] != grows]
    return found


def _falling(rank: Cells, offsets: Ints) -> Ints:
    """The queries in which one of the ranks looked at is lower than the one before it, once for each."""
    sizes = np.diff(offsets)
    looked = np.minimum(sizes, CLOSELY) + np.maximum(sizes - 1, 0) // SPARSELY
    ends = np.cumsum(looked)
    place = np.arange(int(ends[-1])) - np.repeat(ends - looked, looked)
    deep = place >= CLOSELY
    place[deep] = (place[deep] - CLOSELY + 1) * SPARSELY
    key = _sortable(rank(np.repeat(offsets[:-1], looked) + place))
    falls = np.flatnonzero(key[1:] < key[:-1]) + 1
    query: Ints = np.searchsorted(ends, falls, side="right")
    found: Ints = query[(ends - looked)[query] != falls]
    return found


def _sortable(rank: Ids) -> Words:
    """Numbers in the order of whole numbers without leading zeros, at a fraction of the cost of reading them."""
    unused = np.uint64(WORD_BYTES) * (np.uint64(WORD_BYTES) - np.minimum(rank.length, WORD_BYTES).astype(np.uint64))
    return rank.words(0).byteswap() >> unused
