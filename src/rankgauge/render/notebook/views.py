"""Which view each type of result has: one row per type, by the name of its class, which is unique."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from rankgauge.render.notebook.fragment import as_fragment
from rankgauge.render.notebook.parts import ViewPart

VIEWS: dict[str, str] = {  # class → file of this folder and function, imported when such a result is shown
    "Baseline": "checks.baseline_view",
    "Comparison": "comparisons.comparison_view",
    "EntrySummary": "histories.entry_view",
    "Evaluation": "scores.evaluation_view",
    "FetchResult": "systems.fetch_view",
    "GateEfficiency": "systems.summary_view",
    "GateResult": "checks.gate_view",
    "GoldLabels": "labels.gold_view",
    "History": "histories.history_view",
    "LabelCheck": "labels.check_view",
    "LabelEstimates": "labels.estimates_view",
    "PipelineReport": "systems.pipeline_view",
    "Qrels": "data.qrels_view",
    "QrelsAgreement": "comparisons.order_view",
    "QualityCheck": "histories.check_view",
    "Queries": "data.queries_view",
    "RaterAgreement": "labels.rater_view",
    "Report": "comparisons.report_view",
    "RerankingResult": "systems.summary_view",
    "ResolvedLabels": "labels.resolved_view",
    "RetrievalQuality": "systems.summary_view",
    "RetrievalResult": "scores.retrieval_view",
    "RoutingResult": "systems.summary_view",
    "Run": "data.run_view",
    "RunDifference": "comparisons.difference_view",
    "SavedEntry": "histories.saved_entry_view",
    "Scores": "scores.scores_view",
    "SuiteResult": "systems.suite_view",
    "TieAudit": "checks.ties_view",
    "Trend": "histories.trend_view",
    "TuningResult": "systems.tuning_view",
    "UnjudgedAudit": "checks.unjudged_view",
    "Validation": "checks.validation_view",
    "Verification": "checks.verification_view",
    "VersionComparison": "comparisons.version_view",
}
LIST_VIEWS: dict[str, str] = {  # the same for several results of a class
    "EntrySummary": "histories.entries_view",
    "GroupSummary": "scores.groups_view",
    "Judgment": "data.judgments_view",
    "PoolItem": "data.pool_view",
    "RaterAgreement": "labels.raters_view",
    "Scores": "scores.score_list_view",
}


def view_of(result: Any) -> str:
    """The HTML of a result."""
    if isinstance(result, (list, tuple)):
        if not result:
            return as_fragment(["Empty: no results."], "results")
        return as_fragment(
            _function(type(result[0]), LIST_VIEWS)(result), f"{len(result)} × {type(result[0]).__name__}"
        )
    return as_fragment(_function(type(result), VIEWS)(result), type(result).__name__)


def _function(cls: type, views: dict[str, str]) -> Callable[[Any], Sequence[ViewPart]]:
    """The view of a class, or of the first of its bases that has one."""
    name = next(base.__name__ for base in cls.__mro__ if base.__name__ in views)
    module, function = views[name].split(".")
    found: Callable[[Any], Sequence[ViewPart]] = getattr(import_module(f"rankgauge.render.notebook.{module}"), function)
    return found
