"""Many lists at once, and values that were computed already, in memory (RETRIEVAL-METRICS-001, §8.2)."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from rankgauge.core.arrays import Column, Floats
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError, MeasureError, UsageError, found_text, shown
from rankgauge.lists.list_join import (
    CheckedGrades,
    JoinedLists,
    check_query_grades,
    id_list,
    join_checked_lists,
    missing_key,
    ranked_ids,
)
from rankgauge.measures.aggregates import RunningAggregate
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measures

MAX_ENTRIES = 10_000


@dataclass(frozen=True)
class CacheInfo:
    """The number of hits, misses and entries."""

    hits: int
    misses: int
    entries: int


class MetricsCache:
    """A cache in memory, from which the least recently used entries are evicted.

    A value of a query is found by the query, the metric and k, whatever it was computed from. Any name of a metric is
    accepted and kept as written: ``ndcg`` and ``nDCG`` are two entries. The values of a batch are found by its content.
    """

    def __init__(self, *, max_entries: int = MAX_ENTRIES) -> None:
        if max_entries < 1:
            raise UsageError(f"max_entries must be at least 1, found {max_entries}")
        self._max_entries = max_entries
        self._entries: OrderedDict[Hashable, float | Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    def get_cached_metric(self, query_id: str, metric: str, k: int) -> float | None:
        """The value of a metric for a query, if it was cached.

        >>> print(MetricsCache().get_cached_metric("q1", "ndcg", 10))
        None
        """
        value = self._get((query_id, metric, k))
        return value if isinstance(value, float) else None

    def cache_metric(self, query_id: str, metric: str, k: int, value: float) -> None:
        """Store the value of a metric for a query.

        >>> cache = MetricsCache()
        >>> cache.cache_metric("q1", "ndcg", 10, 0.5)
        >>> cache.get_cached_metric("q1", "ndcg", 10)
        0.5
        """
        self._put((query_id, metric, k), float(value))

    def batch_values(
        self, batch: ListBatch, measures: Mapping[str, Measure], compute: Callable[[], dict[str, Floats]]
    ) -> dict[str, Floats]:
        """The values of each query of a batch, computed only if those of a measure are not cached yet."""
        # repr writes lists, strings and numbers without ambiguity, and much faster than one value at a time.
        content = hashlib.sha256(repr(batch).encode("utf-8", "surrogatepass")).digest()
        found = {name: self._get((content, measure.name)) for name, measure in measures.items()}
        cached = {name: values for name, values in found.items() if isinstance(values, np.ndarray)}
        if len(cached) == len(measures):
            return cached
        computed = compute()
        for name, measure in measures.items():
            self._put((content, measure.name), computed[name])
        return computed

    def clear(self) -> None:
        """Delete all entries."""
        with self._lock:
            self._entries.clear()

    def info(self) -> CacheInfo:
        """Hits and misses since the cache was created, and the number of entries."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._entries))

    def _get(self, key: Hashable) -> float | Floats | None:
        with self._lock:
            value = self._entries.get(key)
            self._hits, self._misses = self._hits + (value is not None), self._misses + (value is None)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def _put(self, key: Hashable, value: float | Floats) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


# Metrics of many queries at once (RETRIEVAL-METRICS-001, §5.2 and §8.2).
#
# A query is a mapping with ``relevant_docs`` (one id or a list), and
# ``relevance_grades`` if documents have grades. Its result is a list of ids, or of
# mappings with an ``id``, best first. A measure whose cutoff is a name, such as
# ``R@topK``, takes it from the query: ``{"relevant_docs": […], "topK": 5}``.

DEFAULT_METRICS = ("hit@1", "hit@3", "hit@5", "ndcg@5", "ndcg@10", "mrr")
DEFAULT_BATCH_SIZE = 100


def evaluate_retrieval_batch(
    queries: Sequence[Query],
    retrieval_results: Sequence[Result],
    metrics: Iterable[str] | str | None = None,
    *,
    graded: bool = True,
) -> dict[str, float | None]:
    """The value of each metric over a batch of queries, under the name that was requested.

    Any measure name in any notation is accepted. ``graded=False`` ignores grades. The value of a batch without queries
    is None.

    >>> queries = [{"relevant_docs": ["a", "b"]}, {"relevant_docs": "c"}]
    >>> results = [[{"id": "a"}, {"id": "x"}], [{"id": "x"}, {"id": "c"}]]
    >>> evaluate_retrieval_batch(queries, results, ["hit@1", "mrr", "recall@2"])
    {'hit@1': 0.5, 'mrr': 0.75, 'recall@2': 0.75}
    """
    measures = measures_by_name(metrics)
    batch = check_batch(queries, retrieval_results, measures.values(), graded=graded)
    joined = batch.join()
    return {
        name: running_aggregate(measure).add(without_nan(joined(batch.freeze(measure)))).value
        for name, measure in measures.items()
    }


