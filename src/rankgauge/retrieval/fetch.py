"""Ask a retriever every query and write the run: in batches or as answers arrive, resumed after an interruption."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.config.retriever_settings import BenchmarkSettings, JournalSettings
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.progress import phase
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, Status
from rankgauge.core.settings import Section, check_settings, setting, setting_of
from rankgauge.errors import InputError, Note, UsageError
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.formats.log_writer import is_log_name, write_log
from rankgauge.io.formats.trec import (
    check_no_white_space,
    check_tag,
    dropped_text,
    lost_extras,
    lost_scores,
    replaced_text,
    write_answers,
)
from rankgauge.retrieval.asking.answers import AnswerFacts, AnswerRecord, RankedResults, answer_notes, recorded_answers
from rankgauge.retrieval.asking.failures import is_too_many, too_many_failures
from rankgauge.retrieval.engines.callables import CallableRetriever, extras_of_answers
from rankgauge.retrieval.journal import FetchedAnswer, Journal, ReusedAnswers
from rankgauge.retrieval.retriever import (
    Decisions,
    QueryBatch,
    QueryDecision,
    Retriever,
    StreamingRetriever,
    id_text,
    retrieve_run,
)

RESUME_HINT = (
    "the answers so far are saved: run the same command again to resume, or allow failures: max_failures=N, "
    "--max-failures N"
)
FetchProgress = Callable[[int, int, float], None]  # queries answered, queries in total, seconds since the start


@dataclass(frozen=True)
class FetchOptions:
    """How a run is fetched and written.

    ``tag`` names the run (by default as the retriever); a retriever that answers batches gets ``batch_size`` queries at
    once; ``resume`` decides about the answers of an interrupted fetch; ``inputs`` are files that must not be
    overwritten. If more queries fail than ``max_failures``, the fetch ends with an error and can be resumed; None
    allows any number. With ``keep_journal``, the journal stays after the run is written, for a caller that fetches
    several runs: if a later one stops, those before it are not asked again.
    """

    tag: str | None = setting(
        None, "Name the run.  [default: the retriever]", Section.OUTPUT, flag="--tag NAME", common=True
    )
    batch_size: int = setting(64, "Ask N queries at once.", Section.RETRIEVER, flag="--batch N", limits=">=1")
    resume: bool | None = setting_of(JournalSettings, "resume")
    inputs: Sequence[str | Path] = ()
    max_failures: int | None = setting_of(BenchmarkSettings, "max_failures")
    keep_journal: bool = False

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, eq=False)
class FetchResult(HtmlView):
    """The answers of a fetch; ``reused`` are those that the journal already had, with the age of the oldest.

    ``notes`` are caveats about the answers: scores that contradict the order of the results, results that repeat an id.
    """

    name: str
    answers: Sequence[FetchedAnswer]
    reused: ReusedAnswers
    seconds: float
    k: int
    is_log: bool = False  # whether it was written as a log, which keeps texts and metadata

    def __repr__(self) -> str:
        return f"FetchResult({self.name!r}, {plural(len(self.answers), 'answer')}, {len(self.failures)} failed)"

    @cached_property
    def run(self) -> Run:
        """The run, as it was written, with the texts and metadata that came with its results."""
        return run_from_answers(self.answers, self.name, self.k)

    @property
    def failures(self) -> dict[str, str]:
        """The error of each failed query."""
        return _failures(self.answers)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Caveats about the answers."""
        answered = [answer for answer in self.answers if answer.status != Status.FAILED]
        notes = answer_notes([answer.facts for answer in answered], [len(answer.docs) for answer in answered])
        lost = [] if self.is_log else lost_extras(self.run.extras)
        scores = [] if self.is_log else lost_scores(self.run.extras)
        replaced = [Note("scores-replaced", replaced_text(scores))] if scores else []
        return (*notes, *([Note("texts-dropped", dropped_text(lost))] if lost else []), *replaced)

    @property
    def decisions(self) -> dict[str, QueryDecision]:
        """What the reranker decided, by query."""
        return {answer.query: answer.decision for answer in self.answers if answer.decision}


