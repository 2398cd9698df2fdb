"""Judgments by subtopic, by pieces of evidence, and by labels that match results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Floats, frozen, group_of, offsets_of, within
from rankgauge.core.ids import Ids, Ints, numbered, repeated
from rankgauge.core.ranking import UNRANKED, Compat, comparable
from rankgauge.errors import InputError, shown

if TYPE_CHECKING:
    from rankgauge.core.hits import Hits
    from rankgauge.core.qrels import JudgmentKind, Qrels


@dataclass(frozen=True, eq=False)
class SubtopicJudgments:
    """One row per judgment of a group, by query, group and document.

    A group is a subtopic of the query, or a label that results match. ``ordinal`` is the row of the document in the
    judgments that these belong to, ``docs`` the documents of all these rows. Groups are numbered in the order of the
    bytes of their ids.
    """

    docs: Ids
    offsets: Ints
    ordinal: Ints
    group: Ints
    level: Floats
    groups: Ids
    kind: JudgmentKind = "subtopics"  # what the groups are
    is_evidence: bool = False  # whether the subtopics are pieces of evidence
    match: str = ""  # how labels are matched with results, if groups are labels

    def __len__(self) -> int:
        return len(self.level)

    @property
    def query(self) -> Ints:
        """The query number of each row."""
        return group_of(self.offsets)

    def rows(self, query: int) -> slice:
        """The rows of a query."""
        return slice(int(self.offsets[query]), int(self.offsets[query + 1]))

    def take(self, queries: Ints, judged_offsets: Ints) -> SubtopicJudgments:
        """The judgments of some queries, in any order and any number of times.

        ``judged_offsets`` are those of the judgments that these belong to.
        """
        rows = within(queries, self.offsets)
        query = np.repeat(np.arange(len(queries)), np.diff(self.offsets)[queries])
        sizes = np.diff(judged_offsets)[queries]
        shift = np.cumsum(sizes) - sizes - judged_offsets[queries]
        return replace(
            self,
            docs=self.docs.take(within(queries, judged_offsets)),
            offsets=frozen(offsets_of(query, len(queries))),
            ordinal=frozen(self.ordinal[rows] + shift[query]),
            group=frozen(self.group[rows]),
            level=frozen(self.level[rows]),
        )

    def spread(self, numbers: Ints, queries: int) -> SubtopicJudgments:
        """These judgments among more queries; ``numbers`` are the new numbers of these queries, ascending."""
        return replace(self, offsets=frozen(offsets_of(numbers[self.query], queries)))

    def leveled(self, change: Callable[[Floats], Floats]) -> SubtopicJudgments:
        """These judgments with changed levels."""
        return replace(self, level=frozen(change(self.level)))

    def at_precision(self, compat: Compat) -> SubtopicJudgments:
        """These judgments with levels in the precision in which a version of trec_eval compares them."""
        return self.leveled(lambda level: comparable(level, compat).astype(np.float64))

    def content(self) -> bytes:
        """All bytes that distinguish these judgments from others with the same documents."""
        arrays = (self.offsets, self.ordinal, self.level)
        names = [self.groups.take(self.group).content()]
        return b"".join([self.kind.encode("ascii"), *(array.tobytes() for array in arrays), *names])


@dataclass(frozen=True)
class Evidence:
    """What queries need: for each piece of evidence, the documents of which one is enough."""

    pieces: Mapping[bytes, Sequence[Sequence[bytes]]]  # by query
    is_complete: bool  # whether all of these queries list their relevant documents, too


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """The columns of judgments by query and document, and the judgments of groups behind them."""

    queries: Ids
    offsets: Ints
    docs: Ids
    grades: Floats
    by_group: SubtopicJudgments


def group_rows(query: Ids, group: Ids, doc: Ids, level: Floats) -> GroupedRows:
    """Judgments by subtopic from parallel columns, rows in any order.

    Each document appears once per query in the result, sorted by its bytes, with its largest level as grade. A document
    that is graded twice for a subtopic is an error.
    """
    query_number, queries = numbered(query)
    doc_number, _ = numbered(doc)
    group_number, groups = numbered(group)
    _check_repeated(query, group, doc, query_number * max(len(groups), 1) + group_number)
    by_doc = np.lexsort((doc_number, query_number))
    is_first = np.ones(len(by_doc), dtype=bool)
    is_first[1:] = (np.diff(query_number[by_doc]) != 0) | (np.diff(doc_number[by_doc]) != 0)
    firsts = by_doc[is_first]
    ordinal = np.empty(len(by_doc), dtype=np.int64)
    ordinal[by_doc] = np.cumsum(is_first) - 1
    grades = np.full(len(firsts), -np.inf)
    np.maximum.at(grades, ordinal, level)
    rows = np.lexsort((ordinal, group_number, query_number))
    docs = doc.take(firsts)
    return GroupedRows(
        queries=queries,
        offsets=frozen(offsets_of(query_number[firsts], len(queries))),
        docs=docs,
        grades=frozen(grades),
        by_group=SubtopicJudgments(
            docs=docs,
            offsets=frozen(offsets_of(query_number, len(queries))),
            ordinal=frozen(ordinal[rows]),
            group=frozen(group_number[rows]),
            level=frozen(level[rows]),
            groups=groups,
        ),
    )


NO_PIECE = b"-"  # of a judged document that is no evidence


def evidence_rows(qrels: Qrels, evidence: Evidence) -> GroupedRows:
    """The judgments of documents, with their pieces of evidence as subtopics.

    Of a query without evidence, each relevant document is a piece of its own.
    """
    queries: list[bytes] = []
    pieces: list[bytes] = []
    docs: list[bytes] = []
    levels: list[float] = []
    for number, query in enumerate(qrels.queries):
        begin, end = int(qrels.offsets[number]), int(qrels.offsets[number + 1])
        judged = [qrels.docs[row] for row in range(begin, end)]
        grades = dict(zip(judged, qrels.grades[begin:end].tolist(), strict=True))
        listed = evidence.pieces.get(query)
        if listed is None:
            listed = [[doc] for doc, grade in grades.items() if grade > 0]
        rows = [(str(place).encode(), doc) for place, piece in enumerate(listed, 1) for doc in dict.fromkeys(piece)]
        others = grades.keys() - {doc for _, doc in rows}
        for piece, doc in [*rows, *((NO_PIECE, doc) for doc in others)]:
            queries.append(query)
            pieces.append(piece)
            docs.append(doc)
            levels.append(-1.0 if piece == NO_PIECE else grades[doc])
    query_ids, piece_ids, doc_ids = map(Ids.from_bytes, (queries, pieces, docs))
    grouped = group_rows(query_ids, piece_ids, doc_ids, np.array(levels, dtype=np.float64))
    grade_of = dict(zip(zip(qrels.query.tolist(), qrels.docs, strict=True), qrels.grades.tolist(), strict=True))
    number_of = {query: number for number, query in enumerate(qrels.queries)}
    numbers = [number_of[query] for query in grouped.queries]
    rows_of = zip(group_of(grouped.offsets).tolist(), grouped.docs, strict=True)
    doc_grades = np.array([grade_of[numbers[query], doc] for query, doc in rows_of])
    kind: JudgmentKind = "subtopics" if evidence.is_complete else "evidence"
    return replace(grouped, grades=frozen(doc_grades), by_group=replace(grouped.by_group, kind=kind, is_evidence=True))


def _check_repeated(query: Ids, group: Ids, doc: Ids, group_of_query: Ints) -> None:
    first, _ = repeated(doc, group_of_query)
    if len(first):
        row = int(first[0])
        raise InputError(
            f"document {shown(doc[row])} is judged twice for subtopic {shown(group[row])} for query {shown(query[row])}"
        )


# Labels that results are matched with: the rank of a label is that of its first match.


def label_hits(hits: Hits) -> Hits:
    """The join with one row per label that a result matches, at the first such result.

    ``hits`` is the join of the results: each row of its judgments is a result that matches some labels of its query,
    or a label that no result matches. Several labels can have the same rank.
    """
    judgments = hits.by_group
    assert isinstance(judgments, SubtopicJudgments)
    rank = np.full(len(hits.judged), UNRANKED)
    tie_first, tie_last = rank.copy(), rank.copy()
    rank[hits.ordinal], tie_first[hits.ordinal], tie_last[hits.ordinal] = hits.rank, hits.tie_first, hits.tie_last
    query, group = judgments.query, judgments.group
    by_rank = np.lexsort((rank[judgments.ordinal], group, query))
    is_first = np.ones(len(by_rank), dtype=bool)
    is_first[1:] = (np.diff(query[by_rank]) != 0) | (np.diff(group[by_rank]) != 0)
    first = by_rank[is_first]  # the best row of each label, by query and label
    label_query, grade, best = query[first], judgments.level[first], judgments.ordinal[first]
    found = np.flatnonzero(rank[best] != UNRANKED)
    found = found[np.lexsort((-grade[found], rank[best[found]], label_query[found]))]
    return replace(
        hits,
        offsets=offsets_of(label_query[found], len(hits)),
        rank=rank[best[found]],
        grade=grade[found],
        ordinal=found,
        tie_first=tie_first[best[found]],
        tie_last=tie_last[best[found]],
        judged_offsets=offsets_of(label_query, len(hits)),
        judged=grade,
        by_group=None,
    )


def combined(hits: Hits) -> Hits:
    """The join with at most one label per rank: that with the largest grade of those that have the same rank."""
    is_same = np.zeros(len(hits.rank), dtype=bool)
    is_same[1:] = (np.diff(hits.rank) == 0) & (np.diff(hits.query) == 0)
    if not is_same.any():
        return hits
    is_kept = np.ones(len(hits.judged), dtype=bool)
    is_kept[hits.ordinal[is_same]] = False
    new_ordinal = np.cumsum(is_kept) - 1
    kept = hits.where(~is_same)
    return replace(
        kept,
        ordinal=new_ordinal[kept.ordinal],
        judged_offsets=offsets_of(hits.judged_query[is_kept], len(hits)),
        judged=hits.judged[is_kept],
        uncombined=hits,
    )
