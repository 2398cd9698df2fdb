"""A live retriever, called for every test case and scored."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from rankgauge.config.retriever_settings import (
    CALL_OPTIONS,
    DEFAULT_CALLS,
    DEFAULT_K,
    RetrieverCalls,
    Unit,
)
from rankgauge.core.ids import Ids
from rankgauge.core.progress import Progress, reported, shown
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, ScoreMeaning, Status
from rankgauge.errors import InputError, Note, RankgaugeError, RetrieverError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.log_writer import is_log_name
from rankgauge.io.formats.trec import check_no_white_space
from rankgauge.io.matching import with_shown_text_ids
from rankgauge.io.reading_options import Asking
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames
from rankgauge.rag.cases import AnyCases, Case, Cases, check_no_quotes, read_cases
from rankgauge.rag.retrieval_result import QueryOutcome, RetrievalResult, result_of, warn_of_repeats
from rankgauge.rag.scoring import QueryJudgments, evaluate_cases, evaluate_labels, measures_at
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, ScoreFault, answer_notes
from rankgauge.retrieval.asking.calls import CallResult, ask_all, ask_all_async, check_k
from rankgauge.retrieval.asking.documents import IdSource, ResultDetail, ReturnedDetails, path_with_values
from rankgauge.retrieval.asking.failures import check_max_failures, is_too_many, too_many_failures
from rankgauge.retrieval.asking.retriever_functions import CaseRequest, retriever_function
from rankgauge.retrieval.engines.callables import CallableRetriever, ranked_results_run
from rankgauge.retrieval.fetch import journal_header, journal_path
from rankgauge.retrieval.journal import FetchedAnswer, Journal
from rankgauge.retrieval.open_retriever import OpenRetriever, asking_options, open_retriever
from rankgauge.retrieval.retriever import QueryBatch

JOURNAL_HINT = "the answers are saved: evaluate again to ask only the failed queries"
RULE_OPTIONS = ("id", "unit", "scores", "is_by_text")
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
    ``./FILE.py:object``, ``FILE.yaml``. Test cases are a file (JSON, YAML, CSV, Parquet), a list of
    ``{"query": …, "relevant_ids": […]}``, or what :func:`rankgauge.rag.read_cases` gives; a case with ``topK`` has its
    own k, and one with ``match`` says how its labels are matched with results; ``read_cases(…,
    reading=Reading(match="suffix"))`` says it for all of them. A parameter of the retriever with the name of another
    field, such as ``tenant``, gets its value. ``id`` and ``unit`` are those of :class:`RetrievalEvaluator`; ``calls``
    sets how many results are fetched, how many calls run at once, timeouts and retries.

    A list is a ranking: its order counts, and scores that contradict it are reported. ``scores='similarity'`` sorts by
    score, highest first, ``'distance'`` lowest first; ``'ignore'`` uses the order alone. ``{id: score}`` has no order
    and is sorted by score.

    A query that still fails after its retries (None is a failure, an empty list is not) is reported as failed and not
    averaged; if more fail than ``max_failures``, an error is raised, whose ``result`` has the rest; None allows any
    number. By default the retriever is called in this thread; with a timeout or with concurrent calls, in other
    threads, and a call that timed out is abandoned in its own. ``latency_ms`` is of the attempts that were answered,
    until the answer arrives; ``response_ms`` counts from the first attempt, failed attempts and pauses included.
    """
    check_max_failures(max_failures)
    opened, cases = open_retriever(retriever), read_cases(test_cases, needs_relevant=True)
    evaluation = _LiveEvaluation(opened, cases, k, measures, AnswerRules(id, unit, scores), calls, progress)
    with evaluation.journaled(), evaluation.shown():
        ask_all(evaluation.function, evaluation.requests, calls, evaluation.handle)
        evaluation.ask_again()
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
    opened, cases = open_retriever(retriever), read_cases(test_cases, needs_relevant=True)
    evaluation = _LiveEvaluation(opened, cases, k, measures, AnswerRules(id, unit, scores), calls, progress, True)
    with evaluation.journaled(), evaluation.shown():
        await ask_all_async(evaluation.function, evaluation.requests, calls, evaluation.handle)
        if evaluation.is_nothing_judged():
            once, again = replace(calls, retries=0), evaluation.handle_again
            await ask_all_async(evaluation.function, evaluation.first_request, once, again)
        return evaluation.result(max_failures)


def check_written_ids(queries: Ids, out: str) -> None:
    """Raise, before anything is asked, if the run could not be written."""
    try:
        check_no_white_space(queries, "query id")
    except InputError as error:
        raise InputError.at(out, None, error.message, hint='give each query an "id" without white space') from None


