"""The join of judgments with ``{query: {document: score}}``, without building a run.

Each entry of the results is touched once, to get its score; only judged documents are looked up, and ids are compared
only if scores are tied. The extension does that if it is there; otherwise, and for anything but dicts of numbers, it is
done with NumPy, many queries at once.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress, islice, repeat
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled, ranking
from rankgauge.core.hits import Hits, join
from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status, checked_score
from rankgauge.core.tables import Floats, offsets_of, within
from rankgauge.errors import InputError, InputTypeError, shown

ENTRIES_PER_BATCH = 1 << 18  # entries
NOT_RETRIEVED = float("nan")  # never a valid score
Row = Mapping[str, SupportsFloat]
Results = Mapping[str, Row]
RankedPart = tuple[Ints, Ints, Ints, Ints]  # ordinal, rank, first and last rank of the tie


def join_dict(qrels: Qrels, results: Results, *, compat: ranking.Compat = "trec_eval-9") -> Hits:
    """Rank the results and look up the judged documents; the same as joining ``Run.from_dict(results)``."""
    kinds = {*map(type, results), *(type(doc) for row in results.values() for doc in islice(row, 1))}
    if any(issubclass(kind, bytes) for kind in kinds):
        return join(qrels, Run.from_dict(results), compat=compat)
    Ids.from_text(results, "query id")  # raises if one is not an id
    names = qrels.queries.names
    rows = [results.get(query) for query in names]
    ranked = _join_compiled(qrels, rows, compat)
    if ranked is None:
        for query, row in zip(names, rows, strict=True):
            if row is not None:
                _check_row(query, row)
        ranked = _join_batches(qrels, rows, compat)
    sizes = np.array([-1 if row is None else len(row) for row in rows], dtype=np.int64)
    status = np.where(sizes > 0, Status.ANSWERED, np.where(sizes < 0, Status.MISSING, Status.EMPTY))
    hits = _hits(qrels, ranked, status.astype(np.uint8), np.maximum(sizes, 0))
    return hits if qrels.by_group is None else replace(hits, by_group=qrels.groups_for(compat))


def _join_compiled(qrels: Qrels, rows: list[Row | None], compat: ranking.Compat) -> RankedPart | None:
    """The judged documents by query and rank; None without the extension, or if it leaves a row to Python."""
    if compiled.scanner is None:
        return None
    offsets = np.ascontiguousarray(qrels.offsets)
    found = compiled.scanner.join_dicts(rows, qrels.doc_names, offsets, compat == "trec_eval-10")
    if found is None:
        return None
    _, rank, first, last, ordinal = np.ascontiguousarray(np.frombuffer(found, dtype=np.int64).reshape(-1, 5).T)
    return ordinal, rank, first, last


def _join_batches(qrels: Qrels, rows: list[Row | None], compat: ranking.Compat) -> RankedPart:
    """The judged documents by query and rank."""
    batch = _Batch(qrels, compat)
    parts: list[RankedPart] = []
    for number, row in enumerate(rows):
        if row is not None:
            batch.add(number, row)
            if batch.size > ENTRIES_PER_BATCH:
                parts.append(batch.ranked())
    parts.append(batch.ranked())
    batch.tied.resolve()
    ordinal, rank, first, last = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    query = qrels.query[ordinal]
    by = np.argsort(query * (int(rank.max(initial=0)) + 1) + rank)  # ranks are unique within a query
    return ordinal[by], rank[by], first[by], last[by]


def _check_row(query: str, row: Row) -> None:
    """Raise unless a row maps ids to numbers, judging by its first entry."""
    if not isinstance(row, Mapping):
        raise InputTypeError(
            f"results of query {shown(query)} must map documents to scores, found {type(row).__name__}"
        )
    for doc, score in islice(row.items(), 1):
        if not isinstance(doc, str) or not isinstance(score, (int, float)):
            encode_id(doc, f"document id of query {shown(query)}")
            checked_score(score, query, doc)


class _Batch:
    """Several queries at once, so that the cost per query is little more than that of its entries."""

    def __init__(self, qrels: Qrels, compat: ranking.Compat) -> None:
        self.qrels, self.compat, self.tied = qrels, compat, _TiedEntries()
        self.docs, self.ends = qrels.doc_names, qrels.offsets.tolist()
        self._clear()

    def _clear(self) -> None:
        self.size = 0
        self.rows: list[Row] = []
        self.numbers: list[int] = []
        self.judged: list[SupportsFloat] = []  # the scores of all judged documents; NaN if not retrieved

    def add(self, number: int, row: Row) -> None:
        """Look up a query's judged documents."""
        self.judged.extend(map(row.get, self.docs[self.ends[number] : self.ends[number + 1]], repeat(NOT_RETRIEVED)))
        self.rows.append(row)
        self.numbers.append(number)
        self.size += len(row)

    def ranked(self) -> RankedPart:
        """The ranks of the judged documents. Those of tied ones are the first of the tie until ties are resolved."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in self.rows])]).astype(np.int64)
        key = ranking.comparable(self._scores(), self.compat)
        judged_scores = np.frombuffer(struct.pack(f"{len(self.judged)}d", *self.judged), dtype=np.float64)
        hits = np.flatnonzero(~np.isnan(judged_scores))
        hit_keys = ranking.comparable(judged_scores[hits], self.compat)
        numbers = np.array(self.numbers, dtype=np.int64)
        ordinal = within(numbers, self.qrels.offsets)[hits]
        row = np.repeat(np.arange(len(numbers)), np.diff(self.qrels.offsets)[numbers])[hits]
        first, last = ranking.tie_ranks(key, offsets, hit_keys, row)
        rank = first.copy()
        tied = last > first
        for number in np.unique(row[tied]).tolist():
            part = slice(*np.searchsorted(row, [number, number + 1]).tolist())
            at = np.flatnonzero(tied[part]) + part.start
            judged_docs = [self.docs[document] for document in ordinal[at].tolist()]
            keys = key[offsets[number] : offsets[number + 1]]
            docs = self.tied.add(self.rows[number], keys, hit_keys[at])
            self.tied.wait(rank, at, [docs[doc] for doc in judged_docs])
        self._clear()
        return ordinal, rank, first, last

    def _scores(self) -> Floats:
        try:
            # struct accepts only numbers, while NumPy would read the text '1' as one; and it is faster.
            packed = b"".join([struct.pack(f"{len(row)}d", *row.values()) for row in self.rows])
            scores = np.frombuffer(packed, dtype=np.float64)
            if not np.isnan(scores).any():
                return scores
        except (struct.error, OverflowError):
            pass
        for number, row in zip(self.numbers, self.rows, strict=True):
            for doc, score in row.items():
                checked_score(score, self.qrels.queries[number].decode("utf-8", "surrogateescape"), doc)
        raise InputError("results contain a score that is not a number")


class _TiedEntries:
    """Entries that share the score of a judged document: ranked by their ids, for all queries at once."""

    def __init__(self) -> None:
        self.docs: list[str] = []
        self.ties: list[Ints] = []  # the number of the tie of each document
        self.tie_count = 0
        self.waiting: list[tuple[Ints, Ints, Ints]] = []  # ranks, which of them are tied, and their entries here

    def add(self, row: Row, key: ranking.Keys, hit_keys: ranking.Keys) -> dict[str, int]:
        """Remember the entries of a query that are tied with its hits: the entry number of each document."""
        values = np.unique(hit_keys)
        tie = np.minimum(np.searchsorted(values, key), len(values) - 1)
        chosen = values[tie] == key
        docs = list(compress(row, chosen.tolist()))
        self.ties.append(tie[chosen] + self.tie_count)
        self.tie_count += len(values)
        begin = len(self.docs)
        self.docs += docs
        return dict(zip(docs, range(begin, begin + len(docs)), strict=True))

    def wait(self, rank: Ints, at: Ints, entries: list[int]) -> None:
        """Remember ranks to be corrected: ``rank[at]`` is the first rank of the tie of each entry."""
        self.waiting.append((rank, at, np.array(entries, dtype=np.int64)))

    def resolve(self) -> None:
        """Add to each waiting rank the number of entries ranked before it in its tie."""
        if not self.docs:
            return
        docs = Ids.from_text(self.docs, "document id")
        before = ranking.ranks_within_ties(docs, np.concatenate(self.ties), self.tie_count)
        for rank, at, entries in self.waiting:
            rank[at] += before[entries]


def _hits(qrels: Qrels, ranked: RankedPart, status: NDArray[np.uint8], retrieved: Ints) -> Hits:
    ordinal, rank, first, last = ranked
    return Hits(
        queries=qrels.queries,
        status=status,
        retrieved=retrieved,
        offsets=offsets_of(qrels.query[ordinal], len(qrels.queries)),
        rank=rank,
        grade=qrels.grades[ordinal],
        ordinal=ordinal,
        tie_first=first,
        tie_last=last,
        judged_offsets=qrels.offsets,
        judged=qrels.grades,
        columns=qrels.columns,
    )
