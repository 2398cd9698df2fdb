"""Groups of queries: as a table, and in the JSON of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.evaluation.evaluate import Scores
from rankgauge.render.text.grid import Cell, Grid, Show, full
from rankgauge.render.text.terminal import name, number, table
from rankgauge.stats.results import Interval


def span(interval: Interval) -> str:
    """An interval as it is printed."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{interval.low:.3f} … {interval.high:.3f}".replace("-", "−")


def as_table(scores: Sequence[Scores], by: Sequence[str], *, colour: bool) -> str:
    """One table for each column of the queries."""
    return "\n\n".join(table(one.head, one.rows, colour=colour) for one in grids(scores, by, show=name))


def grids(scores: Sequence[Scores], by: Sequence[str], *, show: Show = full) -> list[Grid]:
    """One for each column of the queries."""
    return [_grid(scores, column, show) for column in by]


def _grid(scores: Sequence[Scores], column: str, show: Show) -> Grid:
    rows = [
        [
            Cell(f"{show(one.label)} · {one.measure}"),
            Cell(show(run.run)),
            Cell(str(one.n)),
            Cell(number(one.mean)),
            Cell(span(one.interval)),
            Cell(number(one.median)),
        ]
        for run in scores
        for one in run.by(column)
    ]
    return Grid([f"by {column}", "", "queries", "mean", "95 %", "median"], rows, words=2)


def as_dicts(run: Scores, by: Sequence[str], *, confidence: float = 0.95) -> list[dict[str, Any]]:
    """The groups of one run, for JSON."""
    return [
        {"by": s.by, "label": s.label, "measure": s.measure, "n": s.n, "mean": s.mean, "median": s.median}
        | {"ci": ci(s.interval)}
        for column in by
        for s in run.by(column, confidence=confidence)
    ]


def ci(interval: Interval) -> dict[str, Any]:
    """An interval, for JSON."""
    return interval.to_dict()


def intervals_table(scores: Sequence[Scores], *, colour: bool) -> str:
    """The mean of each measure with its interval."""
    found = intervals_grid(scores, show=name)
    return table(found.head, found.rows, colour=colour)


def intervals_grid(scores: Sequence[Scores], *, show: Show = full, confidence: float = 0.95) -> Grid:
    """A row a measure and run."""
    rows = [
        [
            Cell(measure.name),
            Cell(show(run.run)),
            Cell(number(run[measure])),
            Cell(span(run.interval(measure, confidence=confidence))),
        ]
        for measure in scores[0].measures
        for run in scores
    ]
    return Grid(["", "", "mean", f"{confidence * 100:g} %"], rows, words=2)
