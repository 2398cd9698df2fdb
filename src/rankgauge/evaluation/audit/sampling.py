"""Tied documents in random orders, for measures without a closed form.

Every query has its own stream of random bits: its numbers depend on the seed, the query's id and its own ties, not on
other queries or measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, offsets_of
from rankgauge.evaluation.audit.orders import ties_in
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Measure
from rankgauge.stats.seeds import RandomBits, RandomStream

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
