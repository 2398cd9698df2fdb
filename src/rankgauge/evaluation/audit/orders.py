"""Tied documents in their best and in their worst order.

Only documents with a judgment are listed in a join. The others of a tie are known by their number, the size of the tie
less those listed, and take the ranks that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.measures.families.ndcg import gain_of
from rankgauge.measures.spec import Measure

# Measures that never get worse where, of two neighbours, the document with the higher grade moves to the upper place
# (an unjudged one counts as lower than any that is judged). Any order can be sorted by such exchanges, so grades
# descending is a best order of a tie and grades ascending a worst one. Let the exchanged ranks be i and i + 1, g the
# gain of the higher, h ≤ g that of the lower; what stands above and below stays.
#   P R F NumRet Success Rprec, Judged, Unjudged: the number among the first k never falls.
#   RR, FirstRel: the first relevant document moves up or stays.
#   AP, GMAP, YAAP, BinG, IPrec, IPrecAvg, Bpref, GMBpref: as many relevant documents stand above the one that moves,
#     and fewer others; at a cutoff it may come in, which adds.
#   nDCG, nDCGRel, RnDCG, RBP: (g − h) · (weight of i − weight of i + 1) ≥ 0 is added to the sum at every depth from i
#     on; nDCGRel also takes the share of the one that moves at i, where the ideal sum is smaller. RBPResidual: with g
#     for an unjudged document the opposite holds, and less is better.
#   ERR: (P_g − P_h) · (1/i − 1/(i + 1)) is added, and the probability to go on is the same below both.
#   Q: the blended ratio at i grows; at i + 1 its numerator is the same, or it moves to i where the divisor is smaller.
#   SetP … Utility: the order does not count.
# G and infAP have no such argument, Accuracy divides by what stands in the top, FirstRel@k has no value in some orders.
FAVOURS_GRADES = frozenset(
    """
    P R F NumRet Success Rprec Judged Unjudged RR FirstRel AP GMAP YAAP BinG IPrec IPrecAvg Bpref GMBpref
    nDCG nDCGRel RnDCG RBP RBPResidual ERR Q SetP SetR SetAP SetF NumQ NumRel NumNonrelJudgedRet Utility
    """.split()
)
BELOW_ALL = float(np.nextafter(0.0, -1.0))  # where unjudged documents stand among grades: below 0, above any negative


def has_extreme_orders(measure: Measure) -> bool:
    """Whether the best and the worst order of its ties are known."""
    name = measure.definition.name
    return name in FAVOURS_GRADES and not (name == "FirstRel" and measure.cutoff is not None)


@dataclass(frozen=True, eq=False)
class Ties:
    """The sets of documents with one score that hold a listed document; one alone is a set too."""

    number: Ints  # of each hit: its tie
    begins: Ints  # of each tie: its first row among the hits
    query: Ints
    first: Ints  # the first rank
    size: Ints  # how many documents, listed or not
    listed: Ints

    def __len__(self) -> int:
        return len(self.begins)

    def ranks(self) -> tuple[Ints, Ints]:
        """Every rank of every tie: the number of the tie, and the place in it from 0."""
        number = np.repeat(np.arange(len(self)), self.size)
        return number, np.arange(len(number)) - (np.cumsum(self.size) - self.size)[number]


def ties_in(hits: Hits) -> Ties:
    """The ties of a join, by query and rank."""
    fresh = np.ones(len(hits.rank), dtype=bool)
    fresh[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tie_first[1:] != hits.tie_first[:-1])
    begins = np.flatnonzero(fresh)
    return Ties(
        number=np.cumsum(fresh) - 1,
        begins=begins,
        query=hits.query[begins],
        first=hits.tie_first[begins],
        size=(hits.tie_last - hits.tie_first)[begins] + 1,
        listed=np.diff(np.append(begins, len(fresh))),
    )


def tied_queries(hits: Hits) -> Ints:
    """The queries in which a judged document is tied with another."""
    return np.unique(hits.query[hits.tie_first != hits.tie_last])


def extreme_orders(hits: Hits, measure: Measure) -> tuple[Hits, Hits]:
    """The join with every tie in its best and in its worst order, for a measure that has them."""
    gains = dict(measure.parameters).get("gains")
    if gains:  # which may give a lower grade the higher gain, and some a negative one
        worth, unjudged = gain_of(measure["gain"], gains)(hits.grade), 0.0
    else:
        worth, unjudged = hits.grade, BELOW_ALL
    return ordered(hits, -worth, -unjudged), ordered(hits, worth, unjudged)


def ordered(hits: Hits, key: Floats, unjudged: float) -> Hits:
    """The join with every tie sorted by a key, ascending, that unjudged documents have too."""
    ties = ties_in(hits)
    by = np.lexsort((key, ties.number))
    place = np.arange(len(by)) - ties.begins[ties.number]
    from_end = hits.tie_last - ties.listed[ties.number] + 1 + place
    rank = np.where(key[by] < unjudged, hits.tie_first + place, from_end)
    return replace(hits, rank=rank, grade=hits.grade[by], ordinal=hits.ordinal[by])


def straddled(hits: Hits, measure: Measure) -> NDArray[np.bool_]:
    """For each query, whether a tie that holds a judged document straddles the cutoff of a measure."""
    hits, parameters = measure.applied(hits)
    depth = depths(hits, parameters.get("cutoff"))[hits.query]
    found = np.zeros(len(hits), dtype=bool)
    found[hits.query[(hits.tie_first <= depth) & (hits.tie_last > depth)]] = True
    return found


def depths(hits: Hits, cutoff: int | Ints | None) -> Ints:
    """The cutoff of each query: beyond every rank where there is none."""
    deepest = max(int(hits.retrieved.max(initial=0)), int(hits.tie_last.max(initial=0)))
    return np.broadcast_to(np.asarray(deepest if cutoff is None else cutoff, dtype=np.int64), len(hits))
