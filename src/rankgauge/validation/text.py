"""What can be seen in the text of a TREC file before, and beside, the reading of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.swapped import CALLED, COLUMNS, first_of_the_other, sample
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.names import Kind
from rankgauge.io.formats.tokens import cut, padded
from rankgauge.io.text import BOM
from rankgauge.validation.codes import CODES
from rankgauge.validation.table import NONE

HEADER_WORDS = frozenset(
    b"query qid query_id query-id queryid topic topic_id iter iteration doc docid doc_id doc-id docno document "
    b"document_id corpus-id corpus_id pid passage_id rank position score sim similarity tag run run_id runid run_tag "
    b"grade rel relevance label".split()
)


@dataclass(frozen=True)
class Text:
    """A text as it goes to the reader. The line of a header is blank in it, so that all line numbers hold."""

    data: bytes
    header: int | None  # its line


def looked_at(faults: Faults, data: bytes, kind: Kind) -> Text | None:
    """The text to read; None where there is nothing to read, and the faults say why."""
    if not data or data.isspace() or data.strip() == BOM:
        _add(faults, "empty", [0], expected="at least one line", found="nothing" if not data else "no line with text")
        return None
    lines = sample(data)
    swapped = first_of_the_other(lines, kind)
    if swapped is not None:
        line, fields = swapped
        what = CALLED["qrels" if kind == "run" else "run"]
        _add(
            faults,
            "swapped",
            [line],
            expected=f"{len(COLUMNS[kind])} columns ({' '.join(COLUMNS[kind])})",
            found=f"{what}: {shown(b' '.join(fields))}",
        )
        return None
    line, fields = lines[0]
    if not _is_header(fields):
        return Text(data, None)
    _add(faults, "header", [line], expected="rows only", found=f"a header: {shown(b' '.join(fields))}")
    if len(lines) == 1:
        _add(faults, "empty", [0], expected="at least one row", found="a header and nothing else")
        return None
    return Text(_blanked(data, line), line)


def check_lines(faults: Faults, text: Text, read: Ints) -> Ints:
    """Blank lines and line ends; returns the lines that hold something and are not among those read."""
    ends = text.data.count(b"\r\n")
    if ends:
        first = text.data.count(b"\n", 0, text.data.index(b"\r\n")) + 1
        _add(faults, "crlf", [first], expected="newlines", found=f"{ends:,} with a carriage return before the newline")
    lines = text.data.count(b"\n") + (not text.data.endswith(b"\n"))
    if len(read) == lines:
        return NONE
    # Rows, blank lines and lines that could not be read make up the file.
    blank = cut(padded(text.data.removeprefix(BOM)), 1).blank
    blank = blank[blank != (text.header or 0)]
    _add(faults, "blank-line", blank, expected="a row on each line", found="nothing")
    rest = np.ones(lines + 1, dtype=bool)
    rest[0] = rest[text.header or 0] = False
    rest[blank] = rest[read] = False
    return np.flatnonzero(rest)


def _is_header(fields: list[bytes]) -> bool:
    """At least two words that name columns, and nowhere a number."""
    words = {field.strip(b"\"'").lower() for field in fields}
    return len(words & HEADER_WORDS) >= 2 and not any(DECIMAL.fullmatch(field) for field in fields)


def _blanked(data: bytes, line: int) -> bytes:
    begin = 0
    for _ in range(line - 1):
        begin = data.index(b"\n", begin) + 1
    begin = max(begin, len(BOM) if data.startswith(BOM) else 0)
    end = data.find(b"\n", begin)
    return data[:begin] + (data[end:] if end >= 0 else b"")


def _add(faults: Faults, code: str, lines: list[int] | Ints, *, expected: str, found: str) -> None:
    faults.add(code, lines, expected=expected, found=found, severity=CODES[code].severity)
