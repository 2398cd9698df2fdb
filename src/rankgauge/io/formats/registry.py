"""The table of formats: what reads, writes, tells apart and documents each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Protocol

from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.io import writers
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import arrow, delimited, log, mappings, msmarco, trec
from rankgauge.io.formats import jsonl as records
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import Columns, Kind, candidates, is_header
from rankgauge.io.rows import Rows


class Reader(Protocol):
    """Bytes in, rows out; what is wrong goes to the faults."""

    def __call__(self, faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
        """Read."""


@dataclass(frozen=True)
class Format:
    """One way to write judgments or results down."""

    name: str
    summary: str
    columns: Mapping[Kind, str]  # what stands in it, for each kind that it can hold
    looks: Callable[[Head, Kind], bool]
    read: Reader
    write: Callable[[Rows, Kind, IO[bytes]], None] | None = None
    keeps: frozenset[str] = frozenset()  # of what not every format has: iter rank score tag empty
    suffixes: tuple[str, ...] = ()
    named: bool = False  # its columns have names, so that a caller can say which is which
    extra: str | None = None

    def holds(self, kind: Kind) -> bool:
        """Whether it has this kind."""
        return kind in self.columns


def _trec_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    return trec.qrels_rows(faults, data) if kind == "qrels" else trec.run_rows(faults, data)


def _beir_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    return delimited.tsv_rows(faults, data, kind, columns)


def _cells(head: Head, mark: bytes) -> list[str]:
    return [cell.strip(b' "').decode("utf-8", "surrogateescape") for cell in head.line.split(mark)]


def _looks_csv(head: Head, kind: Kind) -> bool:
    """A header with known names; or as many commas as there must be where white space makes no columns."""
    if b"\t" in head.line:
        return False
    mark = b";" if b";" in head.line and b"," not in head.line else b","
    cells = _cells(head, mark)
    if mark in head.line and is_header(cells, kind):
        return True
    return mark == b"," and len(cells) in delimited.POSITIONS[kind] and len(head.line.split()) <= len(cells) - 2


def _looks_tsv(head: Head, kind: Kind) -> bool:
    """A header with known names; or, for a run, three columns that end in a number that is no rank."""
    cells = _cells(head, b"\t")
    if b"\t" in head.line and is_header(cells, kind):
        return True
    if kind == "qrels" or len(cells) != 3:
        return False
    return bool(DECIMAL.fullmatch(cells[2].encode("utf-8", "surrogateescape"))) and not (msmarco.looks(head.lines))


def _looks_mapping(head: Head, kind: Kind) -> bool:
    """An object; on one line only where objects or lists stand in it, under other names than those of columns."""
    if not head.is_json or head.text.lstrip()[:1] != b"{":
        return False
    if not head.record:
        return True
    return any(isinstance(value, list) for value in head.record.values()) and not is_header(list(head.record), kind)


def _delimited(mark: str) -> Callable[[Rows, Kind, IO[bytes]], None]:
    return lambda rows, kind, out: writers.delimited(rows, kind, out, mark)


def _arrow(parquet: bool) -> Callable[[Rows, Kind, IO[bytes]], None]:
    return lambda rows, kind, out: arrow.write(rows, kind, parquet=parquet)(out)


NAMED: dict[Kind, str] = {
    "qrels": "query_id doc_id relevance, perhaps iter",
    "run": "query_id doc_id score (or rank), perhaps iter tag",
}
EVERYTHING = frozenset({"iter", "rank", "score", "tag"})
FORMATS = (
    Format(
        "parquet",
        "Parquet, with named columns",
        NAMED,
        lambda head, kind: head.text.startswith(arrow.PARQUET),
        arrow.parquet_rows,
        _arrow(True),
        EVERYTHING,
        (".parquet", ".pq"),
        named=True,
        extra="arrow",
    ),
    Format(
        "arrow",
        "Arrow IPC (Feather), file or stream, with named columns",
        NAMED,
        lambda head, kind: head.text.startswith((arrow.FILE, arrow.STREAM)),
        arrow.ipc_rows,
        _arrow(False),
        EVERYTHING,
        (".arrow", ".feather", ".ipc"),
        named=True,
        extra="arrow",
    ),
    Format(
        "log",
        "JSON Lines, one question a line: what was retrieved and what was wanted",
        {
            "qrels": "query_id or question; relevant_ids, perhaps grades; any further column",
            "run": "query_id or question; retrieved_ids, perhaps scores",
        },
        lambda head, kind: head.is_json and head.record is not None and log.holds(head.record, kind),
        log.rows,
        named=True,
    ),
    Format(
        "json",
        "one JSON object of queries, as pytrec_eval and ranx dump it",
        {"qrels": "{query: {document: grade}} or {query: [document]}", "run": "{query: {document: score}} or lists"},
        _looks_mapping,
        mappings.rows,
        writers.mapping,
        frozenset({"score", "empty"}),
        (".json",),
    ),
    Format(
        "jsonl",
        "JSON Lines, one judgment or result a line (or an array of such objects)",
        NAMED,
        lambda head, kind: head.is_json,
        records.rows,
        writers.jsonl,
        EVERYTHING,
        (".jsonl", ".ndjson"),
        named=True,
    ),
    Format(
        "beir",
        "BEIR's tab-separated judgments",
        {"qrels": "query-id corpus-id score, below a header"},
        lambda head, kind: kind == "qrels" and _cells(head, b"\t") == ["query-id", "corpus-id", "score"],
        _beir_rows,
        writers.beir,
        named=True,
    ),
    Format(
        "csv",
        "comma- or semicolon-separated, with or without a header",
        NAMED,
        _looks_csv,
        delimited.csv_rows,
        _delimited(","),
        EVERYTHING,
        (".csv",),
        named=True,
    ),
    Format(
        "msmarco",
        "MS MARCO's tab-separated files; a run has ranks and no scores",
        {"qrels": "query iter document grade", "run": "query document rank"},
        lambda head, kind: kind == "run" and msmarco.looks(head.lines),
        msmarco.rows,
        writers.msmarco,
        frozenset({"iter"}),
    ),
    Format(
        "tsv",
        "tab-separated, with or without a header",
        NAMED,
        _looks_tsv,
        delimited.tsv_rows,
        _delimited("\t"),
        EVERYTHING,
        (".tsv", ".tab"),
        named=True,
    ),
    Format(
        "trec",
        "TREC's files, separated by white space; taken where nothing else fits",
        {"qrels": "query iter document grade", "run": "query Q0 document rank score tag"},
        lambda head, kind: True,
        _trec_rows,
        writers.trec,
        EVERYTHING,
        (".trec", ".txt", ".qrels", ".run", ".res"),
    ),
)
BY_NAME = {format.name: format for format in FORMATS}


def named(name: str, kind: Kind | None = None) -> Format:
    """The format of a name; an unknown one offers the nearest."""
    if name not in BY_NAME:
        known = list(BY_NAME)
        close = nearest(name, known)
        raise UsageError(
            f"unknown format {shown(name)}, expected one of {', '.join(known)}",
            hint=f"did you mean {close}?" if close else None,
        )
    found = BY_NAME[name]
    if kind is not None and not found.holds(kind):
        raise UsageError(f"format {name} has no {'judgments' if kind == 'qrels' else 'runs'}")
    return found


def guess(data: bytes, kind: Kind, source: str = "input") -> Format:
    """The format of a file, by its content. Give at least its first line; all of it does no harm."""
    head = Head(data)
    _refuse(source, head)
    try:
        return next(format for format in FORMATS if format.holds(kind) and format.looks(head, kind))
    except InputError as error:
        raise InputError.at(source, None, error.message, hint=error.hint) from None


def kind_of(data: bytes, source: str = "input") -> Kind:
    """Whether a file holds judgments or a run; raises where it may be either."""
    head = Head(data)
    _refuse(source, head)
    names: list[str] = []
    if head.is_json:
        names = list(head.record or {}) if not _looks_mapping(head, "run") else []
        if head.record is not None and log.holds(head.record):
            names = []
    elif b"\t" in head.line or b"," in head.line or b";" in head.line:
        names = next((_cells(head, mark) for mark in (b"\t", b",", b";") if is_header(_cells(head, mark), "run")), [])
    if head.text.startswith((arrow.PARQUET, arrow.FILE, arrow.STREAM)):
        names = arrow.table_of(source, data).column_names
    if names == ["query-id", "corpus-id", "score"]:
        return "qrels"
    strong = {role: bool(candidates(names, role)) for role in ("score", "rank", "tag")}
    judged = any(candidates(names, "grade")) and candidates(names, "grade") != candidates(names, "score")
    if judged != any(strong.values()):
        return "qrels" if judged else "run"
    if not names and not head.is_json:
        width = len(head.line.split())
        if width in (4, 6) or (width == 3 and msmarco.looks(head.lines)):
            return "qrels" if width == 4 else "run"
    raise UsageError(f"{source} may hold judgments or a run", hint="say which: --kind qrels or --kind run")


def by_suffix(path: str, kind: Kind) -> Format:
    """The format that a new file's name asks for."""
    lower = path.casefold().removesuffix(".gz")
    for format in FORMATS:
        if format.holds(kind) and format.write is not None and lower.endswith(format.suffixes or ("\0",)):
            return format
    known = ", ".join(format.name for format in FORMATS if format.holds(kind) and format.write is not None)
    raise UsageError(f"the name of {path} says no format", hint=f"say which with --to: {known}")


def _refuse(source: str, head: Head) -> None:
    """What is known and will not be read."""
    text = head.text
    if text[:1] == b"\x80" and text[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise InputError.at(
            source,
            None,
            "this is a pickle, which is never read: it can run any code",
            hint="write it as JSON, CSV or Parquet",
        )
    if text.startswith(b"PK\x03\x04"):
        raise InputError.at(source, None, "this is a zip archive", hint="unpack it, and name the file inside")
