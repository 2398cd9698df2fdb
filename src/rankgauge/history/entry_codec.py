"""An entry as packed bytes and as JSON Lines, as the list of its columns (``entry_columns``) says, and back.

Packed bytes, for SQLite, are exact to the last bit: a line of JSON with the sizes of the arrays that follow it,
compressed as a whole. Numbers are little-endian float64 and int64; ids are their lengths and their bytes.

JSON Lines, for an export, are the same bytes wherever they are written. The first line has the schema and what holds
for all queries. In the file of an entry, each query has a line with its values, and one with its ranking if the run was
kept. In a file of judgments, each query has a line with its documents. What is wrong with a file is reported with its
line.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import frozen, query_columns
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, MeasureError, UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import EntrySummary, SavedEntry, check_consistency, checked_tag, latest_time
from rankgauge.history.entry_columns import (
    FACTS_SHAPE,
    INTEGER,
    SHA256,
    SUMMARY_SHAPE,
    EntryColumn,
    EntryPart,
    Known,
    Level,
    Packed,
    columns_of,
    head_shape,
    line_shape,
)
from rankgauge.io.byte_streams import DEFAULT_LIMITS, read_bytes
from rankgauge.io.formats.json_text import json_line
from rankgauge.io.stored_json import JsonDocument, Maybe, Shape, first_misfit, parse_object, parse_record

ENTRY_SCHEMA = "rankgauge.history-entry/3"
LABELS_SCHEMA = "rankgauge.history-labels/2"
HINT = "export the history again with `rankgauge history export`"
MAX_BYTES = 1 << 31  # of a packed value, decompressed
_NumberedLine = tuple[int, dict[str, Any]]  # of a file
HEAD_SHAPE = {"entry": SUMMARY_SHAPE, **head_shape(EntryPart.SCORES), "run": Maybe(head_shape(EntryPart.RUN))}
LABELS_SHAPE = {**head_shape(EntryPart.LABELS), "sha256": SHA256}


# Packed bytes


def pack_contents(scores: Scores, run: Run | None) -> tuple[bytes, bytes | None]:
    """The scores of an entry, and its run if it is kept."""
    return pack_part(EntryPart.SCORES, scores), None if run is None else pack_part(EntryPart.RUN, run)


def pack_labels(qrels: Qrels) -> bytes | None:
    """Judgments, one grade per document; None for those by subtopic, by group of judges or by text."""
    return None if qrels.by_group is not None else pack_part(EntryPart.LABELS, qrels)


def unpack_entry(summary: EntrySummary, scores: bytes, run: bytes | None, labels: bytes | None) -> SavedEntry:
    """An entry; raises one of several errors if anything is damaged, or contradicts its summary."""
    unpacked = _scores(unpack_part(EntryPart.SCORES, scores, _given(summary)))
    qrels = None if labels is None else _judgments(unpack_part(EntryPart.LABELS, labels))
    entry = SavedEntry(summary, unpacked, qrels, None if run is None else Run(**unpack_part(EntryPart.RUN, run)))
    check_consistency(entry)
    return entry if qrels is None else replace(entry, qrels=_with_columns(qrels, unpacked))


def pack_part(part: EntryPart, source: Any) -> bytes:
    """The columns of a part of an entry."""
    header, arrays, counts = dict[str, Any](), list[bytes](), list[int]()
    for column in columns_of(part):
        if not isinstance(column.kind, Packed):
            header[column.header_key] = column.kind.to_json(column.value(source))
    if columns_of(part, Level.DOCUMENT):
        arrays.append(source.offsets.astype(INTEGER).tobytes())
    for column, kind in _packed_columns(part):
        arrays.append(kind.to_bytes(column.value(source)))
        counts += [len(column.value(source))] if kind.is_counted else []
    return pack({**header, "counts": counts} if counts else header, *arrays)


def unpack_part(part: EntryPart, data: bytes, given: Known | None = None) -> dict[str, Any]:
    """What is given, and the columns of a part by their names; raises one of several errors if they are damaged."""
    header, arrays = unpack(data)
    values = dict(given or {})
    for column in columns_of(part):
        if not isinstance(column.kind, Packed):
            values[column.name] = column.kind.from_json(header[column.header_key], values)
    queries, documents = header.get("counts") or (len(values["queries"]), 0)
    if columns_of(part, Level.DOCUMENT):
        values["offsets"] = _offsets(arrays.pop(0), queries, documents)
    for (column, kind), array in zip(_packed_columns(part), arrays, strict=True):
        values[column.name] = kind.from_bytes(array, queries if column.level is Level.QUERY else documents, values)
    return values


def _packed_columns(part: EntryPart) -> list[tuple[EntryColumn, Packed]]:
    """The arrays of a part in the order of its bytes: numbers of documents, numbers of queries, ids."""
    packed = [(column, column.kind) for column in columns_of(part) if isinstance(column.kind, Packed)]
    return sorted(
        packed, key=lambda pair: (pair[1].is_counted, pair[0].level is Level.QUERY and not pair[1].is_counted)
    )


def pack(header: Mapping[str, Any], *arrays: bytes) -> bytes:
    """A header and arrays, compressed."""
    text = json.dumps({**header, "sizes": [len(array) for array in arrays]}, ensure_ascii=False, allow_nan=False)
    return zlib.compress(b"".join([text.encode("utf-8", "surrogateescape"), b"\n", *arrays]), 6)


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the arrays; raises ``ValueError`` or ``zlib.error`` if they are damaged."""
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


