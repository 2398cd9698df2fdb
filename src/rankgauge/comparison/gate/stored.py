"""A stored baseline read back, and what is wrong with it said by its place."""

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
    """The baseline in a file; None where the file holds something else, a run. ``source`` is what to call it."""
    source = source or str(path)
    with opened(path, source=source, limits=limits) as stream:
        begin = memoryview(bytearray(1 << 16))
        if not Head(bytes(begin[: stream.readinto(begin)])).is_json:
            return None
    data, _ = read_bytes(path, source=source, limits=limits)
    try:
        whole = parse(source, None, data)
    except InputError:
        if SCHEMA.partition("/")[0].encode() in data:
            raise
        return None  # JSON Lines, or a run that its own reader will find fault with
    if not isinstance(whole, Pairs) or not isinstance(dict(whole).get("schema"), str):
        return None
    return _Reader(source).baseline(_plain(whole, source))


def _plain(value: Any, source: str) -> Any:
    """Pairs as dicts all the way down, each key once."""
    if isinstance(value, Pairs):
        return {key: _plain(item, source) for key, item in value.once(source, None).items()}
    return [_plain(item, source) for item in value] if isinstance(value, list) else value


class _Reader:
    """Takes a baseline apart; what is not as it must be is named by its path."""

    def __init__(self, source: str) -> None:
        self.source = source

    def baseline(self, whole: dict[str, Any]) -> Baseline:
        schema = self.at(whole, "schema", str)
        if schema != SCHEMA:
            raise self.wrong("schema", repr(SCHEMA), shown(schema))
        if self.at(whole, "scores.schema", str) != SCORES:
            raise self.wrong("scores.schema", repr(SCORES), shown(whole["scores"]["schema"]))
        runs = self.at(whole, "scores.runs", list)
        if len(runs) != 1 or not isinstance(runs[0], dict):
            raise self.wrong("scores.runs", "one run", f"{len(runs)}")
        run: dict[str, Any] = runs[0]
        per_query = self.at(run, "per_query", dict, "scores.runs[0].")
        measures = tuple(self.at(run, "measures", dict, "scores.runs[0]."))
        judged = self.at(whole, "scores.qrels.queries", int)
        return Baseline(
            source=self.source,
            run=self.at(run, "name", str, "scores.runs[0]."),
            qrels=self.at(whole, "scores.qrels.name", str),
            qrels_sha256=self.at(whole, "scores.qrels.sha256", str),
            conventions=self.at(whole, "scores.conventions", dict),
            measures=measures,
            queries=tuple(per_query),
            values=np.array(
                [[self.value(row, query, name) for name in measures] for query, row in per_query.items()],
                dtype=np.float64,
            ).reshape(len(per_query), len(measures)),
            retrieved=self.retrieved(self.at(whole, "retrieved", dict)),
            run_sha256=run.get("sha256"),
            judged_queries=judged,
            stored=run,
        )

    def at(self, value: Any, path: str, kind: type, before: str = "") -> Any:
        """What stands at a path, of the type that it must have."""
        for part in path.split("."):
            if not isinstance(value, dict) or part not in value:
                raise self.wrong(before + path, _kind(kind), "nothing")
            value = value[part]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.wrong(before + path, _kind(kind), shown(json.dumps(value)))
        return value

    def value(self, row: Any, query: str, measure: str) -> float:
        """A query's value of a measure; NaN where it has none."""
        if not isinstance(row, dict) or measure not in row:
            raise self.wrong(f"per_query of {shown(query)}", f"a value of {printable(measure)}", "none")
        found = row[measure]
        if found is None:
            return math.nan
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
            raise self.wrong(
                f"per_query of {shown(query)}, {printable(measure)}", "a number or null", shown(json.dumps(found))
            )
        return float(found)

    def retrieved(self, given: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        """The documents of each query."""
        for query, docs in given.items():
            if not isinstance(docs, list) or not all(isinstance(doc, str) for doc in docs):
                raise self.wrong(f"retrieved of {shown(query)}", "a list of document ids", shown(json.dumps(docs)))
        return {query: tuple(docs) for query, docs in given.items()}

    def wrong(self, where: str, expected: str, found: str) -> InputError:
        """An error that names a place of the file."""
        return InputError.at(
            self.source,
            None,
            f"expected {expected} at {where}, found {found}",
            hint="a baseline is made by `rankgauge gate QRELS RUN --write-baseline FILE`",
        )


def _kind(kind: type) -> str:
    return {str: "a text", int: "a whole number", dict: "an object", list: "a list"}[kind]
