"""Checks of the text of a TREC file before and after its rows are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.swapped import COLUMNS, KIND_NAMES, OTHER_KIND, describe_columns, first_of_other_kind, sample
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.names import Kind
from rankgauge.io.formats.tokens import NO_LINES, pad, split_columns
from rankgauge.io.text import BOM
from rankgauge.validation.codes import CODES

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