def _offsets(data: bytes, groups: int, rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    offsets = np.frombuffer(data, INTEGER).astype(np.int64)
    if len(offsets) != groups + 1 or offsets[0] != 0 or offsets[-1] != rows or np.any(np.diff(offsets) < 0):
        raise ValueError("the rows of queries are wrong")
    return frozen(offsets)


# JSON Lines


def entry_lines(entry: SavedEntry) -> bytes:
    """An entry; its judgments are in a file of their own."""
    scores, run = entry.scores, entry.run
    head = {
        "schema": ENTRY_SCHEMA,
        "entry": entry.summary.to_dict(),
        **_head(EntryPart.SCORES, scores),
        "run": None if run is None else _head(EntryPart.RUN, run),
    }
    rankings = () if run is None else _query_lines(EntryPart.RUN, run)
    return b"".join(map(json_line, [head, *_query_lines(EntryPart.SCORES, scores), *rankings]))


def labels_lines(qrels: Qrels) -> bytes:
    """Judgments: a line per query, its documents sorted by their bytes."""
    rows = qrels.docs.order(qrels.query)
    ordered = replace(qrels, docs=qrels.docs.take(rows), grades=qrels.grades[rows])
    head = {"schema": LABELS_SCHEMA, **_head(EntryPart.LABELS, qrels), "sha256": qrels.sha256}
    return b"".join(map(json_line, [head, *_query_lines(EntryPart.LABELS, ordered)]))


def read_entry(path: Path) -> SavedEntry:
    """The entry in a file, without its judgments, which are in a file of their own."""
    head, lines = _lines(path, ENTRY_SCHEMA, HEAD_SHAPE)
    queries = [line for line in lines if "query" in line[1]]
    rankings = [line for line in lines if "query" not in line[1]]
    _check_lines(path, EntryPart.SCORES, queries)
    for number, line in queries:
        if len(line["values"]) != len(head["measures"]):
            message = f"expected {plural(len(head['measures']), 'value')}, found {len(line['values'])}"
            raise InputError.at(path, number, message, hint=HINT)
        if line["columns"].keys() != queries[0][1]["columns"].keys():
            raise InputError.at(path, number, "has other columns than the first query", hint=HINT)
    _check_lines(path, EntryPart.RUN, rankings)
    try:
        summary = _summary(head["entry"])
        scores = _scores(_from_lines(EntryPart.SCORES, head, queries, _given(summary)))
        run = None if head["run"] is None else _run(_from_lines(EntryPart.RUN, head["run"], rankings))
        entry = SavedEntry(summary, scores, None, run)
        check_consistency(entry)
    except (ValueError, TypeError, KeyError, UsageError) as error:
        raise _broken(path, error) from None
    _check_complete(path, [head, *(line for _, line in lines)], entry_lines(entry))
    return entry


def read_labels(path: Path) -> Qrels:
    """The judgments in a file, whose hash is that in its first line."""
    head, lines = _lines(path, LABELS_SCHEMA, LABELS_SHAPE)
    _check_lines(path, EntryPart.LABELS, lines)
    try:
        values = _from_lines(EntryPart.LABELS, head, lines)
        sizes, queries = np.diff(values["offsets"]), values["queries"]
        query = queries.take(np.repeat(np.arange(len(queries)), sizes))
        qrels = Qrels.from_columns(query, values["docs"], values["grades"], name=values["name"])
        qrels = qrels.with_queries([*queries.take(np.flatnonzero(sizes == 0))])
        qrels = qrels.with_stored_facts(values["unanswerable"], values["forbidden"])
    except (ValueError, TypeError, KeyError) as error:
        raise _broken(path, error) from None
    if qrels.sha256 != head["sha256"]:
        raise _broken(path, f"the judgments have the hash {qrels.sha256[:12]}…, not that of the first line")
    return qrels


def _head(part: EntryPart, source: Any) -> dict[str, Any]:
    return {column.key: column.kind.to_json(column.value(source)) for column in columns_of(part, Level.PART)}


def _query_lines(part: EntryPart, source: Any) -> Iterator[dict[str, Any]]:
    columns = columns_of(part, Level.QUERY, Level.DOCUMENT)
    values = [column.kind.to_json(column.value(source)) for column in columns]
    bounds = source.offsets.tolist() if columns_of(part, Level.DOCUMENT) else ()
    for number in range(len(source.queries)):
        line = {}
        for column, value in zip(columns, values, strict=True):
            if column.kind.is_table:
                line[column.key] = {name: cells[number] for name, cells in value.items()}
            elif column.level is Level.DOCUMENT:
                line[column.key] = value[bounds[number] : bounds[number + 1]]
            else:
                line[column.key] = value[number]
        yield line


def _from_lines(
    part: EntryPart, head: dict[str, Any], lines: Sequence[_NumberedLine], given: Known | None = None
) -> dict[str, Any]:
    """What is given, and the columns of a part by their names."""
    values = dict(given or {})
    for column in columns_of(part):
        cells = head[column.key] if column.level is Level.PART else [line[column.key] for _, line in lines]
        if column.kind.is_table:
            cells = {name: [cell[name] for cell in cells] for name in (cells[0] if cells else ())}
        elif column.level is Level.DOCUMENT:
            sizes = [len(group) for group in cells]
            values["offsets"] = frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
            cells = [cell for group in cells for cell in group]
        values[column.name] = column.kind.from_json(cells, values)
    return values


def _lines(path: Path, schema: str, shape: Shape) -> tuple[dict[str, Any], list[_NumberedLine]]:
    """The first line of a file, and the others with their numbers."""
    data, _ = read_bytes(path, limits=DEFAULT_LIMITS)
    first, *others = data.split(b"\n")
    document = JsonDocument(str(path), parse_object(str(path), first, hint=HINT), hint=HINT)
    document.check_schema(schema)
    document.check_shape(shape)
    if others[-1:] != [b""]:
        raise _broken(path, "the last line is cut short")
    numbered = enumerate(others[:-1], start=2)
    return document.data, [
        (number, parse_record(str(path), number, line, shape=dict, hint=HINT)) for number, line in numbered
    ]


def _check_lines(path: Path, part: EntryPart, lines: Sequence[_NumberedLine]) -> None:
    """Raise if a line has another shape than that of its part, or lists of different lengths."""
    shape = line_shape(part)
    lists = [column.key for column in columns_of(part, Level.DOCUMENT)]
    for number, line in lines:
        misfit = first_misfit(line, shape)
        if misfit is not None:
            where = f" at {misfit.path}" if misfit.path else ""
            raise InputError.at(path, number, f"expected {misfit.expected}{where}, found {misfit.found}", hint=HINT)
        for other in lists[1:]:
            if len(line[other]) != len(line[lists[0]]):
                raise InputError.at(path, number, f"the numbers of documents and {other} differ", hint=HINT)


def _check_complete(path: Path, lines: list[dict[str, Any]], exported: bytes) -> None:
    """Raise if a file says anything that an export of what was read from it would not."""
    written = [parse_record(str(path), None, line) for line in exported.splitlines()]
    for number, (found, expected) in enumerate(zip_longest(lines, written), start=1):
        if found != expected:
            raise InputError.at(path, number, "has a field, or a line, that no export has", hint=HINT)


def _broken(path: Path, error: Exception | str) -> InputError:
    text = error.message if isinstance(error, (InputError, UsageError)) else str(error)
    if isinstance(error, MeasureError):
        return InputError.at(path, None, text, hint="declare the measure before you import its values")
    return InputError.at(path, None, text, hint=HINT)


# What was decoded, checked and put together


def _summary(data: dict[str, Any]) -> EntrySummary:
    own = {column.name: column.kind.from_json(data[column.key], {}) for column in columns_of(EntryPart.ENTRY)}
    summary = EntrySummary(**own, facts={key: data[key] for key in data if key in FACTS_SHAPE})
    Conventions(**summary.facts["conventions"])  # raises if they are unknown
    if summary.saved > latest_time():
        raise ValueError(f"was saved in the future, at {summary.saved}: check the clocks of both machines")
    stored = [summary.name, summary.uid, summary.saved, summary.labels, summary.git.branch or ""]
    stored += map(checked_tag, summary.tags)
    if not "".join(stored).isascii() and any("\ud800" <= letter <= "\udfff" for text in stored for letter in text):
        raise ValueError("the first line has a name or a time that is not UTF-8")
    return summary


def _given(summary: EntrySummary) -> dict[str, Any]:
    """What scores have from the summary of their entry."""
    return {
        "run": summary.system,
        "run_sha256": summary.facts["run_sha256"],
        "qrels": summary.collection,
        "qrels_sha256": summary.labels,
        "conventions": summary.conventions,
    }


def _scores(values: dict[str, Any]) -> Scores:
    queries, measures, requested = values["queries"], values["measures"], values["requested"]
    if len(set(queries)) != len(queries) or len(measures) != len(requested):
        raise ValueError("a query appears twice, or the numbers of measures differ")
    return Scores(**values)


def _judgments(values: dict[str, Any]) -> Qrels:
    unanswerable, forbidden = values.pop("unanswerable"), values.pop("forbidden")
    return Qrels(**values).with_stored_facts(unanswerable, forbidden)


def _run(values: dict[str, Any]) -> Run:
    if np.isnan(values["scores"]).any():
        raise ValueError("a score is missing")
    return Run(**values).check_duplicates()


def _with_columns(qrels: Qrels, scores: Scores) -> Qrels:
    """The judgments with the columns of the queries, which measures may depend on."""
    values = {name: dict(zip(scores.queries, column.tolist(), strict=True)) for name, column in scores.columns.items()}
    return replace(qrels, columns=query_columns(values, qrels.queries))
