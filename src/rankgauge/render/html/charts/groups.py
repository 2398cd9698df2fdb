"""The distribution of the first measure in each group of queries: a box, and one tick per query if there are few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from rankgauge.core.formatting import compact_number, plural
from rankgauge.core.tables import Floats
from rankgauge.evaluation.groups import groups
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.charts.scales import Scale, padded_range, tick_label
from rankgauge.render.html.charts.svg import (
    CHART_WIDTH,
    NAME_CHARACTERS,
    Chart,
    drawing,
    line,
    name_width,
    px,
    tag,
    text,
)
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import shorten_middle

BOX_RIGHT, BOX_ROW, GROUP_TITLE_HEIGHT, BOX_TOP = 8, 15, 22, 2
MAX_TICKED_QUERIES = 100  # queries of a group that are drawn as ticks
MAX_CHART_GROUPS = 12
GROUP_TITLE_CHARACTERS = 30
GroupValues = list[tuple[PageSystem, Floats]]


def group_charts(scores: Sequence[Scores], by: Sequence[str], systems: Sequence[PageSystem]) -> Iterator[Chart]:
    """One chart for each column."""
    measure = scores[0].measures[0]
    values = [value for run_scores in scores for value in run_scores.values[run_scores.averaged, 0].tolist()]
    domain = padded_range(values, measure.definition.range)
    for column in by:
        by_size = sorted(groups(scores[0].columns, column), key=lambda group: (-int(group[1].sum()), group[0]))
        rows: list[tuple[str, GroupValues]] = [
            (label, [(system, _values(one, members)) for one, system in zip(scores, systems, strict=True)])
            for label, members in sorted(by_size[:MAX_CHART_GROUPS], key=lambda group: group[0])
        ]
        yield Chart(f"{measure.name} by {column}", _boxes(rows, domain), _caption(rows, len(by_size) - len(rows)))


def _caption(rows: Sequence[tuple[str, GroupValues]], omitted: int) -> str:
    ticked = min(len(values) for _, group in rows for _, values in group) <= MAX_TICKED_QUERIES
    marks = "each tick is a query" if ticked else "the line extends from the lowest to the highest value"
    caption = f"Box: the middle half of the queries, with the median; {marks}."
    return caption + (f" {plural(omitted, 'smaller group')} not shown." if omitted else "")


def _values(scores: Scores, members: NDArray[np.bool_]) -> Floats:
    values = scores.values[members & scores.averaged, 0]
    existing: Floats = values[~np.isnan(values)]
    return existing


def _boxes(groups: Sequence[tuple[str, GroupValues]], domain: tuple[float, float]) -> Markup:
    height = BOX_TOP + sum(GROUP_TITLE_HEIGHT + BOX_ROW * len(rows) for _, rows in groups)
    names = [shorten_middle(system.name, NAME_CHARACTERS) for _, rows in groups for system, _ in rows]
    x = Scale(*domain, name_width(names) + 4, CHART_WIDTH - BOX_RIGHT)
    parts = [line(x(tick), BOX_TOP + 8, x(tick), height, "grid") for tick in x.ticks]
    parts += [text(x(tick), height + 15, tick_label(tick), "tick", "middle") for tick in x.ticks]
    descriptions, y = [], float(BOX_TOP)
    for label, rows in groups:
        size = max(len(values) for _, values in rows)
        title = f"{shorten_middle(label, GROUP_TITLE_CHARACTERS)} ({size})"
        parts.append(text(0, y + 15, title, "group", full=label))
        y += GROUP_TITLE_HEIGHT
        for system, values in rows:
            descriptions.append(_describe(label, system, values))
            parts.append(_row(system, values, x, y + BOX_ROW / 2, descriptions[-1]))
            y += BOX_ROW
    return drawing(height + 20, "; ".join(descriptions), *parts)


def _row(system: PageSystem, values: Floats, x: Scale, y: float, description: str) -> Markup:
    name = shorten_middle(system.name, NAME_CHARACTERS)
    parts = [tag("title", description), text(0, y + 3.5, name, "name small")]
    if len(values):
        low, middle, high = (x(float(value)) for value in np.percentile(values, [25, 50, 75]))
        if len(values) <= MAX_TICKED_QUERIES:
            ticks = sorted({px(x(value)) for value in values.tolist()}, key=float)
            parts.append(tag("path", d="".join(f"M{tick} {px(y - 3)}v6" for tick in ticks), class_="rug"))
        else:
            parts.append(line(x(float(values.min())), y, x(float(values.max())), y, "whisker"))
        parts.append(tag("rect", x=low, y=y - 5, width=max(high - low, 1), height=10, class_="box"))
        parts.append(line(middle, y - 5, middle, y + 5, "median"))
    return tag("g", *parts, class_=system.color)


def _describe(label: str, system: PageSystem, values: Floats) -> str:
    if not len(values):
        return f"{label}, {system.name}: no queries"
    low, middle, high = (compact_number(float(value)) for value in np.percentile(values, [25, 50, 75]))
    count = plural(len(values), "query")
    return f"{label}, {system.name}: median {middle}, middle half {low} to {high}, {count}"
