"""Judgments and results as trec_eval reads them, misreadings included; what crashes it is an error."""

from __future__ import annotations

import math
import re

import numpy as np

from rankgauge.adapters.trec_eval.errors import TREC_COMPUTE_ERROR, TREC_FILE_ERROR, TrecEvalError
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.formats import decimals
from rankgauge.io.formats.tokens import TokenLines, pad, split_columns
from rankgauge.measures import trec_names as trec

INDENTED_COMMENT = re.compile(rb"(?m)^[ \t\v\f\r]*#[^\n]*\n?")
COMMENT_BEFORE_ROW = re.compile(rb"(?m)^#[^\n]*(?:\n([^\n]*\n?)|\Z)")


def read_qrels(path: str, compat: Compat) -> Qrels:
    """Read judgments. Repeated documents are detected when their query is evaluated, not here."""
    data = read_data(path)
    if compat == "trec_eval-10":
        # The line after a comment is read as a judgment even if it begins with # too.
        data = COMMENT_BEFORE_ROW.sub(rb"\1", data)
    lines = split_columns(pad(data), 4)
    malformed = np.concatenate([lines.short, lines.blank, lines.line[lines.count > 4]])
    if len(malformed):
        line = int(malformed.min())
        raise TrecEvalError(
            TREC_FILE_ERROR, f"{path}:{line}: malformed line, expected 4 columns: {shown(lines.text(line))}"
        )
    grades = parse_grades(path, lines.column(3), lines.line)
    return Qrels.build(lines.column(0), lines.column(2), grades, name=path, unique=False)


def check_run_path(path: str, compat: Compat) -> None:
    """Raise if trec_eval does not read a run from there."""
    if path == "-" and compat == "trec_eval-9":
        raise TrecEvalError(
            TREC_FILE_ERROR, "-: trec_eval 9 does not read standard input", hint="--compat trec_eval-10 does"
        )


def read_run(path: str, compat: Compat, *, source: str | None = None) -> tuple[Run, bytes]:
    """Read a run as it is in the file, and the run id of its last line; ``source`` is its name in messages."""
    source = path if source is None else source
    check_run_path(source, compat)
    data = read_data(path, source=source)
    if compat == "trec_eval-10":
        data = INDENTED_COMMENT.sub(b"", data)
    lines = split_columns(pad(data), 6)
    if len(lines.short):
        line = int(lines.short[0])
        raise TrecEvalError(
            TREC_FILE_ERROR, f"{source}:{line}: malformed line, expected 6 columns: {shown(lines.text(line))}"
        )
    if not len(lines):
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: no result lines")
    scores = _scores(source, lines)
    return Run.build(lines.column(0), lines.column(2), scores, name=source), lines.column(5)[len(lines) - 1]


def read_data(path: str, *, source: str | None = None) -> bytes:
    """The bytes of a file that is not empty and has no NUL byte."""
    source = path if source is None else source
    try:
        data, _ = read_bytes(path, source=source)
    except InputError as error:
        raise TrecEvalError(TREC_FILE_ERROR, error.message) from None
    if not data:
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: file is empty")
    if b"\0" in data:
        raise TrecEvalError(TREC_FILE_ERROR, f"{source}: NUL byte at offset {data.index(bytes(1))}: not a text file")
    return data


def parse_grades(path: str, tokens: Ids, line: Ints) -> Floats:
    """Whole numbers as C's atol reads them."""
    if int(tokens.length.max(initial=0)) <= 8:
        distinct, index = np.unique(tokens.words(0), return_inverse=True)
        texts = [int(word).to_bytes(8, "little").rstrip(b"\0") for word in distinct.tolist()]
    else:
        texts, index = list(tokens), np.arange(len(tokens))
    values = [trec.whole(text.decode("latin-1")) for text in texts]
    if values and max(values) >= trec.LARGEST_LONG:
        row = int(np.flatnonzero(np.array(values)[index] >= trec.LARGEST_LONG)[0])
        raise TrecEvalError(TREC_COMPUTE_ERROR, f"{path}:{line[row]}: grade {shown(tokens[row])} is too large")
    return np.array(values, dtype=np.float64)[index.reshape(-1)]


def _scores(path: str, lines: TokenLines) -> Floats:
    """Numbers as C's atof reads them; NaN, which has no order, is an error."""
    tokens = lines.column(4)
    values, is_plain = decimals.parse_plain(tokens)
    for row in np.flatnonzero(~is_plain).tolist():
        values[row] = leading_number(tokens[row])
        if math.isnan(values[row]):
            raise TrecEvalError(TREC_FILE_ERROR, f"{path}:{lines.line[row]}: score is NaN, which cannot be ranked")
    return values


def leading_number(text: bytes) -> float:
    """The number at the beginning of a text, or 0 if there is none."""
    return trec.real(text.decode("latin-1"))
