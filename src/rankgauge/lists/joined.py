"""The join of lists: what ``core.join`` makes of files, made of ids in memory without the cost of columns.

Where a document stands twice in a list, SPEC-003 counts it twice for precision. So a precision and a count look at
every place. Every other measure looks at the first place of a document only: a repeat keeps its rank, as a document
that is not judged does, and finds nothing new. Else recall, average precision and nDCG would exceed 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import LARGEST_GRADE, checked_grade
from rankgauge.core.run import Status
from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.lists.ids import AnyIds, in_order, several
from rankgauge.measures.spec import Measure

REPEATS_COUNT = frozenset({"P", "NumRet"})
# They have a level of relevance, and look at the grades above it too.
GRADED_ABOVE_LEVEL = frozenset({"Q", "RnDCG"})
_ONE = Ids.from_bytes([b"1"])

Grades = Mapping[str, float]
Judged = dict[str, float]


@dataclass(frozen=True, eq=False)
class Table:
    """A join in which a document may stand twice."""

    hits: Hits

    @cached_property
    def once(self) -> Hits:
        """Each document at its first place only."""
        ordinal = self.hits.ordinal.tolist()
        if len(set(ordinal)) == len(ordinal):
            return self.hits
        first = np.zeros(len(ordinal), dtype=bool)
        first[np.unique(self.hits.ordinal, return_index=True)[1]] = True
        return self.hits.where(first)


@dataclass(frozen=True, eq=False)
class JoinedLists:
    """Rankings joined with which documents are relevant, and with how relevant each is.

    The two are different tables because a grade may lie below 1, where the list of relevant ids decides.
    """

    binary: Table
    graded: Table

    def __len__(self) -> int:
        return len(self.binary.hits)

    def __call__(self, measure: Measure) -> PerQuery:
        """The value of a measure for each query; NaN where it has none."""
        table = self.graded if reads_grades(measure) else self.binary
        return measure(table.hits if measure.definition.name in REPEATS_COUNT else table.once)


def reads_grades(measure: Measure) -> bool:
    """Whether a measure asks how relevant a document is, and not only whether it is."""
    if measure.definition.name in GRADED_ABOVE_LEVEL or "rel" not in measure.definition.parameters:
        return True
    return bool(measure["rel"] != 1)


def join_lists(
    relevant: Sequence[AnyIds],
    retrieved: Sequence[AnyIds],
    grades: Sequence[Grades | None] | None = None,
    columns: Mapping[str, Column] | None = None,
) -> JoinedLists:
    """Join the lists of some queries, which are numbered in the order in which they come.

    With grades, a relevant document that has none has grade 1, and a document that has one is judged, whether it is
    among the relevant ids or not.
    """
    if len(relevant) != len(retrieved):
        raise InputError(
            f"there must be as many lists of retrieved ids as of relevant ones, found {len(retrieved)} and "
            f"{len(relevant)}"
        )
    return join_checked(
        [several(ids, "relevant id") for ids in relevant],
        [in_order(ids) for ids in retrieved],
        None if grades is None else [checked_grades(row, number) for number, row in enumerate(grades, 1)],
        columns,
    )


def join_checked(
    relevant: Sequence[list[str]],
    retrieved: Sequence[list[str]],
    grades: Sequence[Judged] | None = None,
    columns: Mapping[str, Column] | None = None,
) -> JoinedLists:
    """The same of lists that were checked."""
    plain = [dict.fromkeys(ids, 1.0) for ids in relevant]
    if grades is None or not any(grades):
        table = Table(hits_of(retrieved, plain, columns))
        return JoinedLists(table, table)
    graded = [{**row, **given} for row, given in zip(plain, grades, strict=True)]
    # What has a grade and is not relevant was judged all the same (unless it is negative): bpref wants to know.
    binary = [
        {**{doc: min(grade, 0.0) for doc, grade in all_.items()}, **row}
        for all_, row in zip(graded, plain, strict=True)
    ]
    return JoinedLists(Table(hits_of(retrieved, binary, columns)), Table(hits_of(retrieved, graded, columns)))


def hits_of(
    retrieved: Sequence[Sequence[str]],
    judged: Sequence[Judged],
    columns: Mapping[str, Column] | None = None,
) -> Hits:
    """Look up what is judged. A document that stands twice is there twice."""
    ranks: list[int] = []
    ordinals: list[int] = []
    offsets, judged_offsets = [0], [0]
    grades: list[float] = []
    for ids, row in zip(retrieved, judged, strict=True):
        begin = judged_offsets[-1]
        places = {doc: place for place, doc in enumerate(row, begin)}
        for rank, doc in enumerate(ids, 1):
            if doc in places:
                ranks.append(rank)
                ordinals.append(places[doc])
        offsets.append(len(ranks))
        judged_offsets.append(begin + len(row))
        grades += row.values()
    all_grades: Floats = np.array(grades, dtype=np.float64)
    ordinal = np.array(ordinals, dtype=np.int64)
    rank_ = np.array(ranks, dtype=np.int64)
    sizes = [len(ids) for ids in retrieved]
    status = [Status.ANSWERED if size else Status.EMPTY for size in sizes]
    return Hits(
        queries=_ONE if len(sizes) == 1 else numbers(len(sizes)),
        status=np.array(status, dtype=np.uint8),
        retrieved=np.array(sizes, dtype=np.int64),
        offsets=np.array(offsets, dtype=np.int64),
        rank=rank_,
        grade=all_grades[ordinal],
        ordinal=ordinal,
        tie_first=rank_,
        tie_last=rank_,
        judged_offsets=np.array(judged_offsets, dtype=np.int64),
        judged=all_grades,
        columns=columns or {},
    )


def numbers(queries: int) -> Ids:
    """Query ids for lists that have none: their numbers from 1, as wide as the last, so that bytes sort as numbers."""
    width = len(str(queries))
    return Ids.from_bytes([b"%0*d" % (width, number) for number in range(1, queries + 1)])


def checked_grades(given: Grades | None, number: int) -> Judged:
    """The grades of one query, each a number within the limits."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputTypeError(f"relevance grades must map ids to grades, found {type(given).__name__}")
    ids = several(list(given), "graded id")
    found = {doc: checked_grade(grade, number, doc) for doc, grade in zip(ids, given.values(), strict=True)}
    for doc, grade in found.items():
        if not abs(grade) <= LARGEST_GRADE:
            raise InputError(
                f"grade of document {shown(doc)} for query {number} is {grade:g}, expected a number from "
                f"{-LARGEST_GRADE} to {LARGEST_GRADE}"
            )
    return found
