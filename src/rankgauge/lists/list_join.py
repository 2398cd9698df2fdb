"""The join of lists: judged rows looked up among ids in memory, without the cost of columns.

If a document appears twice in a ranking, SPEC-003 counts it twice for precision. So precision and counts see every
occurrence. Every other measure sees only the first occurrence of a document: a repeat keeps its rank, like an unjudged
document, and adds nothing. Otherwise recall, average precision and nDCG would exceed 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from rankgauge.core.arrays import Column, checked_number
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.hits_builder import NOTHING, JudgedQueries, JudgedRows, build_hits
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.run import Status
from rankgauge.errors import InputError, InputTypeError, nearest, shown
from rankgauge.measures.measure import Measure

MEASURES_COUNTING_REPEATS = frozenset({"P", "NumRet"})
# These have a relevance level, and also look at the grades above it.
MEASURES_GRADED_ABOVE_LEVEL = frozenset({"Q", "RnDCG"})
_ONE_QUERY = Ids.from_bytes([b"1"])

Grades = Mapping[str, float]
CheckedGrades = dict[str, float]


@dataclass(frozen=True, eq=False)
class RepeatingHits:
    """A join in which a document may appear twice."""

    hits: Hits

    @cached_property
    def first_occurrences(self) -> Hits:
        """The join with only the first occurrence of each document."""
        ordinal = self.hits.ordinal.tolist()
        if len(set(ordinal)) == len(ordinal):
            return self.hits
        is_first = np.zeros(len(ordinal), dtype=bool)
        is_first[np.unique(self.hits.ordinal, return_index=True)[1]] = True
        return self.hits.where(is_first)


@dataclass(frozen=True, eq=False)
class JoinedLists:
    """Rankings joined with which documents are relevant, and with how relevant each is.

    The two joins differ because a grade may be below 1, and then the list of relevant ids decides.
    """

    binary: RepeatingHits
    graded: RepeatingHits

    def __len__(self) -> int:
        return len(self.binary.hits)

    def __call__(self, measure: Measure) -> PerQuery:
        """The value of a measure for each query; NaN if it has none."""
        joined = self.graded if reads_grades(measure) else self.binary
        counts_repeats = measure.definition.name in MEASURES_COUNTING_REPEATS
        return measure(joined.hits if counts_repeats else joined.first_occurrences)


def reads_grades(measure: Measure) -> bool:
    """Whether a measure depends on how relevant a document is, and not only on whether it is relevant."""
    if measure.definition.name in MEASURES_GRADED_ABOVE_LEVEL or "rel" not in measure.definition.parameters:
        return True
    return bool(measure["rel"] != 1)


def graded_judgments(relevant: Sequence[str], grades: Grades) -> CheckedGrades:
    """The judgments of one query with grades: a relevant document without a grade has grade 1."""
    return {**dict.fromkeys(relevant, 1.0), **grades}


def binary_judgments(relevant: Sequence[str], grades: Grades) -> CheckedGrades:
    """The judgments of one query without grades: 1 if a document is among the relevant ids, else 0.

    A document with a negative grade stays unjudged.
    """
    return {
        **{doc: min(grade, 0.0) for doc, grade in graded_judgments(relevant, grades).items()},
        **dict.fromkeys(relevant, 1.0),
    }


def join_lists(
    relevant: Sequence[AnyIds],
    retrieved: Sequence[AnyIds],
    grades: Sequence[Grades | None] | None = None,
    k: int | None = None,
) -> JoinedLists:
    """Join the lists of several queries, which are numbered in the given order.

    With ``k``, only the first k retrieved ids of each query are read, so the cost does not depend on how many follow.
    With grades, a relevant document without a grade has grade 1, and a document with a grade is judged, whether it is
    among the relevant ids or not.
    """
    if len(relevant) != len(retrieved):
        raise InputError(
            f"there must be as many lists of retrieved ids as of relevant ids, found {len(retrieved)} and "
            f"{len(relevant)}"
        )
    return join_checked_lists(
        [id_list(ids, "relevant id") for ids in relevant],
        [ranked_ids(ids, k=k) for ids in retrieved],
        None if grades is None else [check_query_grades(row, number) for number, row in enumerate(grades, 1)],
    )


def join_checked_lists(
    relevant: Sequence[list[str]],
    retrieved: Sequence[list[str]],
    grades: Sequence[CheckedGrades] | None = None,
    columns: Mapping[str, Column] | None = None,
) -> JoinedLists:
    """Join lists that have been checked."""
    if grades is None or not any(grades):
        joined = RepeatingHits(hits_of(retrieved, [dict.fromkeys(ids, 1.0) for ids in relevant], columns))
        return JoinedLists(joined, joined)
    # A document with a grade that is not relevant is still judged (unless the grade is negative), for bpref.
    binary = [binary_judgments(ids, row) for ids, row in zip(relevant, grades, strict=True)]
    graded = [graded_judgments(ids, row) for ids, row in zip(relevant, grades, strict=True)]
    return JoinedLists(
        RepeatingHits(hits_of(retrieved, binary, columns)), RepeatingHits(hits_of(retrieved, graded, columns))
    )


def hits_of(
    retrieved: Sequence[Sequence[str]],
    judgments: Sequence[CheckedGrades],
    columns: Mapping[str, Column] | None = None,
) -> Hits:
    """Look up the judged documents of each ranking. A document that appears twice is there twice."""
    ranks: list[int] = []
    ordinals: list[int] = []
    offsets, judged_offsets = [0], [0]
    grades: list[float] = []
    for ids, judged in zip(retrieved, judgments, strict=True):
        begin = judged_offsets[-1]
        ordinal_of = {doc: ordinal for ordinal, doc in enumerate(judged, begin)}
        for place, doc in enumerate(ids, 1):
            if doc in ordinal_of:
                ranks.append(place)
                ordinals.append(ordinal_of[doc])
        offsets.append(len(ranks))
        judged_offsets.append(begin + len(judged))
        grades += judged.values()
    rank = np.array(ranks, dtype=np.int64)
    sizes = [len(ids) for ids in retrieved]
    return build_hits(
        JudgedQueries(
            _ONE_QUERY if len(sizes) == 1 else numbered_ids(len(sizes)),
            np.array(judged_offsets, dtype=np.int64),
            np.array(grades, dtype=np.float64),
            columns or {},
        ),
        JudgedRows(NOTHING, rank, rank, rank, np.array(ordinals, dtype=np.int64)),
        np.array([Status.ANSWERED if size else Status.EMPTY for size in sizes], dtype=np.uint8),
        np.array(sizes, dtype=np.int64),
        np.array(offsets, dtype=np.int64),
    )


def numbered_ids(count: int) -> Ids:
    """Ids for queries that have none: numbers from 1, padded with zeros, so that bytes sort as numbers."""
    width = len(str(count))
    return Ids.from_bytes([b"%0*d" % (width, number) for number in range(1, count + 1)])


def check_query_grades(grades: Grades | None, number: int) -> CheckedGrades:
    """Return the grades of one query, or raise if one is not a number within the limits."""
    if grades is None:
        return {}
    if not isinstance(grades, Mapping):
        raise InputTypeError(f"relevance grades must map ids to grades, found {type(grades).__name__}")
    ids = id_list(list(grades), "graded id")
    checked = {
        doc: checked_number(grade, "grade", number, doc) for doc, grade in zip(ids, grades.values(), strict=True)
    }
    for doc, grade in checked.items():
        if not abs(grade) <= LARGEST_GRADE:
            raise InputError(
                f"grade of document {shown(doc)} for query {number} is {grade:g}, expected a number from "
                f"{-LARGEST_GRADE} to {LARGEST_GRADE}"
            )
    return checked


def missing_key(owner: str, key: str, found: Iterable[Any], known: Set[str]) -> InputError:
    """The error for a mapping that lacks a key; the hint names the key that was probably meant to be it.

    ``known`` are the keys that mean something else.
    """
    names = [str(name) for name in found]
    close = nearest(key, [name for name in names if name not in known])
    return InputError(
        f"{owner} has no '{key}'; it has {', '.join(names) or 'nothing'}",
        hint=f"write '{key}' instead of {shown(close)}" if close else None,
    )


# The ids that a caller passes in: one string or several ids, checked once and in bulk.

AnyIds = str | Iterable[str]


def id_list(ids: AnyIds, label: str, k: int | None = None) -> list[str]:
    """Return the ids, or the first k, as a checked list; a single string is one id. ``label`` names an id in errors."""
    if isinstance(ids, (str, bytes)):
        return _check_ids([ids], label)
    if isinstance(ids, Mapping):
        raise InputTypeError(
            f"{label}s must be ids, found a mapping", hint="pass the ids here and the grades as relevance_grades"
        )
    try:
        values: list[Any] = list(islice(ids, k))
    except TypeError:
        raise InputTypeError(f"{label}s must be one id or a list of ids, found {type(ids).__name__}") from None
    return _check_ids(values, label)


def ranked_ids(ids: AnyIds, label: str = "retrieved id", k: int | None = None) -> list[str]:
    """Return ids whose order matters, best first, or the first k; a set is an error."""
    if isinstance(ids, Set):
        raise InputTypeError(
            f"{label}s must be a list, best first, found a {type(ids).__name__}", hint="a set has no order"
        )
    return id_list(ids, label, k)


def _check_ids(values: list[Any], label: str) -> list[str]:
    # One check of all ids joined together is much faster than one check per id, and nearly always enough.
    try:
        text = "".join(values)
        if "" not in values and "\0" not in text:
            text.encode("utf-8", "surrogateescape")
            return values
    except (TypeError, UnicodeEncodeError):
        pass
    return [encode_id(value, label).decode("utf-8", "surrogateescape") for value in values]
