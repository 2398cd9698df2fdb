"""What a pipeline's log says, for people and for programs."""

from __future__ import annotations

import json

from rankgauge.adapters.pipeline.log import PipelineReport
from rankgauge.adapters.pipeline.pairs import queries
from rankgauge.evaluation.notebook import Table
from rankgauge.render.text.terminal import Cell, name, number, table


def as_json(report: PipelineReport) -> str:
    """The schema as text: full precision, null for what has no value."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_text(report: PipelineReport, *, color: bool) -> str:
    """A line for each step, then who was taken for whom."""
    parts = [f"{name(report.name)}: {queries(report.queries)}\n{report}"]
    if report.routing is not None and report.routing.n:
        parts.append(_table(report.routing.summary_table(), color=color))
    if report.gate is not None and report.gate.wrongly_skipped:
        parts.append("wrongly skipped: " + ", ".join(name(query) for query in report.gate.wrongly_skipped))
    return "\n\n".join(parts) + "\n"


def _table(found: Table, *, color: bool) -> str:
    rows = [[Cell(_cell(value)) for value in row] for row in found.rows]
    return table([name(title) for title in found.head], rows, color=color)


def _cell(value: object) -> str:
    return number(value) if value is None or isinstance(value, float) else name(str(value))
