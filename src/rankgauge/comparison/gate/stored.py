"""A stored baseline read back; what is wrong with it is reported with its path."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import BASELINE_SCHEMA, SCORES, Baseline
from rankgauge.comparison.gate.kept import JUDGMENTS_SHAPE, RANKINGS_SHAPE
from rankgauge.comparison.gate.runs import BaselineRun
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, printable, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, ByteStream, Limits, open_source
from rankgauge.io.formats.head import HEAD_BYTES, Head
from rankgauge.io.records import JsonDocument, parse_object
from rankgauge.io.shapes import described, has_type

LARGEST_VALUE = 1e100  # of any measure; the square of a larger one overflows
BASELINE_HINT = "store a baseline with `rankgauge gate QRELS RUN --write-baseline FILE`"


def read_baseline(path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Baseline | None:
    """The baseline in a file; None if the file is something else, such as a run. ``source`` is its name in errors."""
    with open_source(path, source=source, limits=limits) as stream:
        return baseline_from_stream(stream)


def baseline_from_stream(stream: ByteStream) -> Baseline | None:
    """The baseline in an open stream; None if it is something else, whose reader can start at the first byte."""
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
        contents = self.value("scores.runs", list)
        if not contents:
            raise self.error("scores.runs", "one or more runs", "none")
        self.check_shape({"scores": {"runs": [dict]}})
        retrieved = self.value("retrieved", list)
        if len(retrieved) != len(contents):
            raise self.error("retrieved", plural(len(contents), "object"), f"{len(retrieved)}")
        measures, queries = self.names_in(contents[0], "measures", 0), self.names_in(contents[0], "per_query", 0)
        qrels, sha256 = self.value("scores.qrels.name", str), self.value("scores.qrels.sha256", str)
        rankings = self.rankings(len(contents))
        return Baseline(
            source=self.source,
            qrels=qrels,
            qrels_sha256=sha256,
            conventions=self.value("scores.conventions", dict),
            measures=measures,
            queries=queries,
            runs=tuple(
                replace(self.run(content, index, measures, queries, self.retrieved(retrieved[index])), ranking=ranking)
                for index, (content, ranking) in enumerate(zip(contents, rankings, strict=True))
            ),
            judged_queries=self.value("scores.qrels.queries", int),
            judgments=self.judgments(qrels, sha256),
        )

    def judgments(self, name: str, sha256: str) -> Qrels | None:
        """The judgments that it was made with; None if they were not stored."""
        if self.data.get("judgments") is None:
            return None
        self.check_shape(JUDGMENTS_SHAPE)
        qrels = Qrels.from_dict(self.data["judgments"], name=name)
        if qrels.sha256 != sha256:
            raise self.error("judgments", "those of scores.qrels.sha256", "others")
        return qrels

    def rankings(self, count: int) -> list[Run | None]:
        """The runs themselves; None for each that was not stored."""
        if self.data.get("rankings") is None:
            return [None] * count
        self.check_shape(RANKINGS_SHAPE)
        rankings = self.data["rankings"]
        if len(rankings) != count:
            raise self.error("rankings", plural(count, "run"), f"{len(rankings)}")
        return [
            None
            if ranking is None
            else Run.from_dict(ranking["scores"], name=ranking["name"], failed=ranking["failed"])
            for ranking in rankings
        ]

    def names_in(self, run: dict[str, Any], key: str, index: int) -> tuple[str, ...]:
        """The keys of an object of a run."""
        return tuple(self.value(key, dict, within=run, prefix=f"scores.runs[{index}]."))

    def run(
        self,
        content: dict[str, Any],
        index: int,
        measures: tuple[str, ...],
        queries: tuple[str, ...],
        retrieved: dict[str, tuple[str, ...]],
    ) -> BaselineRun:
        """One run, whose measures and queries must be those of the first."""
        for key, expected in (("measures", measures), ("per_query", queries)):
            if set(self.names_in(content, key, index)) != set(expected):
                raise self.error(f"scores.runs[{index}].{key}", "the keys of the first run", "others")
        per_query = content["per_query"]
        values = np.array(
            [[self.score(per_query[query], query, name) for name in measures] for query in queries], dtype=np.float64
        ).reshape(len(queries), len(measures))
        name = self.value("name", str, within=content, prefix=f"scores.runs[{index}].")
        sha256 = content.get("sha256")
        if sha256 is not None and not isinstance(sha256, str):
            raise self.error(f"scores.runs[{index}].sha256", "a string or null", described(sha256))
        return BaselineRun(name, sha256, values, retrieved, content)

    def score(self, row: Any, query: str, measure: str) -> float:
        """The value of a measure for a query; NaN if there is none."""
        if not isinstance(row, dict) or measure not in row:
            raise self.error(f"per_query of {shown(query)}", f"a value of {printable(measure)}", "none")
        value = row[measure]
        if value is None:
            return math.nan
        if not has_type(value, float) or abs(value) > LARGEST_VALUE:
            raise self.error(f"per_query of {shown(query)}, {printable(measure)}", "a number or null", described(value))
        return float(value)

    def retrieved(self, content: Any) -> dict[str, tuple[str, ...]]:
        """The documents of each query."""
        if not isinstance(content, dict):
            raise self.error("retrieved", "an object for each run", described(content))
        for query, docs in content.items():
            if not isinstance(docs, list) or not all(isinstance(doc, str) for doc in docs):
                raise self.error(f"retrieved of {shown(query)}", "a list of document ids", described(docs))
        return {query: tuple(docs) for query, docs in content.items()}
