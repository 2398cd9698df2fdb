"""Queries in lines of text: CSV and TSV, ``id tab text``, ``id text``, or one id per line."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import decimals, delimited
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.json_records import Record, Records
from rankgauge.io.formats.names import DOC_ID_NAMES, QUERY_ID_NAMES, TEXT_NAMES, has_name
from rankgauge.io.text import check_text

MAX_NUMBER_CHARACTERS = 300


def read_query_table(faults: Faults, data: bytes, head: Head) -> Records:
    """The rows of a file, one per query."""
    data = check_text(faults, data)
    delimiter = delimited.delimiter_of(head.line)
    names = [name.strip(b' "').decode("utf-8", "surrogateescape") for name in head.line.split(delimiter)]
    if any(has_name(name, QUERY_ID_NAMES + DOC_ID_NAMES) for name in names):
        cells = delimited.with_header(delimited.split_cells(faults, data, delimiter))
    elif _are_plain_lines(head.line, delimiter, names):
        return _read_plain_lines(faults, data)
    elif len(names) == 2:
        # In MS MARCO's files nothing is quoted, and a text may begin with a quotation mark.
        cells = delimited.split_cells(faults, data, delimiter, quoted=delimiter != b"\t")
        cells = delimited.Cells(("_id", "text"), cells.line, cells.cells)
    else:
        raise InputError.at(
            faults.source,
            1,
            f"expected a header with a query id ({', '.join(QUERY_ID_NAMES)}), found {shown(head.line)}",
        )
    faults.raise_errors()
    if not len(cells.line):
        raise InputError.at(faults.source, None, "no lines below the header")
    values = [_typed(column, name) for name, column in zip(cells.names, cells.cells, strict=True)]
    rows = [dict(zip(cells.names, row, strict=True)) for row in zip(*values, strict=True)]
    return Records(cells.line, [{name: value for name, value in row.items() if value is not None} for row in rows])


def _are_plain_lines(line: bytes, delimiter: bytes, names: list[str]) -> bool:
    """Whether the lines are an id, or an id and a text: commas in the text do not make columns."""
    if delimiter == b"\t" or line.lstrip()[:1] in (b"{", b"["):
        return False
    return len(names) == 1 or len(names[0].split()) > 1


def _read_plain_lines(faults: Faults, data: bytes) -> Records:
    numbers: list[int] = []
    rows: list[Record] = []
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), start=1):
        fields = line.split(None, 1)
        if fields:
            numbers.append(number)
            rows.append({"_id": fields[0], "text": fields[1].rstrip() if len(fields) > 1 else None})
    if not rows:
        raise InputError.at(faults.source, None, "no lines with content")
    return Records(np.array(numbers, dtype=np.int64), rows)


def _typed(column: Ids, name: str) -> list[Any]:
    """The values of a column: numbers if all of them are, else texts; None if empty. Ids and texts stay texts."""
    texts = [text or None for text in column.to_text()]
    if has_name(name, QUERY_ID_NAMES + DOC_ID_NAMES + TEXT_NAMES):
        return texts
    values = [text for text in texts if text is not None]
    if not all(_is_exact_number(text) for text in values):
        return texts
    are_whole = all(text.lstrip("-").isdigit() for text in values)
    return [None if text is None else int(text) if are_whole else float(text) for text in texts]


def _is_exact_number(text: str) -> bool:
    """Whether a text is a number that loses nothing as one: 007 and +1 are names."""
    if not text.isascii() or len(text) >= MAX_NUMBER_CHARACTERS or text.startswith("+"):
        return False
    digits = text.lstrip("-")
    has_leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1] != "."
    return not has_leading_zero and decimals.DECIMAL.fullmatch(text.encode()) is not None
