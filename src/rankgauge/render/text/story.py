"""Retrieval Quality for people and for programs: the verdict first, then the result of each query."""

from __future__ import annotations

from rankgauge.adapters.story.result import RetrievalQuality
from rankgauge.core.formatting import number
from rankgauge.io.text import json_text
from rankgauge.render.text.grid import Cell, Grid, VerdictLine, full
from rankgauge.render.text.terminal import PLAIN, Layout, text_of


def as_json(result: RetrievalQuality) -> str:
    """The result as text: full precision, null if there is no value."""
    return json_text(result.to_dict(), indent=2) + "\n"


def as_text(result: RetrievalQuality, layout: Layout = PLAIN) -> str:
    """The verdict in a sentence, and one row per query."""
    rows = [
        [
            Cell(full(query.id)),
            Cell(full(query.text)),
            Cell(full(query.ranking[0].scene)),
            Cell(str(query.rank)),
            Cell(number(query.rr)),
            Cell(f"{number(query.recall)} @{query.k}"),
        ]
        for query in result.queries
    ]
    table = [Grid(["query", "", "first scene", "rank", "RR", "recall"], rows, words=3)] if rows else []
    return text_of([VerdictLine(str(result), passed=result.passed), *table], layout) + "\n"