def fetch_run(
    retriever: Retriever,
    queries: QueryBatch,
    out: str | Path,
    *,
    k: int = 100,
    options: FetchOptions | None = None,
    decisions: Decisions | None = None,
    progress: FetchProgress | None = None,
) -> FetchResult:
    """Write a run with at most ``k`` documents per query, in the order of the queries: a log if OUT ends in ``.jsonl``.

    Any other name is that of a TREC run, which holds no texts and metadata.

    If it is interrupted at any moment and called again with the same arguments, it resumes from its journal
    (``OUT.journal``) and writes the same bytes; if answers there are older than a day, only with ``resume``. Queries
    that failed are then asked again; a TREC run cannot hold them, but ``FetchResult.run`` does. ``decisions`` are those
    that the retriever records into.
    """
    options = options or FetchOptions()
    if k < 1 or options.batch_size < 1:
        raise UsageError(f"k and the batch size must be at least 1, found {k} and {options.batch_size}")
    target, name = Path(out), options.tag or retriever.name
    check_writable(target, inputs=options.inputs)
    is_log = is_log_name(target)
    if not is_log:
        check_no_white_space(queries.ids, "query id")
        check_tag(name)
    start = time.monotonic()
    with Journal(journal_path(target), journal_header(retriever, queries, k), resume=options.resume) as journal:
        reused = journal.reused
        with phase(f"fetching {name}", "query", len(queries)) as fetching:
            fetching.first = reused.count
            report = progress or (lambda done, total, _: fetching.report(done, total))
            with _FetchedAnswers(journal, len(queries), options.max_failures, report, is_log=is_log) as fetched:
                _ask(retriever, _unanswered(queries, journal), k, options.batch_size, decisions, fetched)
        answers = [journal.answers[query] for query in queries.ids.to_text()]
        # Opened only now: a process that is killed earlier leaves its journal, and no incomplete run beside it.
        if is_log:
            texts = dict(zip(queries.ids.to_text(), queries.texts, strict=True))
            write_log(target, run_from_answers(answers, name, k), queries=texts, inputs=options.inputs)
        else:
            rankings = ((answer.query, answer.docs, answer.scores) for answer in answers)
            write_answers(rankings, target, name, options.inputs)
        if not options.keep_journal:
            journal.remove()
    return FetchResult(name, answers, reused, time.monotonic() - start, k, is_log)


def journal_path(out: str | Path) -> Path:
    """Where the journal of an output is kept until the output is complete."""
    return Path(f"{out}.journal")


def journal_header(retriever: Retriever, queries: QueryBatch, k: int) -> dict[str, Any]:
    """What identifies a fetch: the retriever with its corpus and model, the queries with the fields it takes, k."""
    digest = hashlib.sha256(b"rankgauge queries 1\n" + queries.ids.content())
    for text in queries.texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    header = {"retriever": dict(retriever.identity()), "queries": digest.hexdigest(), "k": k}
    sent = retriever.sent_fields(queries) if isinstance(retriever, CallableRetriever) else []
    if not sent:
        return header
    fields = json.dumps(sent, sort_keys=True, default=str).encode("ascii")
    return {**header, "sent_fields": hashlib.sha256(fields).hexdigest()}


def run_from_answers(answers: Sequence[FetchedAnswer], name: str, k: int) -> Run:
    """The run of a journal's answers to queries that were asked for k results, in their order."""
    return Run(
        name=name,
        queries=Ids.from_bytes([encode_id(answer.query, "query id") for answer in answers]),
        offsets=np.concatenate([[0], np.cumsum([len(answer.docs) for answer in answers])]).astype(np.int64),
        docs=Ids.from_bytes([encode_id(doc, "document id") for answer in answers for doc in answer.docs]),
        scores=np.array([score for answer in answers for score in answer.scores], dtype=np.float64),
        status=np.array([answer.status for answer in answers], dtype=np.uint8),
        extras=extras_of_answers({answer.query: answer.facts for answer in answers}, k),
        holds_empty=True,
    )


