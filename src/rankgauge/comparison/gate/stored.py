"""A stored baseline read back; what is wrong with it is reported with its path."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import BASELINE_SCHEMA, SCORES, Baseline
from rankgauge.errors import InputError, printable, shown
from rankgauge.io.formats.head import HEAD_BYTES, Head
from rankgauge.io.records import JsonDocument, parse_object
from rankgauge.io.sources import DEFAULT_LIMITS, ByteStream, Limits, open_source

BASELINE_HINT = "a baseline is made by `rankgauge gate QRELS RUN --write-baseline FILE`"
RUN_PREFIX = "scores.runs[0]."


def read_baseline(path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Baseline | None:
    """The baseline in a file; None if the file is something else, such as a run. ``source`` is its name in errors."""
    with open_source(path, source=source, limits=limits) as stream:
        return baseline_from_stream(stream)


def baseline_from_stream(stream: ByteStream) -> Baseline | None:
    """The same of a stream that is open already; if it is something else, its reader can start at the first byte."""
    head = stream.grow_head(HEAD_BYTES)
    if head is None or not Head(head).is_json:
        return None
    data = stream.read()
    try:
        content = parse_object(stream.path, data)
    except InputError:
        if BASELINE_SCHEMA.partition("/")[0].encode() in data:
            raise
        content = {}  # JSON Lines, or a run whose faults its own reader reports
    if not isinstance(content.get("schema"), str):
        stream.rewind()
        return None
    return _StoredBaseline(stream.path, content, hint=BASELINE_HINT).baseline()


class _StoredBaseline(JsonDocument):
    """The JSON of a stored baseline."""

    def baseline(self) -> Baseline:
        """The baseline; raises if something in it is missing or wrong."""
        self.check_schema(BASELINE_SCHEMA)
        self.check_schema(SCORES, "scores.schema")
        runs = self.value("scores.runs", list)
        if len(runs) != 1 or not isinstance(runs[0], dict):
            raise self.error("scores.runs", "one run", f"{len(runs)}")
        run: dict[str, Any] = runs[0]
        per_query = self.value("per_query", dict, within=run, prefix=RUN_PREFIX)
        measures = tuple(self.value("measures", dict, within=run, prefix=RUN_PREFIX))
        return Baseline(
            source=self.source,
            run=self.value("name", str, within=run, prefix=RUN_PREFIX),
            qrels=self.value("scores.qrels.name", str),
            qrels_sha256=self.value("scores.qrels.sha256", str),
            conventions=self.value("scores.conventions", dict),
            measures=measures,
            queries=tuple(per_query),
            values=np.array(
                [[self.score(row, query, name) for name in measures] for query, row in per_query.items()],
                dtype=np.float64,
            ).reshape(len(per_query), len(measures)),
            retrieved=self.retrieved(self.value("retrieved", dict)),
            run_sha256=run.get("sha256"),
            judged_queries=self.value("scores.qrels.queries", int),
            stored=run,
        )

    def score(self, row: Any, query: str, measure: str) -> float:
        """The value of a measure for a query; NaN if there is none."""
        if not isinstance(row, dict) or measure not in row:
            raise self.error(f"per_query of {shown(query)}", f"a value of {printable(measure)}", "none")
        value = row[measure]
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            path = f"per_query of {shown(query)}, {printable(measure)}"
            raise self.error(path, "a number or null", shown(json.dumps(value)))
        return float(value)

    def retrieved(self, content: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        """The documents of each query."""
        for query, docs in content.items():
            if not isinstance(docs, list) or not all(isinstance(doc, str) for doc in docs):
                raise self.error(f"retrieved of {shown(query)}", "a list of document ids", shown(json.dumps(docs)))
        return {query: tuple(docs) for query, docs in content.items()}
