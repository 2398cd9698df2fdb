"""TREC files, read strictly: one clear error for each line that is wrong, never a guess."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io import text
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.swapped import COLUMNS, WHOLE, refuse_swapped
from rankgauge.io.formats import decimals
from rankgauge.io.formats.tokens import Lines, cut, padded
from rankgauge.io.rows import Rows
from rankgauge.io.text import checked

QRELS_COLUMNS, RUN_COLUMNS = COLUMNS["qrels"], COLUMNS["run"]
SPACED = "a document id with a space in it? columns are separated by white space"


def plainly(head: bytes, kind: str) -> bool:
    """Whether the first line leaves no doubt that a file is TREC's, so that no other format need be thought of."""
    fields = head[:4096].split(b"\n", 1)[0].split()
    if kind == "qrels":
        return len(fields) == len(QRELS_COLUMNS) and bool(WHOLE.fullmatch(fields[3]))
    return len(fields) == len(RUN_COLUMNS) and bool(
        decimals.DECIMAL.fullmatch(fields[4]) and WHOLE.fullmatch(fields[3])
    )


def qrels_rows(faults: Faults, data: bytes) -> Rows:
    """``query iter document grade`` on each line."""
    data = checked(faults, data)
    refuse_swapped(faults.source, data, "qrels")
    lines = cut(padded(data), len(QRELS_COLUMNS))
    if not len(lines) and not len(lines.short):
        raise InputError.at(faults.source, None, "no lines with anything on them")
    add_short(faults, lines, QRELS_COLUMNS)
    wide = np.flatnonzero(lines.count > len(QRELS_COLUMNS))
    faults.add(
        "columns",
        lines.line[wide],
        expected=_columns(QRELS_COLUMNS),
        found=lambda at: f"{lines.count[wide[at]]}: {shown(lines.text(int(lines.line[wide[at]])))}",
    )
    query, iters, doc, token = (lines.column(number) for number in range(4))
    grades, bad = _grades(token)
    faults.add(
        "grade",
        lines.line[bad],
        expected=f"a whole number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade",
        found=lambda at: shown(token[int(bad[at])]),
    )
    keep = np.ones(len(lines), dtype=bool)
    keep[wide] = keep[bad] = False
    return Rows(faults, lines.line, query, doc, grades, iters=iters, blank=lines.blank).kept(keep)


def run_rows(faults: Faults, data: bytes) -> Rows:
    """``query Q0 document rank score tag`` on each line."""
    data = checked(faults, data)
    refuse_swapped(faults.source, data, "run")
    lines = cut(padded(data), len(RUN_COLUMNS))
    if not len(lines) and not len(lines.short):
        raise InputError.at(faults.source, None, "no lines with anything on them")
    scores, wrong = check_run(faults, lines, int(lines.count[0]) if len(lines) else len(RUN_COLUMNS))
    query, iters, doc, rank, _, tag = (lines.column(number) for number in range(6))
    keep = np.ones(len(lines), dtype=bool)
    keep[wrong] = False
    return Rows(faults, lines.line, query, doc, scores, iters=iters, rank=rank, tag=tag).kept(keep)


def check_run(faults: Faults, lines: Lines, usual: int) -> tuple[Floats, Ints]:
    """The scores of a run's lines, and the rows that are wrong; what is wrong with them goes to the faults.

    ``usual`` is how many columns the file's first row has: more than six will do, but not now these and now those.
    """
    if lines.regular and usual == len(RUN_COLUMNS):
        return read_scores(faults, lines.column(4), lines.line)
    text.refuse_nul(faults, lines.buffer[: len(lines.buffer) - PADDING], lines.before)
    add_short(faults, lines, RUN_COLUMNS)
    scores, bad = read_scores(faults, lines.column(4), lines.line)
    wide = np.flatnonzero(lines.count > len(RUN_COLUMNS))
    uneven = np.flatnonzero(lines.count != usual)
    shifted = np.union1d(uneven, wide[decimals.read(lines.column(3).take(wide))[1]])
    add_wide(faults, lines, wide, shifted, usual)
    return scores, np.union1d(bad, shifted)