def batch_evaluate_metrics(
    queries: Iterable[Query],
    batch_size: int = DEFAULT_BATCH_SIZE,
    *,
    retrieval_results: Iterable[Result] | None = None,
    metrics: Iterable[str] | str | None = None,
    graded: bool = True,
    cache: MetricsCache | None = None,
) -> dict[str, float | None]:
    """The value of each metric over queries that may come from a generator: at most one batch is held in memory.

    The values equal those of :func:`evaluate_retrieval_batch` to the last digit, whatever the batch size. Without
    ``retrieval_results``, each query has its own as ``retrieved_docs``. A measure that depends on the largest grade of
    all queries (ERR) needs it in its name, as in ``ERR(max_rel=3)@10``. With a ``cache``, the values of a batch that it
    has are not computed again.

    >>> queries = [{"relevant_docs": ["a"], "retrieved_docs": ["x", "a"]}]
    >>> batch_evaluate_metrics(queries, 100, metrics=["hit@1", "mrr"])
    {'hit@1': 0.0, 'mrr': 0.5}
    """
    _check_batch_size(batch_size)
    measures = measures_by_name(metrics)
    aggregates = {name: running_aggregate(measure) for name, measure in measures.items()}
    evaluated = 0
    for batch_queries, results in _batches(queries, retrieval_results, batch_size):
        batch = check_batch(batch_queries, results, measures.values(), graded=graded, first_number=evaluated + 1)
        compute = partial(_batch_values, batch, measures)
        values = compute() if cache is None else cache.batch_values(batch, measures, compute)
        evaluated += len(batch_queries)
        for name, column in values.items():
            aggregates[name].add(without_nan(column))
    return {name: aggregate.value for name, aggregate in aggregates.items()}


