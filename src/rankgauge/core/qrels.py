"""Judgments: how relevant each document is to each query."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.arrays import (
    Column,
    Floats,
    checked_number,
    frozen,
    group_of,
    keep_freed_memory,
    offsets_of,
    query_columns,
    within,
)
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import IdIndex, Ids, Ints, encode_id, repeated
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, InputTypeError, found_text, shown

if TYPE_CHECKING:
    from rankgauge.core.passage_judgments import PassageJudgments
    from rankgauge.core.ranking import Compat
    from rankgauge.core.subtopic_judgments import Evidence, SubtopicJudgments

LARGEST_GRADE = 127
ANSWERABLE = "answerable"  # the column of queries that says whether any document is expected
UNLABELED = "unlabeled"  # its value for queries of which only forbidden documents are known
MANY_ENTRIES = 1 << 14  # whose arrays are large
JudgmentKind = Literal["grades", "subtopics", "evidence", "passages", "labels"]


@dataclass(frozen=True, eq=False)
class Qrels(HtmlView):
    """Judgments of (query, document) by query; queries are sorted by their bytes.

    ``columns`` have the properties of each query: category, difficulty, ``k``, ``unit``, … ``by_group`` has the
    judgments behind the grades, if documents were judged for each subtopic of the query, if there are gold passages, or
    if results are matched with labels other than by their ids: each document then has its largest level as grade.
    """

    name: str
    queries: Ids
    offsets: Ints
    docs: Ids
    grades: Floats
    iters: Ids | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    by_group: SubtopicJudgments | PassageJudgments | None = None
    forbidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by query: documents not to be returned
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # columns of queries without judgments

    @classmethod
    def from_columns(
        cls,
        query: Sequence[object] | Ids,
        doc: Sequence[object] | Ids,
        grade: Sequence[float] | Floats,
        *,
        iters: Sequence[object] | Ids | None = None,
        by_subtopic: bool = False,
        columns: Mapping[str, Any] | None = None,
        name: str = "qrels",
    ) -> Qrels:
        """From parallel columns, rows in any order."""
        query = query if isinstance(query, Ids) else Ids.from_text(query, "query id")
        doc = doc if isinstance(doc, Ids) else Ids.from_text(doc, "document id")
        if iters is not None and not isinstance(iters, Ids):
            iters = Ids.from_text(iters, "subtopic")
        if by_subtopic and iters is None:
            raise InputError("judgments by subtopic need a subtopic for each row")
        grades = np.asarray(grade, dtype=np.float64)
        if not len(query) == len(doc) == len(grades):
            raise InputError(
                f"columns differ in length: {len(query)} queries, {len(doc)} documents, {len(grades)} grades"
            )
        check_grades(query, doc, grades)
        if not by_subtopic or iters is None:
            return cls.build(query, doc, grades, iters=iters, columns=columns, name=name)
        return cls.build_by_subtopic(query, iters, doc, grades, name=name).with_columns(columns)

    @classmethod
    def build(
        cls,
        query: Ids,
        doc: Ids,
        grades: Floats,
        *,
        iters: Ids | None = None,
        columns: Mapping[str, Any] | None = None,
        name: str = "qrels",
        unique: bool = True,
    ) -> Qrels:
        """Group the rows by query. With ``unique=False`` the caller checks for repeated documents."""
        number, distinct_queries = query.distinct
        by_query = distinct_queries.order()
        position = np.empty_like(by_query)
        position[by_query] = np.arange(len(by_query))
        group = position[number]
        if np.any(group[1:] < group[:-1]):
            rows = np.argsort(group, kind="stable")
            doc, group, grades = doc.take(rows), group[rows], grades[rows]
            iters = None if iters is None else iters.take(rows)
        queries = distinct_queries.take(by_query).compact()
        made = cls(
            name=name,
            queries=queries,
            offsets=frozen(offsets_of(group, len(queries))),
            docs=doc,
            grades=frozen(grades),
            iters=iters,
            columns=query_columns(columns, queries),
        )
        if unique:
            made.check_duplicates()
        return made

    @classmethod
    def build_by_subtopic(cls, query: Ids, subtopic: Ids, doc: Ids, level: Floats, *, name: str = "qrels") -> Qrels:
        """Group the rows by query and subtopic."""
        from rankgauge.core.subtopic_judgments import group_rows  # most judgments are grades

        rows = group_rows(query, subtopic, doc, level)
        return cls(name, rows.queries, rows.offsets, rows.docs, rows.grades, by_group=rows.by_group)

    @classmethod
    def from_dict(
        cls,
        judgments: Mapping[str, Mapping[str, SupportsFloat] | None],
        *,
        columns: Mapping[str, Any] | None = None,
        name: str = "qrels",
    ) -> Qrels:
        """From ``{query: {document: grade}}``. For a query with nothing, ``{}`` or None, nothing is expected."""
        kinds = set(map(type, judgments.values()))
        if not all(issubclass(kind, (Mapping, NoneType)) for kind in kinds):
            query, row = next(pair for pair in judgments.items() if not isinstance(pair[1], (Mapping, NoneType)))
            raise InputTypeError(
                f"judgments of query {shown(str(query))} must map documents to grades, found {found_text(row)}"
            )
        names = list(judgments)
        queries = Ids.from_text(names, "query id")
        order = queries.order()
        rows = [judgments[names[number]] or {} for number in order.tolist()]
        ordered_names = tuple(names[number] for number in order.tolist())
        if sum(map(len, rows)) > MANY_ENTRIES:
            keep_freed_memory()
        entries = _entries(ordered_names, rows)
        column, grades = entries.docs, entries.grades
        sizes = [len(row) for row in rows]
        made = cls(
            name=name,
            queries=queries.take(order).compact(),
            offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            docs=column,
            grades=frozen(grades),
        )
        check_grades(made.queries, column, grades, made.query)
        made.__dict__["doc_names"] = entries.doc_names  # no need to decode them from bytes again
        if set(map(type, names)) == {str}:
            made.queries.__dict__["names"] = ordered_names
        made = made.with_columns(columns) if columns else made
        return made.expecting_nothing() if 0 in sizes else made

    def expecting_nothing(self) -> Qrels:
        """The judgments, with queries without any marked as expecting nothing, unless it is said of each query."""
        sizes = np.diff(self.offsets)
        if ANSWERABLE in self.columns or sizes.all():
            return self
        answerable = zip(self.queries.to_text(), (sizes > 0).tolist(), strict=True)
        return self.with_columns({ANSWERABLE: dict(answerable)})

    @classmethod
    def from_lists(
        cls,
        relevant: Mapping[str, Iterable[str] | None],
        *,
        columns: Mapping[str, Any] | None = None,
        name: str = "qrels",
    ) -> Qrels:
        """From ``{query: [relevant documents]}``; each has grade 1, and a repeated one counts once.

        A query that maps documents to grades, or lists pairs of them, keeps these.
        """
        graded: dict[str, Mapping[str, float]] = {}
        for query, docs in relevant.items():
            if docs is None or isinstance(docs, Mapping):
                graded[query] = docs or {}
                continue
            try:
                listed: list[Any] = [docs] if isinstance(docs, str) else list(docs)
                is_graded = bool(listed) and all(isinstance(doc, (tuple, list)) and len(doc) == 2 for doc in listed)
                graded[query] = dict(listed) if is_graded else dict.fromkeys(listed, 1)
                is_repeated = is_graded and len(graded[query]) < len(listed)
            except TypeError:
                raise InputTypeError(
                    f"judgments of query {shown(str(query))} must map documents to grades, or list relevant documents, "
                    f"found {found_text(docs, with_value=True)}",
                ) from None
            if is_repeated:
                raise InputError(f"a document is judged twice for query {shown(str(query))}")
        return cls.from_dict(graded, columns=columns, name=name)

    def __len__(self) -> int:
        return len(self.docs) if self.by_group is None else len(self.by_group)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self.queries)} queries, {len(self)} judgments)"

    @property
    def judgments(self) -> JudgmentKind:
        """What kind of judgments these are."""
        return "grades" if self.by_group is None else self.by_group.kind

    @property
    def lists_evidence(self) -> bool:
        """Whether queries list pieces of evidence, beside their relevant documents or in place of them."""
        return bool(getattr(self.by_group, "is_evidence", False))

    def groups_for(self, compat: Compat) -> SubtopicJudgments | PassageJudgments | None:
        """The judgments by group as a join needs them: levels in the precision in which they are compared."""
        return None if self.by_group is None else self.by_group.at_precision(compat)

    @cached_property
    def query(self) -> Ints:
        """The query number of each row."""
        return group_of(self.offsets)

    @cached_property
    def index(self) -> IdIndex:
        """The index of rows by (query number, document)."""
        return IdIndex(self.docs, self.query)

    @cached_property
    def query_index(self) -> IdIndex:
        """The index of query numbers."""
        return IdIndex(self.queries, np.zeros(len(self.queries), dtype=np.int64))

    @cached_property
    def doc_names(self) -> list[str]:
        """The documents as ``str``, for lookups in a caller's dict."""
        return self.docs.to_text()

    @cached_property
    def max_grade(self) -> float:
        """The largest grade of the whole collection, at least 0."""
        return max(0.0, float(self.grades.max(initial=0.0)))

    @cached_property
    def sha256(self) -> str:
        """A hash of the content, independent of the format and the order of rows."""
        rows = self.docs.order(self.query)
        import hashlib  # most evaluations do not need it

        digest = hashlib.sha256(b"rankgauge qrels 1\n")
        digest.update(self.queries.content())
        digest.update(np.ascontiguousarray(self.offsets, dtype="<i8").tobytes())
        digest.update(self.docs.take(rows).content())
        digest.update(np.ascontiguousarray(self.grades[rows], dtype="<f8").tobytes())
        if self.by_group is not None:
            digest.update(self.by_group.content())
        if self.forbidden:
            names = [name for name in self.queries.to_text() if name in self.forbidden]
            digest.update(repr([(name, sorted(self.forbidden[name])) for name in names]).encode())
        if (nothing := expects_nothing(self.columns, len(self.queries))).any():
            digest.update(nothing.tobytes())
        return digest.hexdigest()

    def select(self, numbers: Ints) -> Qrels:
        """The judgments of the queries with the given numbers."""
        numbers = np.sort(numbers)
        rows = within(numbers, self.offsets)
        sizes = self.offsets[numbers + 1] - self.offsets[numbers]
        return replace(
            self,
            queries=self.queries.take(numbers),
            offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            docs=self.docs.take(rows),
            grades=frozen(self.grades[rows]),
            iters=None if self.iters is None else self.iters.take(rows),
            columns={name: frozen(values[numbers]) for name, values in self.columns.items()},
            by_group=None if self.by_group is None else self.by_group.take(numbers, self.offsets),
        )

    def part(self, numbers: Ints, description: str) -> Qrels:
        """The judgments of some queries; the largest grade stays that of the whole collection: parts add up to it."""
        part = replace(self.select(numbers), name=f"{self.name} ({description})")
        vars(part)["max_grade"] = self.max_grade  # where the cached property keeps its value
        return part

    def binary(self, rel: float = 1) -> Qrels:
        """These judgments with grade 1 from ``rel`` on and 0 below; negative grades, which are unjudged, stay."""

        def change(grades: Floats) -> Floats:
            return np.where(grades >= rel, 1.0, np.minimum(grades, 0.0))

        by_group = None if self.by_group is None else self.by_group.leveled(change)
        return replace(self, name=f"{self.name} (binary)", grades=change(self.grades), by_group=by_group)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The grades as ``{query: {document: grade}}``."""
        docs, grades, bounds = self.docs.to_text(), self.grades.tolist(), self.offsets.tolist()
        return {
            query: dict(zip(docs[begin:end], grades[begin:end], strict=True))
            for query, begin, end in zip(self.queries.to_text(), bounds[:-1], bounds[1:], strict=True)
        }

    def with_columns(self, columns: Mapping[str, Any] | None) -> Qrels:
        """These judgments with additional columns of the queries; those of other queries are kept apart."""
        names, further = set(self.queries.to_text()), {**self.further}
        for name, values in (columns or {}).items():
            if isinstance(values, Mapping) and (others := {q: value for q, value in values.items() if q not in names}):
                further[name] = others
        return replace(self, columns={**self.columns, **query_columns(columns, self.queries)}, further=further)

    def with_evidence(self, evidence: Evidence | None) -> Qrels:
        """These judgments with pieces of evidence as subtopics; its documents are judged already."""
        if evidence is None:
            return self
        from rankgauge.core.subtopic_judgments import evidence_rows

        rows = evidence_rows(self, evidence)
        made = Qrels(self.name, rows.queries, rows.offsets, rows.docs, rows.grades, by_group=rows.by_group)
        judged = set(rows.queries)
        made = made.with_queries([query for query in self.queries if query not in judged])
        return replace(made, columns=self.columns, forbidden=self.forbidden)

    @property
    def unanswerable(self) -> list[str]:
        """The queries that have no answer."""
        numbers = np.flatnonzero(expects_nothing(self.columns, len(self.queries)))
        return self.queries.take(numbers).to_text()

    def with_forbidden(self, documents: Mapping[str, Iterable[str]]) -> Qrels:
        """These judgments with documents that must not be returned, by query; one that is relevant is an error.

        A forbidden document is judged nonrelevant. Queries that are not judged are added: only leaks are counted there.
        """
        listed = {query: [docs] if isinstance(docs, str) else list(docs) for query, docs in documents.items()}
        if not any(listed.values()):
            return self
        names = self.queries.to_text()
        if added := [query for query, docs in listed.items() if docs and query not in set(names)]:
            return self.with_unlabeled(added).with_forbidden(documents)
        forbidden = {query: dict.fromkeys(self.forbidden.get(query, ())) for query in names}
        for query, docs in listed.items():
            if query in forbidden:
                forbidden[query] |= dict.fromkeys(docs)
        relevant = np.flatnonzero(self.grades > 0)
        rows = zip(self.query[relevant].tolist(), self.docs.take(relevant).to_text(), strict=True)
        for number, doc in rows:
            if doc in forbidden[names[number]]:
                raise InputError(
                    f"document {shown(doc)} is both forbidden and relevant for query {shown(names[number])}",
                    hint="leave it out of one of the two lists",
                )
        kept = {query: tuple(docs) for query, docs in forbidden.items() if docs}
        return replace(self.with_nonrelevant(kept), forbidden=kept)

    def with_unlabeled(self, added: Sequence[str]) -> Qrels:
        """These judgments with queries of which no relevant document is known, nor that there is none."""
        names = self.queries.to_text()
        columns = {
            name: {**self.further.get(name, {}), **dict(zip(names, values.tolist(), strict=True))}
            for name, values in self.columns.items()
        }
        marks = {**dict.fromkeys(names, True), **columns.get(ANSWERABLE, {}), **dict.fromkeys(added, UNLABELED)}
        made = replace(self, columns={}).with_queries([encode_id(query, "query id") for query in added])
        return made.with_columns({**columns, ANSWERABLE: marks})

    def with_nonrelevant(self, documents: Mapping[str, Sequence[str]]) -> Qrels:
        """These judgments with further documents of grade 0, those that have a grade already excepted."""
        if self.by_group is not None:  # each of whose documents belongs to a group
            return self
        graded: dict[str, dict[str, float]] = {query: {} for query in self.queries.to_text()}
        names = list(graded)
        for number, doc, grade in zip(self.query.tolist(), self.docs.to_text(), self.grades.tolist(), strict=True):
            graded[names[number]][doc] = grade
        for query, docs in documents.items():
            graded[query] = {**dict.fromkeys(docs, 0.0), **graded[query]}
        return replace(Qrels.from_dict(graded, name=self.name), columns=self.columns)

    def with_queries(self, added: Sequence[bytes]) -> Qrels:
        """These judgments with additional queries that have no judgments."""
        if not added:
            return self
        queries = Ids.from_bytes([*self.queries, *added])
        order = queries.order()
        sizes = np.concatenate([np.diff(self.offsets), np.zeros(len(added), dtype=np.int64)])[order]
        by_group = self.by_group
        if by_group is not None:
            by_group = by_group.spread(np.flatnonzero(order < len(self.queries)), len(queries))
        return replace(
            self,
            queries=queries.take(order).compact(),
            offsets=frozen(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
            by_group=by_group,
        )

    def check_duplicates(self) -> None:
        """Raise if a document is judged twice for one query."""
        first, _ = repeated(self.docs, self.query)
        if len(first):
            row = int(first[0])
            raise InputError(
                f"document {shown(self.docs[row])} is judged twice for query "
                f"{shown(self.queries[int(self.query[row])])} ({len(first)} such rows in all)",
                hint="keep one judgment per query and document",
            )


def expects_nothing(columns: Mapping[str, Column], count: int) -> NDArray[np.bool_]:
    """Which queries have no answer, by their column ``answerable``: none if there is no such column."""
    column = columns.get(ANSWERABLE)
    if column is None:
        return np.zeros(count, dtype=bool)
    return np.array([value is False for value in column.tolist()], dtype=bool)


def are_unlabeled(columns: Mapping[str, Column], count: int) -> NDArray[np.bool_]:
    """Of which queries only forbidden documents are known: measures of rankings have no value there."""
    column = columns.get(ANSWERABLE)
    if column is None:
        return np.zeros(count, dtype=bool)
    return np.array([value == UNLABELED for value in column.tolist()], dtype=bool)


@dataclass(frozen=True, eq=False)
class _DictEntries:
    """The documents, as ``str`` and as a column, and the grades of all rows of a dict, one after the other."""

    doc_names: list[str]
    docs: Ids
    grades: Floats


def _entries(queries: Sequence[str], rows: list[Mapping[str, SupportsFloat]]) -> _DictEntries:
    gathered = None if compiled.scanner is None else compiled.scanner.gather_dicts(rows)
    if gathered is not None:
        docs, text, lengths, numbers = gathered
        column = Ids.packed(text, np.frombuffer(lengths, dtype=np.int64))
        return _DictEntries(docs, column, np.frombuffer(numbers, dtype=np.float64))
    docs = list(chain.from_iterable(rows))
    column = Ids.from_text(docs, "document id")
    values = list(chain.from_iterable(row.values() for row in rows))
    try:
        # struct accepts only numbers, while NumPy would read the text '1' as one.
        grades = np.frombuffer(struct.pack(f"{len(values)}d", *values), dtype=np.float64)
    except (struct.error, OverflowError):
        named_rows = zip(queries, rows, strict=True)
        grades = np.array([checked_number(g, "grade", q, d) for q, row in named_rows for d, g in row.items()])
    return _DictEntries(docs, column, grades)


def check_grades(query: Ids, doc: Ids, grades: Floats, number: Ints | None = None) -> None:
    """Raise unless all grades are finite and within the limits; ``number`` is the query number of each row."""
    bad = np.flatnonzero(~(np.abs(grades) <= LARGEST_GRADE))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"grade of document {shown(doc[row])} for query "
            f"{shown(query[row if number is None else int(number[row])])} is {grades[row]:g}, "
            f"expected a number from {-LARGEST_GRADE} to {LARGEST_GRADE}"
        )
