"""A pipeline's log: one JSON object a query, with whatever steps there were.

{"query_id": "q1", "expert": "billing", "optimal_expert": "billing", "skipped": false, "needs_retrieval": true,
 "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankgauge.adapters.pipeline.gate import GateResult, gate_efficiency
from rankgauge.adapters.pipeline.rerank import MEASURE, RerankingResult, reranking_improvement
from rankgauge.adapters.pipeline.routing import Route, RoutingResult, routing_accuracy
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.tables import count_by
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.evaluate import AnyQrels, evaluate
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import log
from rankgauge.io.formats.jsonl import said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.formats.names import plain
from rankgauge.io.join.inputs import as_qrels
from rankgauge.io.rows import qrels_of, run_of
from rankgauge.io.sources import name_of, read_bytes
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

SCHEMA = "rankgauge.pipeline/1"
# Role → keys. What a log has beside these (ids, texts, judgments) is known as in any other log.
KEYS: dict[str, tuple[str, ...]] = {
    "route": ("expert", "route", "routed_to", "chosen_expert", "selected_expert", "experts"),
    "optimal": ("optimal_expert", "best_expert", "expected_expert", "true_expert"),
    "skipped": ("skipped", "retrieval_skipped", "gate_skipped"),
    "needed": ("needs_retrieval", "retrieval_needed", "needed"),
    "reranked": ("reranked_ids", "reranked", "reranked_docs", "reranked_documents"),
}


@dataclass(frozen=True)
class PipelineReport:
    """Routing, gate and reranking, as far as a log holds them; ``absent`` says why one is not there."""

    name: str
    queries: int
    routing: RoutingResult | None = None
    gate: GateResult | None = None
    rerank: RerankingResult | None = None
    absent: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = (("routing", self.routing), ("gate", self.gate), ("rerank", self.rerank))
        return "\n".join(f"{name:<9} –: {self.absent[name]}" if one is None else str(one) for name, one in parts)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": SCHEMA,
            "log": self.name,
            "queries": self.queries,
            "routing": None if self.routing is None else self.routing.to_dict(),
            "gate": None if self.gate is None else self.gate.to_dict(),
            "rerank": None if self.rerank is None else self.rerank.to_dict(),
            "absent": dict(self.absent),
        }


def evaluate_pipeline(
    path: str | Path, *, qrels: AnyQrels | None = None, measure: str | Measure = MEASURE
) -> PipelineReport:
    """Routing, gate and reranking from a JSON Lines log.

    A query needs retrieval where its ``needs_retrieval`` says so, or else where it has relevant documents. What a
    skipped query would have had is known where the log has its ``retrieved_ids`` all the same.
    """
    parse_measure(measure)  # before the work
    data, _ = read_bytes(path)
    pipeline = _Pipeline(Faults(str(path)), data, None if qrels is None else as_qrels(qrels), measure)
    absent: dict[str, str] = {}

    def part(name: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except _Absent as reason:
            absent[name] = str(reason)
            return None

    routing, gate = part("routing", pipeline.routing), part("gate", pipeline.gate)
    rerank = part("rerank", pipeline.rerank)
    if len(absent) == len(("routing", "gate", "rerank")):
        reasons = "; ".join(f"{name}: {why}" for name, why in absent.items())
        raise InputError.at(str(path), None, f"no step of a pipeline is in this log ({reasons})")
    return PipelineReport(name_of(path), len(pipeline.log.queries), routing, gate, rerank, absent)


class _Absent(Exception):
    """A step that a log does not hold; the text says what is missing."""


class _Pipeline:
    """A log, and what its keys mean."""

    def __init__(self, faults: Faults, data: bytes, qrels: Qrels | None, measure: str | Measure) -> None:
        self.faults, self.measure, self._qrels = faults, measure, qrels
        self.log = log.load(faults, data)
        faults.stop()
        names = self.log.records.names
        self.keys = {role: _found(faults.source, names, role) for role in KEYS}

    def routing(self) -> RoutingResult:
        """Of the queries whose best expert is known."""
        route, best = self._key("route"), self._key("optimal")
        rows = {query: record for query, record in self._records().items() if record.get(best) is not None}
        routes: dict[str, Route] = {query: record.get(route) for query, record in rows.items()}
        return routing_accuracy(routes, {query: record[best] for query, record in rows.items()})

    def gate(self) -> GateResult:
        """Of the queries for which the log says whether retrieval was skipped."""
        key = self._key("skipped")
        rows = {query: record[key] for query, record in self._records().items() if record.get(key) is not None}
        skipped = {query: self._bool(query, key, value) for query, value in rows.items()}
        needed = self._needed(skipped)
        skipped = {query: skipped[query] for query in needed}
        return gate_efficiency({q: not skip for q, skip in skipped.items()}, needed, quality=self._quality())

    def _quality(self) -> dict[str, float | None] | None:
        """The measure of each query that has a result, a skipped one's of a shadow run; None where none is known."""
        qrels = self._judged()
        run = self._run(self.log.keys["retrieved"]) if "retrieved" in self.log.keys else None
        if qrels is None or run is None:
            return None
        answered = set(run.queries.to_text())
        values = evaluate(qrels, run, self.measure).per_query(self.measure)
        return {query: value for query, value in values.items() if query in answered}

    def rerank(self) -> RerankingResult:
        """Of the queries that have a result before and after, and judgments."""
        after = self._key("reranked")
        if "retrieved" not in self.log.keys:
            raise _Absent("there is no retrieved_ids to compare with")
        first, second = self._run(self.log.keys["retrieved"]), self._run(after)
        if first is None or second is None:
            raise _Absent("no query has results before and after")
        qrels = self._judgments()
        before = evaluate(qrels, first, self.measure).per_query(self.measure)
        changed = evaluate(qrels, second, self.measure).per_query(self.measure)
        both = set(first.queries.to_text()) & set(second.queries.to_text())
        shared = [query for query, value in before.items() if query in both and value is not None]
        name = str(parse_measure(self.measure))
        return reranking_improvement(
            {query: before[query] for query in shared}, {query: changed[query] for query in shared}, measure=name
        )

    def _needed(self, skipped: Mapping[str, bool]) -> dict[str, bool]:
        key = self.keys["needed"]
        if key is not None:
            records = self._records()
            return {q: self._bool(q, key, records[q][key]) for q in skipped if records[q].get(key) is not None}
        qrels = self._judged()
        if qrels is None:
            raise _Absent(f"neither {KEYS['needed'][0]} nor judgments say which queries need retrieval")
        relevant = count_by(qrels.query[qrels.grades > 0], len(qrels.queries)) > 0
        has = dict(zip(qrels.queries.to_text(), relevant.tolist(), strict=True))
        return {query: has[query] for query in skipped if query in has}

    def _judgments(self) -> Qrels:
        qrels = self._judged()
        if qrels is None:
            raise _Absent("there are no judgments: neither relevant_ids nor --qrels")
        return qrels

    def _judged(self) -> Qrels | None:
        if self._qrels is None and ("relevant" in self.log.keys or "grades" in self.log.keys):
            names = [self.log.keys[role] for role in ("relevant", "grades") if role in self.log.keys]
            having = self._having(*names)
            rows = having.qrels_rows(self.faults)
            self.faults.stop()
            self._qrels = qrels_of(rows, name=name_of(self.faults.source))
        return self._qrels

    def _run(self, key: str) -> Run | None:
        having = self._having(key)
        if not having.queries:
            return None
        rows = replace(having, keys={**having.keys, "retrieved": key}).run_rows(self.faults)
        self.faults.stop()
        return run_of(rows, name=key)

    def _having(self, *keys: str) -> log.Log:
        """The log with only those rows that hold a list or an object under one of the keys."""
        records = self.log.records.records
        rows = {
            row: query
            for row, query in self.log.queries.items()
            if any(isinstance(records[row].get(key), (list, Pairs, str)) for key in keys)
        }
        return replace(self.log, queries=rows)

    def _records(self) -> dict[str, Mapping[str, Any]]:
        records = self.log.records.records
        return {query.decode("utf-8", "surrogateescape"): records[row] for row, query in self.log.queries.items()}

    def _key(self, role: str) -> str:
        key = self.keys[role]
        if key is None:
            raise _Absent(f"no row has {KEYS[role][0]}")
        return key

    def _bool(self, query: str, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise InputError.at(
                self.faults.source,
                None,
                f"expected true or false as {key} of query {shown(query)}, found {said(value)}",
            )
        return value


def _found(source: str, names: Any, role: str) -> str | None:
    known = {plain(name) for name in KEYS[role]}
    found = [name for name in names if plain(name) in known]
    if len(found) > 1:
        listed = ", ".join(map(shown, found))
        raise InputError.at(source, None, f"expected one key for {role}, found {len(found)}: {listed}")
    return found[0] if found else None
