"""Retrieved documents against relevant ids: one query, or many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat

from rankgauge.config.retriever_settings import DEFAULT_K, Unit
from rankgauge.core.run import Run
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.rag.retrieval_result import QueryMetrics, QueryOutcome, RetrievalResult, result_of, warn_of_repeats
from rankgauge.rag.scoring import QueryJudgments, check_judgments, evaluate_cases, measures_at, relevant_ids
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, answer_of
from rankgauge.retrieval.asking.calls import check_k
from rankgauge.retrieval.asking.documents import IdSource
from rankgauge.retrieval.asking.failures import NoAnswer

Grades = Mapping[str, SupportsFloat]


class RetrievalEvaluator:
    """Scores retrieved documents against the relevant ids.

    A document is any object with an id, a mapping, a LangChain document, a LlamaIndex node, or an id itself. ``id``
    names the place of the id: an attribute or key, a dotted path such as ``metadata.source``, or a function.
    ``unit="document"`` collapses chunks into their source document, and k counts documents.
    """

    def __init__(self, *, id: IdSource = None, unit: Unit = "chunk") -> None:
        self.id = id
        self.unit = unit
        self._rules = AnswerRules(id, unit, "ignore")

    def evaluate_single(
        self,
        retrieved_documents: Iterable[Any],
        relevant_document_ids: Iterable[Any],
        k: int = DEFAULT_K,
        relevance_scores: Grades | None = None,
    ) -> QueryMetrics:
        """The values of one query. Grades, if there are any, are the gains of nDCG."""
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
    ) -> RetrievalResult:
        """The values of each query and their means."""
        k = check_k(k)
        grades_list = [None] * len(queries) if relevance_scores_list is None else relevance_scores_list
        for name, values in (
            ("retrieved_documents_list", retrieved_documents_list),
            ("relevant_document_ids_list", relevant_document_ids_list),
            ("relevance_scores_list", grades_list),
        ):
            if len(values) != len(queries):
                raise InputError(f"{len(queries)} queries, but {name} has {len(values)}")
        # The same text may be a query twice, so queries are identified by number, padded to sort in order.
        ids = [str(number).zfill(len(str(len(queries)))) for number in range(1, len(queries) + 1)]
        outcomes: list[QueryOutcome] = []
        judgments: dict[str, QueryJudgments] = {}
        for query_id, query, documents, relevant, grades in zip(
            ids, queries, retrieved_documents_list, relevant_document_ids_list, grades_list, strict=True
        ):
            ranking = self._rank(documents, query)
            outcomes.append(QueryOutcome(query_id, query, k, ranking.ids, repeated=ranking.repeated))
            judgments[query_id] = check_judgments(relevant_ids(relevant, query), grades, query)
        run = Run.from_lists({outcome.id: outcome.retrieved for outcome in outcomes}, name="retrieved")
        texts = dict(zip(ids, queries, strict=True))
        evaluation = evaluate_cases(run, judgments, measures_at(k).values(), texts=texts)
        result = result_of(evaluation, outcomes, k, self.unit)
        warn_of_repeats(result)
        return result

    def _rank(self, documents: Any, query: str) -> RankedResults:
        """The ids of documents, in their order."""
        try:
            answer = answer_of(documents)
        except NoAnswer:
            answer = None
        if answer is None or (isinstance(documents, Mapping) and not answer.has_order):
            raise InputTypeError(
                f"results of query {shown(query)} must be a list of documents, found {type(documents).__name__}"
            )
        return self._rules.rank(answer, query)
