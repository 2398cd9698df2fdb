"""Intervals and tests as text, below a table of scores."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.config.statistics import Statistics
from rankgauge.evaluation import Scores
from rankgauge.render.terminal import Cell, name, number, table


def as_text(scores: Sequence[Scores], found: Statistics, *, colour: bool) -> str:
    """A table of intervals and one of tests, each where it was asked for; empty where neither was."""
    parts = []
    if found.intervals:
        rows = [
            [
                Cell(name(run.run)),
                Cell(measure),
                Cell(number(interval.estimate)),
                Cell(number(interval.low)),
                Cell(number(interval.high)),
            ]
            for run, intervals in zip(scores, found.intervals, strict=True)
            for measure, interval in intervals.items()
        ]
        parts.append(table([f"{100 * found.level:g}% interval", "", "mean", "from", "to"], rows, colour=colour))
    if found.tests:
        rows = [
            [
                Cell(f"{name(test.run)} − {name(test.against)}"),
                Cell(test.measure),
                Cell(number(test.difference)),
                Cell(number(test.p)),
                Cell(number(test.corrected), best=bool(test.significant)),
            ]
            for test in found.tests
        ]
        parts.append(table(["paired t test", "", "difference", "p", "Holm"], rows, colour=colour))
    return "\n\n".join(parts)
