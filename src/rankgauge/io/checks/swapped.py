"""Judgments in place of a run, or a run in place of judgments: one clear error instead of one for each line."""

from __future__ import annotations

import re

from rankgauge.errors import InputError, shown
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.names import Kind
from rankgauge.io.text import BOM

SAMPLE_LINES = 10
SAMPLE_BYTES = 1 << 16  # of each line
WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]+")
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iter", "document", "grade"),
}
KIND_NAMES: dict[Kind, str] = {"run": "a run", "qrels": "judgments"}
OTHER_KIND: dict[Kind, Kind] = {"run": "qrels", "qrels": "run"}
SampledLine = tuple[int, list[bytes]]  # its number and its fields


def describe_columns(names: tuple[str, ...]) -> str:
    """The columns of a TREC file, for a message."""
    return f"{len(names)} columns ({' '.join(names)})"


def check_kind(source: str, data: bytes, kind: Kind) -> None:
    """Raise if the first lines are those of the other kind of file, or of a known format that is neither."""
    lines = sample(data)
    if any(looks_like(kind, fields) for _, fields in lines):
        return
    expected = f"{KIND_NAMES[kind]} ({' '.join(COLUMNS[kind])})"
    swapped = first_of_other_kind(lines, kind)
    if swapped is not None:
        line, fields = swapped
        raise InputError.at(
            source,
            line,
            f"expected {expected}, found {KIND_NAMES[OTHER_KIND[kind]]}: {shown(b' '.join(fields))}",
            hint="are the judgments and the run swapped? judgments come first, then runs",
        )
    from rankgauge.io.checks.known_formats import check_known_formats  # most files never need it

    check_known_formats(source, lines, expected)


def first_of_other_kind(lines: list[SampledLine], kind: Kind) -> SampledLine | None:
    """The first line of the other kind, if most lines are of that kind and none is of this one."""
    is_other = [looks_like(OTHER_KIND[kind], fields) for _, fields in lines]
    if 2 * sum(is_other) <= len(lines) or any(looks_like(kind, fields) for _, fields in lines):
        return None
    return lines[is_other.index(True)]


def sample(data: bytes) -> list[SampledLine]:
    """The first lines that are not blank."""
    lines: list[SampledLine] = []
    begin = number = 0
    text = data.removeprefix(BOM)
    while len(lines) < SAMPLE_LINES and begin < len(text):
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        number += 1
        fields = text[begin : min(end, begin + SAMPLE_BYTES)].split()
        if fields:
            lines.append((number, fields))
        begin = end + 1
    return lines


def looks_like(kind: Kind, fields: list[bytes]) -> bool:
    """Whether a line has the columns of a TREC file of this kind."""
    if len(fields) != len(COLUMNS[kind]):
        return False
    if kind == "qrels":
        return WHOLE_NUMBER.fullmatch(fields[3]) is not None
    return all(DECIMAL.fullmatch(field) for field in fields[3:5])
