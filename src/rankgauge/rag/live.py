"""A live retriever, called for every test case and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankgauge.config.retriever_settings import DEFAULT_CALLS, RetrieverCalls, ScoreMeaning, Unit
from rankgauge.core.ids import Ids
from rankgauge.core.progress import Progress, reported, shown
from rankgauge.core.run import Run, Status
from rankgauge.evaluation.conventions import MeasureNames
from rankgauge.io.text import replace_lone_surrogates
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.rag.cases import AnyCases, Cases, read_cases
from rankgauge.rag.evaluator import warn_of_repeats
from rankgauge.rag.metrics import QueryOutcome
from rankgauge.rag.quotes import check_no_quotes
from rankgauge.rag.results import RetrievalResult, result_of
from rankgauge.rag.scoring import DEFAULT_K, evaluate_cases, measures_at
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, ReadAnswer, ScoreFault, run_scores
from rankgauge.retrieval.asking.calls import CallResult, ask_all, ask_all_async, check_k
from rankgauge.retrieval.asking.documents import IdSource
from rankgauge.retrieval.asking.failures import check_max_failures, is_too_many, too_many_failures
from rankgauge.retrieval.asking.functions import retriever_function
from rankgauge.retrieval.base import QueryBatch
from rankgauge.retrieval.engines.callables import CallableRetriever, ranked_results_run
from rankgauge.retrieval.fetch.fetch import journal_header
from rankgauge.retrieval.fetch.journal import FetchedAnswer, Journal
from rankgauge.retrieval.named import OpenRetriever, open_retriever

JOURNAL_HINT = "the answers are saved: evaluate again to ask only the failed queries"
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
    ``get_relevant_documents`` or ``search``, asynchronous or not; or a text that names one: ``module:object``,
    ``./FILE.py:object``, ``FILE.yaml``. Test cases are a JSON Lines or CSV file or a list of
    ``{"query": …, "relevant_ids": […]}``; a case with ``topK`` has its own k, and a case with ``weight`` counts by it
    in the weighted means. ``id`` and ``unit`` are those of :class:`RetrievalEvaluator`; ``calls`` sets how many
    results are fetched, how many calls run at once, timeouts and retries.

    A list is a ranking: its order counts, and scores that contradict it are reported. ``scores='similarity'`` sorts by
    score, highest first, ``'distance'`` lowest first; ``'ignore'`` uses the order alone. ``{id: score}`` has no order
    and is sorted by score.

    A query that still fails after its retries (None is a failure, an empty list is not) is reported as failed and not
    averaged; if more fail than ``max_failures``, an error is raised, whose ``result`` has the rest; None allows any
    number. By default the retriever is called in this thread; with a timeout or with concurrent calls, in other
    threads, and a call that timed out is abandoned in its own. ``latency_ms`` is of the attempts that were answered,
    until the answer arrives; ``response_ms`` counts from the instant at which each query was due, failed attempts and
    pauses included.
    """
    check_max_failures(max_failures)
    opened, cases = open_retriever(retriever), read_cases(test_cases)
    evaluation = _LiveEvaluation(opened, cases, k, measures, AnswerRules(id, unit, scores), calls, progress)
    with evaluation.journaled(), evaluation.shown():
        ask_all(evaluation.function, evaluation.requests, calls, evaluation.handle)
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
    """Like :func:`evaluate_retriever`, in the running event loop: for clients that belong to it.

    Answers are read in another thread, so that they do not delay the calls; ``progress`` is called in the loop.
    """
    check_max_failures(max_failures)
    opened, cases = open_retriever(retriever), read_cases(test_cases)
    evaluation = _LiveEvaluation(opened, cases, k, measures, AnswerRules(id, unit, scores), calls, progress, True)
    with evaluation.journaled(), evaluation.shown():
        await ask_all_async(evaluation.function, evaluation.requests, calls, evaluation.handle)
        return evaluation.result(max_failures)


