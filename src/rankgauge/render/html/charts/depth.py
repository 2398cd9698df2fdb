"""Measures at increasing cutoffs k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.audit.values import Values
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure
from rankgauge.render.html.charts.lines import Curve, CurveAxes, lines
from rankgauge.render.html.charts.svg import Chart
from rankgauge.render.html.page_systems import PageSystem

CHART_CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)
CHART_FAMILIES = ("nDCG", "R", "P")
MAX_CUTOFF_CHARTS = 4


def cutoff_charts(
    qrels: Qrels, scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[PageSystem]
) -> Iterator[Chart]:
    """One chart per family: nDCG, R and P, and that of the first measure if it has a cutoff."""
    for family in _families(scores[0]):
        if not family.definition.accepts(qrels.judgments):
            continue
        measure = family.frozen(qrels)
        uncut = measure.definition.parameters["cutoff"] is None  # whether the measure may have no cutoff
        title = f"{measure.but(cutoff=None).name if uncut else measure.definition.name}@k"
        yield cutoff_chart(measure, title, scores, hits, systems)


def cutoff_chart(
    measure: Measure,
    title: str,
    scores: Sequence[Scores],
    hits: Sequence[Hits],
    systems: Sequence[PageSystem],
    caption: str = "",
    height: float = 0,
) -> Chart:
    """One measure at each cutoff that the rankings reach."""
    deepest = max(int(run_hits.retrieved.max(initial=1)) for run_hits in hits)
    cutoffs = [k for k in CHART_CUTOFFS if k <= max(deepest, 2)]
    measures = [measure.but(cutoff=k) for k in cutoffs]
    curves = []
    for run_scores, run_hits, system in zip(scores, hits, systems, strict=True):
        values = [Values(at_k(run_hits), run_scores.averaged, "mean").over_queries for at_k in measures]
        curves.append(Curve(system, [(float(k), y) for k, y in zip(cutoffs, values, strict=True) if y is not None]))
    axes = CurveAxes(title, measure.definition.range, "k", (1.0, float(cutoffs[-1])), log=True, height=height)
    return Chart(title, lines(curves, axes), caption)


def _families(scores: Scores) -> list[Measure]:
    """For each family the first measure of the evaluation, or the family's default."""
    with_cutoff = [measure for measure in scores.measures if "cutoff" in measure.definition.parameters]
    first = [measure.definition.name for measure in with_cutoff[:1] if measure is scores.measures[0]]
    by_family = {measure.definition.name: measure for measure in reversed(with_cutoff)}
    names = dict.fromkeys([*first, *CHART_FAMILIES])
    return [by_family.get(name) or parse_measure(f"{name}@10") for name in names][:MAX_CUTOFF_CHARTS]
