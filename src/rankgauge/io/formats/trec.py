"""TREC files, read strictly (one clear error for each line that is wrong, never a guess) and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import IO

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.arrays import Floats, offsets_of
from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.formatting import plural
from rankgauge.core.ids import DELETE, Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.run import Run, RunExtras
from rankgauge.errors import InputError, shown, warn_user
from rankgauge.io import text_checks
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats import text_blocks
from rankgauge.io.formats.detection import COLUMNS, WHOLE_NUMBER, check_kind, describe_columns
from rankgauge.io.formats.named_columns import Kind, Wanted
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
        text_checks.DECIMAL.fullmatch(fields[4]) and WHOLE_NUMBER.fullmatch(fields[3])
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
    shifted_rows = np.union1d(uneven_rows, wide_rows[text_checks.read(lines.column(3).take(wide_rows))[1]])
    report_wide_lines(faults, lines, wide_rows, shifted_rows, usual_columns)
    return scores, np.union1d(bad_rows, shifted_rows)


def read_scores(faults: Faults, token: Ids, line: Ints) -> tuple[Floats, Ints]:
    """The scores, and the rows without a valid one."""
    scores, bad_rows = text_checks.read(token)
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
        return "BEIR's tab-separated judgments? --set reading.qrels_format=beir"
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
    return text_checks.number_hint(text) or SPLIT_ID_HINT


# The one writer of TREC files: runs from memory, ranked answers, or rows of judgments and results.

RankedAnswer = tuple[str, Sequence[str], Sequence[float]]  # a query, its documents best first, their scores
WHITE_SPACE = re.compile(rb"[ \t\n\v\f\r]")
# A file that begins with one of these would be detected as another kind: a byte order mark, UTF-16, compressed, binary.
OTHER_FORMATS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd",
                 b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x80", b"PK\x03\x04")  # fmt: skip
DEFAULT_ITER: dict[Kind, bytes] = {"qrels": b"0", "run": b"Q0"}


def write_run(run: Run, out: str | Path, *, tag: str | None = None, inputs: Iterable[str | Path] = ()) -> None:
    """Write a run as a TREC file, completely or not at all. The tag is the run's name unless another is given.

    Texts and metadata that came with the results are not written, and a warning says so: ``write_log`` keeps them.
    """
    name = tag or run.name
    check_no_white_space(run.queries, "query id")
    check_no_white_space(run.docs, "document id")
    check_tag(name)
    best = run.ranked()
    docs, scores, ends = best.docs.to_text(), best.scores.tolist(), best.offsets.tolist()
    answers = (
        (query, docs[begin:end], scores[begin:end])
        for query, begin, end in zip(best.queries.to_text(), ends[:-1], ends[1:], strict=True)
    )
    write_answers(answers, out, name, inputs)
    if lost := lost_extras(run.extras):
        warn_user(f"{out}: {dropped_text(lost)}")
    if lost := lost_scores(run.extras):
        warn_user(f"{out}: {replaced_text(lost)}")


def dropped_text(lost: Sequence[str]) -> str:
    """What to say of a TREC run that does not hold all of the results."""
    return f"a TREC run holds ids and scores, not {' and '.join(lost)}: write a log to keep them (.jsonl)"


def lost_extras(extras: RunExtras | None) -> list[str]:
    """What a format that holds only ids and scores loses of what came with results."""
    if extras is None:
        return []
    texts, metadata = len(extras.texts), len(extras.metadata)
    lost = [f"the texts of {plural(texts, 'document')}"] if texts else []
    return lost + ([f"the metadata of {plural(metadata, 'document')}"] if metadata else [])


def lost_scores(extras: RunExtras | None) -> list[str]:
    """The scores that do not give the order of their lists, which a format loses that needs scores that do."""
    count = 0 if extras is None else sum(bool(scores) for scores in extras.given.values())
    return [f"the scores of {plural(count, 'list')} that do not give the order"] if count else []


def replaced_text(lost: Sequence[str]) -> str:
    """What to say of scores that are lost."""
    return f"{' and '.join(lost)} are replaced by descending ranks: write a log to use a threshold (.jsonl)"


def write_answers(
    answers: Iterable[RankedAnswer], out: str | Path, tag: str, inputs: Iterable[str | Path] = ()
) -> None:
    """Write ranked answers, whose ids have been checked, as a TREC run; the position of a document is its rank."""
    from rankgauge.io.atomic_files import write_atomically  # which readers do without

    with write_atomically(out, inputs=inputs) as file:
        write_lines(file, b" ", _answer_columns(answers, tag))


def _answer_columns(answers: Iterable[RankedAnswer], tag: str) -> Iterator[tuple[bytes, ...]]:
    encoded_tag = _encode(tag)
    for query, docs, scores in answers:
        encoded_query = _encode(query)
        for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), start=1):
            yield (
                encoded_query,
                DEFAULT_ITER["run"],
                _encode(doc),
                b"%d" % rank,
                text_checks.number_text(score),
                encoded_tag,
            )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def write_trec_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """Write ``query iter document grade``, or ``query Q0 document rank score tag``."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b" ")
        return
    rows = with_ranks(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    iters = words(rows.iters, "iter", DEFAULT_ITER[kind])
    rank, tag = words(rows.rank, "rank", b"1"), words(rows.tag, "tag", b"run")
    scores = map(text_checks.number_text, rows.value.tolist())
    write_lines(out, b" ", zip(query, iters, doc, rank, scores, tag, strict=False), part)


def write_qrels_rows(rows: Batch, out: IO[bytes], delimiter: bytes) -> None:
    """Write ``query iter document grade``."""
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    iters = words(rows.iters, "iter", DEFAULT_ITER["qrels"])
    write_lines(out, delimiter, zip(query, iters, doc, whole_grades(rows), strict=False))


def with_ranks(rows: Batch) -> Batch:
    """Batch with a rank column: their own, or one by score, and then sorted by it within each query."""
    if rows.rank is not None:
        return rows
    group = rows.group()
    by_query = np.argsort(group, kind="stable")
    offsets = offsets_of(group[by_query], int(group.max(initial=-1)) + 1)
    order = by_query[ranking.order(offsets, rows.doc.take(by_query), rows.value[by_query])]
    ranks = np.arange(len(order)) - offsets[group[order]] + 1
    columns = {name: ids.take(order) for name in ("iters", "tag") if isinstance(ids := getattr(rows, name), Ids)}
    return replace(
        rows,
        line=rows.line[order],
        query=rows.query.take(order),
        doc=rows.doc.take(order),
        value=rows.value[order],
        rank=Ids.from_bytes([b"%d" % rank for rank in ranks.tolist()]),
        **columns,  # type: ignore[arg-type]  # the two columns of these names
    )


def check_tag(tag: str) -> None:
    """Raise if a run's tag is not one word."""
    if not is_word(tag):
        raise InputError(f"a run's tag must be one word, found {shown(tag)}", hint="choose one: --tag NAME")


def is_word(text: str) -> bool:
    """Whether a text can be a column of a TREC file."""
    return bool(text) and not WHITE_SPACE.search(_encode(text))


def has_white_space(ids: Ids) -> bool:
    """Whether one of these ids has white space, which a TREC file cannot hold."""
    compact = ids.compact()
    return WHITE_SPACE.search(compact.buffer[: int(compact.length.sum())].tobytes()) is not None


def check_no_white_space(ids: Ids, what: str) -> None:
    """Raise if a TREC file cannot contain one of these ids."""
    if has_white_space(ids):
        spaced_id = next(value for value in ids if WHITE_SPACE.search(value))
        raise InputError(
            f"{what} {shown(spaced_id)} contains white space, which separates the columns of this format",
            hint="rename the id in all files, or write JSON Lines, CSV or Parquet, which can hold it",
        )


def words(ids: Ids | None, what: str, default: bytes | None = None) -> Iterable[bytes]:
    """Ids without white space. A missing column, or an empty cell of an optional one, becomes the default."""
    if ids is None:
        assert default is not None
        return repeat(default)
    check_no_white_space(ids, what)
    return list(ids) if default is None else [value or default for value in ids]


def write_lines(out: IO[bytes], delimiter: bytes, rows: Iterable[tuple[bytes, ...]], part: Part = WHOLE) -> None:
    """Write rows of columns; raises if the first would make the file look like another format."""
    for number, row in enumerate(rows):
        if not number and part.is_first and row[0].startswith(OTHER_FORMATS):
            raise InputError(
                f"a file that begins with the query id {shown(row[0])} would be detected as another kind of file",
                hint="write JSON Lines, CSV or Parquet",
            )
        out.write(delimiter.join(row) + b"\n")


def whole_grades(rows: Batch) -> Iterator[bytes]:
    """The grades as text; raises if one of them is not a whole number."""
    fractional = np.flatnonzero(rows.value != np.floor(rows.value))
    if len(fractional):
        row = int(fractional[0])
        raise InputError(
            f"grade {rows.value[row]:g} of document {shown(rows.doc[row])} for query {shown(rows.query[row])} "
            "is not a whole number, and this format has only whole numbers",
            hint="write JSON, JSON Lines, CSV or Parquet",
        )
    return (b"%d" % int(value) for value in rows.value.tolist())
