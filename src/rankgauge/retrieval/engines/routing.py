"""Gates and routers: a query that needs no retrieval is not sent; any other goes to the expert that fits it best."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints, concatenate
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputTypeError, UsageError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.embedders.embedder import Embedder, identity_of
from rankgauge.retrieval.engines.unit_vectors import cosines, to_unit
from rankgauge.retrieval.engines.vector import EMBEDDING_BATCH_SIZE, embed_texts
from rankgauge.retrieval.index_files import batches
from rankgauge.retrieval.named_code import code_identity, is_object_path, load_object
from rankgauge.retrieval.ranked_scores import round_scores, spread_run
from rankgauge.retrieval.retriever import Decisions, Identity, QueryBatch, Retriever, retrieve_run

GateRule = Callable[[str], bool]
WORD_COUNT_RULE = re.compile(r"words\s*(>=|<=|>|<|=)\s*(\d+)")
WORD_COUNT_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq}
GATE_RULES = "words>=N (or >, <, <=, =), matches:REGEX, not:REGEX, or module:callable that takes the text"


def parse_rule(text: str) -> GateRule:
    """A function that decides whether to retrieve for a query: ``words>=3``, ``not:^(hi|thanks)``, ``module:f``."""
    word_count = WORD_COUNT_RULE.fullmatch(text.strip())
    if word_count:
        compare, limit = WORD_COUNT_COMPARISONS[word_count.group(1)], int(word_count.group(2))
        return lambda query: bool(compare(len(query.split()), limit))
    kind, colon, expression = text.partition(":")
    if colon and kind in ("matches", "not"):
        try:
            pattern = re.compile(expression, re.IGNORECASE)
        except re.error as error:
            raise UsageError(f"gate {shown(text)}: not a regular expression: {error}") from None
        return lambda query: (pattern.search(query) is not None) == (kind == "matches")
    if is_object_path(text):
        rule: GateRule = load_object(text, "gate")
        return rule
    raise UsageError(f"unknown gate {shown(text)}", hint=f"choose one of {GATE_RULES}")


class GatedRetriever:
    """A retriever behind a rule. A query that the rule rejects gets an empty answer.

    With ``shadow`` it is still retrieved, for the log only, so that the cost of the gate can be measured.
    """

    def __init__(
        self,
        retriever: Retriever,
        gate: str | GateRule,
        *,
        decisions: Decisions | None = None,
        shadow: bool = False,
        version: str = "",
    ) -> None:
        self.name, self._retriever, self._shadow, self._version = retriever.name, retriever, shadow, version
        self._rule_name = gate if isinstance(gate, str) else getattr(gate, "__name__", type(gate).__name__)
        self._rule = parse_rule(gate) if isinstance(gate, str) else gate
        is_code = getattr(self._rule, "__module__", None) != __name__
        path = gate if isinstance(gate, str) else None
        self._code = {"code": code_identity(self._rule, path)} if is_code else {}
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The rule, with the hashes of its code, and the retriever behind it."""
        return {
            "mode": "gated",
            "gate": self._rule_name,
            "version": self._version,
            **self._code,
            "retriever": self._retriever.identity(),
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        passed = np.array([self._passes(text) for text in queries.texts], dtype=bool)
        passed_rows = np.flatnonzero(passed)
        retrieved_rows = np.arange(len(queries)) if self._shadow else passed_rows
        run = retrieve_run(self._retriever, queries.take(retrieved_rows), k)
        for query, passes in zip(queries.ids, passed.tolist(), strict=True):
            self._decisions.record(query, skipped=not passes)
        if self._shadow:
            _record_results(self._decisions, run)
            run = run.select(passed_rows)
        return spread_run(run, queries.ids, passed_rows, Status.EMPTY)

    def _passes(self, text: str) -> bool:
        decision = self._rule(text)
        if not isinstance(decision, (bool, np.bool_)):
            raise InputTypeError(f"gate {self._rule_name} must return True or False, found {type(decision).__name__}")
        return bool(decision)


def _record_results(decisions: Decisions, run: Run) -> None:
    names = run.docs.to_text()
    for row, query in enumerate(run.queries):
        if not decisions.has(query, "retrieved_ids"):  # a reranker behind the gate has recorded them already
            decisions.record(query, retrieved_ids=names[run.offsets[row] : run.offsets[row + 1]])


RouterFunction = Callable[[str], str]  # a query's text → the name of an expert


class CentroidRouter:
    """Choose the expert whose mean document is nearest to the query; of equals, the first by name."""

    def __init__(self, experts: Mapping[str, Corpus], embedder: Embedder) -> None:
        self.names, self._embedder = sorted(experts), embedder
        self._centroids = to_unit(np.stack([self._sum_vectors(experts[name]) for name in self.names]), "centroids")

    def identity(self) -> Identity:
        """The embedder; the experts' corpora are in their own identities."""
        return {"router": "centroids", "embedder": identity_of(self._embedder)}

    def score(self, queries: QueryBatch) -> Floats:
        """The cosine of each query with each expert's centroid."""
        vectors = embed_texts(self._embedder, list(queries.ids), queries.texts, "query")
        return round_scores(cosines(vectors, self._centroids))

    def _sum_vectors(self, documents: Corpus) -> Floats:
        """The sum of the documents' vectors. On the grid of :mod:`.unit_vectors` it is exact up to 2^29 documents."""
        total: Floats | None = None
        for batch in batches(documents, EMBEDDING_BATCH_SIZE):
            ids, texts = [document.id for document in batch], [document.full_text for document in batch]
            batch_sum = embed_texts(self._embedder, ids, texts, "document").sum(axis=0, dtype=np.float64)
            total = batch_sum if total is None else total + batch_sum
        if total is None:
            raise UsageError(f"expert {shown(documents.source)} has no documents")
        return total


class RoutedRetriever:
    """Experts behind a router: :class:`CentroidRouter`, or a function from a text to an expert's name.

    ``path`` is the ``module:name`` that the function was loaded by.
    """

    def __init__(
        self,
        experts: Mapping[str, Retriever],
        router: CentroidRouter | RouterFunction,
        *,
        decisions: Decisions | None = None,
        version: str = "",
        name: str = "routed",
        path: str | None = None,
    ) -> None:
        if len(experts) < 2:
            raise UsageError(f"a router needs at least two experts, found {len(experts)}")
        self.name, self._experts, self._router, self._version = name, dict(experts), router, version
        self._code = code_identity(router, path)
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The router and the experts."""
        router = (
            self._router.identity()
            if isinstance(self._router, CentroidRouter)
            else {
                "router": getattr(self._router, "__name__", type(self._router).__name__),
                "version": self._version,
                "code": self._code,
            }
        )
        experts = {name: expert.identity() for name, expert in self._experts.items()}
        return {"mode": "routed", **router, "experts": experts}

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch: each expert gets all its queries at once."""
        chosen_experts = self._choose_experts(queries)
        runs: list[Run] = []
        rows: list[int] = []
        for name, expert in self._experts.items():
            expert_rows = np.flatnonzero([chosen == name for chosen in chosen_experts])
            if len(expert_rows):
                runs.append(retrieve_run(expert, queries.take(expert_rows), k))
                rows += expert_rows.tolist()
        return _merge_runs(self.name, queries.ids, runs, np.array(rows, dtype=np.int64))

    def _choose_experts(self, queries: QueryBatch) -> list[str]:
        if isinstance(self._router, CentroidRouter):
            scores, names = self._router.score(queries), self._router.names
            experts = [names[int(column)] for column in scores.argmax(axis=1)]
            for query, expert, row in zip(queries.ids, experts, scores.tolist(), strict=True):
                self._decisions.record(query, expert=expert, expert_scores=dict(zip(names, row, strict=True)))
            return experts
        experts = [self._router(text) for text in queries.texts]
        for query, expert in zip(queries.ids, experts, strict=True):
            if expert not in self._experts:
                raise InputTypeError(
                    f"the router chose {shown(str(expert))} for query {shown(query)}; "
                    f"the experts are {', '.join(self._experts)}"
                )
            self._decisions.record(query, expert=expert)
        return experts


def _merge_runs(name: str, queries: Ids, runs: list[Run], rows: Ints) -> Run:
    """The experts' runs as one, in the order of the queries; ``rows`` are those of the experts' queries in turn."""
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(run.offsets) for run in runs)])
    merged = Run(
        name=name,
        queries=queries.take(rows),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        docs=concatenate([run.docs for run in runs]),
        scores=np.concatenate([np.zeros(0), *(run.scores for run in runs)]),
        status=np.concatenate([np.zeros(0, dtype=np.uint8), *(run.status for run in runs)]),
    )
    return merged.select(np.argsort(rows, kind="stable"))
