"""What moved a value: the share of each document, such that the shares sum to the difference.

A document's share in a value is what the value gains when its judgment is made known, from the first rank to the last:
for average precision its precision over R, for nDCG its discounted gain, for reciprocal rank all of it at the first
relevant document. Any measure will do, since only its own kernel is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.measures.spec import Measure


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


def _shares(measure: Measure, hits: Hits, query: int) -> tuple[dict[int, int], dict[int, float], float]:
    """The rank and the share of each judged document that was retrieved, and the value without any."""
    begin, end = int(hits.offsets[query]), int(hits.offsets[query + 1])
    values = measure(_prefixes(hits, query))
    values = np.where(np.isnan(values), 0.0, values)
    rows = hits.ordinal[begin:end].tolist()
    return (
        dict(zip(rows, hits.rank[begin:end].tolist(), strict=True)),
        dict(zip(rows, np.diff(values).tolist(), strict=True)),
        float(values[0]),
    )


def _prefixes(hits: Hits, query: int) -> Hits:
    """One query as many: the first without any hit, each next one with one hit more."""
    begin, end = int(hits.offsets[query]), int(hits.offsets[query + 1])
    many = end - begin + 1
    sizes = np.arange(many)
    ends = np.cumsum(sizes)
    rows = begin + np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
    judged = hits.judged[hits.judged_offsets[query] : hits.judged_offsets[query + 1]]
    here = np.full(many, query)
    return replace(
        hits,
        queries=hits.queries.take(here),
        status=hits.status[here],
        retrieved=hits.retrieved[here],
        offsets=np.concatenate([[0], ends]),
        rank=hits.rank[rows],
        grade=hits.grade[rows],
        ordinal=hits.ordinal[rows],
        tie_first=hits.tie_first[rows],
        tie_last=hits.tie_last[rows],
        judged_offsets=np.arange(many + 1) * len(judged),
        judged=np.tile(judged, many),
        columns={name: values[here] for name, values in hits.columns.items()},
    )
