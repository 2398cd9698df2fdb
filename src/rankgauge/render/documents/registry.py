"""The document of any result, by its type: a notebook finds it here; a command calls the function of its result."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rankgauge.render.document import ResultDocument, sentence

DOCUMENTS: dict[str, str] = {  # class → file of this folder and function, imported when such a result is shown
    "Baseline": "gate.baseline_document",
    "Comparison": "comparison.document",
    "EntrySummary": "history.entry_document",
    "Evaluation": "scores.document",
    "FetchResult": "data_previews.fetch_document",
    "GateEfficiency": "pipelines.summary_document",
    "GateResult": "gate.document",
    "GoldLabels": "labels.gold_document",
    "History": "history.document",
    "LabelCheck": "labels.check_document",
    "LabelEstimates": "labels.document",
    "PipelineReport": "pipelines.document",
    "Qrels": "data_previews.qrels_document",
    "QrelsAgreement": "ranking_agreement.document",
    "QualityCheck": "history.changes_document",
    "Queries": "data_previews.queries_document",
    "RaterAgreement": "labels.rater_document",
    "Report": "benchmark.document",
    "RerankingResult": "pipelines.summary_document",
    "ResolvedLabels": "labels.resolved_document",
    "RetrievalQuality": "pipelines.story_document",
    "RetrievalResult": "scores.retrieval_document",
    "RoutingResult": "pipelines.summary_document",
    "Run": "data_previews.run_document",
    "RunDifference": "ranking_agreement.difference_document",
    "SavedEntry": "history.saved_entry_document",
    "Scores": "scores.scores_document",
    "SuiteResult": "pipelines.suite_document",
    "TieAudit": "audits.ties_document",
    "Trend": "history.trend_document",
    "TuningResult": "pipelines.tuning_document",
    "UnjudgedAudit": "audits.unjudged_document",
    "Validation": "validation.document",
    "Verification": "validation.verification_document",
    "VersionComparison": "history.version_document",
}
LIST_DOCUMENTS: dict[str, str] = {  # for several results of a class
    "EntrySummary": "history.entries_document",
    "GroupSummary": "scores.groups_document",
    "Judgment": "data_previews.judgments_document",
    "PoolItem": "data_previews.pool_document",
    "RaterAgreement": "labels.raters_document",
    "Scores": "scores.score_list_document",
}


def document_of(result: Any) -> ResultDocument:
    """The document of a result, or of several results of one type."""
    if isinstance(result, (list, tuple)):
        if not result:
            return ResultDocument("results", lambda: [sentence("Empty: no results.")])
        return _function(type(result[0]), LIST_DOCUMENTS)(result)
    return _function(type(result), DOCUMENTS)(result)


def _function(cls: type, documents: dict[str, str]) -> Callable[[Any], ResultDocument]:
    """The function of a class, or of the first of its bases that has one."""
    name = next(base.__name__ for base in cls.__mro__ if base.__name__ in documents)
    module, function = documents[name].split(".")
    found: Callable[[Any], ResultDocument] = getattr(import_module(f"rankgauge.render.documents.{module}"), function)
    return found
