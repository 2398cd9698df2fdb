"""Documents that were retrieved and ids that should have been: one query, or many."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat

from rankgauge.errors import InputError, RankgaugeWarning, shown
from rankgauge.measures.weights import WEIGHT, checked_weights
from rankgauge.rag.documents import IdSource, Unit, check_unit, ranking_of, wanted_ids
from rankgauge.rag.metrics import Asked, QueryMetrics
from rankgauge.rag.results import RetrievalResult, result_of
from rankgauge.rag.scoring import DEFAULT_K, Wanted, check_k, fields_at, graded, score

Grades = Mapping[str, SupportsFloat]


class RetrievalEvaluator:
    """Scores retrieved documents against the ids that are relevant.

    A document is any object with an id, a mapping, a LangChain document, a LlamaIndex node, or an id itself. ``id``
    says where the id is: an attribute or key, a dotted path such as ``metadata.source``, or a function.
    ``unit="document"`` collapses chunks to the document that they are part of, and k counts documents.
    """

    def __init__(self, *, id: IdSource = None, unit: Unit = "chunk") -> None:
        check_unit(unit)
        self.id = id
        self.unit = unit

    def evaluate_single(
        self,
        retrieved_documents: Iterable[Any],
        relevant_document_ids: Iterable[Any],
        k: int = DEFAULT_K,
        relevance_scores: Grades | None = None,
    ) -> QueryMetrics:
        """The numbers of one query. Grades, where given, are what nDCG is made of."""
        batch = self.evaluate_batch(
            ["query"],
            [retrieved_documents],
            [relevant_document_ids],
            k,
            None if relevance_scores is None else [relevance_scores],
        )
        return batch.per_query_metrics[0]

    def evaluate_batch(
        self,
        queries: Sequence[str],
        retrieved_documents_list: Sequence[Iterable[Any]],
        relevant_document_ids_list: Sequence[Iterable[Any]],
        k: int = DEFAULT_K,
        relevance_scores_list: Sequence[Grades | None] | None = None,
        *,
        weights: Sequence[float] | None = None,
    ) -> RetrievalResult:
        """The numbers of each query and their means. With weights there are weighted means beside the plain ones."""
        k = check_k(k)
        grades = [None] * len(queries) if relevance_scores_list is None else relevance_scores_list
        for name, given in (
            ("retrieved_documents_list", retrieved_documents_list),
            ("relevant_document_ids_list", relevant_document_ids_list),
            ("relevance_scores_list", grades),
            ("weights", queries if weights is None else weights),
        ):
            if len(given) != len(queries):
                raise InputError(f"{len(queries)} queries, but {name} has {len(given)}")
        # A text may be asked twice, so queries go by their number; its width keeps them in order.
        names = [str(number).zfill(len(str(len(queries)))) for number in range(1, len(queries) + 1)]
        asked: list[Asked] = []
        wanted: dict[str, Wanted] = {}
        for name, query, documents, relevant, graded_ids in zip(
            names, queries, retrieved_documents_list, relevant_document_ids_list, grades, strict=True
        ):
            found = ranking_of(documents, self.id, self.unit, query)
            asked.append(Asked(name, query, k, found.ids, found.repeated))
            wanted[name] = graded(wanted_ids(relevant, query), graded_ids, query)
        columns = None if weights is None else {WEIGHT: dict(zip(names, checked_weights(weights), strict=True))}
        retrieved = {one.id: one.retrieved for one in asked}
        scores = score(retrieved, wanted, fields_at(k).values(), columns=columns)
        result = result_of(scores, asked, k, self.unit)
        warn_of_repeats(result)
        return result


def warn_of_repeats(result: RetrievalResult) -> None:
    """A warning where chunks came twice, which no retriever should return."""
    if result.unit == "chunk" and result.repeated:
        first = next(one for one in result.per_query_metrics if one.repeated)
        warnings.warn(
            f"{result.remarks[-1]}, as in query {shown(first.query)} (for chunks of one document say unit='document')",
            RankgaugeWarning,
            stacklevel=3,
        )
