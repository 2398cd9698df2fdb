"""TREC files, read strictly: one clear error for each line that is wrong, never a guess."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.swapped import COLUMNS, WHOLE_NUMBER, check_kind, describe_columns
from rankgauge.io.formats import decimals
from rankgauge.io.formats.names import Kind
from rankgauge.io.formats.tokens import TokenLines, pad, split_columns
from rankgauge.io.rows import Rows
from rankgauge.io.text import check_no_nul, check_text

QRELS_COLUMNS, RUN_COLUMNS = COLUMNS["qrels"], COLUMNS["run"]
FIRST_LINE_BYTES = 4096
SPLIT_ID_HINT = "a document id that contains a space? columns are separated by white space"


def is_certainly_trec(head: bytes, kind: str) -> bool:
    """Whether the first line proves that a file is a TREC file, so that no other format need be considered."""
    fields = head[:FIRST_LINE_BYTES].split(b"\n", 1)[0].split()
    if kind == "qrels":
        return len(fields) == len(QRELS_COLUMNS) and bool(WHOLE_NUMBER.fullmatch(fields[3]))
    return len(fields) == len(RUN_COLUMNS) and bool(
        decimals.DECIMAL.fullmatch(fields[4]) and WHOLE_NUMBER.fullmatch(fields[3])
    )


def qrels_rows(faults: Faults, data: bytes) -> Rows:
    """``query iter document grade`` on each line."""
    lines = _split_lines(faults, data, "qrels")
    report_short_lines(faults, lines, QRELS_COLUMNS)
    wide_rows = np.flatnonzero(lines.count > len(QRELS_COLUMNS))
    faults.add(
        "columns",
        lines.line[wide_rows],
        expected=describe_columns(QRELS_COLUMNS),
        found=lambda at: f"{lines.count[wide_rows[at]]}: {shown(lines.text(int(lines.line[wide_rows[at]])))}",
    )
    query, iters, doc, token = (lines.column(number) for number in range(4))
    grades, bad_rows = _read_grades(token)
    faults.add(
        "grade",
        lines.line[bad_rows],
        expected=f"a whole number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade",
        found=lambda at: shown(token[int(bad_rows[at])]),
    )
    keep = np.ones(len(lines), dtype=bool)
    keep[wide_rows] = keep[bad_rows] = False
    return Rows(faults, lines.line, query, doc, grades, iters=iters, blank=lines.blank).select(keep)


def run_rows(faults: Faults, data: bytes) -> Rows:
    """``query Q0 document rank score tag`` on each line."""
    lines = _split_lines(faults, data, "run")
    return rows_from_lines(faults, lines, int(lines.count[0]) if len(lines) else len(RUN_COLUMNS))


def rows_from_lines(faults: Faults, lines: TokenLines, usual_columns: int) -> Rows:
    """The rows of some lines of a run; ``usual_columns`` is the number of columns of the file's first row."""
    scores, wrong_rows = read_run_lines(faults, lines, usual_columns)
    query, iters, doc, rank, _, tag = (lines.column(number) for number in range(6))
    keep = np.ones(len(lines), dtype=bool)
    keep[wrong_rows] = False
    return Rows(faults, lines.line, query, doc, scores, iters=iters, rank=rank, tag=tag).select(keep)


def _split_lines(faults: Faults, data: bytes, kind: Kind) -> TokenLines:
    data = check_text(faults, data)
    check_kind(faults.source, data, kind)
    lines = split_columns(pad(data), len(COLUMNS[kind]))
    if not len(lines) and not len(lines.short):
        raise InputError.at(faults.source, None, "no lines with content")
    return lines


def read_run_lines(faults: Faults, lines: TokenLines, usual_columns: int) -> tuple[Floats, Ints]:
    """The scores of a run's lines, and the rows that are wrong, which are added to the faults.

    ``usual_columns`` is the number of columns of the file's first row: more than six are accepted, but every line must
    have the same number.
    """
    if lines.regular and usual_columns == len(RUN_COLUMNS):
        return read_scores(faults, lines.column(4), lines.line)
    check_no_nul(faults, lines.buffer[: len(lines.buffer) - PADDING], lines.before)
    report_short_lines(faults, lines, RUN_COLUMNS)
    scores, bad_rows = read_scores(faults, lines.column(4), lines.line)
    wide_rows = np.flatnonzero(lines.count > len(RUN_COLUMNS))
    uneven_rows = np.flatnonzero(lines.count != usual_columns)
    shifted_rows = np.union1d(uneven_rows, wide_rows[decimals.read(lines.column(3).take(wide_rows))[1]])
    report_wide_lines(faults, lines, wide_rows, shifted_rows, usual_columns)
    return scores, np.union1d(bad_rows, shifted_rows)


