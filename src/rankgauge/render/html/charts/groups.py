"""How the first measure is distributed over the queries of each group: a box, and a tick for each query of a few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from rankgauge.core.tables import Floats
from rankgauge.evaluation.scores import Scores
from rankgauge.evaluation.slices import groups
from rankgauge.render.html.figures.scales import Scale, label, spread
from rankgauge.render.html.figures.svg import WIDTH, Figure, drawing, line, px, room, tag, text
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import many, number, short

RIGHT, ROW, HEAD, TOP = 8, 15, 22, 2
FEW = 100  # queries of a group that are drawn one by one
MOST_GROUPS = 12
SIGNS = 15


def distributions(scores: Sequence[Scores], by: Sequence[str], systems: Sequence[System]) -> Iterator[Figure]:
    """One picture for each column."""
    measure = scores[0].measures[0]
    known = [value for one in scores for value in one.values[one.averaged, 0].tolist()]
    domain = spread(known, measure.definition.range)
    for name in by:
        found = list(groups(scores[0].columns, name))
        found.sort(key=lambda group: (-int(group[1].sum()), group[0]))
        shown = sorted(found[:MOST_GROUPS], key=lambda group: group[0])
        parts = [
            (title, [(system, _values(one, chosen)) for one, system in zip(scores, systems, strict=True)])
            for title, chosen in shown
        ]
        left = len(found) - len(shown)
        few = min(len(values) for _, rows in parts for _, values in rows) <= FEW
        rest = "each tick is a query" if few else "the line reaches from the lowest to the highest"
        caption = f"Box: the middle half of the queries, with the median; {rest}."
        caption += f" The {many(left, 'smallest group')} left out." if left else ""
        yield Figure(f"{measure.name} by {name}", _boxes(parts, domain), caption)


def _values(scores: Scores, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    values = scores.values[chosen & scores.averaged, 0]
    kept: Floats = values[~np.isnan(values)]
    return kept


def _boxes(parts: Sequence[tuple[str, list[tuple[System, Floats]]]], domain: tuple[float, float]) -> Markup:
    height = TOP + sum(HEAD + ROW * len(rows) for _, rows in parts)
    names = [short(system.name, SIGNS) for _, rows in parts for system, _ in rows]
    x = Scale(*domain, room(names) + 4, WIDTH - RIGHT)
    out = [line(x(tick), TOP + 8, x(tick), height, "grid") for tick in x.ticks]
    out += [text(x(tick), height + 15, label(tick), "tick", "middle") for tick in x.ticks]
    said, y = [], float(TOP)
    for title, rows in parts:
        size = max(len(values) for _, values in rows)
        out.append(text(0, y + 15, f"{short(title, 30)} ({size})", "group", full=title))
        y += HEAD
        for system, values in rows:
            words = _said(title, system, values)
            said.append(words)
            out.append(_row(system, values, x, y + ROW / 2, words))
            y += ROW
    return drawing(height + 20, "; ".join(said), *out)


def _row(system: System, values: Floats, x: Scale, y: float, words: str) -> Markup:
    parts = [tag("title", words), text(0, y + 3.5, short(system.name, SIGNS), "name small")]
    if len(values):
        low, middle, high = (x(float(value)) for value in np.percentile(values, [25, 50, 75]))
        if len(values) <= FEW:
            places = sorted({px(x(value)) for value in values.tolist()}, key=float)
            parts.append(tag("path", d="".join(f"M{at} {px(y - 3)}v6" for at in places), class_="rug"))
        else:
            parts.append(line(x(float(values.min())), y, x(float(values.max())), y, "whisker"))
        parts.append(tag("rect", x=low, y=y - 5, width=max(high - low, 1), height=10, class_="box"))
        parts.append(line(middle, y - 5, middle, y + 5, "median"))
    return tag("g", *parts, class_=system.colour)


def _said(title: str, system: System, values: Floats) -> str:
    if not len(values):
        return f"{title}, {system.name}: no query"
    low, middle, high = (number(float(value)) for value in np.percentile(values, [25, 50, 75]))
    return (
        f"{title}, {system.name}: median {middle}, middle half {low} to {high}, {many(len(values), 'query', 'queries')}"
    )
