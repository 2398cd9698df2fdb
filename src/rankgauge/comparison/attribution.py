"""What moved a value: the share of each document, such that the shares sum to the difference.

A document's share in a value is what the value gains when its judgment is made known, from the first rank to the last:
for average precision its precision over R, for nDCG its discounted gain, for reciprocal rank all of it at the first
relevant document. Any measure will do, since only its own kernel is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats, group_of, within
from rankgauge.measures.spec import Measure

AT_ONCE = 2_000_000  # judgments that are held in memory together


@dataclass(frozen=True)
class Move:
    """A document in two rankings of one query. A rank is None where it was not retrieved."""

    doc: str
    grade: float
    before: int | None
    after: int | None
    share: float  # of the difference


@dataclass(frozen=True)
class Moves:
    """The difference of one query, and the documents that make it up."""

    query: str
    difference: float
    documents: tuple[Move, ...]  # the largest shares first
    rest: float  # what no document accounts for: 0 for almost every measure


def explain(measure: Measure, qrels: Qrels, before: Hits, after: Hits, query: int) -> Moves:
    """Attribute the difference of one query to documents."""
    qrels = qrels.as_documents()
    ranks_before, shares_before, base_before = _shares(measure, before, query)
    ranks_after, shares_after, base_after = _shares(measure, after, query)
    moves = [
        Move(
            qrels.docs[row].decode("utf-8", "surrogateescape"),
            float(qrels.grades[row]),
            ranks_before.get(row),
            ranks_after.get(row),
            shares_after.get(row, 0.0) - shares_before.get(row, 0.0),
        )
        for row in sorted({*ranks_before, *ranks_after})
    ]
    moves.sort(key=lambda move: (-abs(move.share), move.doc))
    total = (base_after + sum(shares_after.values())) - (base_before + sum(shares_before.values()))
    name = before.queries[query].decode("utf-8", "surrogateescape")
    return Moves(name, total, tuple(moves), base_after - base_before)


def shares(measure: Measure, hits: Hits) -> Floats:
    """The share of each hit in the value of its query. Hits below a rank may be left out: they change none above."""
    out = np.zeros(len(hits.rank))
    work = np.cumsum((hits.count + 1) * np.maximum(np.diff(hits.judged_offsets), hits.count))
    for queries in np.split(np.arange(len(hits)), np.flatnonzero(np.diff(work // AT_ONCE)) + 1):
        values, size = _values(measure, hits, queries)
        out[within(queries, hits.offsets)] = np.diff(values)[size[1:] > 0]
    return out


def _shares(measure: Measure, hits: Hits, query: int) -> tuple[dict[int, int], dict[int, float], float]:
    """The rank and the share of each judged document that was retrieved, and the value without any."""
    begin, end = int(hits.offsets[query]), int(hits.offsets[query + 1])
    values, _ = _values(measure, hits, np.array([query]))
    rows = hits.ordinal[begin:end].tolist()
    return (
        dict(zip(rows, hits.rank[begin:end].tolist(), strict=True)),
        dict(zip(rows, np.diff(values).tolist(), strict=True)),
        float(values[0]),
    )


def _values(measure: Measure, hits: Hits, queries: Ints) -> tuple[Floats, Ints]:
    """The value of each query without any hit, with the first, with the first two, …; and how many hits it has."""
    prefixes = _prefixes(hits, queries)
    values = measure(prefixes)
    return np.where(np.isnan(values), 0.0, values), prefixes.count


def _prefixes(hits: Hits, queries: Ints) -> Hits:
    """Each query as many: the first without any hit, each next one with one hit more."""
    many = hits.count[queries] + 1
    here = np.repeat(queries, many)
    sizes = np.arange(len(here)) - np.repeat(np.cumsum(many) - many, many)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    pseudo = group_of(offsets)
    rows = hits.offsets[here[pseudo]] + np.arange(int(offsets[-1])) - offsets[pseudo]
    judged = np.diff(hits.judged_offsets)[here]
    return replace(
        hits,
        queries=hits.queries.take(here),
        status=hits.status[here],
        retrieved=hits.retrieved[here],
        offsets=offsets,
        rank=hits.rank[rows],
        grade=hits.grade[rows],
        ordinal=hits.ordinal[rows],
        tie_first=hits.tie_first[rows],
        tie_last=hits.tie_last[rows],
        judged_offsets=np.concatenate([[0], np.cumsum(judged)]).astype(np.int64),
        judged=hits.judged[within(here, hits.judged_offsets)],
        columns={name: values[here] for name, values in hits.columns.items()},
    )
