"""One function per type of result: each makes a document of it, in the file of its topic.

A command calls the function of its result, with what the user asked for; a notebook finds it here, by the type.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rankgauge.render.document import Document, sentence

DOCUMENTS: dict[str, str] = {  # class → file of this folder and function, imported when such a result is shown
    "Baseline": "gate.baseline_document",
    "Comparison": "comparison.document",
    "EntrySummary": "history.entry_document",
    "Evaluation": "scores.document",
    "FetchResult": "steps.fetch_document",
    "GateEfficiency": "steps.summary_document",
    "GateResult": "gate.document",
    "GoldLabels": "labels.gold_document",
    "History": "history.document",
    "LabelCheck": "labels.check_document",
    "LabelEstimates": "labels.document",
    "PipelineReport": "steps.document",
    "Qrels": "previews.qrels_document",
    "QrelsAgreement": "agreement.document",
    "QualityCheck": "history.changes_document",
    "Queries": "previews.queries_document",
    "RaterAgreement": "labels.rater_document",
    "Report": "benchmark.document",
    "RerankingResult": "steps.summary_document",
    "ResolvedLabels": "labels.resolved_document",
    "RetrievalQuality": "steps.story_document",
    "RetrievalResult": "scores.retrieval_document",
    "RoutingResult": "steps.summary_document",
    "Run": "previews.run_document",
    "RunDifference": "agreement.difference_document",
    "SavedEntry": "history.saved_entry_document",
    "Scores": "scores.scores_document",
    "SuiteResult": "steps.suite_document",
    "TieAudit": "audits.ties_document",
    "Trend": "history.trend_document",
    "TuningResult": "steps.tuning_document",
    "UnjudgedAudit": "audits.unjudged_document",
    "Validation": "validation.document",
    "Verification": "validation.verification_document",
    "VersionComparison": "history.version_document",
}
LIST_DOCUMENTS: dict[str, str] = {  # for several results of a class
    "EntrySummary": "history.entries_document",
    "GroupSummary": "scores.groups_document",
    "Judgment": "previews.judgments_document",
    "PoolItem": "previews.pool_document",
    "RaterAgreement": "labels.raters_document",
    "Scores": "scores.score_list_document",
}


def document_of(result: Any) -> Document:
    """The document of a result, or of several results of one type."""
    if isinstance(result, (list, tuple)):
        if not result:
            return Document("results", lambda: [sentence("Empty: no results.")])
        return _function(type(result[0]), LIST_DOCUMENTS)(result)
    return _function(type(result), DOCUMENTS)(result)


def _function(cls: type, documents: dict[str, str]) -> Callable[[Any], Document]:
    """The function of a class, or of the first of its bases that has one."""
    name = next(base.__name__ for base in cls.__mro__ if base.__name__ in documents)
    module, function = documents[name].split(".")
    found: Callable[[Any], Document] = getattr(import_module(f"rankgauge.render.documents.{module}"), function)
    return found
