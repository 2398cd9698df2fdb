"""A pipeline log: one JSON object per query, with the steps that the pipeline has.

{"query_id": "q1", "expert": "billing", "optimal_expert": "billing", "skipped": false, "needs_retrieval": true,
 "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.adapters.pipeline.gate import GateEfficiency
from rankgauge.adapters.pipeline.pairs import PIPELINE_MEASURE
from rankgauge.adapters.pipeline.rerank import RerankingResult
from rankgauge.adapters.pipeline.routing import RoutingResult
from rankgauge.adapters.pipeline.steps import MissingStep, PipelineSteps
from rankgauge.core.formatting import plural
from rankgauge.core.views import HtmlView
from rankgauge.errors import InputError
from rankgauge.evaluation.evaluate import AnyQrels
from rankgauge.io.byte_streams import read_bytes, source_name
from rankgauge.io.checks.faults import Faults
from rankgauge.io.read import as_qrels
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

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
