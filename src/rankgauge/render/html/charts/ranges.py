"""Values with intervals: means, differences in a row of a table, and judgment coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from rankgauge.comparison.differences import Difference
from rankgauge.core.formatting import percent
from rankgauge.core.hits import Hits
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.counts import judged
from rankgauge.measures.measure import Measure
from rankgauge.render.html.charts.curves import cutoff_chart
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    Chart,
    KeyEntry,
    LabelColumn,
    Scale,
    across,
    drawing,
    fitting_ticks,
    horizontal_axis,
    line,
    padded_range,
    plot_width,
    symbol,
    system_column,
    tag,
    text,
    text_width,
)
from rankgauge.render.html.page_systems import PageSystem, PageSystems
from rankgauge.render.html.page_text import interval_text, measure_text

RANGE_ROW, SCENARIO_ROW, RANGE_TOP, RANGE_BOTTOM = 26, 76, 4, 22
KEY_HEIGHT = 30
SCENARIOS_HEIGHT = 168  # of a chart of scenarios, which is beside one of curves, if a row is not too high then
RangeForm = Literal["interval", "scenario"]


@dataclass(frozen=True)
class RangeRow:
    """One system; ``low`` and ``high`` are None if there is no range."""

    system: PageSystem
    value: float | None
    low: float | None
    high: float | None
    value_text: str
    description: str  # the row as a sentence


def ranges(rows: Sequence[RangeRow], possible: tuple[float, float], form: RangeForm = "interval") -> Markup:
    """The rows over one axis."""
    row_height = RANGE_ROW if form == "interval" else scenario_row(len(rows))
    bottom = RANGE_TOP + row_height * len(rows)
    heights = [RANGE_TOP + row_height * (index + 0.5) for index in range(len(rows))]
    ends = padded_range([end for row in rows for end in (row.value, row.low, row.high)], possible)
    x = Scale(*ends, 0, FULL_WIDTH)
    width = max((text_width(row.value_text) for row in rows), default=0)
    values = [text(width, y + 4, row.value_text, "value", "end") for row, y in zip(rows, heights, strict=True)]
    left, right = system_column([row.system for row in rows], heights), LabelColumn(width, values)
    space = plot_width(left, right)
    parts = [line(x(tick), RANGE_TOP, x(tick), bottom, "grid") for tick in fitting_ticks(x, space)]
    parts += horizontal_axis(x, space, bottom)
    parts += [_row(row, x, y, form) for row, y in zip(rows, heights, strict=True)]
    description = "; ".join(row.description for row in rows)
    return drawing(bottom + RANGE_BOTTOM, description, *parts, left=left, right=right)


def scenario_row(rows: int) -> float:
    """The height of a row of scenarios: more if there are few rows."""
    return min(max(SCENARIOS_HEIGHT / max(rows, 1), RANGE_ROW), SCENARIO_ROW)


def scenarios_height(rows: int) -> float:
    """The height of a chart of scenarios with its key."""
    return RANGE_TOP + scenario_row(rows) * rows + RANGE_BOTTOM + KEY_HEIGHT


def scenario_key(label: str) -> KeyEntry:
    """The key of a chart of scenarios."""
    parts = [symbol("bracket-low", 3, 6), symbol("bracket-high", 33, 6), tag("path", d="M3 6H33", class_="scenario")]
    return KeyEntry(tag("svg", *parts, viewBox="0 0 36 12", class_="key-range c0", aria_hidden="true"), label)


def _row(row: RangeRow, x: Scale, y: float, form: RangeForm) -> Markup:
    parts = [tag("title", row.description)]
    if row.low is not None and row.high is not None:
        parts += _range(x(row.low), x(row.high), y, form)
    if row.value is not None:
        parts.append(symbol(row.system.shape, across(x(row.value)), y))
    return tag("g", *parts, class_=row.system.color)


def _range(low: float, high: float, y: float, form: RangeForm) -> Iterator[Markup]:
    if form == "interval":
        yield line(low, y, high, y, "range")
        return
    yield line(low, y, high, y, "scenario")
    yield symbol("bracket-low", across(low), y)
    yield symbol("bracket-high", across(high), y)


def mean_charts(page_systems: PageSystems) -> Iterator[Chart]:
    """One chart for each measure."""
    confidence = page_systems.confidence
    for measure in page_systems.scores[0].measures:
        rows = []
        for index, (scores, system) in enumerate(zip(page_systems.scores, page_systems.systems, strict=True)):
            value, interval = scores[measure], page_systems.intervals[index][measure.name]
            value_text, ends = measure_text(measure, value), interval_text(interval)
            suffix = f" ({percent(confidence)} CI {ends})" if ends else ""
            description = f"{system.name}: {measure.shown} {value_text}{suffix}"
            rows.append(RangeRow(system, value, interval.low, interval.high, value_text, description))
        yield Chart(measure.shown, ranges(rows, measure.definition.range), measure.definition.summary)


FOREST_WIDTH, FOREST_HEIGHT = 120, 20
FOREST_MARGIN = FULL_WIDTH / 20


def largest_distance(rows: Sequence[Difference]) -> float:
    """The largest distance from zero of the differences and of the ends of their intervals."""
    ends = [row.difference for row in rows] + [end for row in rows for end in (row.interval.low, row.interval.high)]
    return max((abs(end) for end in ends if end is not None and abs(end) != float("inf")), default=0.0) or 1.0


def forest(row: Difference, limit: float, color: str) -> Markup:
    """The drawing for one row. It is hidden from screen readers because its numbers are in the same row."""
    x, middle = Scale(-limit, limit, FOREST_MARGIN, FULL_WIDTH - FOREST_MARGIN), FOREST_HEIGHT / 2
    parts = [line(x(0), 1, x(0), FOREST_HEIGHT - 1, "zero")]
    if row.interval.low is not None and row.interval.high is not None:
        parts.append(line(x(row.interval.low), middle, x(row.interval.high), middle, "range"))
    if row.difference is not None:
        parts.append(tag("circle", cx=across(x(row.difference)), cy=middle, r=3.5, class_="dot"))
    return tag(
        "svg",
        *parts,
        width=FOREST_WIDTH,
        height=FOREST_HEIGHT,
        class_=color,
        aria_hidden="true",
    )


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
            f"{measure.shown} and unjudged documents",
            ranges(list(_unjudged_rows(measure, unjudged, systems)), measure.definition.range, "scenario"),
            "From all unjudged documents not relevant (symbol) to all of them relevant with the highest grade.",
            [scenario_key(SCENARIO_LABEL)],
        )
    if any(audit.measures[0].changed_queries for audit in ties):
        yield Chart(
            f"{measure.shown} and ties",
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
