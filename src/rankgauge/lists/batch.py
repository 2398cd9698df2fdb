"""Many queries at once, in the shapes of RETRIEVAL-METRICS-001, §5.2 and §8.2.

A query is a mapping with ``relevant_docs`` (one id or a list), and ``relevance_grades`` where documents have grades.
Its result is a list of ids, or of mappings with an ``id``, best first. A measure whose cutoff is a name, as in
``R@topK``, finds it in the query: ``{"relevant_docs": […], "topK": 5}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError, InputTypeError, nearest, shown
from rankgauge.lists.ids import in_order, several
from rankgauge.lists.joined import JoinedLists, Judged, checked_grades, join_checked
from rankgauge.measures.aggregates import Running
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure

DEFAULT = ("hit@1", "hit@3", "hit@5", "ndcg@5", "ndcg@10", "mrr")
RELEVANT, GRADES, RETRIEVED = "relevant_docs", "relevance_grades", "retrieved_docs"
BATCH = 100

Query = Mapping[str, Any]
Result = Iterable[Any]


@dataclass(frozen=True)
class Lists:
    """A batch as plain lists that were checked, one entry a query."""

    relevant: list[list[str]]
    retrieved: list[list[str]]
    grades: list[Judged]
    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.relevant)

    def frozen(self, measure: Measure) -> Measure:
        """The measure with what it takes from all judgments, their largest grade, written into its name."""
        if measure.definition.freeze is None:
            return measure
        grades = [grade for row in self.grades for grade in row.values()]
        # A relevant document without a grade has grade 1.
        plain = [1.0 for ids, row in zip(self.relevant, self.grades, strict=True) if any(doc not in row for doc in ids)]
        return measure.frozen(Qrels.from_columns(["1"], ["1"], [max(0.0, *grades, *plain, 0.0)]))

    def part(self, begin: int, end: int) -> Lists:
        """Some of the queries."""
        columns = {name: values[begin:end] for name, values in self.columns.items()}
        return Lists(self.relevant[begin:end], self.retrieved[begin:end], self.grades[begin:end], columns)

    def joined(self) -> JoinedLists:
        """The join."""
        columns: dict[str, Column] = {
            name: np.array(values, dtype=None if values else np.int64) for name, values in self.columns.items()
        }
        return join_checked(self.relevant, self.retrieved, self.grades, columns)


def evaluate_retrieval_batch(
    queries: Sequence[Query],
    retrieval_results: Sequence[Result],
    metrics: Iterable[str] | str | None = None,
    *,
    graded: bool = True,
) -> dict[str, float | None]:
    """The value of each metric over a batch of queries, under the name it was asked for.

    Any measure's name in any notation will do. ``graded=False`` takes no notice of grades. None is the value of a
    batch without queries.
    """
    asked = named(metrics)
    lists = lists_of(queries, retrieval_results, asked.values(), graded=graded)
    joined = lists.joined()
    return {name: gathered(measure).add(known(joined(lists.frozen(measure)))).value for name, measure in asked.items()}


def batch_evaluate_metrics(
    queries: Iterable[Query],
    retrieval_results: Iterable[Result] | None = None,
    metrics: Iterable[str] | str | None = None,
    *,
    batch_size: int = BATCH,
    graded: bool = True,
) -> dict[str, float | None]:
    """The same, for queries and results that may be generators: no more than one batch is held in memory.

    The values are those of :func:`evaluate_retrieval_batch` to the last digit, whatever the size of a batch. Without
    results each query has its own, as ``retrieved_docs``. A measure that depends on the largest grade of all (ERR)
    must be told it, as in ``ERR(max_rel=3)@10``.
    """
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, found {batch_size}")
    asked = named(metrics)
    running = {name: gathered(measure) for name, measure in asked.items()}
    done = 0
    for part, results in _batches(queries, retrieval_results, batch_size):
        joined = lists_of(part, results, asked.values(), graded=graded, first=done + 1).joined()
        done += len(part)
        for name, measure in asked.items():
            running[name].add(known(joined(measure)))
    return {name: total.value for name, total in running.items()}


def named(metrics: Iterable[str] | str | None) -> dict[str, Measure]:
    """The measures under the names they were asked for; those of a set of measures under their own."""
    wanted = DEFAULT if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    found: dict[str, Measure] = {}
    for name in wanted:
        measures = parse_measures(name)
        if len(measures) == 1:
            found[str(name)] = measures[0]
        else:
            found.update((measure.name, measure) for measure in measures)
    return found


def gathered(measure: Measure) -> Running:
    """What takes the values of all queries together."""
    return Running(measure.definition.aggregate)


def known(values: Floats) -> Floats:
    """The values of the queries that have one."""
    return values[~np.isnan(values)]


def lists_of(
    queries: Sequence[Query],
    retrieval_results: Sequence[Result],
    measures: Iterable[Measure],
    *,
    graded: bool,
    first: int = 1,
) -> Lists:
    """The lists of a batch; what is wrong with a query is said with its number."""
    if len(queries) != len(retrieval_results):
        raise InputError(
            f"there must be as many results as queries, found {len(retrieval_results)} and {len(queries)}",
            hint="a query that found nothing has an empty list",
        )
    cutoffs = sorted({measure.cutoff for measure in measures if isinstance(measure.cutoff, str)})
    return Lists(
        relevant=[
            several(_field(query, RELEVANT, number), f"relevant id of query {number}")
            for number, query in enumerate(queries, first)
        ],
        retrieved=[_ids(result, number) for number, result in enumerate(retrieval_results, first)],
        grades=[
            checked_grades(query.get(GRADES), number) if graded else {} for number, query in enumerate(queries, first)
        ],
        columns={
            name: [_field(query, name, number) for number, query in enumerate(queries, first)] for name in cutoffs
        },
    )


def _batches(
    queries: Iterable[Query], results: Iterable[Result] | None, size: int
) -> Iterator[tuple[list[Query], list[Result]]]:
    ended = object()
    part: list[Query] = []
    found: list[Result] = []
    pairs: Iterable[tuple[Any, Any]]
    if results is None:
        pairs = ((query, _field(query, RETRIEVED, number)) for number, query in enumerate(queries, 1))
    else:
        pairs = zip_longest(queries, results, fillvalue=ended)
    for number, (query, result) in enumerate(pairs):
        if query is ended or result is ended:
            few, many = ("queries", "results") if query is ended else ("results", "queries")
            raise InputError(f"there must be as many results as queries, found {number} {few} and more {many}")
        part.append(query)
        found.append(result)
        if len(part) == size:
            yield part, found
            part, found = [], []
    if part:
        yield part, found


def _field(query: Query, name: str, number: int) -> Any:
    if not isinstance(query, Mapping):
        raise InputTypeError(f"query {number} must be a mapping with '{RELEVANT}', found {type(query).__name__}")
    if name not in query:
        close = nearest(name, [str(key) for key in query])
        raise InputError(
            f"query {number} has no '{name}'; it has {', '.join(map(str, query)) or 'nothing'}",
            hint=f"did you mean '{close}'?" if close else None,
        )
    return query[name]


def _ids(result: Result, number: int) -> list[str]:
    if isinstance(result, (str, bytes, Mapping)):
        raise InputTypeError(f"result {number} must be a list of ids or documents, found {type(result).__name__}")
    if isinstance(result, Iterable) and not isinstance(result, Set):
        result = [_id(entry, number) if isinstance(entry, Mapping) else entry for entry in result]
    return in_order(result, f"retrieved id of query {number}")


def _id(entry: Mapping[str, Any], number: int) -> Any:
    if "id" not in entry:
        raise InputError(f"a document of result {number} has no 'id': {shown(repr(dict(entry)))}")
    return entry["id"]
