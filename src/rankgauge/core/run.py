"""A run: the scored documents that a system returned for each query."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ranking
from rankgauge.core.arrays import Column, Floats, checked_number, frozen, group_of, offsets_of, within
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids, Ints, encode_id, repeated
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, InputTypeError, found_text, shown

OnDuplicate = Literal["error", "first"]
ScoreMeaning = Literal["similarity", "distance", "ignore"]


class Status(IntEnum):
    """The outcome of a query."""

    ANSWERED = 0
    EMPTY = 1  # asked, but nothing was returned
    FAILED = 2  # asked, but the system failed: not scored as zero
    MISSING = 3  # judged, but not in the run


@dataclass(frozen=True)
class QueryNumbers:
    """A number of each query that came with the results; ``fault`` is the error for the first other value."""

    numbers: Mapping[str, float] = field(default_factory=dict)  # by query id
    fault: InputError | None = None


@dataclass(frozen=True)
class RunExtras:
    """What came with the results besides ids and scores, as a live retriever or a log gives it.

    A text is None if the same document came with two. Metadata is that of the document's first appearance. ``given``
    has, by query id and document, the scores of lists whose order they do not give; a list without scores has none.
    """

    texts: Mapping[str, str | None] = field(default_factory=dict)  # by document id
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by document id
    latency_ms: Mapping[str, float] = field(default_factory=dict)  # by query id, of answered queries
    errors: Mapping[str, str] = field(default_factory=dict)  # by query id, of queries that failed
    requested_k: int | None = None  # how many results each query was asked for
    ids_change: bool = False  # whether the same query, asked twice, had results with other ids
    judged_path: str | None = None  # where results without a judged id have one: metadata.source
    refused: Mapping[str, bool] = field(default_factory=dict)  # by query id, if the system says whether it answered
    tokens: Mapping[str, float] = field(default_factory=dict)  # by query id
    cost: Mapping[str, float] = field(default_factory=dict)  # by query id, in the user's currency
    system: str | None = None  # whose results they are, if a log says so in every row
    collection: str | None = None
    logged_k: int | None = None  # how many results each query was asked for when a log was written
    given: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # scores that do not give the order
    numbers: Mapping[str, QueryNumbers] = field(default_factory=dict)  # other columns, which may be measures

    def to_dict(self) -> dict[str, Any]:
        """Latency and failures for JSON."""
        times = list(self.latency_ms.values())
        return {
            "requested_k": self.requested_k,
            "latency_ms": latency_percentiles(times) if times else None,
            "errors": dict(self.errors),
            **{name: value for name, value in self.figures().items() if not name.endswith("latency")},
        }

    def with_given(self, other: RunExtras | None) -> RunExtras:
        """With the given scores of further queries."""
        return replace(self, given={**self.given, **other.given}) if other is not None and other.given else self

    def figures(self) -> dict[str, float]:
        """What a run costs: percentiles of latency in milliseconds, tokens and money per query and in total."""
        figures: dict[str, float] = {}
        if self.latency_ms:
            times = latency_percentiles(list(self.latency_ms.values()))
            figures |= {f"{name}_latency": value for name, value in times.items()}
        for name, values in (("tokens", self.tokens), ("cost", self.cost)):
            if values:
                total = math.fsum(values.values())
                figures |= {f"mean_{name}": total / len(values), f"total_{name}": total}
        return figures

    @property
    def is_live(self) -> bool:
        """Whether a retriever was asked now: what it took differs from run to run, and is not part of tables."""
        return self.requested_k is not None

    def by_query(self) -> dict[str, Mapping[str, float]]:
        """Milliseconds, tokens and money by query id; what no query has is left out."""
        columns = {"ms": self.latency_ms, "tokens": self.tokens, "cost": self.cost}
        return {title: values for title, values in columns.items() if values}


LATENCY_PERCENTILES = (50, 95, 99)
FIGURES = (
    *(f"p{percent}_latency" for percent in LATENCY_PERCENTILES),
    *("max_latency", "mean_tokens", "total_tokens", "mean_cost", "total_cost"),
)


SHOWN_FIGURES = {"p95_latency": "p95 ms", "mean_tokens": "tokens", "mean_cost": "cost"}  # the titles of their columns


def latency_percentiles(times: Sequence[float]) -> dict[str, float]:
    """``p50``, ``p95``, ``p99`` and ``max`` of at least one time.

    Each is a time that was measured: the smallest that at least p percent of the times do not exceed (nearest rank).
    """
    ordered = sorted(times)
    ranks = {f"p{percent}": max(1, -(-percent * len(ordered) // 100)) for percent in LATENCY_PERCENTILES}
    return {name: ordered[rank - 1] for name, rank in {**ranks, "max": len(ordered)}.items()}


def given_scores(queries: Ids, offsets: Ints, docs: Ids, scores: Floats, numbers: Ints) -> dict[str, dict[str, float]]:
    """The scores of some queries, by query id and document."""
    names, given = queries.take(numbers).to_text(), dict[str, dict[str, float]]()
    for name, number in zip(names, numbers.tolist(), strict=True):
        rows = np.arange(offsets[number], offsets[number + 1])
        given[name] = dict(zip(docs.take(rows).to_text(), scores[rows].tolist(), strict=True))
    return given


@dataclass(frozen=True, eq=False)
class Run(HtmlView):
    """Results grouped by query, in the order of their arrival. ``extras`` is no part of its hash."""

    name: str
    queries: Ids
    offsets: Ints
    docs: Ids
    scores: Floats
    status: NDArray[np.uint8]
    source_sha256: str | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    extras: RunExtras | None = None
    holds_empty: bool = False  # whether an empty result would be there: a query that is not was not asked

    @classmethod
    def from_columns(
        cls,
        query: Sequence[object] | Ids,
        doc: Sequence[object] | Ids,
        score: Sequence[float] | Floats,
        *,
        name: str = "run",
        on_duplicate: OnDuplicate = "error",
    ) -> Run:
        """From parallel columns, rows in any order."""
        query = query if isinstance(query, Ids) else Ids.from_text(query, "query id")
        doc = doc if isinstance(doc, Ids) else Ids.from_text(doc, "document id")
        scores = np.array(score, dtype=np.float64)  # a copy, so that the caller's array stays independent
        if not len(query) == len(doc) == len(scores):
            raise InputError(
                f"columns differ in length: {len(query)} queries, {len(doc)} documents, {len(scores)} scores"
            )
        bad = np.flatnonzero(np.isnan(scores))
        if len(bad):
            row = int(bad[0])
            raise InputError(f"score of document {shown(doc[row])} for query {shown(query[row])} is NaN")
        made = cls.build(query, doc, scores, name=name)
        return made.deduplicated() if on_duplicate == "first" else made.check_duplicates()

    @classmethod
    def build(cls, query: Ids, doc: Ids, scores: Floats, *, name: str = "run", sha256: str | None = None) -> Run:
        """Group rows by query. The caller checks for repeated documents and NaN."""
        group, queries = query.distinct
        if np.any(group[1:] < group[:-1]):
            rows = np.argsort(group, kind="stable")
            doc, scores, group = doc.take(rows), scores[rows], group[rows]
        return cls(
            name=name,
            queries=queries,
            offsets=frozen(offsets_of(group, len(queries))),
            docs=doc,
            scores=frozen(scores),
            status=frozen(np.zeros(len(queries), dtype=np.uint8)),
            source_sha256=sha256,
        )

    @classmethod
    def from_dict(
        cls,
        results: Mapping[str, Mapping[str, SupportsFloat]],
        *,
        name: str = "run",
        failed: Iterable[str] = (),
    ) -> Run:
        """From ``{query: {document: score}}``; a query with an empty mapping got an empty answer."""
        queries: list[bytes] = []
        docs: list[bytes] = []
        scores: list[float] = []
        sizes: list[int] = []
        plain = _plain_entries(results.values())
        if plain is not None:
            queries = [encode_id(query, "query id") for query in results]
            return cls._from_parts(queries, [len(row) for row in results.values()], *plain, name, failed)
        for q, row in results.items():
            queries.append(encode_id(q, "query id"))
            if not isinstance(row, Mapping):
                raise InputTypeError(
                    f"results of query {shown(str(q))} must map documents to scores, found {found_text(row)}"
                )
            docs += [encode_id(d, f"document id of query {shown(str(q))}") for d in row]
            scores += [checked_score(s, q, d) for d, s in row.items()]
            sizes.append(len(row))
        return cls._from_parts(queries, sizes, Ids.from_bytes(docs), np.array(scores, dtype=np.float64), name, failed)

    @classmethod
    def from_lists(
        cls,
        results: Mapping[str, Sequence[Any]],
        *,
        name: str = "run",
        failed: Iterable[str] = (),
        on_duplicate: OnDuplicate = "error",
    ) -> Run:
        """From ``{query: [documents, best first]}`` or ``{query: [(document, score), …]}``, in this order, too."""
        queries: list[bytes] = []
        docs: list[bytes] = []
        scores: list[float] = []
        sizes: list[int] = []
        is_list: list[bool] = []
        for q, row in results.items():
            queries.append(encode_id(q, "query id"))
            if not isinstance(row, Iterable):
                raise InputTypeError(
                    f"results of query {shown(str(q))} must map documents to scores, or list documents, "
                    f"found {found_text(row, with_value=True)}",
                    hint="a query without results has an empty list" if row is None else None,
                )
            items: list[Any] = [row] if isinstance(row, str) else list(row.items() if isinstance(row, Mapping) else row)
            is_list.append(not isinstance(row, Mapping))
            what = f"document id of query {shown(str(q))}"
            if items and not isinstance(items[0], (str, bytes)):
                try:
                    pairs: list[tuple[object, object]] = [(d, s) for d, s in items]
                except (TypeError, ValueError):
                    raise InputTypeError(
                        f"results of query {shown(str(q))} must be ids or (id, score) pairs, "
                        f"found {shown(repr(items[0]))}"
                    ) from None
                docs += [encode_id(d, what) for d, _ in pairs]
                scores += [checked_score(s, q, d) for d, s in pairs]
            else:
                docs += [encode_id(d, what) for d in items]
                scores += range(len(items), 0, -1)
            sizes.append(len(items))
        columns = Ids.from_bytes(docs), np.array(scores, dtype=np.float64)
        made = cls._from_parts(queries, sizes, *columns, name, failed).in_list_order(is_list)
        return made.deduplicated() if on_duplicate == "first" else made.check_duplicates()

    @classmethod
    def _from_parts(
        cls,
        queries: list[bytes],
        sizes: list[int],
        docs: Ids,
        scores: Floats,
        name: str,
        failed: Iterable[str],
    ) -> Run:
        status = [Status.ANSWERED if size else Status.EMPTY for size in sizes]
        for query in failed:
            key = encode_id(query, "query id")
            if key in queries:
                status[queries.index(key)] = Status.FAILED
            else:
                queries, sizes, status = [*queries, key], [*sizes, 0], [*status, Status.FAILED]
        return cls(
            name=name,
            queries=Ids.from_bytes(queries),
            offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            docs=docs,
            scores=frozen(scores),
            status=frozen(np.array(status, dtype=np.uint8)),
            holds_empty=True,
        )

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self.queries)} queries, {len(self)} results)"

    @cached_property
    def query(self) -> Ints:
        """The query number of each row."""
        return group_of(self.offsets)

    @cached_property
    def sha256(self) -> str:
        """The hash of the file that it was read from, as printed by ``sha256sum``; otherwise a hash of the columns."""
        if self.source_sha256 is not None:
            return self.source_sha256
        import hashlib  # most evaluations do not need it

        digest = hashlib.sha256(b"rankgauge run 1\n")
        digest.update(self.queries.content())
        digest.update(np.ascontiguousarray(self.offsets, dtype="<i8").tobytes())
        digest.update(self.docs.content())
        digest.update(np.ascontiguousarray(self.scores, dtype="<f8").tobytes())
        digest.update(self.status.tobytes())
        return digest.hexdigest()

    def select(self, numbers: Ints) -> Run:
        """The results of the queries with the given numbers."""
        rows = within(numbers, self.offsets)
        sizes = self.offsets[numbers + 1] - self.offsets[numbers]
        return replace(
            self,
            queries=self.queries.take(numbers),
            offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            docs=self.docs.take(rows),
            scores=frozen(self.scores[rows]),
            status=frozen(self.status[numbers]),
            source_sha256=None,
        )

    def ranked(self, compat: ranking.Compat = "trec_eval-9") -> Run:
        """The run with every query's results in rank order."""
        by = ranking.order(self.offsets, self.docs, self.scores, compat)
        return replace(self, docs=self.docs.take(by), scores=frozen(self.scores[by]))

    def in_list_order(self, is_list: Sequence[bool]) -> Run:
        """The run whose rows are the ranking of each list; scores that do not give this order are kept beside it."""
        is_listed = np.zeros(len(self.queries), dtype=bool)
        is_listed[: len(is_list)] = is_list
        scores, changed = ranking.in_list_order(self.offsets, self.docs, self.scores, is_listed)
        if not len(changed):
            return self
        given = given_scores(self.queries, self.offsets, self.docs, self.scores, changed)
        return replace(
            self, scores=frozen(scores), extras=(self.extras or RunExtras()).with_given(RunExtras(given=given))
        )

    def scored_as(self, meaning: ScoreMeaning) -> Run:
        """The run, whose results are lists, sorted by their scores, highest or lowest first, or without scores.

        A list whose scores are n, n - 1, ..., 1 has none, and keeps its order.
        """
        own, bounds = self.own_scores, self.offsets.tolist()
        by, scores = np.arange(len(own)), own.copy()
        for begin, end in pairwise(bounds):
            part, ranks = own[begin:end], np.arange(end - begin, 0, -1)
            if meaning == "ignore" or np.array_equal(part, ranks):
                scores[begin:end] = ranks
                continue
            keys = part if meaning == "distance" else -part
            best = np.argsort(keys, kind="stable")  # of equals, the first stays first
            by[begin:end], scores[begin:end] = begin + best, -keys[best]
        extras = None if self.extras is None else replace(self.extras, given={})
        made = replace(self, docs=self.docs.take(by), scores=frozen(scores), extras=extras)
        return made.in_list_order([True] * len(self.queries))

    @cached_property
    def own_scores(self) -> Floats:
        """The scores, with those that were given in place of the numbers that give a list its order."""
        given = {} if self.extras is None else {query: own for query, own in self.extras.given.items() if own}
        if not given:
            return self.scores
        scores, docs, bounds = self.scores.copy(), self.docs.to_text(), self.offsets.tolist()
        for number, query in enumerate(self.queries.to_text()):
            own = given.get(query, {})
            for row in range(bounds[number], bounds[number + 1]) if own else ():
                scores[row] = own.get(docs[row], scores[row])
        return frozen(scores)

    def top(self, depth: int, compat: ranking.Compat = "trec_eval-9") -> Run:
        """The first ``depth`` results of each query, in rank order."""
        best = self.ranked(compat)
        position = np.arange(len(best)) - best.offsets[:-1][best.query]
        keep = np.flatnonzero(position < depth)
        return replace(
            best,
            offsets=frozen(offsets_of(best.query[keep], len(best.queries))),
            docs=best.docs.take(keep),
            scores=frozen(best.scores[keep]),
        )

    def with_empty(self, queries: Sequence[bytes]) -> Run:
        """The run with additional queries that got an empty answer."""
        if not queries:
            return self
        offsets = np.full(len(queries), self.offsets[-1])
        return replace(
            self,
            queries=Ids.from_bytes([*self.queries, *queries]),
            offsets=frozen(np.concatenate([self.offsets, offsets])),
            status=frozen(np.concatenate([self.status, np.full(len(queries), Status.EMPTY, dtype=np.uint8)])),
        )

    def with_failed(self, queries: Iterable[str]) -> Run:
        """The run with additional queries that failed."""
        failed = [encode_id(query, "query id") for query in queries]
        made = self.with_empty(failed)
        status = made.status.copy()
        status[len(self.queries) :] = Status.FAILED
        return replace(made, status=frozen(status)) if failed else self

    def marked_failed(self, queries: Sequence[bytes]) -> Run:
        """The run with queries that it has, with or without results, marked as failed."""
        if not queries:
            return self
        failed = set(queries)
        is_failed = np.array([query in failed for query in self.queries], dtype=bool)
        return replace(self, status=frozen(np.where(is_failed, np.uint8(Status.FAILED), self.status)))

    def check_duplicates(self) -> Run:
        """The run itself; raises if a document appears twice in the results of a query."""
        first, _ = repeated(self.docs, self.query)
        if len(first):
            row = int(first[0])
            raise InputError(
                f"document {shown(self.docs[row])} appears twice in the results of query "
                f"{shown(self.queries[int(self.query[row])])} ({len(first)} such rows in all)",
                hint="return each document once, or use on_duplicate='first'",
            )
        return self

    def deduplicated(self) -> Run:
        """The run with only the first row of every document."""
        _, again = repeated(self.docs, self.query)
        if not len(again):
            return self
        keep = np.ones(len(self), dtype=bool)
        keep[again] = False
        return replace(
            self,
            offsets=frozen(offsets_of(self.query[keep], len(self.queries))),
            docs=self.docs.take(np.flatnonzero(keep)),
            scores=frozen(self.scores[keep]),
        )


