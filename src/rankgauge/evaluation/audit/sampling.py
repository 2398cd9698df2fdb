"""Tied documents in random orders, where no closed form is known.

Every query has a stream of random bits of its own: its numbers depend on the seed, on the query's id and on its own
ties, not on other queries or other measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, offsets_of
from rankgauge.evaluation.audit.orders import ties_in
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Measure
from rankgauge.stats.seeds import RandomBits, RandomStream

SLOTS = 1 << 22  # how many ranks are shuffled at once; the numbers do not depend on it


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a measure was in random orders, for each query; NaN where it never had a value."""

    mean: Floats
    variance: Floats
    low: Floats
    high: Floats


def sample(hits: Hits, measures: Sequence[Measure], *, samples: int, seed: int) -> list[Sampled]:
    """Each measure over random orders of all ties, one result for each."""
    out = [Sampled(*(np.full(len(hits), np.nan) for _ in range(4))) for _ in measures]
    for query in range(len(hits)):
        stream = RandomStream(seed, ("ties", hits.queries[query].decode("utf-8", "surrogateescape")))
        shuffled = _shuffled(hits, query, samples, stream.source())
        for measure, found in zip(measures, out, strict=True):
            values = measure(shuffled)
            values = values[~np.isnan(values)]
            if len(values):
                mean = total(values) / len(values)
                found.mean[query] = mean
                found.variance[query] = total((values - mean) ** 2) / max(len(values) - 1, 1)
                found.low[query], found.high[query] = values.min(), values.max()
    return out


def _shuffled(hits: Hits, query: int, samples: int, source: RandomBits) -> Hits:
    """One query as many: each with its ties in an order of its own."""
    one = _one(hits, query)
    rank = _random_ranks(one, samples, source)
    by = np.argsort(rank, axis=1)
    each = np.arange(samples)
    width, known = len(one.rank), len(one.judged)
    return Hits(
        queries=one.queries.take(np.zeros(samples, dtype=np.int64)),
        status=np.repeat(one.status, samples),
        retrieved=np.repeat(one.retrieved, samples),
        offsets=offsets_of(np.repeat(each, width), samples),
        rank=np.take_along_axis(rank, by, axis=1).reshape(-1),
        grade=one.grade[by].reshape(-1),
        ordinal=(one.ordinal[by] + each[:, None] * known).reshape(-1),
        tie_first=np.tile(one.tie_first, samples),
        tie_last=np.tile(one.tie_last, samples),
        judged_offsets=offsets_of(np.repeat(each, known), samples),
        judged=np.tile(one.judged, samples),
        columns={name: np.repeat(values, samples) for name, values in one.columns.items()},
    )


def _one(hits: Hits, query: int) -> Hits:
    """A single query. Hits.select would look at every row, for every query."""
    rows = slice(*hits.offsets[query : query + 2])
    judged = slice(*hits.judged_offsets[query : query + 2])
    return Hits(
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
    )


def _random_ranks(one: Hits, samples: int, source: RandomBits) -> Ints:
    """For each sample, a rank for each hit of a query: its own tie's, no two alike."""
    ties = ties_in(one)
    out = np.tile(one.rank, (samples, 1))
    for begin, first, size, listed in zip(ties.begins, ties.first, ties.size, ties.listed, strict=True):
        if size > 1:
            out[:, begin : begin + listed] = first + _places(int(size), int(listed), samples, source)
    return out


def _places(size: int, listed: int, samples: int, source: RandomBits) -> Ints:
    """So many different numbers below a size, in random order, for each sample: the start of a Fisher–Yates shuffle."""
    bound = np.arange(size, size - listed, -1, dtype=np.uint64)
    bits = source.bytes(samples, 8 * listed).view(np.dtype("<u8")) >> np.uint64(32)
    step = ((bits * bound) >> np.uint64(32)).astype(np.int64)  # off by less than size / 2³², as RandomBits.below
    out = np.empty((samples, listed), dtype=np.int64)
    for start in range(0, samples, max(1, SLOTS // size)):
        part = step[start : start + max(1, SLOTS // size)]
        row = np.arange(len(part))
        deck = np.tile(np.arange(size), (len(part), 1))
        for place in range(listed):
            chosen = place + part[:, place]
            out[start + row, place] = deck[row, chosen]
            deck[row, chosen] = deck[:, place]
    return out