def live_journals(out: str, retrievers: Sequence[str]) -> list[Path]:
    """Where the answers of each retriever are kept until the output is written: of several, by their names."""
    if len(retrievers) == 1:
        return [journal_path(out)]
    names = [re.sub(r"[^\w.-]+", "-", one).strip("-.") for one in retrievers]
    return [journal_path(f"{out}.{name}") for name in unique_names(names)]


class LiveAnswers(NamedTuple):
    """What a retriever answered, with all that came with it, and notes on the answers."""

    run: Run
    notes: tuple[Note, ...]


def ask_queries(
    retriever: Any, texts: Mapping[str, str], k: int, judgments: Qrels | None, asking: Asking
) -> LiveAnswers:
    """Ask a retriever queries by id: its results with all that came with them, and notes.

    The judgments may have a column with a k for each query; if no result is judged, the first query is asked again.

    A retriever with calls of its own keeps them unless ``asking`` has others; so does the file that describes one.
    """
    check_max_failures(asking.max_failures)
    name = retriever if isinstance(retriever, str) else None
    options = {**({} if name is None else asking_options(name)), **asking.options}
    rules, calls = AnswerRules(), DEFAULT_CALLS
    if isinstance(retriever, CallableRetriever):
        rules, calls = retriever.rules, retriever.calls
    rules = replace(rules, **{key: value for key, value in options.items() if key in RULE_OPTIONS})
    calls = replace(calls, **{key: value for key, value in options.items() if key in CALL_OPTIONS})
    if asking.out is not None and not is_log_name(asking.out):
        check_written_ids(Ids.from_text(texts, "query id"), asking.out)
    if asking.journal is not None:
        calls = replace(calls, journal=asking.journal, resume=asking.resume)
    opened = open_retriever(retriever)
    if isinstance(retriever, CallableRetriever):
        opened = OpenRetriever(retriever.source, retriever.name, retriever.identity())
    own_k = _own_k(judgments)
    known = {} if judgments is None else _judged_documents(judgments)
    own_fields = asking.fields
    cases = Cases(
        [Case(query, text, own_k.get(query), own_fields.get(query, {})) for query, text in texts.items()], known, {}
    )
    evaluation = _LiveEvaluation(opened, cases, k, None, rules, calls, progress=False)
    evaluation.keeps_journal = asking.journal is not None
    try:
        with evaluation.journaled(), evaluation.shown():
            ask_all(evaluation.function, evaluation.requests, calls, evaluation.handle)
            evaluation.ask_again()
            return evaluation.answers(asking.max_failures)
    except RetrieverError as error:
        if asking.keeps_partial and isinstance(error.result, LiveAnswers):
            return error.result
        raise


def _own_k(judgments: Qrels | None) -> dict[str, int]:
    """The k of each query that has one of its own."""
    column = None if judgments is None else judgments.columns.get("k")
    if judgments is None or column is None:
        return {}
    pairs = zip(judgments.queries.to_text(), column.tolist(), strict=True)
    return {query: int(k) for query, k in pairs if isinstance(k, (int, float)) and k >= 1}


