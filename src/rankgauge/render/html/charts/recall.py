"""Interpolated precision at recall levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.hits import Hits
from rankgauge.evaluation.audit.values import Values
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.iprec import ELEVEN_POINTS
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import ONE_GRADE
from rankgauge.render.html.charts.lines import Curve, CurveAxes, lines
from rankgauge.render.html.charts.svg import Chart
from rankgauge.render.html.page_systems import PageSystem


def recall_charts(scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[PageSystem]) -> Iterator[Chart]:
    """The chart, at the relevance threshold of the first measure; none if documents have no single grade."""
    if any(run_hits.judgments not in ONE_GRADE for run_hits in hits):
        return
    rel = dict(scores[0].measures[0].parameters).get("rel")
    measures = [parse_measure(f"IPrec@{level:g}", compat=scores[0].conventions.compat) for level in ELEVEN_POINTS]
    measures = [measure.but(rel=rel) if isinstance(rel, (int, float)) else measure for measure in measures]
    curves = []
    for run_scores, run_hits, system in zip(scores, hits, systems, strict=True):
        precisions = [Values(measure(run_hits), run_scores.averaged, "mean").over_queries for measure in measures]
        curves.append(Curve(system, [(x, y) for x, y in zip(ELEVEN_POINTS, precisions, strict=True) if y is not None]))
    drawn = lines(curves, CurveAxes("precision", (0.0, 1.0), "recall", (0.0, 1.0)))
    yield Chart("Precision-recall curve", drawn, "Interpolated: the highest precision at this recall or above.")
