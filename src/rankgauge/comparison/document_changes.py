"""Which documents changed a value: the share of each, such that the shares sum to the difference.

A document's share of a value is what the value gains when its judgment becomes known, from the first rank to the last:
its precision over R for average precision, its discounted gain for nDCG, all of it at the first relevant document for
reciprocal rank. This works for any measure, because only the measure's own kernel is called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats, group_of, within
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels
from rankgauge.measures.column_measures import column_name
from rankgauge.measures.measure import Measure

MAX_JUDGMENTS_IN_MEMORY = 2_000_000


@dataclass(frozen=True)
class DocumentChange:
    """A document in two rankings of one query. A rank is None if it was not retrieved."""

    doc: str
    grade: float
    before: int | None
    after: int | None
    share: float  # of the difference


@dataclass(frozen=True)
class QueryChange:
    """The difference of one query, and the documents that make it up."""

    query: str
    difference: float
    documents: tuple[DocumentChange, ...]  # largest shares first
    unexplained: float  # the part that no document accounts for: 0 for almost every measure


def explain(measure: Measure, qrels: Qrels, before: Hits, after: Hits, query: int) -> QueryChange:
    """Attribute the difference of one query to documents; none makes up that of a column."""
    older, newer = _contributions(measure, before, query), _contributions(measure, after, query)
    changes = [
        DocumentChange(
            qrels.docs[row].decode("utf-8", "surrogateescape"),
            float(qrels.grades[row]),
            older.ranks.get(row),
            newer.ranks.get(row),
            newer.shares.get(row, 0.0) - older.shares.get(row, 0.0),
        )
        for row in sorted({*older.ranks, *newer.ranks} if column_name(measure) is None else ())
    ]
    changes.sort(key=lambda change: (-abs(change.share), change.doc))
    total = (newer.without_any + sum(newer.shares.values())) - (older.without_any + sum(older.shares.values()))
    name = before.queries[query].decode("utf-8", "surrogateescape")
    return QueryChange(name, total, tuple(changes), newer.without_any - older.without_any)


def shares(measure: Measure, hits: Hits) -> Floats:
    """The share of each hit in the value of its query. Hits below a rank may be left out: they change none above it."""
    out = np.zeros(len(hits.rank))
    work = np.cumsum((hits.count + 1) * np.maximum(np.diff(hits.judged_offsets), hits.count))
    for queries in np.split(np.arange(len(hits)), np.flatnonzero(np.diff(work // MAX_JUDGMENTS_IN_MEMORY)) + 1):
        values, size = _values(measure, hits, queries)
        out[within(queries, hits.offsets)] = np.diff(values)[size[1:] > 0]
    return out


class _Contributions(NamedTuple):
    """The rank and the share of each judged document that was retrieved, by its row in the judgments."""

    ranks: dict[int, int]
    shares: dict[int, float]
    without_any: float  # the value if none had been retrieved


def _contributions(measure: Measure, hits: Hits, query: int) -> _Contributions:
    """What the documents of a ranking contribute to the value of its query."""
    begin, end = int(hits.offsets[query]), int(hits.offsets[query + 1])
    values, _ = _values(measure, hits, np.array([query]))
    rows = hits.ordinal[begin:end].tolist()
    return _Contributions(
        dict(zip(rows, hits.rank[begin:end].tolist(), strict=True)),
        dict(zip(rows, np.diff(values).tolist(), strict=True)),
        float(values[0]),
    )


def _values(measure: Measure, hits: Hits, queries: Ints) -> tuple[Floats, Ints]:
    """The value of each query without any hit, with the first, with the first two, …; and its number of hits."""
    prefixes = _prefixes(hits, queries)
    values = measure(prefixes)
    return np.where(np.isnan(values), 0.0, values), prefixes.count


def _prefixes(hits: Hits, queries: Ints) -> Hits:
    """Each query repeated: first without any hit, then with one hit more each time."""
    copies = hits.count[queries] + 1
    here = np.repeat(queries, copies)
    sizes = np.arange(len(here)) - np.repeat(np.cumsum(copies) - copies, copies)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    pseudo = group_of(offsets)
    rows = hits.offsets[here[pseudo]] + np.arange(int(offsets[-1])) - offsets[pseudo]
    judged_offsets = np.concatenate([[0], np.cumsum(np.diff(hits.judged_offsets)[here])]).astype(np.int64)
    return replace(
        hits,
        queries=hits.queries.take(here),
        status=hits.status[here],
        # Measures of gold passages count the text of everything retrieved: the ranking ends after the last hit.
        retrieved=sizes if hits.judgments == "passages" else hits.retrieved[here],
        offsets=offsets,
        rank=hits.rank[rows],
        grade=hits.grade[rows],
        ordinal=hits.ordinal[rows] + (judged_offsets[:-1] - hits.judged_offsets[here])[pseudo],
        tie_first=hits.tie_first[rows],
        tie_last=hits.tie_last[rows],
        judged_offsets=judged_offsets,
        judged=hits.judged[within(here, hits.judged_offsets)],
        columns={name: values[here] for name, values in hits.columns.items()},
        by_group=None if hits.by_group is None else hits.by_group.take(here, hits.judged_offsets),
        answers=None if hits.answers is None else hits.answers.select(here),
    )
