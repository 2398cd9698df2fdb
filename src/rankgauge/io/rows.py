"""The rows of a file, whatever its format: what readers produce and writers take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids, Interner, Ints, concatenate, number_ids, repeated
from rankgauge.core.qrels import JudgmentKind, Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown, warn_user
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import NO_LINES

ONE_DOCUMENT_ONCE = "each document once in the ranking of a query"
ONE_JUDGMENT = "one judgment of each document for a query"
ONE_JUDGMENT_PER_GROUP = "one judgment of each document by a group (and subgroup) for a query"
EXPECTED_JUDGMENTS: dict[JudgmentKind, str] = {
    "grades": ONE_JUDGMENT,
    "groups": ONE_JUDGMENT_PER_GROUP,
    "preferences": ONE_JUDGMENT_PER_GROUP,
    "subtopics": "one judgment of each document for a subtopic of a query",
}
DUPLICATE_HINT = "keep each document once per query, or keep the first: on_duplicate='first', --on-duplicate first"
ID_COLUMNS = ("query", "doc", "iters", "subgroup", "rank", "tag")


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of the same length. ``value`` is the score or the grade; a column that a format lacks is None.

    If several judges judged, ``iters`` is the judgment group; if judgments are by subtopic, the subtopic. Rows that
    could not be read are missing: ``faults`` describes them.
    """

    faults: Faults
    line: Ints
    query: Ids
    doc: Ids
    value: Floats
    iters: Ids | None = None
    subgroup: Ids | None = None
    rank: Ids | None = None
    tag: Ids | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # further columns of each query, by its id
    empty: tuple[bytes, ...] = ()  # queries without any row
    blank: Ints = field(default_factory=lambda: NO_LINES)  # the blank lines, if they matter
    sha256: str | None = None
    judgments: JudgmentKind = "grades"
    has_ranks_only: bool = False  # the values are ranks, of which scores are made when all rows of a query are there

    def __len__(self) -> int:
        return len(self.line)

    def select(self, keep: NDArray[np.bool_]) -> Rows:
        """Only the rows that are kept."""
        return self if keep.all() else self.take(np.flatnonzero(keep))

    def take(self, rows: Ints) -> Rows:
        """Some rows, in the given order."""
        columns = {name: column.take(rows) for name in ID_COLUMNS if isinstance(column := getattr(self, name), Ids)}
        return replace(
            self,
            line=self.line[rows],
            value=self.value[rows],
            **columns,  # type: ignore[arg-type]  # the columns of these names
        )

    def slice(self, begin: int, end: int) -> Rows:
        """The rows from one to before another."""
        columns = {
            name: Ids(column.buffer, column.start[begin:end], column.length[begin:end])
            for name in ID_COLUMNS
            if isinstance(column := getattr(self, name), Ids)
        }
        return replace(
            self,
            line=self.line[begin:end],
            value=self.value[begin:end],
            **columns,  # type: ignore[arg-type]  # the columns of these names
        )

    def by_run(self) -> list[Rows]:
        """The rows of each run, by the tag, in the order of first appearance; all rows if there is one tag or none."""
        if self.tag is None or not len(self):
            return [self]
        run, runs = number_ids(self.tag, np.zeros(len(self), dtype=np.int64))
        return [self.select(run == number) for number in range(runs)]

    def group(self, *, by_iter: bool = False, by_subgroup: bool = False, by_tag: bool = False) -> Ints:
        """A number for each query, or for each query and iter, and subgroup, and tag."""
        number, _ = self.query.distinct
        chosen = ((by_iter, self.iters), (by_subgroup, self.subgroup), (by_tag, self.tag))
        others = [Interner()(column) for is_chosen, column in chosen if is_chosen and column is not None]
        others = [column for column in others if column.any()]
        if not others:
            return number
        keys = np.stack([number, *others])
        return np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def concatenate_rows(parts: Sequence[Rows]) -> Rows:
    """One table of rows made of several, which have the same columns."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        name: concatenate([getattr(part, name) for part in parts])
        for name in ID_COLUMNS
        if getattr(parts[0], name) is not None
    }
    return replace(
        parts[0],
        line=np.concatenate([part.line for part in parts]),
        value=np.concatenate([part.value for part in parts]),
        empty=tuple(query for part in parts for query in part.empty),
        **columns,  # type: ignore[arg-type]  # the columns of these names
    )


def build_run(rows: Rows, *, name: str, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from rows; raises if anything is wrong."""
    report_repeated_documents(rows, on_duplicate)
    raise_or_warn(rows.faults)
    return checked_run(rows, name=name, on_duplicate=on_duplicate)


def checked_run(rows: Rows, *, name: str, on_duplicate: OnDuplicate) -> Run:
    """A run from rows whose faults were reported."""
    run = Run.build(rows.query, rows.doc, rows.value, name=name, sha256=rows.sha256).with_empty(rows.empty)
    return run.deduplicated() if on_duplicate == "first" else run


def report_repeated_documents(rows: Rows, on_duplicate: OnDuplicate) -> None:
    """Add documents that appear twice in the ranking of a query, unless the first one counts."""
    if on_duplicate == "error":
        first_rows, repeated_rows = repeated(rows.doc, rows.group())
        report_duplicates(rows.faults, rows.line, rows.doc, rows.query.__getitem__, first_rows, repeated_rows)


