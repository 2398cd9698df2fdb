"""Groups of queries: as a table, and in the JSON of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.evaluation import Scores
from rankgauge.render.terminal import Cell, name, number, table
from rankgauge.stats.results import Interval


def span(interval: Interval) -> str:
    """An interval as it is printed."""
    return "–" if interval.low is None or interval.high is None else f"{interval.low:.3f} … {interval.high:.3f}"


def as_table(scores: Sequence[Scores], by: Sequence[str], *, colour: bool) -> str:
    """One table for each column of the queries."""
    tables = []
    for column in by:
        rows = [
            [
                Cell(f"{name(one.label)} · {one.measure}"),
                Cell(name(run.run)),
                Cell(str(one.n)),
                Cell(number(one.mean)),
                Cell(span(one.interval)),
                Cell(number(one.median)),
            ]
            for run in scores
            for one in run.by(column)
        ]
        tables.append(table([f"by {column}", "", "queries", "mean", "95 %", "median"], rows, colour=colour))
    return "\n\n".join(tables)


def as_dicts(run: Scores, by: Sequence[str]) -> list[dict[str, Any]]:
    """The groups of one run, for JSON."""
    return [
        {"by": s.by, "label": s.label, "measure": s.measure, "n": s.n, "mean": s.mean, "median": s.median}
        | {"ci": ci(s.interval)}
        for column in by
        for s in run.by(column)
    ]


def ci(interval: Interval) -> dict[str, Any]:
    """An interval, for JSON."""
    return {
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
        "reason": interval.reason,
    }


def intervals_table(scores: Sequence[Scores], *, colour: bool) -> str:
    """The mean of each measure with its interval."""
    rows = [
        [Cell(measure.name), Cell(name(run.run)), Cell(number(run[measure])), Cell(span(run.interval(measure)))]
        for measure in scores[0].measures
        for run in scores
    ]
    return table(["", "", "mean", "95 %"], rows, colour=colour)
