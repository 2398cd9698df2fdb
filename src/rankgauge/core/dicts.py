"""The join of judgments with ``{query: {document: score}}``, without making a run of it.

Each entry of the results is touched once, to get its score; documents are looked up only where they are judged, and ids
are compared only where scores are tied.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import compress, islice, pairwise, repeat
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ranking
from rankgauge.core.hits import Hits, join
from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status, checked_score
from rankgauge.core.tables import Floats, offsets_of, within
from rankgauge.errors import InputError, InputTypeError, shown

BATCH = 1 << 18  # entries
NOT_THERE = float("nan")  # which no score is
DENSE = 16  # from so many hits a row on, a search in each row is quicker than one in all
Results = Mapping[str, Mapping[str, SupportsFloat]]


def join_dict(qrels: Qrels, results: Results, *, compat: ranking.Compat = "trec_eval-9") -> Hits:
    """Rank the results and look up what is judged; the same as joining ``Run.from_dict(results)``."""
    if any(isinstance(key, bytes) for query, row in results.items() for key in (query, *islice(row, 1))):
        return join(qrels, Run.from_dict(results), compat=compat)
    qrels = qrels.as_documents()
    for query in results:
        encode_id(query, "query id")
    batch, found = _Batch(qrels, compat), []
    names = qrels.queries.to_text()
    status = np.full(len(names), Status.MISSING, dtype=np.uint8)
    retrieved = np.zeros(len(names), dtype=np.int64)
    for number, query in enumerate(names):
        row = results.get(query)
        if row is not None:
            _check_row(query, row)
            retrieved[number] = len(row)
            status[number] = Status.ANSWERED if row else Status.EMPTY
            batch.add(number, row)
            if batch.size > BATCH:
                found.append(batch.ranked())
    found.append(batch.ranked())
    batch.tied.resolve()
    return _hits(qrels, found, status, retrieved)


def _check_row(query: str, row: Mapping[str, SupportsFloat]) -> None:
    """See by its first entry that a row maps ids to numbers."""
    if not isinstance(row, Mapping):
        raise InputTypeError(
            f"results of query {shown(query)} must map documents to scores, found {type(row).__name__}"
        )
    for doc, score in islice(row.items(), 1):
        if not isinstance(doc, str) or not isinstance(score, (int, float)):
            encode_id(doc, f"document id of query {shown(query)}")
            checked_score(score, query, doc)


class _Batch:
    """Some queries at once, so that each costs little more than its entries."""

    def __init__(self, qrels: Qrels, compat: ranking.Compat) -> None:
        self.qrels, self.compat, self.tied = qrels, compat, _Tied()
        self.docs, self.ends = qrels.doc_names, qrels.offsets.tolist()
        self._clear()

    def _clear(self) -> None:
        self.size = 0
        self.rows: list[Mapping[str, SupportsFloat]] = []
        self.numbers: list[int] = []
        self.judged: list[SupportsFloat] = []  # the scores of all judged documents; NaN where not retrieved

    def add(self, number: int, row: Mapping[str, SupportsFloat]) -> None:
        """Look up a query's judged documents."""
        self.judged.extend(map(row.get, self.docs[self.ends[number] : self.ends[number + 1]], repeat(NOT_THERE)))
        self.rows.append(row)
        self.numbers.append(number)
        self.size += len(row)

    def ranked(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Where the judged documents stand: ordinal, rank, first and last rank of the tie."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in self.rows])]).astype(np.int64)
        key = ranking.comparable(self._scores(), self.compat)
        scores = np.frombuffer(struct.pack(f"{len(self.judged)}d", *self.judged), dtype=np.float64)
        found = np.flatnonzero(~np.isnan(scores))
        mine = -ranking.comparable(scores[found], self.compat)
        numbers = np.array(self.numbers, dtype=np.int64)
        ordinal = within(numbers, self.qrels.offsets)[found]
        row = np.repeat(np.arange(len(numbers)), np.diff(self.qrels.offsets)[numbers])[found]
        rising = -key
        for messy in _unsorted(rising, offsets).tolist():
            rising[offsets[messy] : offsets[messy + 1]].sort()
        first, last = _places(rising, mine, row, offsets)
        rank = first.copy()
        waits = last > first
        for number in np.unique(row[waits]).tolist():
            part = slice(*np.searchsorted(row, [number, number + 1]).tolist())
            at = np.flatnonzero(waits[part]) + part.start
            judged = [self.docs[place] for place in ordinal[at].tolist()]
            keys = key[offsets[number] : offsets[number + 1]]
            self.tied.add(self.rows[number], keys, -mine[at], judged, rank, at)
        self._clear()
        return ordinal, rank, first, last

    def _scores(self) -> Floats:
        try:
            # struct takes nothing but numbers, where NumPy would read the text '1' as one; and it is quicker.
            packed = b"".join([struct.pack(f"{len(row)}d", *row.values()) for row in self.rows])
            scores = np.frombuffer(packed, dtype=np.float64)
            if not np.isnan(scores).any():
                return scores
        except (struct.error, OverflowError):
            pass
        for number, row in zip(self.numbers, self.rows, strict=True):
            for doc, score in row.items():
                checked_score(score, self.qrels.queries[number].decode("utf-8", "surrogateescape"), doc)
        raise InputError("results hold a score that is no number")


def _unsorted(rising: ranking.Keys, offsets: Ints) -> Ints:
    """The rows whose keys do not strictly rise."""
    wrong = np.flatnonzero(~(rising[:-1] < rising[1:])) + 1
    wrong = wrong[~np.isin(wrong, offsets)]  # from one row to the next they may fall
    return np.unique(np.searchsorted(offsets, wrong, side="right") - 1)


def _places(keys: ranking.Keys, wanted: ranking.Keys, row: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The first and the last rank that each wanted key has in its row of rising keys."""
    at = _found(keys, wanted, row, offsets)
    first = at - offsets[row] + 1
    alone = keys[1:] != keys[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(keys))]
    alone[inner - 1] = True  # from one row to the next there is no tie
    if alone.all():
        return first, first
    ends = np.append(np.flatnonzero(alone), len(keys) - 1)
    return first, ends[np.searchsorted(ends, at)] - offsets[row] + 1


def _found(keys: ranking.Keys, wanted: ranking.Keys, row: Ints, offsets: Ints) -> Ints:
    """The first place among all keys at which each wanted one stands within its row."""
    if len(row) <= DENSE * len(offsets):
        return _bisect(keys, wanted, offsets[row], offsets[row + 1])
    at = np.empty(len(row), dtype=np.int64)
    begins = np.searchsorted(row, np.arange(len(offsets))).tolist()
    for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
        part = slice(begins[number], begins[number + 1])
        at[part] = np.searchsorted(keys[begin:end], wanted[part]) + begin
    return at


def _bisect(keys: ranking.Keys, wanted: ranking.Keys, low: Ints, high: Ints) -> Ints:
    """Where each wanted key belongs within its own part of the keys: a binary search of all at once."""
    while True:
        alive = np.flatnonzero(low < high)
        if not len(alive):
            return low
        middle = (low[alive] + high[alive]) >> 1
        below = keys[middle] < wanted[alive]
        low[alive[below]] = middle[below] + 1
        high[alive[~below]] = middle[~below]


class _Tied:
    """Entries that share the score of a judged one: ranked among themselves by their ids, all queries at once."""

    def __init__(self) -> None:
        self.docs: list[str] = []
        self.group: list[Ints] = []
        self.groups = 0
        self.waiting: list[tuple[Ints, Ints, Ints]] = []  # ranks, which of them wait, and for which entries

    def add(
        self,
        row: Mapping[str, SupportsFloat],
        key: ranking.Keys,
        mine: ranking.Keys,
        judged: list[str],
        rank: Ints,
        at: Ints,
    ) -> None:
        """Remember a query's entries. ``rank[at]`` is the first rank of each tie, and is set right in the end."""
        values = np.unique(mine)
        place = np.minimum(np.searchsorted(values, key), len(values) - 1)
        chosen = values[place] == key
        docs = list(compress(row, chosen.tolist()))
        self.group.append(place[chosen] + self.groups)
        self.groups += len(values)
        where = dict(zip(docs, range(len(self.docs), len(self.docs) + len(docs)), strict=True))
        self.docs += docs
        self.waiting.append((rank, at, np.array([where[doc] for doc in judged], dtype=np.int64)))

    def resolve(self) -> None:
        """Add to each waiting rank how many entries of its tie stand before it."""
        if not self.docs:
            return
        group = np.concatenate(self.group)
        rows = np.argsort(group, kind="stable")
        group = group[rows]
        rows = rows[Ids.from_text(self.docs, "document id").take(rows).order(group, descending=True)]
        before = np.empty(len(rows), dtype=np.int64)
        before[rows] = np.arange(len(rows)) - offsets_of(group, self.groups)[group]
        for rank, at, entries in self.waiting:
            rank[at] += before[entries]


def _hits(qrels: Qrels, found: list[tuple[Ints, Ints, Ints, Ints]], status: NDArray[np.uint8], retrieved: Ints) -> Hits:
    none = np.zeros(0, dtype=np.int64)
    ordinal, rank, first, last = (
        (np.concatenate([none, *part]) for part in zip(*found, strict=True)) if found else [none] * 4
    )
    query = qrels.query[ordinal]
    by = np.argsort(query * (int(rank.max(initial=0)) + 1) + rank)  # a rank is there once a query
    return Hits(
        queries=qrels.queries,
        status=status,
        retrieved=retrieved,
        offsets=offsets_of(query[by], len(qrels.queries)),
        rank=rank[by],
        grade=qrels.grades[ordinal[by]],
        ordinal=ordinal[by],
        tie_first=first[by],
        tie_last=last[by],
        judged_offsets=qrels.offsets,
        judged=qrels.grades,
        columns=qrels.columns,
    )
