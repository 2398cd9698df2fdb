"""Read a stored baseline; a fault is reported with its path in the file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import SCHEMA, SCORES, Baseline
from rankgauge.errors import InputError, printable, shown
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsontext import Pairs, parse
from rankgauge.io.sources import DEFAULT, Limits, opened, read_bytes


def read_baseline(path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT) -> Baseline | None:
    """The baseline in a file; None if the file is something else, such as a run. ``source`` is its name in errors."""
    source = source or str(path)
    with opened(path, source=source, limits=limits) as stream:
        begin = memoryview(bytearray(1 << 16))
        if not Head(bytes(begin[: stream.readinto(begin)])).is_json:
            return None
    data, _ = read_bytes(path, source=source, limits=limits)
    try:
        content = parse(source, None, data)
    except InputError:
        if SCHEMA.partition("/")[0].encode() in data:
            raise
        return None  # JSON Lines, or a run whose faults its own reader reports
    if not isinstance(content, Pairs) or not isinstance(dict(content).get("schema"), str):
        return None
    return _Reader(source).baseline(_plain(content, source))


def _plain(value: Any, source: str) -> Any:
    """Pairs as dicts all the way down, each key once."""
    if isinstance(value, Pairs):
        return {key: _plain(item, source) for key, item in value.once(source, None).items()}
    return [_plain(item, source) for item in value] if isinstance(value, list) else value


class _Reader:
    """Takes the content of a file apart and checks each part."""

    def __init__(self, source: str) -> None:
        self.source = source

    def baseline(self, content: dict[str, Any]) -> Baseline:
        schema = self.at(content, "schema", str)
        if schema != SCHEMA:
            raise self.fault("schema", repr(SCHEMA), shown(schema))
        if self.at(content, "scores.schema", str) != SCORES:
            raise self.fault("scores.schema", repr(SCORES), shown(content["scores"]["schema"]))
        runs = self.at(content, "scores.runs", list)
        if len(runs) != 1 or not isinstance(runs[0], dict):
            raise self.fault("scores.runs", "one run", f"{len(runs)}")
        run: dict[str, Any] = runs[0]
        per_query = self.at(run, "per_query", dict, "scores.runs[0].")
        measures = tuple(self.at(run, "measures", dict, "scores.runs[0]."))
        judged = self.at(content, "scores.qrels.queries", int)
        return Baseline(
            source=self.source,
            run=self.at(run, "name", str, "scores.runs[0]."),
            qrels=self.at(content, "scores.qrels.name", str),
            qrels_sha256=self.at(content, "scores.qrels.sha256", str),
            conventions=self.at(content, "scores.conventions", dict),
            measures=measures,
            queries=tuple(per_query),
            values=np.array(
                [[self.value(row, query, name) for name in measures] for query, row in per_query.items()],
                dtype=np.float64,
            ).reshape(len(per_query), len(measures)),
            retrieved=self.retrieved(self.at(content, "retrieved", dict)),
            run_sha256=run.get("sha256"),
            judged_queries=judged,
            stored=run,
        )

    def at(self, value: Any, path: str, kind: type, prefix: str = "") -> Any:
        """The value at a path, checked for its type."""
        for part in path.split("."):
            if not isinstance(value, dict) or part not in value:
                raise self.fault(prefix + path, _kind(kind), "nothing")
            value = value[part]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.fault(prefix + path, _kind(kind), shown(json.dumps(value)))
        return value

    def value(self, row: Any, query: str, measure: str) -> float:
        """The value of a measure for a query; NaN if there is none."""
        if not isinstance(row, dict) or measure not in row:
            raise self.fault(f"per_query of {shown(query)}", f"a value of {printable(measure)}", "none")
        value = row[measure]
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            path = f"per_query of {shown(query)}, {printable(measure)}"
            raise self.fault(path, "a number or null", shown(json.dumps(value)))
        return float(value)

    def retrieved(self, documents: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        """The documents of each query."""
        for query, docs in documents.items():
            if not isinstance(docs, list) or not all(isinstance(doc, str) for doc in docs):
                raise self.fault(f"retrieved of {shown(query)}", "a list of document ids", shown(json.dumps(docs)))
        return {query: tuple(docs) for query, docs in documents.items()}

    def fault(self, path: str, expected: str, found: str) -> InputError:
        """An error that names a path in the file."""
        return InputError.at(
            self.source,
            None,
            f"expected {expected} at {path}, found {found}",
            hint="a baseline is made by `rankgauge gate QRELS RUN --write-baseline FILE`",
        )


def _kind(kind: type) -> str:
    return {str: "a text", int: "a whole number", dict: "an object", list: "a list"}[kind]
