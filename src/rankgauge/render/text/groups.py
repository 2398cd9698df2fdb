"""Groups of queries: as a table, and in the JSON of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.core.formatting import MISSING, number, percent, span
from rankgauge.evaluation.groups import GroupSummary
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.text.grid import Cell, Grid, full
from rankgauge.render.text.scores import value_text
from rankgauge.stats.results import Interval


def interval_span(interval: Interval) -> str:
    """The ends of an interval of a mean; a dash if there is none."""
    return span(interval.low, interval.high) or MISSING


def grids(scores: Sequence[Scores], by: Sequence[str], *, confidence: float) -> list[Grid]:
    """One per column of the queries."""
    return [_grid(scores, column, confidence) for column in by]


def _grid(scores: Sequence[Scores], column: str, confidence: float) -> Grid:
    """One row per group, measure and run: the runs below each other; one run is not repeated."""
    groups: dict[tuple[str, str], list[tuple[Scores, GroupSummary]]] = {}
    for run in scores:
        for group in run.by(column, confidence=confidence):
            groups.setdefault((group.label, group.measure), []).append((run, group))
    rows = [
        [
            Cell("" if place else full(group.label)),
            Cell("" if place else group.measure),
            *([] if len(scores) == 1 else [Cell(full(run.run))]),
            Cell(str(group.n)),
            Cell(number(group.mean)),
            Cell(interval_span(group.interval)),
            Cell(number(group.median)),
        ]
        for same_group in groups.values()
        for place, (run, group) in enumerate(same_group)
    ]
    words = [f"by {full(column)}", "measure", *([] if len(scores) == 1 else ["run"])]
    head = [*words, "queries", "mean", f"{percent(confidence)} CI", "median"]
    return Grid(head, rows, words=len(words), hideable=("median",))


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


def intervals_grid(scores: Sequence[Scores], *, confidence: float) -> Grid:
    """One row per measure and run; weighted means beside the plain ones if queries have weights."""
    title = f"{percent(confidence)} CI"
    rows = [
        [
            Cell("" if place else measure.name),
            Cell(full(run.run)),
            Cell(value_text(measure, run[measure])),
            Cell(interval_span(run.interval(measure, confidence=confidence))),
            *_weighted_cells(run, measure, confidence),
        ]
        for measure in scores[0].measures
        for place, run in enumerate(scores)
    ]
    weighted = [] if scores[0].weighted is None else ["weighted", title]
    return Grid(["measure", "run", "mean", title, *weighted], rows, words=2)


def _weighted_cells(run: Scores, measure: Measure, confidence: float) -> list[Cell]:
    interval = run.weighted_interval(measure, confidence=confidence)
    if run.weighted is None or interval is None:
        return []
    return [Cell(value_text(measure, run.weighted[measure.name])), Cell(interval_span(interval))]
