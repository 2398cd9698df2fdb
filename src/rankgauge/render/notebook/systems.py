"""Views of systems and their steps: pipelines, fusion, fetched runs, metric suites."""

from __future__ import annotations

import re
from typing import Protocol

from rankgauge.adapters.pipeline.log import PipelineReport
from rankgauge.core.formatting import number, plural, span
from rankgauge.core.views import SummaryTable
from rankgauge.lists.suite import SuiteResult
from rankgauge.render.notebook.data import run_view
from rankgauge.render.notebook.parts import Lead, Remarks, Table, ViewPart
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.retrieval.fetch.fetch import FetchResult
from rankgauge.retrieval.fusion.tune import TuningResult


class Summarized(Protocol):
    """A result with a table of its own."""

    def summary_table(self) -> SummaryTable:
        """The table."""


def summary_view(result: Summarized) -> list[ViewPart]:
    """The result in a sentence, and its table."""
    content = result.summary_table()
    rows = [[Cell(_cell(value)) for value in row] for row in content.rows]
    caption = re.sub("(?<=[a-z])[A-Z]", lambda capital: f" {capital[0].lower()}", type(result).__name__)
    return [Lead(content.caption), Table(Grid(content.head, rows), caption)]


def _cell(value: object) -> str:
    return number(value) if value is None or isinstance(value, float) else str(value)


def pipeline_view(report: PipelineReport) -> list[ViewPart]:
    """Each step of the pipeline."""
    parts: list[ViewPart] = [Lead(f"{report.name}: {plural(report.queries, 'query')}")]
    for step in (report.routing, report.gate, report.rerank):
        if step is not None:
            parts += summary_view(step)
    return [*parts, Remarks("Not in the log", [f"{name}: {reason}" for name, reason in report.absent.items()])]


def tuning_view(result: TuningResult) -> list[ViewPart]:
    """The value on the test queries, beside that of each run, and what was chosen."""
    dev, test = plural(len(result.split.dev), "query"), plural(len(result.split.test), "query")
    rows = [[Cell(score.name), Cell(number(score.dev)), Cell(number(score.test))] for score in result.scores]
    return [
        Lead(f"Tuned fusion: {result.measure} {number(result.value)} on {test} that it was not tuned on."),
        Table(Grid(["", "dev", "test"], rows), f"{result.measure}: tuned on {dev}, tested on {test}"),
        f"chosen: {result.choice}",
        Remarks("Caveats", result.notes),
    ]


def fetch_view(result: FetchResult) -> list[ViewPart]:
    """The run, and what went wrong."""
    failures = [f"{query}: {error}" for query, error in result.failures.items()]
    return [
        *run_view(result.run),
        Remarks("Failed queries", failures),
        Remarks("Caveats", [note.message for note in result.notes]),
    ]


def suite_view(result: SuiteResult) -> list[ViewPart]:
    """Each metric with its interval, if it has one."""
    rows = [
        [Cell(name), Cell(number(value)), Cell(span(*result.intervals[name]) if name in result.intervals else "")]
        for name, value in result.metrics.items()
    ]
    return [Table(Grid(["", "value", "interval"], rows), "Metrics")]