def _judged_documents(judgments: Qrels) -> dict[str, QueryJudgments]:
    """The documents that are judged for each query; none if the judgments are passages."""
    if judgments.judgments == "passages":
        return {}
    docs, offsets = judgments.docs.to_text(), judgments.offsets.tolist()
    spans = zip(judgments.queries.to_text(), pairwise(offsets), strict=True)
    return {query: QueryJudgments(docs[begin:end]) for query, (begin, end) in spans}


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
    keeps_journal: bool = field(default=False, init=False)  # whether the caller deletes it once answers are written
    returned: ReturnedDetails = field(default_factory=ReturnedDetails, init=False)
    numbers: dict[str, Mapping[str, float]] = field(default_factory=dict, init=False)  # by query, beside its results
    ids_change: bool = field(default=False, init=False)  # whether the same query, asked again, had other ids
    judged_path: str | None = field(default=None, init=False)  # where results have judged ids, if not as id

    def __post_init__(self) -> None:
        check_k(self.k)
        function = retriever_function(self.opened.retriever, self.opened.name, prefer_async=self.prefer_async)
        self.function = function.with_fields({case.id: case.fields for case in self.cases.cases})
        self.report_progress: Progress = lambda done, total: None
        self.loop = asyncio.get_running_loop() if self.prefer_async else None
        self.extra_measures: tuple[Measure, ...] = (
            () if self.measures is None else Conventions().measures(self.measures)
        )
        self.pending = list(range(len(self.cases.cases)))
        if self.cases.labels is not None:
            rules = self.cases.labels.rule_by_query(self.cases.reading)
            fields = FieldLabels.of(self.cases.reading.match_fields)
            changed = {"id": fields.result_id} if fields else {"is_by_text": lambda query: rules.get(query) == "text"}
            self.rules = replace(self.rules, **changed)

    @property
    def requests(self) -> Sequence[CaseRequest]:
        """Each query that has no answer yet, how many results it is asked for, and the other fields of its case."""
        return [self._request(self.cases.cases[index]) for index in self.pending]

    def _request(self, case: Case) -> CaseRequest:
        return CaseRequest(case.query, self.calls.fetch or case.k or self.k, case.fields)

    @contextmanager
    def journaled(self) -> Iterator[None]:
        """Keep answers in the journal of the calls, if they have one, and begin with those that it has already."""
        if self.calls.journal is None:
            yield
            return
        with Journal(Path(self.calls.journal), self._journal_header(), resume=self.calls.resume) as journal:
            for index, case in enumerate(self.cases.cases):
                kept = journal.answers.get(case.id)
                if kept is not None and kept.status != Status.FAILED:
                    facts, docs = kept.facts, tuple(kept.docs)
                    given, repeated = facts.given, facts.repeated + facts.collapsed
                    scores = (
                        tuple(kept.scores) if given is None else tuple(map(given.__getitem__, docs if given else ()))
                    )
                    fault = cast(ScoreFault | None, facts.fault)
                    ranking = RankedResults(docs, None if given == {} else scores, repeated, fault)
                    self.outcomes[index] = replace(self._outcome(index, ranking, None), latency=facts.latency)
                    self.returned.add(facts.details)
                    self.numbers[case.id] = facts.numbers
            self.pending = [index for index in self.pending if index not in self.outcomes]
            self.journal = journal
            try:
                yield
            finally:
                self.journal = None  # what is still in flight after an interrupt must not write to a closed journal
            if not self.keeps_journal:
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
            calls=replace(self.calls, journal=None, resume=None),
            made_by=self.opened.identity,
        )
        texts = QueryBatch.from_dict({case.id: case.query for case in cases})
        queries = replace(texts, fields={case.id: case.fields for case in cases})
        header = {**journal_header(retriever, queries, self.k), "k_of_cases": [case.k for case in cases]}
        if rules.is_by_text is not None:
            header["by_text"] = [rules.is_by_text(case.id) for case in cases]
        return header

    def handle(self, row: int, call: CallResult) -> None:
        index = self.pending[row]
        case = self.cases.cases[index]
        ranking = RankedResults()
        details: list[ResultDetail] = []
        if call.answer is not None:
            # A wrong id is wrong for every query, so it ends the evaluation here, at the first.
            read = self.rules.read(call.answer, case.id)
            ranking, details = read.ranking, self.rules.details(read)
            self.returned.add(details)
            self.numbers[case.id] = call.answer.numbers
        self.outcomes[index] = self._outcome(index, ranking, call)
        if self.journal is not None:
            status = Status.FAILED if call.answer is None else Status.ANSWERED if ranking.ids else Status.EMPTY
            facts = self.rules.facts(ranking, call.error)
            numbers = self.numbers.get(case.id, {})
            facts = replace(facts, details=details, latency=call.latency, numbers=numbers)
            self.journal.add([FetchedAnswer(case.id, list(ranking.ids), ranking.run_scores, status, facts=facts)])
        self.report_progress(len(self.outcomes), len(self.cases.cases))

    # If no id that was returned is judged, the first query is asked once more: ids may differ each time.

    def ask_again(self) -> None:
        """Ask the first query once more if nothing that was returned is judged."""
        if self.is_nothing_judged():
            ask_all(self.function, self.first_request, replace(self.calls, retries=0), self.handle_again)

    def is_nothing_judged(self) -> bool:
        """Whether no result is judged for its query, though some could be, and such a query was asked now."""
        outcomes = self.outcomes.values()
        is_any_judged = any(self._judged(outcome).intersection(outcome.retrieved) for outcome in outcomes)
        return not is_any_judged and self._first_asked is not None

    @property
    def first_request(self) -> Sequence[CaseRequest]:
        """The first query that was asked now and has both results and judged ids."""
        cases = [] if self._first_asked is None else [self.cases.cases[self._first_asked]]
        return [self._request(case) for case in cases]

    @property
    def _first_asked(self) -> int | None:
        asked = (
            index
            for index, outcome in self.outcomes.items()
            if outcome.attempts is not None and outcome.retrieved and self._judged(outcome)
        )
        return min(asked, default=None)

    def _judged(self, outcome: QueryOutcome) -> set[str]:
        """The ids that are judged for a query; none if its labels are texts."""
        judgments = self.cases.judgments.get(outcome.id) if self.cases.labels is None else None
        return set() if judgments is None else {*judgments.relevant, *judgments.grades}

    def handle_again(self, _: int, call: CallResult) -> None:
        """Compare the second answer to the first query with the first one; a failure shows nothing."""
        if call.answer is None or self._first_asked is None:
            return
        before = self.outcomes[self._first_asked]
        with suppress(RankgaugeError):  # the first answer was read
            read = self.rules.read(call.answer, before.id)
            self.ids_change = bool(read.ids) and not set(read.ids).intersection(before.retrieved)
            self.judged_path = path_with_values(read.columns.documents, self._judged(before))

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
        rankings = [_ranking_of(outcome) for outcome in outcomes]
        queries = Ids.from_text([outcome.id for outcome in outcomes], "query id")
        failed = np.array([outcome.error is not None for outcome in outcomes], dtype=bool)
        most = max((len(ranking.ids) for ranking in rankings), default=0)
        run = ranked_results_run(self.function.name, queries, rankings, failed, most)
        latencies = {outcome.id: outcome.latency for outcome in outcomes}
        errors = {outcome.id: outcome.error for outcome in outcomes if outcome.error is not None}
        given = {outcome.id: ranking.given for outcome, ranking in zip(outcomes, rankings, strict=True)}
        extras = self.returned.extras(latencies, errors, self.k, given, self.numbers)
        return replace(run, extras=replace(extras, ids_change=self.ids_change, judged_path=self.judged_path))

    def answers(self, max_failures: int | None) -> LiveAnswers:
        """The run with what came with its results, and the notes on the answers."""
        outcomes = [self.outcomes[index] for index in range(len(self.cases.cases))]
        errors = {outcome.id: outcome.error for outcome in outcomes if outcome.error is not None}
        answered = [outcome for outcome in outcomes if outcome.error is None]
        facts = [replace(self.rules.facts(_ranking_of(outcome)), short_of=outcome.short_of) for outcome in answered]
        notes = answer_notes(facts, [len(outcome.retrieved) for outcome in answered])
        if self.journal is not None and self.journal.reused.count:
            notes = (*notes, Note("answers-reused", str(self.journal.reused)))
        answers = LiveAnswers(self.run_of(outcomes), notes)
        if is_too_many(len(errors), max_failures):
            hint = "allow failures: --max-failures N"
            hint = hint if self.journal is None else f"{JOURNAL_HINT}, or {hint}"
            raise too_many_failures(errors, len(outcomes), max_failures, hint=hint, result=answers)
        return answers

    def result(self, max_failures: int | None) -> RetrievalResult:
        outcomes = [self.outcomes[index] for index in range(len(self.cases.cases))]
        if self.cases.labels is None:
            check_no_quotes(self.cases, {name for outcome in outcomes for name in outcome.retrieved})
        columns = {name: dict(values) for name, values in self.cases.columns.items()}
        cutoff: int | str = self.k
        if "k" in columns:
            columns["k"] = {outcome.id: outcome.k for outcome in outcomes}
            cutoff = "k"
        run, texts = self.run_of(outcomes), {outcome.id: outcome.query for outcome in outcomes}
        measures = [*measures_at(cutoff).values(), *self.extra_measures]
        if self.cases.labels is None:
            evaluation = evaluate_cases(
                run, self.cases.judgments, measures, columns=columns, texts=texts, evidence=self.cases.evidence
            )
        else:
            (run,) = with_shown_text_ids([run])
            ids = pairwise(run.offsets.tolist())
            names = run.docs.to_text()
            outcomes = [
                replace(outcome, retrieved=tuple(names[begin:end]))
                for outcome, (begin, end) in zip(outcomes, ids, strict=True)
            ]
            judgments = self.cases.labels.judgments.with_columns(columns)
            labels = replace(self.cases.labels, judgments=judgments)
            evaluation = evaluate_labels(labels, run, measures, texts, self.cases.reading)
        scores = evaluation.scores[0]
        if self.journal is not None and self.journal.reused.count:
            scores = replace(scores, notes=(*scores.notes, Note("answers-reused", str(self.journal.reused))))
            evaluation = replace(evaluation, scores=(scores,))
        by_request = dict(zip(scores.requested, scores.measures, strict=True))
        printed = [by_request[measure] for measure in self.extra_measures]
        result = result_of(evaluation, outcomes, cutoff, self.rules.unit, printed, self.calls)
        warn_of_repeats(result)
        if is_too_many(len(result.failures), max_failures):
            hint = FAILURES_HINT if self.journal is None else f"{JOURNAL_HINT}, or {FAILURES_HINT}"
            raise too_many_failures(result.failures, len(result), max_failures, hint=hint, result=result)
        return result


def _ranking_of(outcome: QueryOutcome) -> RankedResults:
    fault = cast(ScoreFault | None, outcome.fault)
    return RankedResults(outcome.retrieved, outcome.scores, outcome.repeated, fault)
