"""Tied documents in their best and their worst order, and in orders drawn at random.

A join contains only judged documents. The number of unjudged documents of a tie is its size minus its hits; they take
the remaining ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, offsets_of
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.measures.aggregates import total
from rankgauge.measures.families.ndcg import gain_of
from rankgauge.measures.measure import Measure
from rankgauge.stats.draws import RandomBits, RandomStream

# Measures that never get worse if, of two neighbors, the document with the higher grade moves up (an unjudged document
# counts as lower than any judged one). Any order can be sorted by such exchanges, so descending grades are a best order
# of a tie and ascending grades a worst one. Let the exchanged ranks be i and i + 1, g the gain of the higher grade and
# h ≤ g that of the lower one; everything above and below stays the same.
#   P R F NumRet Success Rprec, Judged, Unjudged: the number among the first k never decreases.
#   RR, FirstRel: the first relevant document moves up or stays.
#   AP, GMAP, YAAP, BinG, IPrec, IPrecAvg, Bpref, GMBpref: the document that moves up has the same number of relevant
#     documents above it and fewer others; it may move into the cutoff, which adds.
#   nDCG, nDCGRel, RnDCG, RBP: (g − h) · (weight of i − weight of i + 1) ≥ 0 is added to the sum at every depth from i
#     on; nDCGRel also takes the ratio of the document that moves at i, where the ideal sum is smaller. RBPResidual:
#     with g for an unjudged document the opposite holds, and lower is better.
#   ERR: (P_g − P_h) · (1/i − 1/(i + 1)) is added, and the probability of continuing is the same below both.
#   Q: the blended ratio at i grows; at i + 1 its numerator is the same, or it moves to i with its smaller divisor.
#   SetP … Utility: the order does not matter.
# There is no such argument for G and infAP; Accuracy divides by the documents in the top; FirstRel@k has no value in
# some orders.
FAVORS_GRADES = frozenset(
    """
    P R F NumRet Success Rprec Judged Unjudged RR FirstRel AP GMAP YAAP BinG IPrec IPrecAvg Bpref GMBpref
    nDCG nDCGRel RnDCG RBP RBPResidual ERR Q SetP SetR SetAP SetF NumQ NumRel NumNonrelJudgedRet Utility
    """.split()
)
UNJUDGED_KEY = float(np.nextafter(0.0, -1.0))  # of unjudged documents among grades: below 0, above any negative


def has_extreme_orders(measure: Measure) -> bool:
    """Whether the best and the worst order of ties are known for a measure."""
    name = measure.definition.name
    if name in ("nDCGRel", "RnDCG") and dict(measure.parameters)["gains"]:
        return False  # gains of its own need not grow with the grades that decide which ranks count
    return name in FAVORS_GRADES and not (name == "FirstRel" and measure.cutoff is not None)


@dataclass(frozen=True, eq=False)
class Ties:
    """The groups of documents with equal scores that contain a hit; an untied hit is a group of one."""

    number: Ints  # the tie of each hit
    begins: Ints  # the first row of each tie among the hits
    query: Ints
    first: Ints  # the first rank
    size: Ints  # the number of documents, hits or not
    hits: Ints  # the number of hits

    def __len__(self) -> int:
        return len(self.begins)

    def ranks(self) -> tuple[Ints, Ints]:
        """Every rank of every tie: the number of the tie, and the position in it from 0."""
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
        hits=np.diff(np.append(begins, len(fresh))),
    )


def tied_queries(hits: Hits) -> Ints:
    """The queries in which a judged document is tied with another document."""
    return np.unique(hits.query[hits.tie_first != hits.tie_last])


def extreme_orders(hits: Hits, measure: Measure) -> tuple[Hits, Hits]:
    """The join with every tie in its best and in its worst order, for a measure with known extreme orders."""
    gains = dict(measure.parameters).get("gains")
    if gains:  # a lower grade may have a higher gain, and gains may be negative
        worth, unjudged = gain_of(measure["gain"], gains)(hits.grade), 0.0
    else:
        worth, unjudged = hits.grade, UNJUDGED_KEY
    return ordered(hits, -worth, -unjudged), ordered(hits, worth, unjudged)


def ordered(hits: Hits, key: Floats, unjudged: float) -> Hits:
    """The join with every tie sorted by an ascending key; ``unjudged`` is the key of unjudged documents."""
    ties = ties_in(hits)
    by = np.lexsort((key, ties.number))
    position = np.arange(len(by)) - ties.begins[ties.number]
    from_end = hits.tie_last - ties.hits[ties.number] + 1 + position
    rank = np.where(key[by] < unjudged, hits.tie_first + position, from_end)
    return replace(hits, rank=rank, grade=hits.grade[by], ordinal=hits.ordinal[by])


def straddled(hits: Hits, measure: Measure) -> NDArray[np.bool_]:
    """For each query, whether a tie with a judged document straddles the cutoff of a measure."""
    hits, parameters = measure.applied(hits)
    depth = depths(hits, parameters.get("cutoff"))[hits.query]
    straddling = np.zeros(len(hits), dtype=bool)
    straddling[hits.query[(hits.tie_first <= depth) & (hits.tie_last > depth)]] = True
    return straddling


def depths(hits: Hits, cutoff: int | Ints | None) -> Ints:
    """The cutoff of each query; the deepest rank of all if there is none."""
    deepest = max(int(hits.retrieved.max(initial=0)), int(hits.tie_last.max(initial=0)))
    return np.broadcast_to(np.asarray(deepest if cutoff is None else cutoff, dtype=np.int64), len(hits))


# Tied documents in random orders, for measures without a closed form.
#
# Every query has its own stream of random bits: its numbers depend on the seed, the query's id and its own ties, not
# on other queries or measures.

SHUFFLED_AT_ONCE = 1 << 22  # ranks; the result does not depend on it


@dataclass(frozen=True, eq=False)
class Sampled:
    """The values of a measure over random orders, per query; NaN if it never had a value."""

    mean: Floats
    variance: Floats
    low: Floats
    high: Floats


def sample(hits: Hits, measures: Sequence[Measure], *, samples: int, seed: int) -> list[Sampled]:
    """Evaluate each measure over random orders of all ties."""
    out = [Sampled(*(np.full(len(hits), np.nan) for _ in range(4))) for _ in measures]
    for query in range(len(hits)):
        stream = RandomStream(seed, ("ties", hits.queries[query].decode("utf-8", "surrogateescape")))
        shuffled = _shuffled(hits, query, samples, stream.bits())
        for measure, result in zip(measures, out, strict=True):
            values = measure(shuffled)
            values = values[~np.isnan(values)]
            if len(values):
                mean = total(values) / len(values)
                result.mean[query] = mean
                result.variance[query] = total((values - mean) ** 2) / max(len(values) - 1, 1)
                result.low[query], result.high[query] = values.min(), values.max()
    return out


def _shuffled(hits: Hits, query: int, samples: int, bits: RandomBits) -> Hits:
    """One query repeated as many, each with its ties in a random order."""
    single = _single(hits, query)
    rank = _random_ranks(single, samples, bits)
    by = np.argsort(rank, axis=1)
    each = np.arange(samples)
    width, judged = len(single.rank), len(single.judged)
    return replace(
        single,
        queries=single.queries.take(np.zeros(samples, dtype=np.int64)),
        status=np.repeat(single.status, samples),
        retrieved=np.repeat(single.retrieved, samples),
        offsets=offsets_of(np.repeat(each, width), samples),
        rank=np.take_along_axis(rank, by, axis=1).reshape(-1),
        grade=single.grade[by].reshape(-1),
        ordinal=(single.ordinal[by] + each[:, None] * judged).reshape(-1),
        tie_first=np.tile(single.tie_first, samples),
        tie_last=np.tile(single.tie_last, samples),
        judged_offsets=offsets_of(np.repeat(each, judged), samples),
        judged=np.tile(single.judged, samples),
        columns={name: np.repeat(values, samples) for name, values in single.columns.items()},
        by_group=None
        if single.by_group is None
        else single.by_group.take(np.zeros(samples, dtype=np.int64), single.judged_offsets),
    )


def _single(hits: Hits, query: int) -> Hits:
    """A single query. Hits.select would read every row, for every query."""
    rows = slice(*hits.offsets[query : query + 2])
    judged = slice(*hits.judged_offsets[query : query + 2])
    return replace(
        hits,
        queries=hits.queries.take(np.array([query])),
        status=hits.status[query : query + 1],
        retrieved=hits.retrieved[query : query + 1],
        offsets=np.array([0, rows.stop - rows.start]),
        rank=hits.rank[rows],
        grade=hits.grade[rows],
        ordinal=hits.ordinal[rows] - judged.start,
        tie_first=hits.tie_first[rows],
        tie_last=hits.tie_last[rows],
        judged_offsets=np.array([0, judged.stop - judged.start]),
        judged=hits.judged[judged],
        columns={name: values[query : query + 1] for name, values in hits.columns.items()},
        by_group=None if hits.by_group is None else hits.by_group.take(np.array([query]), hits.judged_offsets),
    )


def _random_ranks(single: Hits, samples: int, bits: RandomBits) -> Ints:
    """For each sample, a rank of its own tie for each hit of a query, all different."""
    ties = ties_in(single)
    out = np.tile(single.rank, (samples, 1))
    for begin, first, size, count in zip(ties.begins, ties.first, ties.size, ties.hits, strict=True):
        if size > 1:
            out[:, begin : begin + count] = first + _random_positions(int(size), int(count), samples, bits)
    return out


def _random_positions(size: int, count: int, samples: int, bits: RandomBits) -> Ints:
    """Distinct random numbers below a size, for each sample: the first steps of a Fisher–Yates shuffle."""
    bound = np.arange(size, size - count, -1, dtype=np.uint64)
    words = bits.bytes(samples, 8 * count).view(np.dtype("<u8")) >> np.uint64(32)
    step = ((words * bound) >> np.uint64(32)).astype(np.int64)  # off by less than size / 2³², as RandomBits.below
    out = np.empty((samples, count), dtype=np.int64)
    for start in range(0, samples, max(1, SHUFFLED_AT_ONCE // size)):
        part = step[start : start + max(1, SHUFFLED_AT_ONCE // size)]
        row = np.arange(len(part))
        deck = np.tile(np.arange(size), (len(part), 1))
        for position in range(count):
            chosen = position + part[:, position]
            out[start + row, position] = deck[row, chosen]
            deck[row, chosen] = deck[:, position]
    return out
