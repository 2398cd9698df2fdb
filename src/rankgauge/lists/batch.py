"""Metrics of many queries at once (RETRIEVAL-METRICS-001, §5.2 and §8.2); :mod:`.inputs` describes the shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from rankgauge.core.tables import Floats
from rankgauge.errors import InputError
from rankgauge.lists.inputs import RETRIEVED_KEY, Query, Result, check_batch, query_value
from rankgauge.measures.aggregates import RunningAggregate
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure

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
    retrieval_results: Iterable[Result] | None = None,
    metrics: Iterable[str] | str | None = None,
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    graded: bool = True,
) -> dict[str, float | None]:
    """The value of each metric over queries that may come from a generator: at most one batch is held in memory.

    The values equal those of :func:`evaluate_retrieval_batch` to the last digit, whatever the batch size. Without
    ``retrieval_results``, each query has its own as ``retrieved_docs``. A measure that depends on the largest grade of
    all queries (ERR) needs it in its name, as in ``ERR(max_rel=3)@10``.
    """
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, found {batch_size}")
    measures = measures_by_name(metrics)
    aggregates = {name: running_aggregate(measure) for name, measure in measures.items()}
    evaluated = 0
    for batch_queries, results in _batches(queries, retrieval_results, batch_size):
        batch = check_batch(batch_queries, results, measures.values(), graded=graded, first_number=evaluated + 1)
        joined = batch.join()
        evaluated += len(batch_queries)
        for name, measure in measures.items():
            aggregates[name].add(without_nan(joined(measure)))
    return {name: aggregate.value for name, aggregate in aggregates.items()}


def measures_by_name(metrics: Iterable[str] | str | None) -> dict[str, Measure]:
    """The measures under the requested names; those of a set of measures under their own names."""
    names = DEFAULT_METRICS if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    by_name: dict[str, Measure] = {}
    for name in names:
        measures = parse_measures(name)
        if len(measures) == 1:
            by_name[str(name)] = measures[0]
        else:
            by_name.update((measure.name, measure) for measure in measures)
    return by_name


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
