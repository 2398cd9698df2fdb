"""Judgments where a run should be, or the other way round: one clear error instead of one for each line."""

from __future__ import annotations

import re

from rankgauge.errors import InputError, shown
from rankgauge.io.formats.decimals import DECIMAL
from rankgauge.io.formats.names import Kind
from rankgauge.io.text import BOM

SAMPLE = 10
SAMPLED_BYTES = 1 << 16
WHOLE = re.compile(rb"[+-]?[0-9]+")
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iter", "document", "grade"),
}
CALLED: dict[Kind, str] = {"run": "a run", "qrels": "judgments"}
Sample = list[tuple[int, list[bytes]]]


def refuse_swapped(source: str, data: bytes, kind: Kind) -> None:
    """Raise where the first lines are those of the other kind."""
    found = first_of_the_other(sample(data), kind)
    if found is not None:
        line, fields = found
        other: Kind = "qrels" if kind == "run" else "run"
        raise InputError.at(
            source,
            line,
            f"expected {CALLED[kind]} ({' '.join(COLUMNS[kind])}), found {CALLED[other]}: {shown(b' '.join(fields))}",
            hint="are the judgments and the run swapped? judgments come first, then runs",
        )


def first_of_the_other(lines: Sample, kind: Kind) -> tuple[int, list[bytes]] | None:
    """The first line of the other kind, where most are of that and none is of this."""
    other: Kind = "qrels" if kind == "run" else "run"
    alike = [looks_like(other, fields) for _, fields in lines]
    if 2 * sum(alike) <= len(lines) or any(looks_like(kind, fields) for _, fields in lines):
        return None
    return lines[alike.index(True)]


def sample(data: bytes) -> Sample:
    """The first lines that hold something: number and fields."""
    found: Sample = []
    begin = line = 0
    text = data.removeprefix(BOM)
    while len(found) < SAMPLE and begin < len(text):
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        line += 1
        fields = text[begin : min(end, begin + SAMPLED_BYTES)].split()
        if fields:
            found.append((line, fields))
        begin = end + 1
    return found


def looks_like(kind: Kind, fields: list[bytes]) -> bool:
    """Whether a line has the columns of a TREC file of this kind."""
    if len(fields) != len(COLUMNS[kind]):
        return False
    if kind == "qrels":
        return WHOLE.fullmatch(fields[3]) is not None
    return all(DECIMAL.fullmatch(field) for field in fields[3:5])
