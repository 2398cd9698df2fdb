"""TREC files, read strictly: one clear error for each line that is wrong, never a guess."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch
from rankgauge.core.ids import DELETE, Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats import decimals, text_blocks
from rankgauge.io.formats.detection import COLUMNS, WHOLE_NUMBER, check_kind, describe_columns
from rankgauge.io.formats.named_columns import Wanted
from rankgauge.io.formats.text_blocks import TextBlocks, open_text
from rankgauge.io.formats.white_space import TokenLines, split_columns

QRELS_COLUMNS, RUN_COLUMNS = COLUMNS["qrels"], COLUMNS["run"]
FIRST_LINE_BYTES = 4096
BLOCK_SHARE = 4
SAMPLED_BYTES = 1 << 16  # from which the kind of a file is seen
NOT_PLAIN = (b"{", b"[", b",", b";", b"\t")  # a first line with one of these may be of another format
SPLIT_ID_HINT = "a document id that contains a space? columns are separated by white space"


def is_certainly_trec(head: bytes, kind: str) -> bool:
    """Whether the first line proves that a file is a TREC file, so that no other format need be considered."""
    line = head[:FIRST_LINE_BYTES].split(b"\n", 1)[0]
    if any(mark in line for mark in NOT_PLAIN) or b"\0" in head:
        return False
    fields = line.split()
    if kind == "qrels":
        return len(fields) == len(QRELS_COLUMNS) and bool(WHOLE_NUMBER.fullmatch(fields[3]))
    return len(fields) == len(RUN_COLUMNS) and bool(
        decimals.DECIMAL.fullmatch(fields[4]) and WHOLE_NUMBER.fullmatch(fields[3])
    )


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """The rows of a file: ``query iter document grade`` or ``query Q0 document rank score tag`` on each line."""
    blocks = open_lines(stream, wanted, faults)
    if wanted.kind == "qrels":
        return (qrels_batch(faults, lines) for lines in token_lines(blocks, len(QRELS_COLUMNS)))
    return _run_batches(faults, blocks, wanted)


def _run_batches(faults: Faults, blocks: TextBlocks, wanted: Wanted) -> Iterator[Batch]:
    usual_columns = 0  # the number of columns of the first row
    for lines in token_lines(blocks, len(RUN_COLUMNS), by_query=True):
        usual_columns = usual_columns or (int(lines.count[0]) if len(lines) else 0)
        yield run_batch(faults, lines, usual_columns or len(RUN_COLUMNS), has_iters=wanted.is_kept or wanted.has_iters)


def open_lines(stream: ByteStream, wanted: Wanted, faults: Faults) -> TextBlocks:
    """The text of a file; raises if its first lines are those of another kind of file."""
    head = stream.head(SAMPLED_BYTES)
    # Blocks are smaller than those of other formats, so that they fit into a cache.
    block_bytes = None if wanted.is_kept else text_blocks.BLOCK_BYTES // BLOCK_SHARE
    blocks = open_text(stream, faults, is_kept=wanted.is_kept, block_bytes=block_bytes)
    complete = head if len(head) < SAMPLED_BYTES else head[: head.rfind(b"\n", 0, SAMPLED_BYTES) + 1]
    check_kind(faults.source, complete, wanted.kind)
    return blocks


def token_lines(blocks: TextBlocks, columns: int, *, by_query: bool = False) -> Iterator[TokenLines]:
    """The lines of a text, block by block, split into columns; raises if there is none.

    ``by_query`` leaves the last query of a block for the next one, of which more may follow.
    """
    has_content, is_left = False, blocks.used < blocks.size or blocks.advance()
    while is_left:
        end = blocks.complete_lines()
        if end > blocks.used:
            lines = split_block(blocks, end, columns, by_query=by_query)
            has_content |= bool(len(lines) or len(lines.short))
            yield lines
        is_left = blocks.advance()
    if not has_content:
        raise InputError.at(blocks.stream.path, None, "no lines with content")


def split_block(blocks: TextBlocks, end: int, columns: int, *, by_query: bool) -> TokenLines:
    """The complete lines of a block; by query without those of the last query, unless the text ends here."""
    size = end - blocks.used
    lines = split_columns(blocks.give(blocks.used, end), columns, before=blocks.line)
    if by_query and not blocks.is_last and len(begins := lines.query_begins):
        size = int(lines.query.start[begins[-1]])
        if size and lines.buffer[size - 1] != ord("\n"):  # the line begins with white space, which a message shows
            size = lines.line_begin(int(lines.line[begins[-1]]))
        lines = lines.head(int(begins[-1]))
    blocks.used += size
    blocks.line += lines.total
    return lines


def qrels_batch(faults: Faults, lines: TokenLines) -> Batch:
    """The judgments on some lines."""
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
    return Batch(lines.line, query, doc, grades, iters=iters, blank=lines.blank).select(keep)


def run_batch(faults: Faults, lines: TokenLines, usual_columns: int, *, has_iters: bool = False) -> Batch:
    """The results on the lines of whole queries; ``usual_columns`` is the number of columns of the file's first row."""
    scores, wrong_rows = read_run_lines(faults, lines, usual_columns)
    doc, rank, tag = (lines.column(number) for number in (2, 3, 5))
    rows = Batch(
        lines.line,
        lines.query,
        doc,
        scores,
        iters=lines.column(1) if has_iters else None,
        rank=rank,
        tag=tag,
        is_visible=lines.regular and int(lines.buffer.max(initial=0)) < DELETE,
        begins=lines.query_begins,
        is_whole=True,
    )
    return rows.take(np.delete(np.arange(len(rows)), wrong_rows)) if len(wrong_rows) else rows


def read_run_lines(faults: Faults, lines: TokenLines, usual_columns: int) -> tuple[Floats, Ints]:
    """The scores of a run's lines, and the rows that are wrong, which are added to the faults.

    ``usual_columns`` is the number of columns of the file's first row: more than six are accepted, but every line must
    have the same number.
    """
    if lines.regular and usual_columns == len(RUN_COLUMNS):
        return read_scores(faults, lines.column(4), lines.line)
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
            if lines.count[shifted_rows[at]] >= usual_columns or usual_columns == len(RUN_COLUMNS)
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
