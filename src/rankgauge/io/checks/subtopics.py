"""Judgments by subtopic, as ndeval reads them: several rows per document, one for each value of the second column.

They are looked for only if documents are judged more than once. In ordinary judgments the second column may vary too
(an iteration, an assessor), and a few documents judged twice are then duplicates.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids, Interner, Ints, repeated
from rankgauge.errors import shown

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
