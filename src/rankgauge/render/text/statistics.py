"""Intervals and tests as text, below a table of scores."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.config.statistics import Statistics
from rankgauge.evaluation.evaluate import Scores
from rankgauge.render.text.grid import Cell, Grid, Show, full
from rankgauge.render.text.terminal import name, number, table


def as_text(scores: Sequence[Scores], found: Statistics, *, colour: bool) -> str:
    """A table of intervals and one of tests, each where it was asked for; empty where neither was."""
    return "\n\n".join(table(one.head, one.rows, colour=colour) for one in grids(scores, found, show=name))


def grids(scores: Sequence[Scores], found: Statistics, *, show: Show = full) -> list[Grid]:
    """Intervals and tests, each where it was asked for."""
    out = []
    if found.intervals:
        rows = [
            [
                Cell(show(run.run)),
                Cell(measure),
                Cell(number(interval.estimate)),
                Cell(number(interval.low)),
                Cell(number(interval.high)),
            ]
            for run, intervals in zip(scores, found.intervals, strict=True)
            for measure, interval in intervals.items()
        ]
        out.append(Grid([f"{100 * found.level:g}% interval", "", "mean", "from", "to"], rows, words=2))
    if found.tests:
        rows = [
            [
                Cell(f"{show(test.run)} − {show(test.against)}"),
                Cell(test.measure),
                Cell(number(test.difference)),
                Cell(number(test.p)),
                Cell(number(test.corrected), best=bool(test.significant)),
            ]
            for test in found.tests
        ]
        legend = f"bold: p below {1 - found.level:.2g}" if any(test.significant for test in found.tests) else ""
        out.append(Grid(["paired t test", "", "difference", "p", "Holm"], rows, words=2, legend=legend))
    return out
