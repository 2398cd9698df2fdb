"""Any function or object that answers a query, as a retriever."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import frozen
from rankgauge.errors import InputError, UsageError
from rankgauge.io.sources import sha256_of_file
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, ScoreMeaning, run_scores
from rankgauge.retrieval.asking.calls import DEFAULT_CALLS, CallResult, RetrieverCalls, ask_all
from rankgauge.retrieval.asking.documents import IdSource, Unit
from rankgauge.retrieval.asking.failures import record_answer
from rankgauge.retrieval.asking.functions import retriever_function
from rankgauge.retrieval.base import Identity, QueryBatch


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
        self._function = retriever_function(source, name)
        self.name, self.version = self._function.name, version
        self._rules, self._calls = AnswerRules(id, unit, scores), calls
        self._source_identity = {**source_identity(source), **(made_by or {})}
        self.batch_size = calls.in_flight  # answers are saved after each batch, and larger ones gain nothing

    def identity(self) -> Identity:
        """The given name and version, how answers are read, and the code of the function."""
        id_source = self._rules.id
        return {
            "mode": "callable",
            "name": self.name,
            "version": self.version,
            "id": source_identity(id_source)["callable"] if callable(id_source) else id_source,
            "unit": self._rules.unit,
            "scores": self._rules.scores,
            "fetch": self._calls.fetch,
            **self._source_identity,
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        names = queries.ids.to_text()
        rankings = [RankedResults()] * len(queries)
        failed = np.zeros(len(queries), dtype=bool)

        def handle(row: int, call: CallResult) -> None:
            if call.answer is None:
                failed[row] = True
            else:
                rankings[row] = self._rules.rank(call.answer, names[row])
            short_of = self._rules.short_of(rankings[row], k, passes_k=self._function.passes_k)
            facts = self._rules.facts(rankings[row], call.error, short_of)
            record_answer(names[row], replace(facts, waited=call.waited))

        requests = [(text, self._calls.fetch or k) for text in queries.texts]
        ask_all(self._function, requests, self._calls, handle)
        return ranked_results_run(self.name, queries.ids, rankings, failed, k)


def ranked_results_run(
    name: str, queries: Ids, rankings: Sequence[RankedResults], failed: np.ndarray[Any, np.dtype[np.bool_]], k: int
) -> Run:
    """The run of the first ``k`` results of each ranking, with scores that give them exactly this order."""
    ids = [ranking.ids[:k] for ranking in rankings]
    scores = [
        run_scores(kept, None if ranking.scores is None else ranking.scores[:k])
        for kept, ranking in zip(ids, rankings, strict=True)
    ]
    sizes = np.array([len(kept) for kept in ids], dtype=np.int64)
    status = np.where(failed, Status.FAILED, np.where(sizes > 0, Status.ANSWERED, Status.EMPTY))
    return Run(
        name=name,
        queries=queries,
        offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        docs=Ids.from_bytes([encode_id(doc, "document id") for kept in ids for doc in kept]),
        scores=frozen(np.array([score for row in scores for score in row], dtype=np.float64)),
        status=frozen(status.astype(np.uint8)),
    )


def source_identity(source: Any) -> dict[str, Any]:
    """Where a function, or the class of an object, is defined, and the hash of that file; its own identity first."""
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
