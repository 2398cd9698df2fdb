"""Exported entries and judgments read back; what is wrong with a file is reported with its line."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.tables import frozen, query_columns
from rankgauge.errors import InputError, MeasureError, Note, UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import EntrySummary, SavedEntry, check_consistency
from rankgauge.history.lines import ENTRY_SCHEMA, LABELS_SCHEMA, entry_lines, number_from_json
from rankgauge.history.names import checked_tag
from rankgauge.history.shapes import (
    FACTS_SHAPE,
    HEAD_SHAPE,
    JUDGMENTS_SHAPE,
    LABELS_SHAPE,
    OWN_KEYS,
    QUERY_SHAPE,
    RANKING_SHAPE,
)
from rankgauge.history.times import latest_time
from rankgauge.io.byte_streams import DEFAULT_LIMITS, read_bytes
from rankgauge.io.records import JsonDocument, parse_object, parse_record
from rankgauge.io.shapes import first_misfit
from rankgauge.measures.parse import parse_measure

HINT = "export the history again with `rankgauge history export`"


def read_entry(path: Path) -> SavedEntry:
    """The entry in a file, without its judgments, which are in a file of their own."""
    head, lines = _lines(path, ENTRY_SCHEMA, HEAD_SHAPE)
    queries = [line for line in lines if "query" in line[1]]
    rankings = [line for line in lines if "query" not in line[1]]
    for number, line in queries:
        _check(path, number, line, QUERY_SHAPE)
        if len(line["values"]) != len(head["measures"]):
            message = f"expected {plural(len(head['measures']), 'value')}, found {len(line['values'])}"
            raise InputError.at(path, number, message, hint=HINT)
        if line["columns"].keys() != queries[0][1]["columns"].keys():
            raise InputError.at(path, number, "has other columns than the first query", hint=HINT)
    for number, line in rankings:
        _check(path, number, line, RANKING_SHAPE)
        if len(line["docs"]) != len(line["scores"]):
            raise InputError.at(path, number, "the numbers of documents and scores differ", hint=HINT)
    try:
        summary = _summary(head["entry"])
        stored = [summary.name, summary.uid, summary.saved, summary.labels, summary.git.branch or "", *summary.tags]
        if not "".join(stored).isascii() and any("\ud800" <= letter <= "\udfff" for text in stored for letter in text):
            raise ValueError("the first line has a name or a time that is not UTF-8")
        scores = _scores(head, summary, [line for _, line in queries])
        run = None if head["run"] is None else _run(head["run"], [line for _, line in rankings])
        entry = SavedEntry(summary, scores, None, run)
        check_consistency(entry)
    except (ValueError, TypeError, KeyError, UsageError) as error:
        raise _broken(path, error) from None
    _check_complete(path, [head, *(line for _, line in lines)], entry_lines(entry))
    return entry


def _check_complete(path: Path, lines: list[dict[str, Any]], exported: bytes) -> None:
    """Raise if a file says anything that an export of what was read from it would not."""
    written = [parse_record(str(path), None, line) for line in exported.splitlines()]
    for number, (found, expected) in enumerate(zip_longest(lines, written), start=1):
        if found != expected:
            raise InputError.at(path, number, "has a field, or a line, that no export has", hint=HINT)


def read_labels(path: Path) -> Qrels:
    """The judgments in a file, whose hash is that in its first line."""
    head, lines = _lines(path, LABELS_SCHEMA, LABELS_SHAPE)
    for number, line in lines:
        _check(path, number, line, JUDGMENTS_SHAPE)
    rows = [line for _, line in lines]
    try:
        sizes = [len(row["docs"]) for row in rows]
        if any(len(row["grades"]) != size for row, size in zip(rows, sizes, strict=True)):
            raise ValueError("the numbers of documents and grades differ")
        query = [row["query"] for row in rows for _ in row["docs"]]
        qrels = Qrels.from_columns(
            query,
            [doc for row in rows for doc in row["docs"]],
            [grade for row in rows for grade in row["grades"]],
            name=head["name"],
        )
        empty = [row["query"].encode("utf-8", "surrogateescape") for row in rows if not row["docs"]]
        qrels = qrels.with_queries(empty)
    except (ValueError, TypeError, KeyError) as error:
        raise _broken(path, error) from None
    if qrels.sha256 != head["sha256"]:
        raise _broken(path, f"the judgments have the hash {qrels.sha256[:12]}…, not that of the first line")
    return qrels


def _lines(path: Path, schema: str, shape: Any) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]:
    """The first line of a file, and the others with their numbers."""
    data, _ = read_bytes(path, limits=DEFAULT_LIMITS)
    first, *others = data.split(b"\n")
    document = JsonDocument(str(path), parse_object(str(path), first, hint=HINT), hint=HINT)
    document.check_schema(schema)
    document.check_shape(shape)
    if others[-1:] != [b""]:
        raise _broken(path, "the last line is cut short")
    lines = [(number, parse_record(str(path), number, line, hint=HINT)) for number, line in enumerate(others[:-1], 2)]
    for number, line in lines:
        _check(path, number, line, dict)
    return document.data, lines


def _check(path: Path, number: int, line: Any, shape: Any) -> None:
    misfit = first_misfit(line, shape)
    if misfit is not None:
        where = f" at {misfit.path}" if misfit.path else ""
        raise InputError.at(path, number, f"expected {misfit.expected}{where}, found {misfit.found}", hint=HINT)


def _broken(path: Path, error: Exception | str) -> InputError:
    text = error.message if isinstance(error, (InputError, UsageError)) else str(error)
    if isinstance(error, MeasureError):
        return InputError.at(path, None, text, hint="declare the measure before you import its values")
    return InputError.at(path, None, text, hint=HINT)


def _summary(data: dict[str, Any]) -> EntrySummary:
    facts = {key: data[key] for key in data if key in FACTS_SHAPE}
    Conventions(**facts["conventions"])  # raises if they are unknown
    own = {key: data[key] for key in OWN_KEYS}
    if data["saved"] > latest_time():
        raise ValueError(f"was saved in the future, at {data['saved']}: check the clocks of both machines")
    return EntrySummary(**{**own, "tags": tuple(map(checked_tag, data["tags"]))}, facts=facts)


def _scores(head: dict[str, Any], summary: EntrySummary, lines: list[dict[str, Any]]) -> Scores:
    conventions = summary.conventions
    measures, requested = (
        tuple(parse_measure(name, compat=conventions.compat) for name in head[key]) for key in ("measures", "requested")
    )
    queries = tuple(line["query"] for line in lines)
    ids = Ids.from_text(queries, "query id")
    if len(set(queries)) != len(queries) or len(measures) != len(requested):
        raise ValueError("a query appears twice, or the numbers of measures differ")
    if any(len(note) != 2 for note in head["notes"]):
        raise ValueError("a note is not a code and a message")
    values = [[number_from_json(value) for value in line["values"]] for line in lines]
    names = lines[0]["columns"] if lines else {}
    return Scores(
        run=summary.system,
        run_sha256=summary.facts["run_sha256"],
        qrels=summary.collection,
        qrels_sha256=summary.labels,
        queries=queries,
        measures=measures,
        requested=requested,
        values=np.array(values, dtype=np.float64).reshape(len(queries), len(measures)),
        averaged=np.array([line["averaged"] for line in lines], dtype=bool),
        status=np.array([line["status"] for line in lines], dtype=np.uint8),
        without_relevant=np.array([line["without_relevant"] for line in lines], dtype=bool),
        conventions=conventions,
        notes=tuple(Note(code, message) for code, message in head["notes"]),
        columns=query_columns({name: [line["columns"][name] for line in lines] for name in names}, ids),
    )


def _run(head: dict[str, Any], lines: list[dict[str, Any]]) -> Run:
    sizes = [len(line["docs"]) for line in lines]
    scores = np.array([number_from_json(score) for line in lines for score in line["scores"]], dtype=np.float64)
    if np.isnan(scores).any():
        raise ValueError("a score is missing")
    return Run(
        name=head["name"],
        queries=Ids.from_text([line["ranking"] for line in lines], "query id"),
        offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        docs=Ids.from_text([doc for line in lines for doc in line["docs"]], "document id"),
        scores=frozen(scores),
        status=frozen(np.array([line["status"] for line in lines], dtype=np.uint8)),
        source_sha256=head["sha256"],
    ).check_duplicates()
