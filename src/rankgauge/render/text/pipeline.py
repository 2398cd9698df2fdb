"""The report of a pipeline log, for people and for programs."""

from __future__ import annotations

import json

from rankgauge.adapters.pipeline.log import PipelineReport
from rankgauge.core.formatting import number, plural
from rankgauge.evaluation.notebook import NotebookTable
from rankgauge.render.text.terminal import Cell, name, table


def as_json(report: PipelineReport) -> str:
    """The schema as text: full precision, null if there is no value."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_text(report: PipelineReport, *, color: bool) -> str:
    """One line per step, then the confusion table of the experts."""
    parts = [f"{name(report.name)}: {plural(report.queries, 'query')}\n{report}"]
    if report.routing is not None and report.routing.n:
        parts.append(_table_text(report.routing.summary_table(), color=color))
    if report.gate is not None and report.gate.wrongly_skipped:
        parts.append("wrongly skipped: " + ", ".join(name(query) for query in report.gate.wrongly_skipped))
    return "\n\n".join(parts) + "\n"


def _table_text(content: NotebookTable, *, color: bool) -> str:
    rows = [[Cell(_cell_text(value)) for value in row] for row in content.rows]
    return table([name(title) for title in content.head], rows, color=color)


def _cell_text(value: object) -> str:
    return number(value) if value is None or isinstance(value, float) else name(str(value))