@dataclass
class _LiveEvaluation:
    """One evaluation: the queries, how they are sent, and what has been returned so far."""

    opened: OpenRetriever
    cases: Cases
    k: int
    measures: MeasureNames | None
    rules: AnswerRules
    calls: RetrieverCalls
    progress: bool | Progress
    prefer_async: bool = False
    outcomes: dict[int, QueryOutcome] = field(default_factory=dict, init=False)  # by index of the case
    journal: Journal | None = field(default=None, init=False)
    texts: dict[str, str | None] = field(default_factory=dict, init=False)  # by id; None if it came with two texts

    def __post_init__(self) -> None:
        check_k(self.k)
        self.function = retriever_function(self.opened.retriever, self.opened.name, prefer_async=self.prefer_async)
        self.report_progress: Progress = lambda done, total: None
        self.loop = asyncio.get_running_loop() if self.prefer_async else None
        self.extra_measures: tuple[Measure, ...] = () if self.measures is None else parse_measures(self.measures)
        self.pending = list(range(len(self.cases.cases)))

    @property
    def requests(self) -> Sequence[tuple[str, int]]:
        """Each query that has no answer yet, and how many results it is asked for."""
        pending = [self.cases.cases[index] for index in self.pending]
        return [(case.query, self.calls.fetch or case.k or self.k) for case in pending]

    @contextmanager
    def journaled(self) -> Iterator[None]:
        """Keep answers in the journal of the calls, if they have one, and begin with those that it has already."""
        if self.calls.journal is None:
            yield
            return
        with Journal(Path(self.calls.journal), self._journal_header()) as journal:
            for index, case in enumerate(self.cases.cases):
                kept = journal.answers.get(case.id)
                if kept is not None and kept.status != Status.FAILED:
                    facts, scores = kept.facts, tuple(kept.scores)
                    repeated = facts.repeated + facts.collapsed
                    ranking = RankedResults(tuple(kept.docs), scores, repeated, cast(ScoreFault | None, facts.fault))
                    self.outcomes[index] = self._outcome(index, ranking, None)
                    self._keep_texts(kept.texts)
            self.pending = [index for index in self.pending if index not in self.outcomes]
            self.journal = journal
            try:
                yield
            finally:
                self.journal = None  # what is still in flight after an interrupt must not write to a closed journal
            journal.remove()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Report each answer: to the caller's function, or on a line if that is asked for or somebody listens."""
        own = self.progress if callable(self.progress) else None
        if own is not None and self.loop is not None:
            own = self._progress_in_loop
        name, total = f"fetching {self.opened.name or ''}".rstrip(), len(self.cases.cases)
        with shown(wanted=self.progress is True), reported(own, name, "query", total) as self.report_progress:
            yield

    def _progress_in_loop(self, done: int, total: int) -> None:
        """Call the caller's function in the event loop: answers are read in another thread."""
        if self.loop is not None and callable(self.progress):
            self.loop.call_soon_threadsafe(self.progress, done, total)

    def _journal_header(self) -> dict[str, Any]:
        cases, rules = self.cases.cases, self.rules
        retriever = CallableRetriever(
            self.opened.retriever,
            name=self.opened.name,
            id=rules.id,
            unit=rules.unit,
            scores=rules.scores,
            calls=replace(self.calls, journal=None),
            made_by=self.opened.identity,
        )
        queries = QueryBatch.from_dict({case.id: case.query for case in cases})
        return {**journal_header(retriever, queries, self.k), "k_of_cases": [case.k for case in cases]}

    def handle(self, row: int, call: CallResult) -> None:
        index = self.pending[row]
        case = self.cases.cases[index]
        ranking = RankedResults()
        texts: list[tuple[str, str]] = []
        if call.answer is not None:
            # A wrong id is wrong for every query, so it ends the evaluation here, at the first.
            read = self.rules.read(call.answer, case.id)
            ranking, texts = read.ranking, self._keep_texts(self._texts_of(read))
        self.outcomes[index] = self._outcome(index, ranking, call)
        if self.journal is not None:
            status = Status.FAILED if call.answer is None else Status.ANSWERED if ranking.ids else Status.EMPTY
            scores = list(run_scores(ranking.ids, ranking.scores))
            facts = self.rules.facts(ranking, call.error)
            self.journal.add([FetchedAnswer(case.id, list(ranking.ids), scores, status, facts=facts, texts=texts)])
        self.report_progress(len(self.outcomes), len(self.cases.cases))

    def _texts_of(self, answer: ReadAnswer) -> Iterator[tuple[str, str]]:
        """The texts that come with chunks, by id."""
        if self.rules.unit == "chunk":
            for name, text in zip(answer.ids, answer.columns.texts(), strict=True):
                if text is not None:
                    yield name, replace_lone_surrogates(text)

    def _keep_texts(self, texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Keep texts, which labels by text are compared with; returns those that are new, for the journal."""
        new = []
        for name, text in texts:
            if name not in self.texts:
                self.texts[name] = text
                new.append((name, text))
            elif self.texts[name] not in (text, None):
                self.texts[name] = None
                new.append((name, text))
        return new

    def _outcome(self, index: int, ranking: RankedResults, call: CallResult | None) -> QueryOutcome:
        """The outcome of a case, from a call or from the journal."""
        case = self.cases.cases[index]
        return QueryOutcome(
            id=case.id,
            query=case.query,
            k=case.k or self.k,
            retrieved=ranking.ids,
            scores=ranking.scores,
            repeated=ranking.repeated,
            fault=ranking.fault,
            short_of=self.rules.short_of(ranking, case.k or self.k, passes_k=self.function.passes_k),
            error=None if call is None else call.error,
            latency=None if call is None else call.latency,
            response=None if call is None else call.response,
            attempts=None if call is None else call.attempts,
        )

    def run_of(self, outcomes: Sequence[QueryOutcome]) -> Run:
        """All results, as :func:`~rankgauge.retrieval.fetch_run` would write them."""
        rankings = [RankedResults(outcome.retrieved, outcome.scores) for outcome in outcomes]
        queries = Ids.from_text([outcome.id for outcome in outcomes], "query id")
        failed = np.array([outcome.error is not None for outcome in outcomes], dtype=bool)
        most = max((len(ranking.ids) for ranking in rankings), default=0)
        return ranked_results_run(self.function.name, queries, rankings, failed, most)

    def result(self, max_failures: int | None) -> RetrievalResult:
        outcomes = [self.outcomes[index] for index in range(len(self.cases.cases))]
        check_no_quotes(self.cases, {name for outcome in outcomes for name in outcome.retrieved})
        columns = {name: dict(values) for name, values in self.cases.columns.items()}
        cutoff: int | str = self.k
        if "k" in columns:
            columns["k"] = {outcome.id: outcome.k for outcome in outcomes}
            cutoff = "k"
        evaluation = evaluate_cases(
            self.run_of(outcomes),
            self.cases.judgments,
            [*measures_at(cutoff).values(), *self.extra_measures],
            columns=columns,
            texts={outcome.id: outcome.query for outcome in outcomes},
        )
        scores = evaluation.scores[0]
        by_request = dict(zip(scores.requested, scores.measures, strict=True))
        printed = [by_request[measure] for measure in self.extra_measures]
        result = result_of(evaluation, outcomes, cutoff, self.rules.unit, printed, self.calls)
        result = replace(result, chunk_texts={name: text for name, text in self.texts.items() if text is not None})
        warn_of_repeats(result)
        if is_too_many(len(result.failures), max_failures):
            hint = FAILURES_HINT if self.journal is None else f"{JOURNAL_HINT}, or {FAILURES_HINT}"
            raise too_many_failures(result.failures, len(result), max_failures, hint=hint, result=result)
        return result
