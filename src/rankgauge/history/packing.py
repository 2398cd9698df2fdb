"""Scores, judgments and runs as compressed bytes, and back: exact to the last bit.

A packed value is a line of JSON with the sizes of the parts that follow it, compressed as a whole. Numbers are
little-endian float64 and int64; ids are their lengths and their bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from rankgauge.core.ids import PADDING, Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Column, frozen, query_columns
from rankgauge.errors import Note
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.parse import parse_measure

MAX_BYTES = 1 << 31  # of a packed value, decompressed
FLOAT, INTEGER = "<f8", "<i8"


def pack(header: Mapping[str, Any], *parts: bytes) -> bytes:
    """A header and parts, compressed."""
    text = json.dumps({**header, "sizes": [len(part) for part in parts]}, ensure_ascii=False, allow_nan=False)
    return zlib.compress(b"".join([text.encode("utf-8", "surrogateescape"), b"\n", *parts]), 6)


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the parts; raises ``ValueError`` or ``zlib.error`` if they are damaged."""
    stream = zlib.decompressobj()
    content = stream.decompress(data, MAX_BYTES)
    if not stream.eof:
        raise ValueError("it is cut short, or too large")
    text, _, rest = content.partition(b"\n")
    header = json.loads(text.decode("utf-8", "surrogateescape"))
    ends = np.cumsum([0, *header["sizes"]]).tolist()
    if ends[-1] != len(rest):
        raise ValueError(f"expected {ends[-1]} bytes, found {len(rest)}")
    return header, [rest[begin:end] for begin, end in pairwise(ends)]


def pack_scores(scores: Scores) -> bytes:
    """The value of every query, and what else is known of the queries."""
    header = {
        "queries": list(scores.queries),
        "measures": [measure.name for measure in scores.measures],
        "requested": [measure.name for measure in scores.requested or scores.measures],
        "notes": [[note.code, note.message] for note in scores.notes],
        "columns": {name: plain_column(column) for name, column in scores.columns.items()},
    }
    flags = (scores.status, scores.averaged, scores.without_relevant)
    return pack(
        header, *(flag.astype(np.uint8).tobytes() for flag in flags), scores.values.astype(FLOAT).tobytes(order="F")
    )


def unpack_scores(data: bytes, **names: Any) -> Scores:
    """The scores; ``names`` are those of run and judgments with their hashes, and the conventions."""
    header, (status, averaged, without_relevant, values) = unpack(data)
    queries, conventions = header["queries"], names["conventions"]
    assert isinstance(conventions, Conventions)
    shape = (len(queries), len(header["measures"]))
    scores = Scores(
        **names,
        queries=tuple(queries),
        measures=tuple(parse_measure(name, compat=conventions.compat) for name in header["measures"]),
        requested=tuple(parse_measure(name, compat=conventions.compat) for name in header["requested"]),
        values=frozen(np.frombuffer(values, FLOAT).reshape(shape, order="F").astype(np.float64)),
        status=np.frombuffer(status, np.uint8),
        averaged=np.frombuffer(averaged, np.uint8).astype(bool),
        without_relevant=np.frombuffer(without_relevant, np.uint8).astype(bool),
        notes=tuple(Note(code, message) for code, message in header["notes"]),
        columns=query_columns(header["columns"], Ids.from_text(queries, "query id")),
    )
    if not len(scores.status) == len(scores.averaged) == len(scores.without_relevant) == len(queries):
        raise ValueError("the numbers of queries differ")
    return scores


def pack_qrels(qrels: Qrels) -> bytes | None:
    """Judgments, one grade per document; None for those by subtopic, by group of judges or by text."""
    if qrels.by_group is not None:
        return None
    ids = [qrels.queries, qrels.docs]
    return pack(
        {"name": qrels.name, "counts": [len(column) for column in ids]},
        qrels.offsets.astype(INTEGER).tobytes(),
        qrels.grades.astype(FLOAT).tobytes(),
        *(column.content() for column in ids),
    )


def unpack_qrels(data: bytes) -> Qrels:
    """The judgments."""
    header, (offsets, grades, *ids) = unpack(data)
    queries, docs = (_ids(content, count) for content, count in zip(ids, header["counts"], strict=True))
    return Qrels(
        name=header["name"],
        queries=queries,
        offsets=_offsets(offsets, len(queries), len(docs)),
        docs=docs,
        grades=frozen(np.frombuffer(grades, FLOAT).astype(np.float64)),
    )


def pack_run(run: Run) -> bytes:
    """A run: every result with its score."""
    return pack(
        {"name": run.name, "sha256": run.source_sha256, "counts": [len(run.queries), len(run.docs)]},
        run.offsets.astype(INTEGER).tobytes(),
        run.scores.astype(FLOAT).tobytes(),
        run.status.astype(np.uint8).tobytes(),
        run.queries.content(),
        run.docs.content(),
    )


def unpack_run(data: bytes) -> Run:
    """The run."""
    header, (offsets, scores, status, *ids) = unpack(data)
    queries, docs = (_ids(content, count) for content, count in zip(ids, header["counts"], strict=True))
    statuses = np.frombuffer(status, np.uint8)
    if len(statuses) != len(queries) or statuses.max(initial=0) > max(Status):
        raise ValueError("the status of a query is missing or unknown")
    return Run(
        name=header["name"],
        queries=queries,
        offsets=_offsets(offsets, len(queries), len(docs)),
        docs=docs,
        scores=frozen(np.frombuffer(scores, FLOAT).astype(np.float64)),
        status=statuses,
        source_sha256=header["sha256"],
    )


def qrels_with_columns(qrels: Qrels, scores: Scores) -> Qrels:
    """The judgments with the columns of the queries, which measures may depend on."""
    values = {name: dict(zip(scores.queries, column.tolist(), strict=True)) for name, column in scores.columns.items()}
    return replace(qrels, columns=query_columns(values, qrels.queries))


def plain_column(column: Column) -> list[Any]:
    """A column of queries for JSON; what JSON does not have becomes text, and NaN nothing."""
    return [
        None
        if isinstance(value, float) and value != value
        else value
        if isinstance(value, (str, int, float, bool, type(None)))
        else str(value)
        for value in column.tolist()
    ]


def _ids(content: bytes, count: int) -> Ids:
    lengths = np.frombuffer(content[: 8 * count], INTEGER).astype(np.int64)
    text = content[8 * count :]
    if len(lengths) != count or lengths.min(initial=0) < 0 or int(lengths.sum()) != len(text):
        raise ValueError("the lengths of ids are wrong")
    buffer = np.frombuffer(text + bytes(PADDING), dtype=np.uint8)
    return Ids(buffer, np.cumsum(lengths) - lengths, lengths)


def _offsets(data: bytes, groups: int, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    offsets = np.frombuffer(data, INTEGER).astype(np.int64)
    if len(offsets) != groups + 1 or offsets[0] != 0 or offsets[-1] != rows or np.any(np.diff(offsets) < 0):
        raise ValueError("the rows of queries are wrong")
    return frozen(offsets)
