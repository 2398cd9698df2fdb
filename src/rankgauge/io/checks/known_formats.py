"""Known formats that are neither judgments nor runs: one error that names them, instead of one for each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rankgauge.errors import InputError, shown
from rankgauge.io.checks.swapped import WHOLE_NUMBER, SampledLine
from rankgauge.io.formats.decimals import DECIMAL

FEATURE = re.compile(rb"(?:qid|[0-9]+):[^\s:]+")
PREL_COLUMNS = 5  # topic document grade method probability


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
        and all(FEATURE.fullmatch(field) for field in fields[1:3] if not field.startswith(b"#"))
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
