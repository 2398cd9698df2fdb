"""The one writer of TREC files: runs from memory, ranked answers, or rows of judgments and results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.core.tables import offsets_of
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.names import Kind
from rankgauge.io.writing import write_atomically

RankedAnswer = tuple[str, Sequence[str], Sequence[float]]  # a query, its documents best first, their scores
WHITE_SPACE = re.compile(rb"[ \t\n\v\f\r]")
# A file that begins with one of these would be detected as another kind: a byte order mark, UTF-16, compressed, binary.
OTHER_FORMATS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd",
                 b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x80", b"PK\x03\x04")  # fmt: skip
DEFAULT_ITER: dict[Kind, bytes] = {"qrels": b"0", "run": b"Q0"}


def write_run(run: Run, out: str | Path, *, tag: str | None = None, inputs: Iterable[str | Path] = ()) -> None:
    """Write a run as a TREC file, completely or not at all. The tag is the run's name unless another is given."""
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


def write_answers(
    answers: Iterable[RankedAnswer], out: str | Path, tag: str, inputs: Iterable[str | Path] = ()
) -> None:
    """Write ranked answers, whose ids have been checked, as a TREC run; the position of a document is its rank."""
    with write_atomically(out, inputs=inputs) as file:
        write_lines(file, b" ", _answer_columns(answers, tag))


def _answer_columns(answers: Iterable[RankedAnswer], tag: str) -> Iterator[tuple[bytes, ...]]:
    encoded_tag = _encode(tag)
    for query, docs, scores in answers:
        encoded_query = _encode(query)
        for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), start=1):
            yield encoded_query, DEFAULT_ITER["run"], _encode(doc), b"%d" % rank, number_text(score), encoded_tag


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Part(NamedTuple):
    """Which part of a file some rows of whole queries are."""

    is_first: bool = True
    is_last: bool = True


WHOLE = Part()


def write_trec_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """Write ``query iter document grade``, or ``query Q0 document rank score tag``."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b" ")
        return
    rows = with_ranks(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    iters = words(rows.iters, "iter", DEFAULT_ITER[kind])
    rank, tag = words(rows.rank, "rank", b"1"), words(rows.tag, "tag", b"run")
    scores = map(number_text, rows.value.tolist())
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


def check_no_white_space(ids: Ids, what: str) -> None:
    """Raise if a TREC file cannot contain one of these ids."""
    compact = ids.compact()
    if WHITE_SPACE.search(compact.buffer[: int(compact.length.sum())].tobytes()):
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


def number_text(value: float) -> bytes:
    """The shortest text that reads back as the same number."""
    return str(int_if_exact(value)).encode("ascii")


def int_if_exact(value: float) -> float | int:
    """A whole number as an int, if that loses nothing."""
    is_whole = abs(value) < 2**53 and value == int(value) and (value != 0 or str(value) == "0.0")
    return int(value) if is_whole else value
