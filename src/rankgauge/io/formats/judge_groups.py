"""Judgments of several judges: preferences (``prefs``, ``qrels_prefs``), grades by group (``qrels_jg``), subtopics.

The text is that of TREC judgments, with the judgment group in the second column; preferences have one column more.
Judgments by subtopic that were not named as such are recognized here, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO

import numpy as np

from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids, Interner, Ints, repeated
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats import decimals, trec
from rankgauge.io.formats.decimals import number_text
from rankgauge.io.formats.detection import SAMPLE_LINES, WHOLE_NUMBER, Head, describe_columns, is_prel
from rankgauge.io.formats.named_columns import Kind, Wanted
from rankgauge.io.formats.text_blocks import open_text
from rankgauge.io.formats.trec import whole_grades, words, write_lines
from rankgauge.io.formats.white_space import TokenLines

GROUP_COLUMNS: dict[str, tuple[str, ...]] = {
    "prefs": ("query", "group", "subgroup", "document", "level"),
    "qrels_prefs": ("query", "group", "document", "level"),
    "qrels_jg": ("query", "group", "document", "grade"),
}
ONLY_GROUP = b"0"  # the group and the subgroup of judgments that name none


@dataclass(frozen=True, eq=False)
class GroupColumns:
    """The columns of a file, by what they are. Preferences without a column of subgroups have one subgroup."""

    query: Ids
    group: Ids
    doc: Ids
    level: Ids  # as text
    subgroup: Ids | None


def group_columns(lines: TokenLines, format: str) -> GroupColumns:
    """The columns of a format's lines."""
    columns = dict(zip(GROUP_COLUMNS[format], map(lines.column, range(len(GROUP_COLUMNS[format]))), strict=True))
    subgroup = columns.get("subgroup")
    if format == "qrels_prefs":
        subgroup = Ids.from_bytes([ONLY_GROUP]).take(np.zeros(len(lines), dtype=np.int64))
    level = columns["grade" if format == "qrels_jg" else "level"]
    return GroupColumns(columns["query"], columns["group"], columns["document"], level, subgroup)


def looks_like_preferences(head: Head, kind: Kind) -> bool:
    """Whether the first lines have five columns that end with a level and are not those of another known format.

    If the fourth column has only whole numbers, it may be a rank: the file is then not certainly one of preferences.
    """
    lines = [line.split() for line in head.lines[:SAMPLE_LINES]]
    return (
        kind == "qrels"
        and bool(lines)
        and all(len(fields) == len(GROUP_COLUMNS["prefs"]) for fields in lines)
        and all(decimals.DECIMAL.fullmatch(fields[4]) for fields in lines)
        and not all(WHOLE_NUMBER.fullmatch(fields[3]) for fields in lines)
        and not any(is_prel(fields) for fields in lines)
    )


def prefs_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """``query group subgroup document level`` on each line."""
    return _preference_batches(stream, wanted, faults, "prefs")


def qrels_prefs_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """``query group document level`` on each line; each group has one subgroup."""
    return _preference_batches(stream, wanted, faults, "qrels_prefs")


def largest_grades(rows: Batch) -> Batch:
    """One grade per document: the largest over the subtopics."""
    query, doc = rows.group(), Interner()(rows.doc)
    order = np.lexsort((-rows.value, doc, query))
    is_best = np.ones(len(rows), dtype=bool)
    is_best[1:] = (np.diff(query[order]) != 0) | (np.diff(doc[order]) != 0)
    keep = np.zeros(len(rows), dtype=bool)
    keep[order[is_best]] = True
    return replace(rows.select(keep), iters=None)


def _preference_batches(stream: ByteStream, wanted: Wanted, faults: Faults, format: str) -> Iterator[Batch]:
    blocks = open_text(stream, faults, is_kept=wanted.is_kept)
    return (_preference_batch(faults, lines, format) for lines in trec.token_lines(blocks, len(GROUP_COLUMNS[format])))


