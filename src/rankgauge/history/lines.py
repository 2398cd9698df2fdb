"""Entries and judgments as JSON Lines, the same bytes wherever they are written.

The first line has the schema and what holds for all queries. In the file of an entry, each query has a line with its
values, and one with its ranking if the run was kept. In a file of judgments, each query has a line with its documents.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import SavedEntry
from rankgauge.history.packing import plain_column

ENTRY_SCHEMA = "rankgauge.history-entry/1"
LABELS_SCHEMA = "rankgauge.history-labels/1"


def entry_lines(entry: SavedEntry) -> bytes:
    """An entry; its judgments are in a file of their own."""
    return b"".join(map(_line, [_head(entry), *_score_lines(entry.scores), *_run_lines(entry.run)]))


def labels_lines(qrels: Qrels) -> bytes:
    """Judgments: a line per query, its documents sorted by their bytes."""
    head = {"schema": LABELS_SCHEMA, "name": qrels.name, "sha256": qrels.sha256}
    return b"".join(map(_line, [head, *_judgment_lines(qrels)]))


def _head(entry: SavedEntry) -> dict[str, Any]:
    scores, run = entry.scores, entry.run
    return {
        "schema": ENTRY_SCHEMA,
        "entry": entry.summary.to_dict(),
        "measures": [measure.name for measure in scores.measures],
        "requested": [measure.name for measure in scores.requested or scores.measures],
        "notes": [[note.code, note.message] for note in scores.notes],
        "run": None if run is None else {"name": run.name, "sha256": run.source_sha256},
    }


def _score_lines(scores: Scores) -> Iterator[dict[str, Any]]:
    columns = {name: plain_column(column) for name, column in scores.columns.items()}
    for row, query in enumerate(scores.queries):
        yield {
            "query": query,
            "status": int(scores.status[row]),
            "averaged": bool(scores.averaged[row]),
            "without_relevant": bool(scores.without_relevant[row]),
            "values": [number_to_json(value) for value in scores.values[row].tolist()],
            "columns": {name: column[row] for name, column in columns.items()},
        }


def _run_lines(run: Run | None) -> Iterator[dict[str, Any]]:
    if run is None:
        return
    docs, bounds = run.docs.to_text(), run.offsets.tolist()
    for number, query in enumerate(run.queries.to_text()):
        rows = slice(bounds[number], bounds[number + 1])
        scores = [number_to_json(value) for value in run.scores[rows].tolist()]
        yield {"ranking": query, "status": int(run.status[number]), "docs": docs[rows], "scores": scores}


def _judgment_lines(qrels: Qrels) -> Iterator[dict[str, Any]]:
    rows = qrels.docs.order(qrels.query)
    docs, grades = qrels.docs.take(rows).to_text(), qrels.grades[rows].tolist()
    bounds = np.asarray(qrels.offsets).tolist()
    for number, query in enumerate(qrels.queries.to_text()):
        part = slice(bounds[number], bounds[number + 1])
        yield {"query": query, "docs": docs[part], "grades": grades[part]}


def number_to_json(value: float) -> float | str | None:
    """A number; null for NaN, and text for an infinite one, which JSON does not have."""
    return None if math.isnan(value) else value if math.isfinite(value) else "inf" if value > 0 else "-inf"


def number_from_json(value: float | str | None) -> float:
    """The number again; raises ``ValueError`` if it is another text."""
    if isinstance(value, str) and value not in ("inf", "-inf"):
        raise ValueError(f"expected a number, found {value!r}")
    return math.nan if value is None else float(value)


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape") + b"\n"
