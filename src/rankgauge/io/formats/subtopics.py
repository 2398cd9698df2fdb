"""Judgments by subtopic, as ndeval reads them: the second column of TREC judgments is the subtopic.

Judgments by subtopic that were not named as such are recognized here, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import IO

import numpy as np

from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids, Interner, Ints, repeated
from rankgauge.errors import shown
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.trec import whole_grades, words, write_lines

ONLY_SUBTOPIC = b"0"  # of judgments that name none


def largest_grades(rows: Batch) -> Batch:
    """One grade per document: the largest over the subtopics."""
    query, doc = rows.group(), Interner()(rows.doc)
    order = np.lexsort((-rows.value, doc, query))
    is_best = np.ones(len(rows), dtype=bool)
    is_best[1:] = (np.diff(query[order]) != 0) | (np.diff(doc[order]) != 0)
    keep = np.zeros(len(rows), dtype=bool)
    keep[order[is_best]] = True
    return replace(rows.select(keep), iters=None)


def write_ndeval(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query subtopic document grade``, sorted."""
    rows = _sorted(rows)
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    subtopics = words(rows.iters, "subtopic", ONLY_SUBTOPIC)
    write_lines(out, b" ", zip(query, subtopics, doc, whole_grades(rows), strict=False))


def _sorted(rows: Batch) -> Batch:
    """The rows by query, subtopic and document, in the order of their bytes."""
    order: Ints = np.arange(len(rows))
    for column in (rows.doc, rows.iters, rows.query):
        if column is not None:
            order = order[column.take(order).order()]
    return rows.take(order)


# Judgments by subtopic, as ndeval reads them: several rows per document, one for each value of the second column.
#
# They are looked for only if documents are judged more than once. In ordinary judgments the second column may vary
# too (an iteration, an assessor), and a few documents judged twice are then duplicates.

SUBTOPIC_JUDGMENTS = "subtopic-judgments"
SUBTOPIC_HINT = (
    "if the second column is a subtopic, --set reading.qrels_format=ndeval reads it (measures that are not over "
    "subtopics then use the largest grade of each document); if it is a judge, `rankgauge trec_eval -R qrels_jg` "
    "averages over judges"
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