def _preference_batch(faults: Faults, lines: TokenLines, format: str) -> Batch:
    names = GROUP_COLUMNS[format]
    trec.report_short_lines(faults, lines, names)
    wide_rows = np.flatnonzero(lines.count > len(names))
    faults.add(
        "columns",
        lines.line[wide_rows],
        expected=describe_columns(names),
        found=lambda at: f"{lines.count[wide_rows[at]]}: {shown(lines.text(int(lines.line[wide_rows[at]])))}",
    )
    columns = group_columns(lines, format)
    levels, bad_rows = decimals.read(columns.level)
    bad_rows = np.union1d(bad_rows, np.flatnonzero(~(np.abs(levels) <= LARGEST_GRADE)))
    faults.add(
        "level",
        lines.line[bad_rows],
        expected=f"a number from {-LARGEST_GRADE} to {LARGEST_GRADE} as level",
        found=lambda at: shown(columns.level[int(bad_rows[at])]),
    )
    keep = np.ones(len(lines), dtype=bool)
    keep[wide_rows] = keep[bad_rows] = False
    return Batch(
        lines.line,
        columns.query,
        columns.doc,
        levels,
        iters=columns.group,
        subgroup=columns.subgroup,
        blank=lines.blank,
    ).select(keep)


def write_prefs(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query group subgroup document level``, sorted."""
    rows = _sorted(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    group, subgroup = words(rows.iters, "group", ONLY_GROUP), words(rows.subgroup, "subgroup", ONLY_GROUP)
    write_lines(out, b" ", zip(query, group, subgroup, doc, map(number_text, rows.value.tolist()), strict=False))


def write_qrels_prefs(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query group document level``, sorted; raises if a group has several subgroups."""
    group = rows.group(by_iter=True)
    distinct = np.unique(np.stack([group, rows.group(by_iter=True, by_subgroup=True)]), axis=1)[0]
    split = np.flatnonzero(np.diff(distinct) == 0)
    if len(split):
        row = int(np.flatnonzero(group == distinct[split[0]])[0])
        raise InputError(
            f"a group of query {shown(rows.query[row])} has several subgroups, and qrels_prefs has no column for them",
            hint="write prefs",
        )
    rows = _sorted(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    groups = words(rows.iters, "group", ONLY_GROUP)
    write_lines(out, b" ", zip(query, groups, doc, map(number_text, rows.value.tolist()), strict=False))


def write_qrels_jg(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query group document grade``, sorted; the group is a judge or a subtopic."""
    rows = _sorted(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    write_lines(out, b" ", zip(query, words(rows.iters, "group", ONLY_GROUP), doc, whole_grades(rows), strict=False))


def _sorted(rows: Batch) -> Batch:
    """The rows by query, group, subgroup and document, in the order of their bytes."""
    order: Ints = np.arange(len(rows))
    for column in (rows.doc, rows.subgroup, rows.iters, rows.query):
        if column is not None:
            order = order[column.take(order).order()]
    return rows.take(order)


# Judgments by subtopic, as ndeval reads them: several rows per document, one for each value of the second column.
#
# They are looked for only if documents are judged more than once. In ordinary judgments the second column may vary
# too (an iteration, an assessor), and a few documents judged twice are then duplicates.

SUBTOPIC_JUDGMENTS = "subtopic-judgments"
SUBTOPIC_HINT = (
    "if the second column is a subtopic, --qrels-format ndeval reads it (measures that are not over subtopics then use "
    "the largest grade of each document); if it is a judge, --qrels-format qrels_jg averages over judges"
)
MIN_ROWS = 2
MIN_SHARE_OF_ROWS = 0.1
MIN_SHARE_OF_QUERIES = 0.5


def is_by_subtopic(query: Ints, subtopics: Ids | None, docs: Ids, repeated_rows: Ints) -> bool:
    """Whether documents with several judgments are the rule and the second column always tells these apart."""
    if subtopics is None or len(repeated_rows) < max(MIN_ROWS, MIN_SHARE_OF_ROWS * len(query)):
        return False
    queries_with_repeated = len(np.unique(query[repeated_rows]))
    if queries_with_repeated < MIN_SHARE_OF_QUERIES * len(np.unique(query)):
        return False
    pairs = np.stack([query, Interner()(subtopics)])
    group = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return not len(repeated(docs, group)[0])


def describe_subtopics(query: Ids, subtopics: Ids, docs: Ids, first_row: int, repeated_rows: Ints) -> str:
    """What was found, for a message: the first document that has two judgments, and the number of them."""
    again = int(repeated_rows[0])
    names = f"{shown(subtopics[first_row])} and {shown(subtopics[again])}"
    return (
        f"one for each subtopic, as in ndeval's judgments: document {shown(docs[again])} of query "
        f"{shown(query[again])} for {names} ({plural(len(repeated_rows), 'such row')})"
    )
