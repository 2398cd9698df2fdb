"""The table of formats: how each of them is detected, read, written and documented."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Protocol

from rankgauge.core.batch import Batch, Part
from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.io.byte_streams import ByteStream, split_selector
from rankgauge.io.faults import Faults
from rankgauge.io.formats import (
    arrow,
    delimited,
    json_lines,
    json_mapping,
    judgment_lines,
    log_writer,
    question_log,
    relevance_tools,
    subtopics,
    trec,
)
from rankgauge.io.formats.case_tables import is_case_header
from rankgauge.io.formats.detection import CASES_HINT, Head, check_known_formats, check_other_kinds, sample
from rankgauge.io.formats.named_columns import ROLES, Kind, Wanted, columns_for, is_header
from rankgauge.io.formats.trec import write_trec_rows
from rankgauge.io.text_checks import DECIMAL

WriteRows = Callable[[Iterator[Batch], Kind, IO[bytes]], None]  # all rows of a file, in parts of whole queries


class ReadBatches(Protocol):
    """The only reader of a format: from an open file to its rows, batch by batch.

    Batches come in the order of the file and end anywhere (a query may continue in the next one). Memory is that of one
    batch. Each batch has the same columns. If there are ranks and no scores, ``Batch.has_ranks_only`` is true and the
    values are the ranks. What is wrong with a row is added to the faults, with its line; how large the batches are
    changes nothing. Raises ``Restart`` if a late key changes which column is which.
    """

    def __call__(self, stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
        """Read the batches."""


@dataclass(frozen=True)
class Format:
    """One file format for judgments or runs."""

    name: str
    summary: str
    columns: Mapping[Kind, str]  # its columns, for each kind that it supports
    matches: Callable[[Head, Kind], bool]
    read: ReadBatches
    write: WriteRows | None = None
    keeps: frozenset[str] = frozenset()  # what it can hold: iter rank score tag empty columns texts extras
    suffixes: tuple[str, ...] = ()
    has_names: bool = False  # whether its columns have names, which a caller can refer to
    extra: str | None = None
    judgments: JudgmentKind = "grades"
    is_text: bool = True

    def supports(self, kind: Kind) -> bool:
        """Whether the format has this kind of file."""
        return kind in self.columns

    @property
    def has_tag_column(self) -> bool:
        """Whether a run may have a column of tags, which separates the runs of a file."""
        return self.has_names and "tag" in self.keeps

    @property
    def may_have_several_runs(self) -> bool:
        """Whether a column, of tags or in a log of systems, may separate the runs of a file."""
        return self.has_tag_column or self.name == "log"


def _msmarco_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """MS MARCO's runs; its judgments are TREC's."""
    read = trec.read_batches if wanted.kind == "qrels" else delimited.msmarco_batches
    return read(stream, wanted, faults)


def _arrow_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """Rows of judgments or results; a table of test cases has one row per query."""
    if wanted.kind == "qrels" and is_case_header(arrow.column_names(stream), wanted.columns):
        return question_log.read_batches(stream, wanted, faults)
    return arrow.read_batches(stream, wanted, faults)


def _cells(head: Head, delimiter: bytes) -> list[str]:
    return [cell.strip(b' "').decode("utf-8", "surrogateescape") for cell in head.line.split(delimiter)]


def _is_csv(head: Head, kind: Kind) -> bool:
    """Whether there is a header with known names, or the right number of commas and too little white space."""
    if b"\t" in head.line:
        return False
    delimiter = delimited.comma_or_semicolon(head.line)
    cells = _cells(head, delimiter)
    is_named = head.name.casefold().endswith(".csv") or sum(bool(columns_for(cells, role)) for role in ROLES[kind]) > 1
    is_one_word = len(head.line.split()) == 1  # not a line of a TREC file
    if delimiter in head.line and (is_header(cells, kind) or is_named or is_one_word):
        return True  # whose reader says which column is missing
    return delimiter == b"," and len(cells) in delimited.POSITIONS[kind] and len(head.line.split()) <= len(cells) - 2


def _is_tsv(head: Head, kind: Kind) -> bool:
    """Whether there is a header with known names; or, for a run, three columns of which the last is not a rank."""
    cells = _cells(head, b"\t")
    if b"\t" in head.line and is_header(cells, kind):
        return True
    if kind == "qrels" or len(cells) != 3:
        return False
    return bool(DECIMAL.fullmatch(cells[2].encode("utf-8", "surrogateescape"))) and not delimited.has_ranks(head.lines)


def _is_mapping(head: Head, kind: Kind) -> bool:
    """Whether it is one object; on one line, it must hold objects or lists, or only nulls, and not name columns."""
    if not head.is_json or head.text.lstrip()[:1] != b"{":
        return False
    if not head.record:
        return True
    values = head.record.values()
    is_nested = any(isinstance(value, list) for value in values) or all(value is None for value in values)
    return is_nested and not is_header(list(head.record), kind)


def _is_chosen_only(head: Head, kind: Kind) -> bool:
    """Never: the file looks like one of another format, so that only its user knows which it is."""
    return False


def _in_parts(write_part: Callable[[Batch, Kind, IO[bytes], Part], None]) -> WriteRows:
    """A writer of all rows from one that is told which part is the first and which is the last."""

    def write(parts: Iterator[Batch], kind: Kind, out: IO[bytes]) -> None:
        waiting, is_first = next(parts, None), True
        while waiting is not None:
            rows, waiting = waiting, next(parts, None)
            write_part(rows, kind, out, Part(is_first, waiting is None))
            is_first = False

    return write


def write_delimited(delimiter: str, *, escape_formulas: bool = False) -> WriteRows:
    """The writer of a delimited table."""

    def write_part(rows: Batch, kind: Kind, out: IO[bytes], part: Part) -> None:
        delimited.write_delimited_rows(rows, kind, delimited.DelimitedTable(out, delimiter, part, escape_formulas))

    return _in_parts(write_part)


NAMED_COLUMNS: dict[Kind, str] = {
    "qrels": "query_id doc_id relevance, optionally iter",
    "run": "query_id doc_id score (or rank), optionally iter tag",
}
BEIR_COLUMNS = ["query-id", "corpus-id", "score"]
ALL_PARTS = frozenset({"iter", "rank", "score", "tag"})
FORMATS = (
    Format(
        "parquet",
        "Parquet, with named columns",
        NAMED_COLUMNS,
        lambda head, kind: head.text.startswith(arrow.PARQUET),
        _arrow_batches,
        arrow.write_parquet,
        ALL_PARTS,
        (".parquet", ".pq"),
        has_names=True,
        extra="arrow",
        is_text=False,
    ),
    Format(
        "arrow",
        "Arrow IPC (Feather), file or stream, with named columns",
        NAMED_COLUMNS,
        lambda head, kind: head.text.startswith((arrow.FILE, arrow.STREAM)),
        _arrow_batches,
        arrow.write_arrow,
        ALL_PARTS,
        (".arrow", ".feather", ".ipc"),
        has_names=True,
        extra="arrow",
        is_text=False,
    ),
    Format(
        "rank_eval",
        "requests of Elasticsearch's and OpenSearch's rank_eval; a response is read as a log",
        {"qrels": "requests: id, ratings: _id rating"},
        relevance_tools.is_rank_eval,
        question_log.read_batches,
        relevance_tools.write_rank_eval,
        frozenset({"texts"}),
        has_names=True,
    ),
    Format(
        "log",
        "one JSON object per query, with the retrieved and the relevant documents: [the log](log.md)",
        {
            "qrels": "query or query_id; relevant, optionally grades; any further column",
            "run": "query or query_id; retrieved, optionally with scores, texts and metadata; latency_ms",
        },
        question_log.is_log_head,
        question_log.read_batches,
        _in_parts(log_writer.write_log_rows),
        frozenset({"score", "empty", "columns", "extras"}),
        has_names=True,
    ),
    Format(
        "judgments",
        "JSON Lines with provenance, as `rankgauge judge` writes them; the last line of an assessor counts, and of "
        "several assessors the median",
        {"qrels": "query_id doc_id relevance assessor how"},
        lambda head, kind: (
            kind == "qrels" and head.record is not None and judgment_lines.is_judgment_record(head.record)
        ),
        judgment_lines.read_batches,
        has_names=True,
    ),
    Format(
        "json",
        "one JSON object of queries, as pytrec_eval and ranx write it",
        {"qrels": "{query: {document: grade}} or {query: [document]}", "run": "{query: {document: score}} or lists"},
        _is_mapping,
        json_mapping.read_batches,
        _in_parts(json_mapping.write_json_mapping),
        frozenset({"score", "empty"}),
        (".json",),
    ),
    Format(
        "jsonl",
        "JSON Lines, one judgment or result per line (or an array of such objects)",
        NAMED_COLUMNS,
        lambda head, kind: head.is_json,
        json_lines.read_batches,
        _in_parts(json_lines.write_json_lines),
        ALL_PARTS,
        (".jsonl", ".ndjson"),
        has_names=True,
    ),
    Format(
        "beir",
        "BEIR's tab-separated judgments",
        {"qrels": "query-id corpus-id score, below a header"},
        lambda head, kind: kind == "qrels" and _cells(head, b"\t") == BEIR_COLUMNS,
        delimited.tsv_batches,
        _in_parts(delimited.write_beir_rows),
        has_names=True,
    ),
    Format(
        "quepid",
        "Quepid's judgments, comma-separated; a query is its text",
        {"qrels": "query docid rating, below a header"},
        relevance_tools.is_quepid,
        delimited.csv_batches,
        relevance_tools.write_quepid,
        frozenset({"texts"}),
        has_names=True,
    ),
    Format(
        "csv",
        "comma- or semicolon-separated, with or without a header",
        NAMED_COLUMNS,
        _is_csv,
        delimited.csv_batches,
        write_delimited(","),
        ALL_PARTS,
        (".csv",),
        has_names=True,
    ),
    Format(
        "msmarco",
        "MS MARCO's tab-separated files; a run has ranks and no scores",
        {"qrels": "query iter document grade", "run": "query document rank"},
        lambda head, kind: kind == "run" and delimited.has_ranks(head.lines),
        _msmarco_batches,
        _in_parts(delimited.write_msmarco_rows),
        frozenset({"iter"}),
    ),
    Format(
        "tsv",
        "tab-separated, with or without a header",
        NAMED_COLUMNS,
        _is_tsv,
        delimited.tsv_batches,
        write_delimited("\t"),
        ALL_PARTS,
        (".tsv", ".tab"),
        has_names=True,
    ),
    Format(
        "ndeval",
        "judgments by subtopic, as ndeval reads them; measures that need one grade per document use its largest; only "
        "if chosen",
        {"qrels": "query subtopic document grade"},
        _is_chosen_only,
        trec.read_batches,
        _in_parts(subtopics.write_ndeval),
        frozenset({"iter"}),
        judgments="subtopics",
    ),
    Format(
        "trec",
        "TREC files, separated by white space; the default if no other format matches",
        {"qrels": "query iter document grade", "run": "query Q0 document rank score tag"},
        lambda head, kind: True,
        trec.read_batches,
        _in_parts(write_trec_rows),
        ALL_PARTS,
        (".trec", ".txt", ".qrels", ".run", ".res"),
    ),
)
BY_NAME = {format.name: format for format in FORMATS}


def format_named(name: str, kind: Kind | None = None) -> Format:
    """The format with a name; the error for an unknown name suggests the nearest."""
    if name not in BY_NAME:
        suggestion = nearest(name, list(BY_NAME))
        raise UsageError(
            f"unknown format {shown(name)}, expected one of {', '.join(BY_NAME)}",
            hint=f"did you mean {suggestion}?" if suggestion else None,
        )
    format = BY_NAME[name]
    if kind is not None and not format.supports(kind):
        raise UsageError(f"format {name} has no {'judgments' if kind == 'qrels' else 'runs'}")
    return format


def detect_format(data: bytes, kind: Kind, source: str = "input") -> Format:
    """The format of a file, detected from its content. Pass at least its first line; only the beginning is read."""
    head = Head(data, *split_selector(source))
    _check_readable(source, head)
    try:
        found = next(format for format in FORMATS if format.supports(kind) and format.matches(head, kind))
    except InputError as error:
        raise InputError.at(source, None, error.message, hint=error.hint) from None
    if found.name == "trec" and head.is_yaml:
        what = "test cases" if kind == "qrels" else "results"
        raise InputError.at(source, None, f"this looks like YAML, and holds no {what}", hint=CASES_HINT)
    return found


def detect_kind(data: bytes, source: str = "input") -> Kind:
    """Whether a file contains judgments or a run; raises if it could be either."""
    head = Head(data, *split_selector(source))
    _check_readable(source, head)
    names: list[str] = []
    if head.is_json:
        names = list(head.record or {}) if not _is_mapping(head, "run") else []
        if question_log.is_log_head(head):
            names = []
        elif question_log.is_log_head(head, "qrels"):
            return "run" if question_log.is_log_head(head, "run") else "qrels"
    elif head.is_yaml or question_log.is_log_head(head, "qrels"):
        return "run" if question_log.is_log_head(head, "run") else "qrels"
    elif b"\t" in head.line or b"," in head.line or b";" in head.line:
        rows = (_cells(head, delimiter) for delimiter in (b"\t", b",", b";"))
        names = next((cells for cells in rows if is_header(cells, "run")), [])
    if head.text.startswith(arrow.MAGIC_BYTES):
        names = arrow.table_of(source, data).column_names
    if names == BEIR_COLUMNS:
        return "qrels"
    looks_like_run = any(columns_for(names, role) for role in ("score", "rank", "tag"))
    grade_columns = columns_for(names, "grade")
    looks_like_qrels = any(grade_columns) and grade_columns != columns_for(names, "score")
    if looks_like_qrels != looks_like_run:
        return "qrels" if looks_like_qrels else "run"
    if not names and not head.is_json:
        width = len(head.line.split())
        if width in (4, 6) or (width == 3 and delimited.has_ranks(head.lines)):
            return "qrels" if width == 4 else "run"
        check_known_formats(source, sample(head.text), "judgments or a run")
    raise UsageError(f"{source} may contain judgments or a run", hint="choose one: --kind qrels or --kind run")


def format_by_suffix(path: str, kind: Kind) -> Format:
    """The format to write, by the name of the file."""
    lower = path.casefold().removesuffix(".gz")
    for format in FORMATS:
        if format.supports(kind) and format.write is not None and lower.endswith(format.suffixes or ("\0",)):
            return format
    writable = ", ".join(format.name for format in FORMATS if format.supports(kind) and format.write is not None)
    raise UsageError(f"unknown format: the name {path} has no known suffix", hint=f"choose one with --to: {writable}")


def _check_readable(source: str, head: Head) -> None:
    """Raise for known formats that are never read."""
    text = head.text
    if text[:1] == b"\x80" and text[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise InputError.at(
            source,
            None,
            "this is a pickle, which is never read: it could run any code",
            hint="write it as JSON, CSV or Parquet",
        )
    check_other_kinds(source, head)