class _FetchedAnswers:
    """Saves answers as they arrive, from whichever thread, and ends the fetch if too many queries fail."""

    def __init__(
        self, journal: Journal, total: int, max_failures: int | None, progress: FetchProgress, *, is_log: bool
    ) -> None:
        self._is_log = is_log
        self._journal, self._total, self._max_failures, self._progress = journal, total, max_failures, progress
        self._answered = journal.reused.count
        self._failures: dict[str, str] = {}
        self._start = time.monotonic()
        self._lock, self._is_open = threading.Lock(), True

    def __enter__(self) -> _FetchedAnswers:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_open = False  # what is still in flight after an interrupt must not write to a closed journal

    def add(self, answers: Sequence[FetchedAnswer]) -> None:
        """Save answers."""
        if not self._is_log:
            check_no_white_space(Ids.from_text([doc for answer in answers for doc in answer.docs]), "document id")
        with self._lock:
            if not self._is_open:
                return
            self._journal.add(answers)
            self._answered += len(answers)
            self._failures |= _failures(answers)
            self._progress(self._answered, self._total, time.monotonic() - self._start)
            if is_too_many(len(self._failures), self._max_failures):
                raise too_many_failures(
                    self._failures, self._answered, self._max_failures, hint=RESUME_HINT, total=self._total
                )


def _ask(
    retriever: Retriever,
    queries: QueryBatch,
    k: int,
    batch_size: int,
    decisions: Decisions | None,
    fetched: _FetchedAnswers,
) -> None:
    """Ask every query: all at once if the retriever passes on answers as they arrive, otherwise in batches."""
    if isinstance(retriever, StreamingRetriever):
        names = queries.ids.to_text()

        def handle(row: int, ranking: RankedResults, facts: AnswerFacts) -> None:
            first = ranking.first(k)
            status = Status.FAILED if facts.error is not None else Status.ANSWERED if first.ids else Status.EMPTY
            fetched.add([FetchedAnswer(names[row], list(first.ids), first.run_scores, status, {}, facts)])

        retriever.retrieve_each(queries, k, handle)
        return
    for begin in range(0, len(queries), batch_size):
        batch = queries.take(np.arange(begin, min(begin + batch_size, len(queries))))
        with recorded_answers() as record:
            run = retrieve_run(retriever, batch, k)
        fetched.add(_answers_from_run(run, batch, decisions, record))


def _unanswered(queries: QueryBatch, journal: Journal) -> QueryBatch:
    """The queries that the journal has no answer to."""
    done = {query for query, answer in journal.answers.items() if answer.status != Status.FAILED}
    rows = [row for row, query in enumerate(queries.ids.to_text()) if query not in done]
    return queries.take(np.array(rows, dtype=np.int64))


def _failures(answers: Iterable[FetchedAnswer]) -> dict[str, str]:
    return {answer.query: answer.facts.error or "failed" for answer in answers if answer.status == Status.FAILED}


def _answers_from_run(
    run: Run, batch: QueryBatch, decisions: Decisions | None, facts: AnswerRecord
) -> list[FetchedAnswer]:
    if list(run.queries) != list(batch.ids):
        raise InputError(f"retriever {run.name} did not answer exactly the queries of its batch, in their order")
    docs, scores = run.docs.to_text(), run.scores.tolist()
    given = {} if run.extras is None else run.extras.given  # of this run, not of one that it was made of
    answers = []
    for row, query in enumerate(run.queries):
        begin, end = int(run.offsets[row]), int(run.offsets[row + 1])
        decision = decisions.pop(query) if decisions is not None else {}
        name, status = id_text(query), int(run.status[row])
        answer_facts = replace(facts.get(name, AnswerFacts()), given=given.get(name))
        answers.append(FetchedAnswer(name, docs[begin:end], scores[begin:end], status, decision, answer_facts))
    return answers
