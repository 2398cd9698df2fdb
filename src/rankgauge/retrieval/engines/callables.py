"""Any function or object that answers a query, as a retriever."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankgauge.config.retriever_settings import DEFAULT_CALLS, RetrieverCalls, Unit
from rankgauge.core.arrays import frozen
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run, RunExtras, ScoreMeaning, Status
from rankgauge.errors import InputError, UsageError
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.retrieval.asking.answers import AnswerFacts, AnswerRules, RankedResults, record_answer
from rankgauge.retrieval.asking.calls import CallResult, ask_all
from rankgauge.retrieval.asking.documents import IdSource, ReturnedDetails
from rankgauge.retrieval.asking.retriever_functions import CaseRequest, retriever_function
from rankgauge.retrieval.retriever import AnswerHandler, Identity, QueryBatch

PLAIN_TYPES = (str, bytes, int, float, type(None))


class CallableRetriever:
    """Ask a function of a query (and k, if it takes one), or an object with ``retrieve``, ``invoke`` or ``search``.

    It is called, and its answers are read, as by :func:`rankgauge.evaluate_retriever`: ``id``, ``unit``, ``scores`` and
    ``calls`` are the same. A list is a ranking, in its own order; ``{id: score}`` is ranked by score. A query without
    an answer (None, an exception, a timeout) is marked as failed. ``version`` represents the function in the identity:
    change it whenever the function changes. ``made_by`` is what else determines its answers, as JSON.
    """

    def __init__(
        self,
        source: Any,
        *,
        name: str | None = None,
        version: str = "",
        id: IdSource = None,
        unit: Unit = "chunk",
        scores: ScoreMeaning | None = None,
        calls: RetrieverCalls = DEFAULT_CALLS,
        made_by: Mapping[str, Any] | None = None,
    ) -> None:
        if calls.journal is not None:
            raise UsageError("a journal is kept by evaluate_retriever or fetch_run, not by a retriever")
        self.source, self.rules, self.calls = source, AnswerRules(id, unit, scores), calls
        self._function = retriever_function(source, name)
        self.name, self.version = self._function.name, version
        self._source_identity = {**source_identity(source), **_own_identity(source), **(made_by or {})}

    def identity(self) -> Identity:
        """The given name and version, how answers are read, and the code of the function."""
        id_source = self.rules.id
        return {
            "mode": "callable",
            "name": self.name,
            "version": self.version,
            "id": source_identity(id_source)["callable"] if callable(id_source) else id_source,
            "unit": self.rules.unit,
            "scores": self.rules.scores,
            "fetch": self.calls.fetch,
            **({} if self.rules.is_by_text is None else {"by_text": True}),
            **self._source_identity,
        }

    def sent_fields(self, queries: QueryBatch) -> list[dict[str, Any]]:
        """The fields of each query that it takes; nothing if it takes none."""
        fields = [queries.fields.get(name, {}) for name in queries.ids.to_text()]
        taken = {name for one in fields for name in one} & set(self._function.parameters)
        return [{name: one.get(name) for name in sorted(taken)} for one in fields] if taken else []

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        rankings, all_facts = [RankedResults()] * len(queries), [AnswerFacts()] * len(queries)
        returned = ReturnedDetails()

        def keep(row: int, ranking: RankedResults, facts: AnswerFacts) -> None:
            # The text of a document is kept once, however many answers have it.
            rankings[row], all_facts[row] = ranking, replace(facts, details=returned.add(facts.details))

        begin = time.perf_counter()
        self.retrieve_each(queries, k, keep)
        failed = np.array([facts.error is not None for facts in all_facts], dtype=bool)
        run = ranked_results_run(self.name, queries.ids, rankings, failed, k)
        run = replace(run, extras=extras_of_answers(dict(zip(queries.ids.to_text(), all_facts, strict=True)), k))
        seconds = time.perf_counter() - begin
        for name, facts in zip(queries.ids.to_text(), all_facts, strict=True):
            overhead = 0.0 if facts.latency is None or len(queries) > 1 else seconds - facts.latency
            record_answer(name, replace(facts, overhead=overhead))
        return run

    def retrieve_each(self, queries: QueryBatch, k: int, handle: AnswerHandler) -> None:
        """Answer every query, and pass on each answer when it arrives."""
        names = queries.ids.to_text()

        def handle_call(row: int, call: CallResult) -> None:
            read = None if call.answer is None else self.rules.read(call.answer, names[row])
            ranking = RankedResults() if read is None else read.ranking
            short_of = self.rules.short_of(ranking, k, passes_k=self._function.passes_k)
            facts = self.rules.facts(ranking, call.error, short_of)
            details = () if read is None else self.rules.details(read)
            numbers = {} if call.answer is None else call.answer.numbers
            handle(row, ranking, replace(facts, latency=call.latency, details=details, numbers=numbers))

        depth, fields = self.calls.fetch or k, queries.fields
        function = self._function.with_fields({name: fields.get(name, {}) for name in names})
        texts = zip(names, queries.texts, strict=True)
        requests = [CaseRequest(text, depth, fields.get(name, {})) for name, text in texts]
        ask_all(function, requests, self.calls, handle_call)


def extras_of_answers(answers: Mapping[str, AnswerFacts], k: int) -> RunExtras:
    """What came with the answers of queries, each of which was asked for k results."""
    returned = ReturnedDetails()
    for facts in answers.values():
        returned.add(facts.details)
    latencies = {query: facts.latency for query, facts in answers.items()}
    errors = {query: facts.error for query, facts in answers.items() if facts.error is not None}
    given = {query: facts.given for query, facts in answers.items()}
    return returned.extras(latencies, errors, k, given, {query: facts.numbers for query, facts in answers.items()})


def ranked_results_run(
    name: str, queries: Ids, rankings: Sequence[RankedResults], failed: np.ndarray[Any, np.dtype[np.bool_]], k: int
) -> Run:
    """The run of the first ``k`` results of each ranking, with scores that give them exactly this order."""
    results = [ranking.first(k) for ranking in rankings]
    sizes = np.array([len(result.ids) for result in results], dtype=np.int64)
    status = np.where(failed, Status.FAILED, np.where(sizes > 0, Status.ANSWERED, Status.EMPTY))
    return Run(
        name=name,
        queries=queries,
        offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        docs=Ids.from_text([doc for result in results for doc in result.ids], "document id"),
        scores=frozen(np.array([score for result in results for score in result.run_scores], dtype=np.float64)),
        status=frozen(status.astype(np.uint8)),
        holds_empty=True,
    )


def _own_identity(source: Any) -> dict[str, Any]:
    """What an object says that determines its answers, as the engines of servers do."""
    identity = getattr(source, "identity", None)
    found = identity() if callable(identity) and not inspect.isclass(source) else None
    return {"source": dict(found)} if isinstance(found, Mapping) else {}


def _arguments_sha256(source: partial[Any]) -> str:
    """The hash of what a function is called with, which may hold secrets; of objects, only the type is known."""
    named = [(None, value) for value in source.args] + sorted(source.keywords.items())
    plain = [(name, value if isinstance(value, PLAIN_TYPES) else type(value).__qualname__) for name, value in named]
    return hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).hexdigest()


def source_identity(source: Any) -> dict[str, Any]:
    """Where a function, or the class of an object, is defined, and the hash of that file; its own identity first."""
    if isinstance(source, partial):
        return {**source_identity(source.func), "arguments_sha256": _arguments_sha256(source)}
    definition = source if hasattr(source, "__qualname__") else type(source)
    name = f"{getattr(definition, '__module__', '?')}:{definition.__qualname__}"
    try:
        path = inspect.getsourcefile(definition)
        digest = None if path is None else sha256_of_file(path)
    except (TypeError, OSError, InputError):
        digest = None
    own = getattr(source, "identity", None)
    identity: dict[str, Any] = {"callable": name, "source_sha256": digest}
    return {**identity, "retriever": own()} if callable(own) and not inspect.isclass(source) else identity
