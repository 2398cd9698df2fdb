"""An evaluation with everything that can be beside its scores: intervals, groups, comparison, audits, bands, charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.core.dataclass import dataclass
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.scores import Scores, sorted_runs
from rankgauge.render.document import ChartData, Part, ResultDocument, Rows, Sentences
from rankgauge.render.documents.scores import (
    CONFIDENCE,
    SCORE_FIELDS,
    as_dict,
    correlation_dicts,
    correlation_lines,
    footer,
    group_dicts,
    group_tables,
    interval_dicts,
    intervals_table,
    means_table,
    query_table,
    records,
    threshold_dict,
    threshold_parts,
)

if TYPE_CHECKING:
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.config.bands import Bands
    from rankgauge.evaluation.evaluate import Evaluation


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
    parts += threshold_parts(scores, wanted.confidence)
    if comparison is not None:
        from rankgauge.comparison.comparison_result import sort_systems
        from rankgauge.render.documents.comparison import comparison_parts

        parts += comparison_parts(sort_systems(comparison, wanted.sort))
    if wanted.ties or wanted.unjudged:
        from rankgauge.render.documents.audits import audit_parts, audits_of

        parts += audit_parts(audits_of(evaluation, ties=wanted.ties, unjudged=wanted.unjudged))
    uplifts: list[str] = []
    if bands is not None:
        from rankgauge.render.documents.bands import uplift_lines

        uplifts = uplift_lines(evaluation.scores, bands, comparison)
    found = correlation_lines(scores, wanted.confidence)
    parts.append(Sentences([*uplifts, *found, *footer(evaluation.scores)], "footnote"))
    return [*parts, *([ChartData("means", (scores, wanted.confidence))] if wanted.plot else [])]


def _evaluation_data(
    evaluation: Evaluation, wanted: ScoresExtent, comparison: Comparison | None, notes: Sequence[Note]
) -> dict[str, Any]:
    from rankgauge.render.documents.audits import audits_of, with_audits
    from rankgauge.render.documents.bands import with_bands

    data = as_dict(evaluation.scores, per_query=wanted.per_query, notes=notes)
    for entry, run in zip(data["runs"], evaluation.scores, strict=True):
        if (curve := threshold_dict(run, wanted.confidence)) is not None:
            entry["thresholds"] = curve
        if found := correlation_dicts(run, wanted.confidence):
            entry["correlations"] = found
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