def _check_batch_size(batch_size: int) -> None:
    """Raise if it is not a whole number of at least 1."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int):
        raise InputTypeError(
            f"batch_size must be a whole number, found {found_text(batch_size)}",
            hint="pass results as retrieval_results=, or in each query as 'retrieved_docs'",
        )
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, found {batch_size}")


def _batch_values(batch: ListBatch, measures: Mapping[str, Measure]) -> dict[str, Floats]:
    joined = batch.join()
    return {name: joined(measure) for name, measure in measures.items()}


def measures_by_name(metrics: Iterable[str] | str | None) -> dict[str, Measure]:
    """The measures under the requested names; those of a set of measures under their own names."""
    names = DEFAULT_METRICS if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    by_name: dict[str, Measure] = {}
    for name in names:
        measures = parse_measures(name)
        check_for_lists(measures)
        if len(measures) == 1:
            by_name[str(name)] = measures[0]
        else:
            by_name.update((measure.name, measure) for measure in measures)
    return by_name


def check_for_lists(measures: Iterable[Measure]) -> None:
    """Raise if plain lists do not say what a measure needs."""
    for measure in measures:
        if measure.definition.needs_answers:
            raise MeasureError(
                f"{measure} cannot be computed from plain lists, which say neither what was refused nor what is "
                "forbidden, and in which a query without relevant ids scores 0",
                hint='use evaluate with test cases ("relevant": [] if there is no answer) and results',
            )


def running_aggregate(measure: Measure) -> RunningAggregate:
    """An aggregate over queries to which values are added batch by batch."""
    return RunningAggregate(measure.definition.aggregate)


def without_nan(values: Floats) -> Floats:
    """The values of the queries that have one."""
    return values[~np.isnan(values)]


def _batches(
    queries: Iterable[Query], results: Iterable[Result] | None, size: int
) -> Iterator[tuple[list[Query], list[Result]]]:
    end = object()
    batch_queries: list[Query] = []
    batch_results: list[Result] = []
    pairs: Iterable[tuple[Any, Any]]
    if results is None:
        pairs = ((query, query_value(query, RETRIEVED_KEY, number)) for number, query in enumerate(queries, 1))
    else:
        pairs = zip_longest(queries, results, fillvalue=end)
    for count, (query, result) in enumerate(pairs):
        if query is end or result is end:
            shorter, longer = ("queries", "results") if query is end else ("results", "queries")
            raise InputError(f"there must be as many results as queries, found {count} {shorter} and more {longer}")
        batch_queries.append(query)
        batch_results.append(result)
        if len(batch_queries) == size:
            yield batch_queries, batch_results
            batch_queries, batch_results = [], []
    if batch_queries:
        yield batch_queries, batch_results


# The queries and results of a batch, checked.

RELEVANT_KEY, GRADES_KEY, RETRIEVED_KEY = "relevant_docs", "relevance_grades", "retrieved_docs"
QUERY_KEYS = frozenset({RELEVANT_KEY, GRADES_KEY, RETRIEVED_KEY})

Query = Mapping[str, Any]
Result = Iterable[Any]


@dataclass(frozen=True)
class ListBatch:
    """A batch as checked lists, with one entry per query."""

    relevant: list[list[str]]
    retrieved: list[list[str]]
    grades: list[CheckedGrades]
    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.relevant)

    def freeze(self, measure: Measure) -> Measure:
        """The measure with what it takes from all judgments, their largest grade, written into its name."""
        if measure.definition.freeze is None:
            return measure
        grades = [grade for row in self.grades for grade in row.values()]
        # A relevant document without a grade has grade 1.
        ungraded = [1.0 for ids, row in zip(self.relevant, self.grades, strict=True) if any(d not in row for d in ids)]
        return measure.frozen(Qrels.from_columns(["1"], ["1"], [max([0.0, *grades, *ungraded])]))

    def part(self, begin: int, end: int) -> ListBatch:
        """The queries from ``begin`` to before ``end``."""
        columns = {name: values[begin:end] for name, values in self.columns.items()}
        return ListBatch(self.relevant[begin:end], self.retrieved[begin:end], self.grades[begin:end], columns)

    def join(self) -> JoinedLists:
        """The rankings joined with the judgments."""
        columns: dict[str, Column] = {
            name: np.array(values, dtype=None if values else np.int64) for name, values in self.columns.items()
        }
        return join_checked_lists(self.relevant, self.retrieved, self.grades, columns)


def check_batch(
    queries: Sequence[Query],
    retrieval_results: Sequence[Result],
    measures: Iterable[Measure],
    *,
    graded: bool,
    first_number: int = 1,
) -> ListBatch:
    """Return the lists of a batch; an error names the number of the query."""
    if len(queries) != len(retrieval_results):
        raise InputError(
            f"there must be as many results as queries, found {len(retrieval_results)} and {len(queries)}",
            hint="use an empty list for a query without results",
        )
    cutoff_keys = sorted({measure.cutoff for measure in measures if isinstance(measure.cutoff, str)})
    numbered = list(enumerate(queries, first_number))
    return ListBatch(
        relevant=[
            id_list(query_value(query, RELEVANT_KEY, number), f"relevant id of query {number}")
            for number, query in numbered
        ],
        retrieved=[_result_ids(result, number) for number, result in enumerate(retrieval_results, first_number)],
        grades=[check_query_grades(query.get(GRADES_KEY), number) if graded else {} for number, query in numbered],
        columns={key: [query_value(query, key, number) for number, query in numbered] for key in cutoff_keys},
    )


def query_value(query: Query, key: str, number: int) -> Any:
    """The value under a key of a query, or an error that says which key to rename."""
    if not isinstance(query, Mapping):
        raise InputTypeError(f"query {number} must be a mapping with '{RELEVANT_KEY}', found {type(query).__name__}")
    if key not in query:
        error = missing_key(f"query {number}", key, query, QUERY_KEYS)
        if key == RETRIEVED_KEY and error.hint is None:
            error.hint = "pass all results as retrieval_results=, or those of each query under this key"
        raise error
    return query[key]


def _result_ids(result: Result, number: int) -> list[str]:
    if isinstance(result, (str, bytes, Mapping)):
        raise InputTypeError(f"result {number} must be a list of ids or documents, found {type(result).__name__}")
    if isinstance(result, Iterable) and not isinstance(result, Set):
        result = [_document_id(entry, number) if isinstance(entry, Mapping) else entry for entry in result]
    return ranked_ids(result, f"retrieved id of query {number}")


def _document_id(document: Mapping[str, Any], number: int) -> Any:
    if "id" not in document:
        raise InputError(f"a document of result {number} has no 'id': {shown(repr(dict(document)))}")
    return document["id"]
