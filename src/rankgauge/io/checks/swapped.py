"""Judgments in place of a run, the reverse, or a known format that is neither: one error instead of one per line."""

from __future__ import annotations

import re
from collections.abc import Callable

from rankgauge.core.dataclass import dataclass
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
FEATURE = rb"(?:qid|[0-9]+):[^\s:]+"  # compiled only if it is needed
PREL_COLUMNS = 5  # topic document grade method probability


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


@dataclass(frozen=True)
class KnownFormat:
    """A format by its name, what can be done with it, and how one of its lines is recognized."""

    name: str
    hint: str
    matches: Callable[[list[bytes]], bool]


def is_svmlight(fields: list[bytes]) -> bool:
    """Whether a line is ``grade qid:query feature:value …``; the query may be missing."""
    return (
        len(fields) > 1
        and DECIMAL.fullmatch(fields[0]) is not None
        and all(re.fullmatch(FEATURE, field) for field in fields[1:3] if not field.startswith(b"#"))
        and not fields[1].startswith(b"#")
    )


def is_prel(fields: list[bytes]) -> bool:
    """Whether a line is ``topic document grade method probability``, which a run without its tag is not."""
    return (
        len(fields) == PREL_COLUMNS
        and fields[1].lower() not in (b"q0", b"0")
        and all(WHOLE_NUMBER.fullmatch(field) for field in fields[2:4])
        and DECIMAL.fullmatch(fields[4]) is not None
        and 0 <= float(fields[4]) <= 1
    )


KNOWN_FORMATS = (
    KnownFormat(
        "an SVMlight (LETOR) file, which has features of documents",
        "write judgments from it, `query 0 document grade` on each line: the query is after qid:, the grade is the "
        "first column, the document is after #docid if it is there; a run needs the scores of your model",
        is_svmlight,
    ),
    KnownFormat(
        "prels (topic document grade method probability), which are sampled judgments",
        "measures that use the probabilities (statAP, MTC) are not implemented; to evaluate without them, write four "
        "columns: awk '{print $1, 0, $2, $3}'",
        is_prel,
    ),
)


def check_known_formats(source: str, lines: list[SampledLine], expected: str) -> None:
    """Raise if most of the sampled lines, none of which is of the expected kind, are of a known format."""
    for known_format in KNOWN_FORMATS:
        is_match = [known_format.matches(fields) for _, fields in lines]
        if 2 * sum(is_match) > len(lines):
            line, fields = lines[is_match.index(True)]
            found = f"{known_format.name}: {shown(b' '.join(fields))}"
            raise InputError.at(source, line, f"expected {expected}, found {found}", hint=known_format.hint)
