"""Judgment coverage, and how unjudged documents and ties could change the first measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.hits import Hits
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.judged import judged
from rankgauge.measures.spec import Measure
from rankgauge.render.html.charts.depth import cutoff_chart
from rankgauge.render.html.charts.ranges import RangeRow, ranges, scenario_key, scenarios_height
from rankgauge.render.html.charts.svg import Chart
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import measure_text

SCENARIO_LABEL = "scenarios, not a confidence interval"


def judgment_charts(
    scores: Sequence[Scores],
    hits: Sequence[Hits],
    unjudged: Sequence[UnjudgedAudit],
    ties: Sequence[TieAudit],
    systems: Sequence[PageSystem],
) -> Iterator[Chart]:
    """Judged@k, then the ranges of the first measure, without that over grades if documents have no single grade."""
    measure = scores[0].measures[0]
    height = scenarios_height(len(systems)) if unjudged else 0
    yield cutoff_chart(judged(cutoff=10), "Judged@k", scores, hits, systems, judged.summary, height)
    if unjudged:
        yield Chart(
            f"{measure.name} and unjudged documents",
            ranges(list(_unjudged_rows(measure, unjudged, systems)), measure.definition.range, "scenario"),
            "From all unjudged documents not relevant (symbol) to all of them relevant with the highest grade.",
            [scenario_key(SCENARIO_LABEL)],
        )
    if any(audit.measures[0].changed_queries for audit in ties):
        yield Chart(
            f"{measure.name} and ties",
            ranges(list(_tie_rows(measure, ties, systems)), measure.definition.range, "scenario"),
            "From the worst to the best order of documents with equal scores; the symbol is the reported order.",
            [scenario_key(SCENARIO_LABEL)],
        )


def _unjudged_rows(
    measure: Measure, audits: Sequence[UnjudgedAudit], systems: Sequence[PageSystem]
) -> Iterator[RangeRow]:
    for audit, system in zip(audits, systems, strict=True):
        ends = [audit.measures[0].irrelevant.over_queries, audit.measures[0].relevant.over_queries]
        low, high = (measure_text(measure, end) for end in ends)
        description = (
            f"{system.name}: {low} if all unjudged documents are not relevant, {high} if all of them are relevant"
        )
        yield _range_row(system, ends[0], ends, low, description)


def _tie_rows(measure: Measure, audits: Sequence[TieAudit], systems: Sequence[PageSystem]) -> Iterator[RangeRow]:
    for audit, system in zip(audits, systems, strict=True):
        order = audit.measures[0]
        ends, reported = [order.worst.over_queries, order.best.over_queries], order.reported.over_queries
        worst, best = (measure_text(measure, end) for end in ends)
        description = f"{system.name}: {worst} with the worst order of ties, {best} with the best"
        yield _range_row(system, reported, ends, measure_text(measure, reported), description)


def _range_row(
    system: PageSystem, value: float | None, ends: Sequence[float | None], value_text: str, description: str
) -> RangeRow:
    finite = [end for end in ends if end is not None]
    return RangeRow(system, value, min(finite, default=None), max(finite, default=None), value_text, description)
