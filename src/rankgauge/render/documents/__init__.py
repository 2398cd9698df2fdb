"""One function per type of result: each makes a document of it, in the file of its topic.

A command calls the function of its result, with what the user asked for; a notebook finds it here, by the type. Here is
also the document of an evaluation with everything that can be beside its scores, which are in several files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgauge.core.dataclass import dataclass
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.render.document import ChartData, Part, ResultDocument, Rows, Sentences, sentence
from rankgauge.render.documents.scores import (
    CONFIDENCE,
    SCORE_FIELDS,
    as_dict,
    footer,
    group_dicts,
    group_tables,
    interval_dicts,
    intervals_table,
    means_table,
    query_table,
    records,
)

if TYPE_CHECKING:
    from rankgauge.comparison.result import Comparison
    from rankgauge.config.bands.bands import Bands
    from rankgauge.evaluation.evaluate import Evaluation

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


# -------------------------------------------------------------------------------------------------------- evaluations


@dataclass(frozen=True)
class ScoresExtent:
    """What is shown of scores besides the means."""

    per_query: bool = False
    intervals: bool = False
    by: Sequence[str] = ()  # columns of the queries
    ties: bool = False
    unjudged: bool = False
    plot: bool = False
    sort: str | None = None  # of the runs; JSON has them as given
    confidence: float = CONFIDENCE
    bands: Bands | None = None

    def sorted_runs(self, scores: Sequence[Scores]) -> Sequence[Scores]:
        """Runs in the order that is asked for."""
        if len(scores) == 1 and self.sort is None:
            return scores
        from rankgauge.evaluation.order import sorted_runs

        return sorted_runs(scores, self.sort)


def evaluation_document(
    evaluation: Evaluation, wanted: ScoresExtent, comparison: Comparison | None = None, notes: Sequence[Note] = ()
) -> ResultDocument:
    """Scores with what is wanted of them; modules that a plain evaluation does not need are not imported."""
    return ResultDocument(
        "Scores",
        lambda: _evaluation_parts(evaluation, wanted, comparison),
        lambda: _evaluation_data(evaluation, wanted, comparison, notes),
        lambda: Rows(SCORE_FIELDS, records(wanted.sorted_runs(evaluation.scores), per_query=wanted.per_query)),
    )


def _evaluation_parts(evaluation: Evaluation, wanted: ScoresExtent, comparison: Comparison | None) -> list[Part]:
    scores, bands = wanted.sorted_runs(evaluation.scores), wanted.bands
    parts: list[Part] = [means_table(scores, bands=bands), *map(query_table, scores if wanted.per_query else ())]
    parts += [intervals_table(scores, confidence=wanted.confidence)] if wanted.intervals else []
    parts += group_tables(scores, wanted.by, confidence=wanted.confidence)
    if comparison is not None:
        from rankgauge.comparison.order import sort_systems
        from rankgauge.render.documents.comparison import comparison_parts

        parts += comparison_parts(sort_systems(comparison, wanted.sort))
    if wanted.ties or wanted.unjudged:
        from rankgauge.render.documents.audits import audit_parts, audits_of

        parts += audit_parts(audits_of(evaluation, ties=wanted.ties, unjudged=wanted.unjudged))
    uplifts: list[str] = []
    if bands is not None:
        from rankgauge.render.documents.bands import uplift_lines

        uplifts = uplift_lines(evaluation.scores, bands, comparison)
    parts.append(Sentences([*uplifts, *footer(evaluation.scores)], "footnote"))
    return [*parts, *([ChartData("means", (scores, wanted.confidence))] if wanted.plot else [])]


def _evaluation_data(
    evaluation: Evaluation, wanted: ScoresExtent, comparison: Comparison | None, notes: Sequence[Note]
) -> dict[str, Any]:
    from rankgauge.render.documents.audits import audits_of, with_audits
    from rankgauge.render.documents.bands import with_bands

    data = as_dict(evaluation.scores, per_query=wanted.per_query, notes=notes)
    for entry, run in zip(data["runs"], evaluation.scores, strict=True):
        if wanted.by:
            entry["by"] = group_dicts(run, wanted.by, confidence=wanted.confidence)
        if wanted.intervals:
            for measure, value in entry["measures"].items():
                value |= interval_dicts(run, measure, confidence=wanted.confidence)
    if comparison is not None:
        data["comparison"] = comparison.to_dict()
    audits = audits_of(evaluation, ties=wanted.ties, unjudged=wanted.unjudged)
    return with_bands(
        with_audits(data, audits, per_query=wanted.per_query), evaluation.scores, wanted.bands, comparison
    )