def report_duplicates(
    faults: Faults, line: Ints, doc: Ids, query: Callable[[int], bytes], first_rows: Ints, repeated_rows: Ints
) -> None:
    """Add documents that appear twice in the ranking of a query."""
    faults.add(
        "duplicate-document",
        line[repeated_rows],
        expected=ONE_DOCUMENT_ONCE,
        found=lambda at: (
            f"document {shown(doc[int(repeated_rows[at])])} again for query {shown(query(int(repeated_rows[at])))}"
            + _first_place(faults, line, int(first_rows[at]))
        ),
        action=DUPLICATE_HINT,
    )


def report_long_ids(faults: Faults, line: Ints, query: Ids, doc: Ids, limit: int) -> None:
    """Add a fault for each id that is longer than a line may be."""
    for what, ids in (("query id", query), ("document id", doc)):
        if int(ids.length.max(initial=0)) <= limit:
            continue
        long_rows = np.flatnonzero(ids.length > limit)
        lengths = ids.length[long_rows].tolist()
        faults.add(
            "long-id",
            line[long_rows],
            expected=f"a {what} of at most {limit} bytes",
            found=[str(length) for length in lengths].__getitem__,
            action="raise the limit with --max-line",
        )


def build_qrels(rows: Rows, *, name: str, by_subtopic: bool = False) -> Qrels:
    """Judgments from rows; raises if anything is wrong."""
    report_repeated_judgments(rows, by_iter=by_subtopic)
    raise_or_warn(rows.faults)
    if rows.judgments == "grades" and not by_subtopic:
        qrels = Qrels.build(rows.query, rows.doc, rows.value, iters=rows.iters, name=name, unique=False)
        return qrels.with_queries(rows.empty).with_columns(rows.columns)
    if rows.iters is None:
        raise InputError.at(rows.faults.source, None, "judgments by subtopic need a subtopic for each row")
    from rankgauge.core.group_judgments import build_group_judgments

    qrels = build_group_judgments(
        rows.query,
        rows.iters,
        rows.doc,
        rows.value,
        subgroup=rows.subgroup,
        by_subtopic=by_subtopic or rows.judgments == "subtopics",
        name=name,
    )
    return qrels.with_queries(rows.empty).with_columns(rows.columns)


def report_repeated_judgments(rows: Rows, *, by_iter: bool = False) -> None:
    """Add documents with two judgments: for a query, for a query and iter or subtopic, or by a judgment group."""
    is_grouped = rows.judgments != "grades"
    group = rows.group(by_iter=by_iter or is_grouped, by_subgroup=is_grouped)
    first_rows, repeated_rows = repeated(rows.doc, group)
    if len(repeated_rows) and not by_iter and not is_grouped:
        check_no_subtopics(rows, group, first_rows, repeated_rows)
    agree = rows.value[first_rows] == rows.value[repeated_rows]

    def describe(at: int) -> str:
        first, again = int(first_rows[at]), int(repeated_rows[at])
        grades = ", with the same grade" if agree[at] else f", {rows.value[first]:g} and {rows.value[again]:g}"
        return (
            f"document {shown(rows.doc[again])} judged again {_judged_for(rows, again)}"
            + _first_place(rows.faults, rows.line, first)
            + grades
        )

    rows.faults.add(
        "duplicate-judgment",
        rows.line[repeated_rows],
        expected=EXPECTED_JUDGMENTS[rows.judgments],
        found=describe,
        action=lambda at: "keep one of the two" + (", as `rankgauge qrels validate --fix` does" if agree[at] else ""),
    )


def _judged_for(rows: Rows, row: int) -> str:
    """The query of a judgment, and its group or subtopic."""
    query = f"query {shown(rows.query[row])}"
    if rows.judgments == "grades" or rows.iters is None:
        return f"for {query}"
    group = shown(rows.iters[row])
    return f"for subtopic {group} of {query}" if rows.judgments == "subtopics" else f"by group {group} for {query}"


def check_no_subtopics(rows: Rows, query: Ints, first_rows: Ints, repeated_rows: Ints) -> None:
    """Raise if documents have several judgments because there is one for each subtopic."""
    from rankgauge.io.checks.subtopics import SUBTOPIC_HINT, describe_subtopics, is_by_subtopic

    if rows.iters is not None and is_by_subtopic(query, rows.iters, rows.doc, repeated_rows):
        found = describe_subtopics(rows.query, rows.iters, rows.doc, int(first_rows[0]), repeated_rows)
        line = int(rows.line[repeated_rows[0]]) or None
        message = f"expected {ONE_JUDGMENT}, found {found}"
        raise InputError.at(rows.faults.source, line, message, hint=SUBTOPIC_HINT)


def _first_place(faults: Faults, line: Ints, row: int) -> str:
    return f" (first on {faults.describe_line(int(line[row]))})" if line[row] else ""


def raise_or_warn(faults: Faults) -> None:
    """Raise if there is an error, and warn of the rest."""
    faults.raise_errors()
    warn_of_faults(faults)


def warn_of_faults(faults: Faults) -> None:
    """Issue a Python warning for each code of the faults that are only warnings."""
    for note in faults.notes("warning"):
        warn_user(note.message)