def read_scores(faults: Faults, token: Ids, line: Ints) -> tuple[Floats, Ints]:
    """The scores, and the rows without a valid one."""
    scores, bad_rows = decimals.read(token)
    faults.add(
        "score",
        line[bad_rows],
        expected="a number as score",
        found=lambda at: shown(token[int(bad_rows[at])]),
        action=lambda at: _score_hint(token[int(bad_rows[at])]),
    )
    # The sum is finite if all of them are: one cheap test instead of one per score.
    with np.errstate(over="ignore", invalid="ignore"):
        total = scores.sum()
    infinite_rows = bad_rows[:0] if np.isfinite(total) else np.flatnonzero(np.isinf(scores))
    faults.add(
        "infinite-score",
        line[infinite_rows],
        expected="a finite score",
        found=lambda at: shown(token[int(infinite_rows[at])]),
        severity="warning",
    )
    return scores, bad_rows


def report_wide_lines(
    faults: Faults, lines: TokenLines, wide_rows: Ints, shifted_rows: Ints, usual_columns: int
) -> None:
    """Add lines with more than six columns: harmless if all lines have them, an error if a column is split."""
    faults.add(
        "columns",
        lines.line[shifted_rows],
        expected=lambda at: (
            describe_columns(RUN_COLUMNS)
            if lines.count[shifted_rows[at]] > usual_columns or usual_columns == len(RUN_COLUMNS)
            else f"{usual_columns} columns, as on the first line"
        ),
        found=lambda at: f"{lines.count[shifted_rows[at]]}: {shown(lines.text(int(lines.line[shifted_rows[at]])))}",
        action=SPLIT_ID_HINT,
    )
    extra_rows = np.setdiff1d(wide_rows, shifted_rows)
    faults.add(
        "extra-columns",
        lines.line[extra_rows],
        expected=describe_columns(RUN_COLUMNS),
        found=lambda at: f"{lines.count[extra_rows[at]]}: the extra ones are ignored",
        severity="warning",
    )


def report_short_lines(faults: Faults, lines: TokenLines, names: tuple[str, ...]) -> None:
    """Add lines with too few columns."""
    faults.add(
        "columns",
        lines.short,
        expected=describe_columns(names),
        found=lambda at: f"{lines.short_count[at]}: {shown(lines.text(int(lines.short[at])))}",
        action=lambda at: _short_line_hint(lines.text(int(lines.short[at])), int(lines.short_count[at]), names),
    )


def _short_line_hint(text: bytes, count: int, names: tuple[str, ...]) -> str | None:
    if text.startswith(b"#"):
        return "a comment line? trec_eval 9 has no comments"
    if names is QRELS_COLUMNS and count == 3:
        return "BEIR's tab-separated judgments? --qrels-format beir"
    return None


def _read_grades(tokens: Ids) -> tuple[Floats, Ints]:
    """Whole numbers, and the rows without one. There are few distinct grades, so each is parsed once."""
    digits = tokens.buffer[tokens.start] - np.uint8(ord("0"))
    if int(tokens.length.max(initial=0)) == 1 and int(digits.max()) <= 9:
        return digits.astype(np.float64), np.zeros(0, dtype=np.int64)
    distinct, indices = np.unique(tokens.words(0), return_inverse=True)
    values = np.full(len(distinct), np.nan)
    for number, word in enumerate(distinct.tolist()):
        text = int(word).to_bytes(8, "little").rstrip(b"\0")
        if WHOLE_NUMBER.fullmatch(text):
            values[number] = int(text)
    grades = values[indices.reshape(-1)]
    grades[(tokens.length > 8) | ~(np.abs(grades) <= LARGEST_GRADE)] = np.nan
    return grades, np.flatnonzero(np.isnan(grades))


def _score_hint(text: bytes) -> str:
    """What may have gone wrong with a text that should be a score."""
    if text.lower() in (b"score", b"sim", b"similarity"):
        return "this looks like a header: remove the line"
    return decimals.number_hint(text) or SPLIT_ID_HINT
