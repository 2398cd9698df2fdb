"""A pipeline log: one JSON object per query, with the steps that the pipeline has.

{"query_id": "q1", "expert": "billing", "optimal_expert": "billing", "skipped": false, "needs_retrieval": true,
 "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankgauge.adapters.pipeline.gate_efficiency import GateEfficiency, gate_efficiency
from rankgauge.adapters.pipeline.paired_values import PIPELINE_MEASURE
from rankgauge.adapters.pipeline.reranking import RerankingResult, reranking_improvement
from rankgauge.adapters.pipeline.routing_accuracy import Route, RoutingResult, routing_accuracy
from rankgauge.core.arrays import count_by
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.evaluate import AnyQrels, evaluate
from rankgauge.io.byte_streams import read_bytes, source_name
from rankgauge.io.faults import Faults
from rankgauge.io.formats import question_log
from rankgauge.io.formats.json_text import JsonPairs, describe_json
from rankgauge.io.formats.log_results import run_rows
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.read import SourceRows, as_qrels, build_qrels, run_from_rows
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure

PIPELINE_SCHEMA = "rankgauge.pipeline/1"


@dataclass(frozen=True)
class PipelineReport(HtmlView):
    """Routing, gate and reranking, as far as a log has them; ``absent`` gives the reason for a missing step."""

    name: str
    queries: int
    routing: RoutingResult | None = None
    gate: GateEfficiency | None = None
    rerank: RerankingResult | None = None
    absent: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"PipelineReport({self.name!r}, {plural(self.queries, 'query')})"

    def __str__(self) -> str:
        steps = (("routing", self.routing), ("gate", self.gate), ("rerank", self.rerank))
        return "\n".join(f"{name:<9} –: {self.absent[name]}" if step is None else str(step) for name, step in steps)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": PIPELINE_SCHEMA,
            "log": self.name,
            "queries": self.queries,
            "routing": None if self.routing is None else self.routing.to_dict(),
            "gate": None if self.gate is None else self.gate.to_dict(),
            "rerank": None if self.rerank is None else self.rerank.to_dict(),
            "absent": dict(self.absent),
        }


def evaluate_pipeline(
    path: str | Path, *, qrels: AnyQrels | None = None, measure: str | Measure = PIPELINE_MEASURE
) -> PipelineReport:
    """Routing, gate and reranking from a JSON Lines log.

    A query needs retrieval if its ``needs_retrieval`` is true, or, without that key, if it has relevant documents. The
    quality of a skipped query is known if the log has its ``retrieved_ids`` anyway.
    """
    parse_measure(measure)  # an unknown measure is an error before the log is read
    data, _ = read_bytes(path)
    steps = PipelineSteps(Faults(str(path)), data, None if qrels is None else as_qrels(qrels), measure)
    absent: dict[str, str] = {}

    def step(name: str, evaluate_step: Callable[[], Any]) -> Any:
        try:
            return evaluate_step()
        except MissingStep as reason:
            absent[name] = str(reason)
            return None

    routing, gate = step("routing", steps.routing), step("gate", steps.gate)
    rerank = step("rerank", steps.rerank)
    if routing is None and gate is None and rerank is None:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in absent.items())
        raise InputError.at(str(path), None, f"the log has no step of a pipeline ({reasons})")
    return PipelineReport(source_name(path), len(steps.log.queries), routing, gate, rerank, absent)


# Role → keys. All other keys of a log (ids, texts, judgments) are those of any log.
STEP_KEYS: dict[str, tuple[str, ...]] = {
    "route": ("expert", "route", "routed_to", "chosen_expert", "selected_expert", "experts"),
    "optimal": ("optimal_expert", "best_expert", "expected_expert", "true_expert"),
    "skipped": ("skipped", "retrieval_skipped", "gate_skipped"),
    "needed": ("needs_retrieval", "retrieval_needed", "needed"),
    "reranked": ("reranked_ids", "reranked", "reranked_docs", "reranked_documents"),
}


class MissingStep(Exception):
    """A log does not have a step; the text names what is missing."""


class PipelineSteps:
    """The steps in a log."""

    def __init__(self, faults: Faults, data: bytes, qrels: Qrels | None, measure: str | Measure) -> None:
        self.faults, self.measure, self._qrels = faults, measure, qrels
        self.log = question_log.load(faults, data)
        faults.raise_errors()
        self.keys = {role: _key_of(faults.source, self.log.records.names, role) for role in STEP_KEYS}

    def routing(self) -> RoutingResult:
        """Routing of the queries whose best expert is known."""
        route_key, best_key = self._required_key("route"), self._required_key("optimal")
        rows = {query: record for query, record in self._records().items() if record.get(best_key) is not None}
        routes: dict[str, Route] = {query: record.get(route_key) for query, record in rows.items()}
        return routing_accuracy(routes, {query: record[best_key] for query, record in rows.items()})

    def gate(self) -> GateEfficiency:
        """The gate on the queries for which the log has its decision."""
        key = self._required_key("skipped")
        values = {query: record[key] for query, record in self._records().items() if record.get(key) is not None}
        skipped = {query: self._check_bool(query, key, value) for query, value in values.items()}
        needed = self._needs_retrieval(skipped)
        retrieved = {query: not skipped[query] for query in needed}
        return gate_efficiency(retrieved, needed, quality=self._quality(), measure=self.measure)

    def rerank(self) -> RerankingResult:
        """Reranking of the queries that have results before and after, and judgments."""
        reranked_key = self._required_key("reranked")
        if "retrieved" not in self.log.keys:
            raise MissingStep("there are no retrieved_ids to compare with")
        before_run, after_run = self._run(self.log.keys["retrieved"]), self._run(reranked_key)
        if before_run is None or after_run is None:
            raise MissingStep("no query has results before and after")
        qrels = self._judgments()
        if qrels is None:
            raise MissingStep("there are no judgments: neither relevant_ids nor --qrels")
        before = evaluate(qrels, before_run, self.measure).per_query(self.measure)
        after = evaluate(qrels, after_run, self.measure).per_query(self.measure)
        in_both = set(before_run.queries.to_text()) & set(after_run.queries.to_text())
        queries = [query for query, value in before.items() if query in in_both and value is not None]
        return reranking_improvement(
            {query: before[query] for query in queries},
            {query: after[query] for query in queries},
            measure=str(parse_measure(self.measure)),
        )

    def _quality(self) -> dict[str, float | None] | None:
        """The measure of each query with results, for a skipped one those of a shadow run; None if none is known."""
        qrels = self._judgments()
        run = self._run(self.log.keys["retrieved"]) if "retrieved" in self.log.keys else None
        if qrels is None or run is None:
            return None
        answered = set(run.queries.to_text())
        values = evaluate(qrels, run, self.measure).per_query(self.measure)
        return {query: value for query, value in values.items() if query in answered}

    def _needs_retrieval(self, skipped: Mapping[str, bool]) -> dict[str, bool]:
        key = self.keys["needed"]
        if key is not None:
            values = {query: record.get(key) for query, record in self._records().items() if query in skipped}
            return {
                query: self._check_bool(query, key, values[query]) for query in skipped if values[query] is not None
            }
        qrels = self._judgments()
        if qrels is None:
            raise MissingStep(f"neither {STEP_KEYS['needed'][0]} nor judgments determine which queries need retrieval")
        has_relevant = count_by(qrels.query[qrels.grades > 0], len(qrels.queries)) > 0
        needed = dict(zip(qrels.queries.to_text(), has_relevant.tolist(), strict=True))
        return {query: needed[query] for query in skipped if query in needed}

    def _judgments(self) -> Qrels | None:
        if self._qrels is None and ("relevant" in self.log.keys or "grades" in self.log.keys):
            keys = [self.log.keys[role] for role in ("relevant", "grades") if role in self.log.keys]
            rows = self._rows_with(*keys).qrels_rows(self.faults)
            self.faults.raise_errors()
            self._qrels = build_qrels(SourceRows(rows, self.faults), name=source_name(self.faults.source))
        return self._qrels

    def _run(self, key: str) -> Run | None:
        answered = self._rows_with(key)
        if not answered.queries:
            return None
        rows = run_rows(replace(answered, keys={**answered.keys, "retrieved": key}), self.faults)
        self.faults.raise_errors()
        return run_from_rows(SourceRows(rows, self.faults), name=key)

    def _rows_with(self, *keys: str) -> Log:
        """The log with only the rows that have a list or an object under one of the keys."""
        records = self.log.records.records
        rows = {
            row: query
            for row, query in self.log.queries.items()
            if any(isinstance(records[row].get(key), (list, JsonPairs, str)) for key in keys)
        }
        return replace(self.log, queries=rows)

    def _records(self) -> dict[str, Mapping[str, Any]]:
        records = self.log.records.records
        return {query.decode("utf-8", "surrogateescape"): records[row] for row, query in self.log.queries.items()}

    def _required_key(self, role: str) -> str:
        key = self.keys[role]
        if key is None:
            raise MissingStep(f"no row has {STEP_KEYS[role][0]}")
        return key

    def _check_bool(self, query: str, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise InputError.at(
                self.faults.source,
                None,
                f"expected true or false as {key} of query {shown(query)}, found {describe_json(value)}",
            )
        return value


def _key_of(source: str, names: Iterable[str], role: str) -> str | None:
    """The key of a log that holds a role."""
    spellings = {normalize_name(key) for key in STEP_KEYS[role]}
    keys = [name for name in names if normalize_name(name) in spellings]
    if len(keys) > 1:
        raise InputError.at(
            source, None, f"expected one key for {role}, found {len(keys)}: {', '.join(map(shown, keys))}"
        )
    return keys[0] if keys else None
