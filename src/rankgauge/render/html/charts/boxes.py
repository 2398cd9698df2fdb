"""The distribution of a measure in each group of queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import compact_number, plural
from rankgauge.evaluation.query_groups import groups
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    Chart,
    LabelColumn,
    Scale,
    across,
    drawing,
    fitted,
    fitting_ticks,
    horizontal_axis,
    line,
    padded_range,
    plot_width,
    px,
    stretched,
    symbol,
    system_key,
    tag,
    text,
    text_width,
)
from rankgauge.render.html.page_systems import PageSystem

BOX_ROW, GROUP_GAP, MIN_GROUP_HEIGHT, BOXES_TOP, BOXES_BOTTOM = 15, 12, 34, 4, 22
MAX_TICKED_QUERIES = 100  # queries of a group that are drawn as ticks
MAX_CHART_GROUPS = 12


@dataclass(frozen=True)
class ChartGroup:
    """One group of queries, with the values of each system in it."""

    label: str
    code: int  # its number among the groups of its column
    values: Sequence[tuple[PageSystem, Floats]]

    @property
    def size(self) -> int:
        """How many queries it has."""
        return max(len(values) for _, values in self.values)


def group_charts(scores: Sequence[Scores], by: Sequence[str], systems: Sequence[PageSystem]) -> Iterator[Chart]:
    """One chart for each column."""
    measure = scores[0].measures[0]
    everyone = np.ones(len(scores[0]), dtype=bool)
    values = [value for run_scores in scores for value in _values(run_scores, everyone).tolist()]
    domain = padded_range(values, measure.definition.range)
    for index, column in enumerate(by):
        members = [(code, *group) for code, group in enumerate(groups(scores[0].columns, column))]
        by_size = sorted(members, key=lambda group: (-int(group[2].sum()), group[1]))
        rows = [
            ChartGroup(
                label, code, [(system, _values(one, queries)) for one, system in zip(scores, systems, strict=True)]
            )
            for code, label, queries in sorted(by_size[:MAX_CHART_GROUPS], key=lambda group: group[1])
        ]
        drawn = _boxes(rows, domain, index)
        yield Chart(
            f"{measure.shown} by {column}", drawn, _caption(rows, len(by_size) - len(rows)), system_key(systems)
        )


def _caption(rows: Sequence[ChartGroup], omitted: int) -> str:
    ticked = min(len(values) for group in rows for _, values in group.values) <= MAX_TICKED_QUERIES
    marks = "each tick is a query" if ticked else "the line extends from the lowest to the highest value"
    caption = f"Box: the middle half of the queries, with the median; {marks}."
    return caption + (f" {plural(omitted, 'smaller group')} not shown." if omitted else "")


def _values(scores: Scores, members: NDArray[np.bool_]) -> Floats:
    values = scores.values[members & scores.averaged, 0]
    existing: Floats = values[~np.isnan(values)]
    return existing


def _boxes(rows: Sequence[ChartGroup], domain: tuple[float, float], column: int) -> Markup:
    group_height = max(BOX_ROW * len(rows[0].values), MIN_GROUP_HEIGHT) + GROUP_GAP
    bottom = BOXES_TOP + group_height * len(rows)
    x, left = Scale(*domain, 0, FULL_WIDTH), _group_column(rows, group_height)
    space = plot_width(left)
    parts = [line(x(tick), BOXES_TOP, x(tick), bottom, "grid") for tick in fitting_ticks(x, space)]
    parts += horizontal_axis(x, space, bottom)
    descriptions, places = [], []
    for number, group in enumerate(rows):
        top = BOXES_TOP + number * group_height
        if number:
            parts.append(line(0, top, FULL_WIDTH, top, "grid"))
        for index, (system, values) in enumerate(group.values):
            y = top + group_height / 2 + BOX_ROW * (index - (len(group.values) - 1) / 2)
            descriptions.append(_describe(group.label, system, values))
            places.append(f"{group.code} {index} {px(y)}")
            parts.append(_row(system, values, x, y, descriptions[-1]))
    return drawing(
        bottom + BOXES_BOTTOM,
        "; ".join(descriptions),
        *parts,
        left=left,
        data_column=str(column),
        data_ends=f"{domain[0]:.9g} {domain[1]:.9g}",
        data_rows=",".join(places),
    )


def _group_column(rows: Sequence[ChartGroup], height: float) -> LabelColumn:
    """The name of each group, and below it the number of its queries."""
    parts, width = [], 0.0
    for number, group in enumerate(rows):
        name, count, middle = fitted(group.label), plural(group.size, "query"), BOXES_TOP + height * (number + 0.5)
        width = max(width, text_width(name) + 4, text_width(count))
        parts.append(text(0, middle - 3, name, "group", full=group.label))
        parts.append(text(0, middle + 12, count, "tick"))
    return LabelColumn(width, parts)


def _row(system: PageSystem, values: Floats, x: Scale, y: float, description: str) -> Markup:
    parts = [tag("title", description)]
    if len(values):
        low, middle, high = (x(float(value)) for value in np.percentile(values, [25, 50, 75]))
        if len(values) <= MAX_TICKED_QUERIES:
            ticks = sorted({px(x(value)) for value in values.tolist()}, key=float)
            rug = tag("path", d="".join(f"M{tick} 0v8" for tick in ticks), class_="rug")
            parts.append(tag("svg", stretched(8, rug), y=y - 4, height=8))
        else:
            parts.append(line(x(float(values.min())), y, x(float(values.max())), y, "whisker"))
        width = across(max(high - low, 4))
        parts.append(tag("rect", x=across(low), y=y - 5, width=width, height=10, class_="box"))
        parts.append(symbol(system.shape, across(middle), y))
    return tag("g", *parts, class_=system.color)


def _describe(label: str, system: PageSystem, values: Floats) -> str:
    if not len(values):
        return f"{label}, {system.name}: no queries"
    low, middle, high = (compact_number(float(value)) for value in np.percentile(values, [25, 50, 75]))
    count = plural(len(values), "query")
    return f"{label}, {system.name}: median {middle}, middle half {low} to {high}, {count}"