def returned_texts(runs: Iterable[Run | None]) -> dict[str, str]:
    """The texts that came with the results of runs, of documents that came with one text only."""
    texts: dict[str, str | None] = {}
    for run in runs:
        for doc, text in run.extras.texts.items() if run is not None and run.extras is not None else ():
            texts[doc] = text if texts.get(doc, text) == text else None
    return {doc: text for doc, text in texts.items() if text is not None}


def _plain_entries(rows: Iterable[Any]) -> tuple[Ids, Floats] | None:
    """The documents and scores of mappings of texts and numbers; None if there is anything else."""
    docs: list[str] = []
    scores = array("d")
    try:
        for row in rows:
            if not isinstance(row, Mapping):
                return None
            docs += row
            scores.extend(row.values())
        text = "".join(docs)
    except (TypeError, OverflowError, ValueError):
        return None
    values = np.array(scores, dtype=np.float64)
    if not text.isascii() or "\0" in text or not all(docs) or np.isnan(values).any():
        return None
    return Ids.from_text(docs, "document id"), values


def checked_score(score: object, query: object, doc: object) -> float:
    """A score as a float; an error names the query and the document."""
    value = checked_number(score, "score", query, doc)
    if math.isnan(value):
        raise InputError(f"score of document {shown(str(doc))} for query {shown(str(query))} is NaN")
    return value
