"""A live retriever, called for every test case and scored."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.evaluation.conventions import MeasureNames
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.rag.cases import AnyCases, Cases, read_cases
from rankgauge.rag.evaluator import warn_of_repeats
from rankgauge.rag.metrics import QueryOutcome
from rankgauge.rag.progress import Progress, progress_function
from rankgauge.rag.results import RetrievalResult, result_of
from rankgauge.rag.scoring import DEFAULT_K, measures_at, score
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, ScoreMeaning
from rankgauge.retrieval.asking.calls import (
    DEFAULT_CALLS,
    CallResult,
    LoopCaller,
    RetrieverCalls,
    ask_all,
    call_for_all,
    check_k,
)
from rankgauge.retrieval.asking.documents import IdSource, Unit
from rankgauge.retrieval.asking.failures import check_max_failures, is_too_many, too_many_failures
from rankgauge.retrieval.asking.functions import RetrieverFunction, retriever_function

FAILURES_HINT = "allow some: max_failures=N, or any number: max_failures=None; the result is the error's .result"


def evaluate_retriever(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    measures: MeasureNames | None = None,
    id: IdSource = None,
    unit: Unit = "chunk",
    scores: ScoreMeaning | None = None,
    calls: RetrieverCalls = DEFAULT_CALLS,
    max_failures: int | None = 0,
    progress: bool | Progress = False,
) -> RetrievalResult:
    """Call a retriever for every test case, and score what it returns.

    The retriever is a function of a query (and k, if it takes one), or an object with ``retrieve``, ``invoke``,
    ``get_relevant_documents`` or ``search``, asynchronous or not. Test cases are a JSON Lines or CSV file or a list of
    ``{"query": …, "relevant_ids": […]}``; a case with ``topK`` has its own k, and a case with ``weight`` counts by it
    in the weighted means. ``id`` and ``unit`` are those of :class:`RetrievalEvaluator`; ``calls`` sets how many
    results are fetched, how many calls run at once, timeouts and retries.

    A list is a ranking: its order counts, and scores that contradict it are reported. ``scores='similarity'`` sorts by
    score, highest first, ``'distance'`` lowest first; ``'ignore'`` uses the order alone. ``{id: score}`` has no order
    and is sorted by score.

    A query that still fails after its retries (None is a failure, an empty list is not) is reported as failed and not
    averaged; if more fail than ``max_failures``, an error is raised, whose ``result`` has the rest; None allows any
    number. By default the retriever is called in this thread; with a timeout or with concurrent calls, in other
    threads, and a call that timed out is abandoned in its own. Latencies are those of the answered calls.
    """
    check_max_failures(max_failures)
    function, cases = retriever_function(retriever), read_cases(test_cases)
    evaluation = _LiveEvaluation(function, cases, k, measures, AnswerRules(id, unit, scores), calls, progress)
    ask_all(evaluation.retriever, evaluation.requests, calls, evaluation.handle)
    return evaluation.result(max_failures)


async def evaluate_retriever_async(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    measures: MeasureNames | None = None,
    id: IdSource = None,
    unit: Unit = "chunk",
    scores: ScoreMeaning | None = None,
    calls: RetrieverCalls = DEFAULT_CALLS,
    max_failures: int | None = 0,
    progress: bool | Progress = False,
) -> RetrievalResult:
    """Like :func:`evaluate_retriever`, in the running event loop: for clients that belong to it."""
    check_max_failures(max_failures)
    function, cases = retriever_function(retriever), read_cases(test_cases)
    evaluation = _LiveEvaluation(function, cases, k, measures, AnswerRules(id, unit, scores), calls, progress)
    await evaluation.run()
    return evaluation.result(max_failures)


@dataclass
class _LiveEvaluation:
    """One evaluation: the queries, how they are sent, and what has been returned so far."""

    retriever: RetrieverFunction
    cases: Cases
    k: int
    measures: MeasureNames | None
    rules: AnswerRules
    calls: RetrieverCalls
    progress: bool | Progress
    outcomes: list[QueryOutcome | None] = field(default_factory=list, init=False)
    answered: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_k(self.k)
        self.report_progress = progress_function(self.progress)
        self.extra_measures: tuple[Measure, ...] = () if self.measures is None else parse_measures(self.measures)
        self.outcomes = [None] * len(self.cases.cases)

    @property
    def requests(self) -> Sequence[tuple[str, int]]:
        """Each query, and how many results it is asked for."""
        return [(case.query, self.calls.fetch or case.k or self.k) for case in self.cases.cases]

    def run(self) -> Coroutine[Any, Any, None]:
        """Send every query in the running event loop."""
        return call_for_all(LoopCaller(), self.retriever, self.requests, self.calls, self.handle)

    def handle(self, index: int, call: CallResult) -> None:
        case = self.cases.cases[index]
        ranking = RankedResults()
        if call.answer is not None:
            # A wrong id is wrong for every query, so it ends the evaluation here, at the first.
            ranking = self.rules.rank(call.answer, case.id)
        self.outcomes[index] = QueryOutcome(
            id=case.id,
            query=case.query,
            k=case.k or self.k,
            retrieved=ranking.ids,
            repeated=ranking.repeated,
            fault=ranking.fault,
            error=call.error,
            latency=call.latency,
            attempts=call.attempts,
        )
        self.answered += 1
        if self.report_progress is not None:
            self.report_progress(self.answered, len(self.outcomes))

    def result(self, max_failures: int | None) -> RetrievalResult:
        outcomes = [outcome for outcome in self.outcomes if outcome is not None]
        columns = {name: dict(values) for name, values in self.cases.columns.items()}
        cutoff: int | str = self.k
        if "k" in columns:
            columns["k"] = {outcome.id: outcome.k for outcome in outcomes}
            cutoff = "k"
        scores = score(
            {outcome.id: outcome.retrieved for outcome in outcomes if outcome.error is None},
            self.cases.judgments,
            [*measures_at(cutoff).values(), *self.extra_measures],
            failed=[outcome.id for outcome in outcomes if outcome.error is not None],
            columns=columns,
            name=self.retriever.name,
        )
        requested = zip(scores.requested, scores.measures, strict=True)
        printed = [measure for request, measure in requested if request in self.extra_measures]
        result = result_of(scores, outcomes, self.cases.judgments, cutoff, self.rules.unit, printed)
        warn_of_repeats(result)
        if is_too_many(len(result.failures), max_failures):
            raise too_many_failures(result.failures, len(result), max_failures, hint=FAILURES_HINT, result=result)
        return result
