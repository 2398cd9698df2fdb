"""Groups of queries: as a table, and in the JSON of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.core.formatting import MISSING, number, percent, span
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text.grid import Cell, Grid, Show, full
from rankgauge.render.text.scores import value_text
from rankgauge.render.text.terminal import name, table
from rankgauge.stats.results import Interval


def interval_span(interval: Interval) -> str:
    """The ends of an interval of a mean; a dash if there is none."""
    return span(interval.low, interval.high) or MISSING


def as_table(scores: Sequence[Scores], by: Sequence[str], *, confidence: float, color: bool) -> str:
    """One table per column of the queries."""
    tables = grids(scores, by, confidence=confidence, show=name)
    return "\n\n".join(table(rows.head, rows.rows, color=color) for rows in tables)


def grids(scores: Sequence[Scores], by: Sequence[str], *, confidence: float, show: Show = full) -> list[Grid]:
    """One per column of the queries."""
    return [_grid(scores, column, confidence, show) for column in by]


def _grid(scores: Sequence[Scores], column: str, confidence: float, show: Show) -> Grid:
    rows = [
        [
            Cell(f"{show(group.label)} · {group.measure}"),
            Cell(show(run.run)),
            Cell(str(group.n)),
            Cell(number(group.mean)),
            Cell(interval_span(group.interval)),
            Cell(number(group.median)),
        ]
        for run in scores
        for group in run.by(column, confidence=confidence)
    ]
    return Grid([f"by {column}", "", "queries", "mean", f"{percent(confidence)} CI", "median"], rows, words=2)


def as_dicts(run: Scores, by: Sequence[str], *, confidence: float) -> list[dict[str, Any]]:
    """The groups of one run, for JSON."""
    return [
        {
            "by": group.by,
            "label": group.label,
            "measure": group.measure,
            "n": group.n,
            "mean": group.mean,
            "median": group.median,
            "ci": group.interval.to_dict(),
        }
        for column in by
        for group in run.by(column, confidence=confidence)
    ]


def interval_dicts(run: Scores, measure: str, *, confidence: float) -> dict[str, Any]:
    """The intervals of a mean, and of the weighted one if queries have weights, for JSON."""
    weighted = run.weighted_interval(measure, confidence=confidence)
    return {
        "ci": run.interval(measure, confidence=confidence).to_dict(),
        **({} if weighted is None else {"weighted_ci": weighted.to_dict()}),
    }


def intervals_table(scores: Sequence[Scores], *, confidence: float, color: bool) -> str:
    """The mean of each measure with its interval."""
    rows = intervals_grid(scores, confidence=confidence, show=name)
    return table(rows.head, rows.rows, color=color)


def intervals_grid(scores: Sequence[Scores], *, confidence: float, show: Show = full) -> Grid:
    """One row per measure and run; weighted means beside the plain ones if queries have weights."""
    title = f"{percent(confidence)} CI"
    rows = [
        [
            Cell(measure.name),
            Cell(show(run.run)),
            Cell(value_text(measure, run[measure])),
            Cell(interval_span(run.interval(measure, confidence=confidence))),
            *_weighted_cells(run, measure, confidence),
        ]
        for measure in scores[0].measures
        for run in scores
    ]
    weighted = [] if scores[0].weighted is None else ["weighted", title]
    return Grid(["", "", "mean", title, *weighted], rows, words=2)


def _weighted_cells(run: Scores, measure: Measure, confidence: float) -> list[Cell]:
    interval = run.weighted_interval(measure, confidence=confidence)
    if run.weighted is None or interval is None:
        return []
    return [Cell(value_text(measure, run.weighted[measure.name])), Cell(interval_span(interval))]