def read_scores(faults: Faults, token: Ids, line: Ints) -> tuple[Floats, Ints]:
    """The scores, and the rows that have none."""
    scores, bad = decimals.read(token)
    faults.add(
        "score",
        line[bad],
        expected="a number as score",
        found=lambda at: shown(token[int(bad[at])]),
        action=lambda at: _score_hint(token[int(bad[at])]),
    )
    # The sum is finite where all of them are: one cheap look instead of one at each.
    with np.errstate(over="ignore", invalid="ignore"):
        total = scores.sum()
    infinite = bad[:0] if np.isfinite(total) else np.flatnonzero(np.isinf(scores))
    faults.add(
        "infinite-score",
        line[infinite],
        expected="a finite score",
        found=lambda at: shown(token[int(infinite[at])]),
        severity="warning",
    )
    return scores, bad


def add_wide(faults: Faults, lines: Lines, wide: Ints, shifted: Ints, usual: int) -> None:
    """Lines with more than six columns: harmless at the end of every line, an error where one of them was split."""
    faults.add(
        "columns",
        lines.line[shifted],
        expected=lambda at: (
            _columns(RUN_COLUMNS)
            if lines.count[shifted[at]] > usual or usual == len(RUN_COLUMNS)
            else f"{usual} columns, as on the first line"
        ),
        found=lambda at: f"{lines.count[shifted[at]]}: {shown(lines.text(int(lines.line[shifted[at]])))}",
        action=SPACED,
    )
    extra = np.setdiff1d(wide, shifted)
    faults.add(
        "extra-columns",
        lines.line[extra],
        expected=_columns(RUN_COLUMNS),
        found=lambda at: f"{lines.count[extra[at]]}: the rest is ignored",
        severity="warning",
    )


def _columns(names: tuple[str, ...]) -> str:
    return f"{len(names)} columns ({' '.join(names)})"


def add_short(faults: Faults, lines: Lines, names: tuple[str, ...]) -> None:
    """Lines with too few columns."""
    faults.add(
        "columns",
        lines.short,
        expected=_columns(names),
        found=lambda at: f"{lines.short_count[at]}: {shown(lines.text(int(lines.short[at])))}",
        action=lambda at: _short_hint(lines.text(int(lines.short[at])), int(lines.short_count[at]), names),
    )


def _short_hint(said: bytes, count: int, names: tuple[str, ...]) -> str | None:
    if said.startswith(b"#"):
        return "a comment line? trec_eval 9 has none"
    if names is QRELS_COLUMNS and count == 3:
        return "BEIR's tab-separated judgments? --qrels-format beir"
    return None


def _grades(tokens: Ids) -> tuple[Floats, Ints]:
    """Whole numbers, and the rows that hold none. Few grades differ, so each is read once."""
    distinct, where = np.unique(tokens.words(0), return_inverse=True)
    values = np.full(len(distinct), np.nan)
    for number, word in enumerate(distinct.tolist()):
        said = int(word).to_bytes(8, "little").rstrip(b"\0")
        if WHOLE.fullmatch(said):
            values[number] = int(said)
    grades = values[where.reshape(-1)]
    grades[(tokens.length > 8) | ~(np.abs(grades) <= LARGEST_GRADE)] = np.nan
    return grades, np.flatnonzero(np.isnan(grades))


def _score_hint(said: bytes) -> str:
    """What may have gone wrong where a number was expected."""
    if b"," in said and decimals.DECIMAL.fullmatch(said.replace(b",", b".", 1)):
        return "a decimal comma? write a point"
    if said.lower() in (b"score", b"sim", b"similarity"):
        return "this looks like a header: remove the line"
    if said.lower().lstrip(b"+-") == b"nan":
        return "NaN has no place in an order: give the document a score or leave it out"
    return SPACED
