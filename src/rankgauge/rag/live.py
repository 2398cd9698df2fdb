"""A live retriever, called for every test case and scored."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from rankgauge.errors import RetrieverError, printable
from rankgauge.evaluation.conventions import MeasureNames
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.rag.calls import (
    DEFAULT_CALLS,
    Caller,
    CallResult,
    InlineCaller,
    LoopCaller,
    NeedsEventLoop,
    RetrieverCalls,
    call_for_all,
)
from rankgauge.rag.cases import AnyCases, Cases, read_cases
from rankgauge.rag.documents import IdSource, RankedIds, Unit, check_unit, document_ids
from rankgauge.rag.evaluator import warn_of_repeats
from rankgauge.rag.loops import run_with_loop, run_without_loop
from rankgauge.rag.metrics import QueryOutcome
from rankgauge.rag.progress import Progress, progress_function
from rankgauge.rag.results import SHOWN_FAILURES, RetrievalResult, result_of
from rankgauge.rag.retrievers import RetrieverFunction, retriever_function
from rankgauge.rag.scoring import DEFAULT_K, check_k, measures_at, score


def evaluate_retriever(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    measures: MeasureNames | None = None,
    id: IdSource = None,
    unit: Unit = "chunk",
    calls: RetrieverCalls = DEFAULT_CALLS,
    max_failures: int | None = None,
    progress: bool | Progress = False,
    name: str | None = None,
) -> RetrievalResult:
    """Call a retriever for every test case, and score what it returns.

    The retriever is a function of a query (and k, if it takes one), or an object with ``retrieve``, ``invoke`` or
    ``get_relevant_documents``, asynchronous or not. Test cases are a JSON Lines or CSV file or a list of
    ``{"query": …, "relevant_ids": […]}``; a case with ``topK`` has its own k, and a case with ``weight`` counts by it
    in the weighted means. ``id`` and ``unit`` are those of :class:`RetrievalEvaluator`; ``calls`` sets how many
    results are fetched, how many calls run at once, timeouts and retries.

    A query that still fails after its retries is reported as failed and not averaged; if more fail than
    ``max_failures``, an error is raised. By default the retriever is called in this thread; with a timeout or with
    concurrent calls, in other threads, and a call that timed out is abandoned in its own. Latencies are those of the
    answered calls.
    """
    evaluation = _LiveEvaluation(
        retriever_function(retriever, name), read_cases(test_cases), k, measures, id, unit, calls, progress
    )
    if calls.concurrency == 1 and calls.timeout is None and not evaluation.retriever.is_async:
        try:
            run_without_loop(evaluation.run(InlineCaller()))
            return evaluation.result(max_failures)
        except NeedsEventLoop:
            pass  # a plain function that returns an awaitable
    run_with_loop(evaluation.run(LoopCaller()))
    return evaluation.result(max_failures)


async def evaluate_retriever_async(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    measures: MeasureNames | None = None,
    id: IdSource = None,
    unit: Unit = "chunk",
    calls: RetrieverCalls = DEFAULT_CALLS,
    max_failures: int | None = None,
    progress: bool | Progress = False,
    name: str | None = None,
) -> RetrievalResult:
    """Like :func:`evaluate_retriever`, in the running event loop: for clients that belong to it."""
    evaluation = _LiveEvaluation(
        retriever_function(retriever, name), read_cases(test_cases), k, measures, id, unit, calls, progress
    )
    await evaluation.run(LoopCaller())
    return evaluation.result(max_failures)


@dataclass
class _LiveEvaluation:
    """One evaluation: the queries, how they are sent, and what has been returned so far."""

    retriever: RetrieverFunction
    cases: Cases
    k: int
    measures: MeasureNames | None
    id: IdSource
    unit: Unit
    calls: RetrieverCalls
    progress: bool | Progress
    outcomes: list[QueryOutcome | None] = field(default_factory=list, init=False)
    answered: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_unit(self.unit)
        check_k(self.k)
        self.report_progress = progress_function(self.progress)
        self.extra_measures: tuple[Measure, ...] = () if self.measures is None else parse_measures(self.measures)

    def run(self, caller: Caller) -> Coroutine[Any, Any, None]:
        queries = [(case.query, self.calls.fetch or case.k or self.k) for case in self.cases.cases]
        self.outcomes, self.answered = [None] * len(queries), 0
        return call_for_all(caller, self.retriever, queries, self.calls, self.handle)

    def handle(self, index: int, call: CallResult) -> None:
        case = self.cases.cases[index]
        ranking = RankedIds(())
        if call.documents is not None:
            # A wrong id is wrong for every query, so it ends the evaluation here, at the first.
            ranking = document_ids(call.documents, self.id, self.unit, case.id)
        self.outcomes[index] = QueryOutcome(
            id=case.id,
            query=case.query,
            k=case.k or self.k,
            retrieved=ranking.ids,
            repeated=ranking.repeated,
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
        result = result_of(scores, outcomes, cutoff, self.unit, printed)
        warn_of_repeats(result)
        if max_failures is not None and len(result.failures) > max_failures:
            raise too_many_failures(result, max_failures)
        return result


def too_many_failures(result: RetrievalResult, max_failures: int) -> RetrieverError:
    """The error that names the failed queries."""
    failures = list(result.failures.items())
    lines = [f"  {printable(query)}: {printable(reason, None)}" for query, reason in failures[:SHOWN_FAILURES]]
    if len(failures) > SHOWN_FAILURES:
        lines.append(f"  … {len(failures) - SHOWN_FAILURES} more")
    title = f"{len(failures)} of {len(result)} queries failed, at most {max_failures} may fail:"
    return RetrieverError("\n".join([title, *lines]))
