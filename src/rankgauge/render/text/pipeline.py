"""The report of a pipeline log, for people and for programs."""

from __future__ import annotations

from rankgauge.adapters.pipeline.log import PipelineReport
from rankgauge.core.formatting import number, plural
from rankgauge.core.views import SummaryTable
from rankgauge.io.text import json_text
from rankgauge.render.text.grid import Cell, Grid, Lines, TerminalPart, full
from rankgauge.render.text.terminal import PLAIN, Layout, text_of


def as_json(report: PipelineReport) -> str:
    """The schema as text: full precision, null if there is no value."""
    return json_text(report.to_dict(), indent=2) + "\n"


def as_text(report: PipelineReport, layout: Layout = PLAIN) -> str:
    """One line per step, then the confusion table of the experts."""
    head = f"{full(report.name)}: {plural(report.queries, 'query')}"
    parts: list[TerminalPart] = [Lines([head, *str(report).split("\n")])]
    if report.routing is not None and report.routing.n:
        parts.append(_grid(report.routing.summary_table()))
    if report.gate is not None and report.gate.wrongly_skipped:
        parts.append("wrongly skipped: " + ", ".join(map(full, report.gate.wrongly_skipped)))
    return text_of(parts, layout) + "\n"


def _grid(content: SummaryTable) -> Grid:
    rows = [[Cell(_cell_text(value)) for value in row] for row in content.rows]
    return Grid(list(map(full, content.head)), rows, named_columns=True)


def _cell_text(value: object) -> str:
    return number(value) if value is None or isinstance(value, float) else full(str(value))
