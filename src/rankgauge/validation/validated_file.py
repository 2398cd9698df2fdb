"""A file as validation reads it: its options, its text, its rows, and a fault for each line that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.arrays import Floats, offsets_of
from rankgauge.core.batch import NO_LINES, Batch
from rankgauge.core.ids import Ids, Interner, Ints
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, AnyFile, Limits, LoadedFile, is_dataset, read_bytes
from rankgauge.io.faults import Cause, Faults, HintText, MessageText
from rankgauge.io.formats.detection import (
    COLUMNS,
    KIND_NAMES,
    OTHER_KIND,
    describe_columns,
    first_of_other_kind,
    sample,
)
from rankgauge.io.formats.ir_datasets import dataset_batch
from rankgauge.io.formats.named_columns import Columns, Kind, Wanted
from rankgauge.io.formats.white_space import pad, split_columns
from rankgauge.io.rank_checks import rank_numbers
from rankgauge.io.read import SourceRows, collect
from rankgauge.io.sources import Source, open_results
from rankgauge.io.text_checks import BOM, DECIMAL
from rankgauge.validation.codes import CODES
from rankgauge.validation.findings import Validation, findings_by_code

# The options of a validation.


@dataclass(frozen=True)
class ValidationOptions:
    """What to check beyond the default, and how to read the file.

    ``max_depth`` and ``min_depth`` limit the results per query of a run, ``cutoffs`` are the ranks at which ties are
    reported; ``min_judged`` is the smallest number of judged documents per query, and ``by_subtopic`` allows one
    judgment per subtopic. ``strict`` treats warnings as errors. ``max_places`` limits the places kept of each fault;
    the counts always include all of them. Without ``hashed`` the result has no hash of the file. ``PRESETS`` has the
    options of known workflows.
    """

    max_depth: int | None = setting(
        None,
        "Allow at most N results per query.  [default: any number]",
        Section.CHECKS,
        flag="--max-depth N",
        limits=">=1",
        common=True,
    )
    min_depth: int | None = setting(
        None,
        "Require at least N results per query.  [default: any number]",
        Section.CHECKS,
        flag="--min-depth N",
        limits=">=1",
        common=True,
    )
    cutoffs: tuple[int, ...] = setting(
        (10, 100, 1000),
        "Report ties across rank K; repeatable.",
        Section.CHECKS,
        flag="--cutoff K",
        limits=">=1",
        common=True,
    )
    min_judged: int | None = setting(
        None,
        "Require at least N judged documents per query.  [default: any number]",
        Section.CHECKS,
        flag="--min-judged N",
        limits=">=1",
        common=True,
    )
    by_subtopic: bool = setting(
        False, "Read the second column as a subtopic, each with its own judgments.", Section.CHECKS, common=True
    )
    strict: bool = setting(False, "Treat warnings as errors.", Section.CHECKS, common=True)
    max_places: int | None = None
    format: str | None = None
    columns: Columns | None = None  # role → name, for those that are not detected
    hashed: bool = True
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "cutoffs", tuple(sorted(set(self.cutoffs))))


DEFAULT_OPTIONS = ValidationOptions()
PRESETS = {  # what a workflow demands of a run, by name
    "trec-2025": ValidationOptions(max_depth=100, format="trec"),  # a submission has at most 100 results per query
}


@dataclass(frozen=True, eq=False)
class ValidatedFile:
    """A file that was read: its faults so far, and its rows if it has any."""

    faults: Faults
    table: CheckedRows | None
    sha256: str | None
    format: str | None

    def result(self, *, strict: bool) -> Validation:
        """Everything that was found."""
        table = self.table
        return Validation(
            file=self.faults.source,
            format=self.format,
            sha256=self.sha256,
            rows=0 if table is None else table.row_count,
            queries=0 if table is None else table.query_count,
            findings=findings_by_code(self.faults, strict=strict),
        )

    def source_rows(self) -> SourceRows:
        """The rows of a file without errors, to build judgments or a run from: nothing is reported a second time."""
        if self.table is None:
            raise InputError.at(self.faults.source, None, "the file has no rows")
        faults = Faults(self.faults.source)
        return SourceRows(self.table.rows, faults, self.format, self.table.judgments, self.sha256)


def read_for_validation(
    source: AnyFile | SourceRows | ValidatedFile, kind: Kind, options: ValidationOptions = DEFAULT_OPTIONS
) -> ValidatedFile:
    """The rows of a file, with the faults of its text and of its lines; a file that was read already as it is."""
    if isinstance(source, ValidatedFile):
        return source
    if isinstance(source, SourceRows):
        # Checks add faults: those of the caller must not change.
        faults = source.faults.copy(limit=options.max_places)
        return ValidatedFile(
            faults, CheckedRows(source.rows, faults, judgments=source.judgments), source.sha256, source.format
        )
    faults = Faults(str(source), limit=options.max_places)
    if is_dataset(source):
        return ValidatedFile(faults, CheckedRows(dataset_batch(str(source), kind, faults), faults), None, None)
    data, digest = read_bytes(source, limits=options.limits, hashed=options.hashed)
    with _opened(source, data, kind, options) as file:
        if file.format != "trec" or options.columns:
            rows = collect(file, Wanted(kind, options.columns), faults)
            if not len(rows) and not faults.examples:
                faults.add("empty", [0], expected="at least one row", found="none")
            return ValidatedFile(faults, CheckedRows(rows, faults, judgments=file.judgments), digest, file.format)
    text = prepare_text(faults, data, kind)
    if text is None:
        return ValidatedFile(faults, None, digest, "trec")
    with _opened(source, text.data, kind, replace(options, format="trec")) as file:
        rows = collect(file, Wanted(kind), faults)
    table = CheckedRows(rows, faults, report_line_faults(faults, text, rows.line))
    return ValidatedFile(faults, table, digest, "trec")


def _opened(source: AnyFile, data: bytes, kind: Kind, options: ValidationOptions) -> AbstractContextManager[Source]:
    """The text of a file, or of what is left of it, as a source."""
    return open_results(LoadedFile(str(source), data), kind, format=options.format, limits=options.limits)


# The rows of a file with what several checks need, each computed once and only if it is used.


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The rows of one file. ``skipped`` are the lines that have content and could not be read.

    A run that was scanned has only the rows of queries that may have a fault here; ``clean_rows`` and ``clean_queries``
    are the numbers of the others.
    """

    rows: Batch
    faults: Faults
    skipped: Ints = field(default_factory=lambda: NO_LINES)
    judgments: JudgmentKind = "grades"
    clean_rows: int = 0
    clean_queries: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _numbered_queries(self) -> tuple[Ints, Ids]:
        intern = Interner()
        return intern(self.rows.query), intern.ids

    @property
    def query(self) -> Ints:
        """The number of each row's query, in the order of first appearance."""
        return self._numbered_queries[0]

    @property
    def queries(self) -> Ids:
        """The ids of the queries, by number."""
        return self._numbered_queries[1]

    @property
    def row_count(self) -> int:
        """The number of rows of the file."""
        return len(self) + self.clean_rows

    @property
    def query_count(self) -> int:
        """The number of queries of the file."""
        return (len(self.queries) if len(self) else 0) + self.clean_queries

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each query."""
        return np.diff(self.offsets)

    @cached_property
    def offsets(self) -> Ints:
        """Where each query begins among the rows sorted by query."""
        return offsets_of(self.query, len(self.queries))

    @cached_property
    def first_rows(self) -> Ints:
        """The first row of each query."""
        return np.unique(self.query, return_index=True)[1].astype(np.int64)

    @cached_property
    def ranking(self) -> ranking.Ranking:
        """The rank of each row by the order rule."""
        order = np.argsort(self.query, kind="stable")
        sorted_ranking = ranking.rank(self.offsets, self.rows.doc.take(order), self.rows.value[order])
        columns = []
        for values in (sorted_ranking.rank, sorted_ranking.tie_first, sorted_ranking.tie_last):
            column = np.empty_like(values)
            column[order] = values
            columns.append(column)
        return ranking.Ranking(*columns)

    @cached_property
    def ranks(self) -> Floats | None:
        """The rank column: whole numbers, NaN if a cell is not one. None if there is no such column."""
        return None if self.rows.rank is None else rank_numbers(self.rows.rank)

    def describe_query(self, row: int) -> str:
        """The query of a row, for a message."""
        return f"query {shown(self.rows.query[row])}"

    def first_place(self, row: int) -> str:
        """The line of an earlier row, for a message; nothing if the format has no lines."""
        line = self.faults.describe_line(int(self.rows.line[row]))
        return f" (first on {line})" if line else ""

    def has_fault(self, code: str) -> bool:
        """Whether a fault of this code has been found already."""
        return any(count for (known_code, _), count in self.faults.counts.items() if known_code == code)

    def add(self, code: str, rows: Ints, *, expected: MessageText, found: MessageText, action: HintText = None) -> None:
        """Add faults on some rows."""
        self.add_lines(code, self.rows.line[rows], expected=expected, found=found, action=action)

    def add_lines(
        self, code: str, lines: Ints, *, expected: MessageText, found: MessageText, action: HintText = None
    ) -> None:
        """Add faults on some lines; 0 means no line."""
        severity = CODES[code].severity
        self.faults.add(code, lines, expected=expected, found=found, action=action, severity=severity)

    def add_cause(self, code: str, cause: Cause, *, expected: str, found: Callable[[Cause], str]) -> None:
        """Add rows that are wrong for one reason, as one fault."""
        self.faults.add_cause(code, cause, expected=expected, found=found, severity=CODES[code].severity)


# Checks of the text of a TREC file before and after its rows are read.

HEADER_WORDS = frozenset(
    b"query qid query_id query-id queryid topic topic_id iter iteration doc docid doc_id doc-id docno document "
    b"document_id corpus-id corpus_id pid passage_id rank position score sim similarity tag run run_id runid run_tag "
    b"grade rel relevance label".split()
)


@dataclass(frozen=True)
class TextToRead:
    """A text for the reader. The line of a header is blank in it, so that all line numbers stay right."""

    data: bytes
    header_line: int | None


def prepare_text(faults: Faults, data: bytes, kind: Kind) -> TextToRead | None:
    """The text to read; None if there is nothing to read, and the faults say why."""
    if not data or data.isspace() or data.strip() == BOM:
        _add(faults, "empty", [0], expected="at least one line", found="nothing" if not data else "only blank lines")
        return None
    lines = sample(data)
    swapped = first_of_other_kind(lines, kind)
    if swapped is not None:
        line, fields = swapped
        _add(
            faults,
            "swapped",
            [line],
            expected=describe_columns(COLUMNS[kind]),
            found=f"{KIND_NAMES[OTHER_KIND[kind]]}: {shown(b' '.join(fields))}",
        )
        return None
    line, fields = lines[0]
    if not _is_header(fields):
        return TextToRead(data, None)
    _add(faults, "header", [line], expected="rows only", found=f"a header: {shown(b' '.join(fields))}")
    if len(lines) == 1:
        _add(faults, "empty", [0], expected="at least one row", found="only a header")
        return None
    return TextToRead(_blank_out(data, line), line)


def report_line_faults(faults: Faults, text: TextToRead, read_lines: Ints) -> Ints:
    """Report blank lines and line endings; return the lines that have content and were not read."""
    crlf_lines = text.data.count(b"\r\n")
    if crlf_lines:
        first_line = text.data.count(b"\n", 0, text.data.index(b"\r\n")) + 1
        found = f"{crlf_lines:,} with a carriage return before the newline"
        _add(faults, "crlf", [first_line], expected="newlines", found=found)
    line_count = text.data.count(b"\n") + (not text.data.endswith(b"\n"))
    if len(read_lines) == line_count:
        return NO_LINES
    # A file consists of rows, blank lines and lines that could not be read.
    blank_lines = split_columns(pad(text.data.removeprefix(BOM)), 1).blank
    blank_lines = blank_lines[blank_lines != (text.header_line or 0)]
    _add(faults, "blank-line", blank_lines, expected="a row on each line", found="nothing")
    is_skipped = np.ones(line_count + 1, dtype=bool)
    is_skipped[0] = is_skipped[text.header_line or 0] = False
    is_skipped[blank_lines] = is_skipped[read_lines] = False
    return np.flatnonzero(is_skipped)


def _is_header(fields: list[bytes]) -> bool:
    """Whether at least two words are names of columns and none is a number."""
    words = {field.strip(b"\"'").lower() for field in fields}
    return len(words & HEADER_WORDS) >= 2 and not any(DECIMAL.fullmatch(field) for field in fields)


def _blank_out(data: bytes, line: int) -> bytes:
    begin = 0
    for _ in range(line - 1):
        begin = data.index(b"\n", begin) + 1
    begin = max(begin, len(BOM) if data.startswith(BOM) else 0)
    end = data.find(b"\n", begin)
    return data[:begin] + (data[end:] if end >= 0 else b"")


def _add(faults: Faults, code: str, lines: list[int] | Ints, *, expected: str, found: str) -> None:
    faults.add(code, lines, expected=expected, found=found, severity=CODES[code].severity)
