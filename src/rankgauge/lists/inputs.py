"""The queries and results of a batch, checked, in the shapes of RETRIEVAL-METRICS-001, §5.2.

A query is a mapping with ``relevant_docs`` (one id or a list), and ``relevance_grades`` if documents have grades. Its
result is a list of ids, or of mappings with an ``id``, best first. A measure whose cutoff is a name, such as
``R@topK``, takes it from the query: ``{"relevant_docs": […], "topK": 5}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Column
from rankgauge.errors import InputError, InputTypeError, nearest, shown
from rankgauge.lists.ids import id_list, ranked_ids
from rankgauge.lists.joined import CheckedGrades, JoinedLists, check_query_grades, join_checked_lists
from rankgauge.measures.spec import Measure

RELEVANT_KEY, GRADES_KEY, RETRIEVED_KEY = "relevant_docs", "relevance_grades", "retrieved_docs"

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
    """The value under a key of a query, or an error that names the nearest key."""
    if not isinstance(query, Mapping):
        raise InputTypeError(f"query {number} must be a mapping with '{RELEVANT_KEY}', found {type(query).__name__}")
    if key not in query:
        close = nearest(key, [str(name) for name in query])
        raise InputError(
            f"query {number} has no '{key}'; it has {', '.join(map(str, query)) or 'nothing'}",
            hint=f"did you mean '{close}'?" if close else None,
        )
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
