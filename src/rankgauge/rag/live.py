"""A live retriever, asked every test case and scored."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import RetrieverError, printable
from rankgauge.evaluation.conventions import MeasureNames
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.rag.asking import Answer, Apart, Caller, Here, NeedsLoop, Policy, ask_all, with_loop, without_loop
from rankgauge.rag.calls import Retriever, as_retriever
from rankgauge.rag.cases import AnyCases, Cases, read_cases
from rankgauge.rag.documents import IdSource, Unit, check_unit, ranking_of
from rankgauge.rag.evaluator import warn_of_repeats
from rankgauge.rag.metrics import Asked
from rankgauge.rag.progress import Progress, as_progress
from rankgauge.rag.results import LISTED, RetrievalResult, result_of
from rankgauge.rag.scoring import DEFAULT_K, check_k, fields_at, score


def evaluate_retriever(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    id: IdSource = None,
    unit: Unit = "chunk",
    measures: MeasureNames | None = None,
    fetch: int | None = None,
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 0,
    max_failures: int | None = None,
    progress: bool | Progress = False,
    name: str | None = None,
) -> RetrievalResult:
    """Ask a retriever every test case, and score what comes back.

    The retriever is a function of a query (and k, where it takes one), or an object with ``retrieve``, ``invoke`` or
    ``get_relevant_documents``, asynchronous or not. Test cases are a JSON Lines or CSV file or a list of
    ``{"query": …, "relevant_ids": […]}``; one with a ``topK`` is asked for and cut at its own k, one with a ``weight``
    counts by it in the weighted means. ``id`` and ``unit`` are as in :class:`RetrievalEvaluator`; ``fetch`` asks for
    more results than k, which chunks need that collapse to documents.

    A query that fails, after so many ``retries`` and ``timeout`` seconds each, is reported as failed and not averaged;
    where more fail than ``max_failures``, an error is raised. With the defaults the retriever is called in this
    thread; with a time-out or more than one call at once, in threads, and a call that is timed out is left behind in
    its own. Latencies are of each call that was answered.
    """
    job = _job(retriever, test_cases, k, id, unit, measures, fetch, Policy(concurrency, timeout, retries), name)
    job = job.watched(progress)
    if concurrency == 1 and timeout is None and not job.retriever.is_async:
        try:
            without_loop(job.run(Here()))
            return job.result(max_failures)
        except NeedsLoop:
            pass  # a plain function that returns something to await
    with_loop(job.run(Apart()))
    return job.result(max_failures)


async def evaluate_retriever_async(
    retriever: Any,
    test_cases: AnyCases,
    k: int = DEFAULT_K,
    *,
    id: IdSource = None,
    unit: Unit = "chunk",
    measures: MeasureNames | None = None,
    fetch: int | None = None,
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 0,
    max_failures: int | None = None,
    progress: bool | Progress = False,
    name: str | None = None,
) -> RetrievalResult:
    """As :func:`evaluate_retriever`, in the running event loop: for clients that belong to it."""
    job = _job(retriever, test_cases, k, id, unit, measures, fetch, Policy(concurrency, timeout, retries), name)
    job = job.watched(progress)
    await job.run(Apart())
    return job.result(max_failures)


@dataclass
class _Job:
    """One evaluation: what is asked, and what has come back so far."""

    retriever: Retriever
    cases: Cases
    k: int
    id: IdSource
    unit: Unit
    more: tuple[Measure, ...]
    fetch: int | None
    policy: Policy
    asked: list[Asked | None]
    progress: Progress | None = None
    done: int = 0

    def watched(self, progress: bool | Progress) -> _Job:
        self.progress = as_progress(progress)
        return self

    def run(self, caller: Caller) -> Coroutine[Any, Any, None]:
        queries = [(case.query, self.fetch or case.k or self.k) for case in self.cases.cases]
        self.asked, self.done = [None] * len(queries), 0
        return ask_all(caller, self.retriever, queries, self.policy, self.take)

    def take(self, place: int, answer: Answer) -> None:
        case = self.cases.cases[place]
        ids: tuple[str, ...] = ()
        repeated = 0
        if answer.documents is not None:
            # A wrong id is wrong for every query, so it ends the evaluation, here at the first.
            found = ranking_of(answer.documents, self.id, self.unit, case.id)
            ids, repeated = found.ids, found.repeated
        self.asked[place] = Asked(
            case.id, case.query, case.k or self.k, ids, repeated, answer.error, answer.latency, answer.attempts
        )
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, len(self.asked))

    def result(self, max_failures: int | None) -> RetrievalResult:
        asked = [one for one in self.asked if one is not None]
        columns = {name: dict(values) for name, values in self.cases.columns.items()}
        cutoff: int | str = self.k
        if "k" in columns:
            columns["k"] = {one.id: one.k for one in asked}
            cutoff = "k"
        scores = score(
            {one.id: one.retrieved for one in asked if one.error is None},
            self.cases.wanted,
            [*fields_at(cutoff).values(), *self.more],
            failed=[one.id for one in asked if one.error is not None],
            columns=columns,
            name=self.retriever.name,
        )
        named = zip(scores.requested, scores.measures, strict=True)
        shown = [measure for wanted, measure in named if wanted in self.more]
        result = result_of(scores, asked, cutoff, self.unit, shown)
        warn_of_repeats(result)
        if max_failures is not None and len(result.failures) > max_failures:
            raise too_many(result, max_failures)
        return result


def _job(
    retriever: Any,
    test_cases: AnyCases,
    k: int,
    id: IdSource,
    unit: Unit,
    measures: MeasureNames | None,
    fetch: int | None,
    policy: Policy,
    name: str | None,
) -> _Job:
    check_unit(unit)
    k = check_k(k)
    more = () if measures is None else parse_measures(measures)
    called = as_retriever(retriever, name)
    cases = read_cases(test_cases)
    return _Job(called, cases, k, id, unit, more, None if fetch is None else check_k(fetch, "fetch"), policy, [])


def too_many(result: RetrievalResult, allowed: int) -> RetrieverError:
    """The error that names the queries which failed."""
    failed: Sequence[tuple[str, str]] = list(result.failures.items())
    listed = "\n".join(f"  {printable(query)}: {printable(why, None)}" for query, why in failed[:LISTED])
    more = f"\n  … {len(failed) - LISTED} more" if len(failed) > LISTED else ""
    return RetrieverError(f"{len(failed)} of {len(result)} queries failed, at most {allowed} may:\n{listed}{more}")
