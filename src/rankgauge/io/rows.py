"""The rows of a file, whatever its format: what readers produce and writers take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Interner, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, RankgaugeWarning, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.subtopics import SUBTOPIC_HINT, describe_subtopics, is_by_subtopic
from rankgauge.io.formats.tokens import NO_LINES

ONE_DOCUMENT_ONCE = "each document once in the ranking of a query"
ONE_JUDGMENT = "one judgment of each document for a query"
DUPLICATE_HINT = "keep each document once per query, or keep the first: on_duplicate='first', --on-duplicate first"
ID_COLUMNS = ("query", "doc", "iters", "rank", "tag")


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of the same length. ``value`` is the score or the grade; a column that a format lacks is None.

    Rows that could not be read are missing: ``faults`` describes them.
    """

    faults: Faults
    line: Ints
    query: Ids
    doc: Ids
    value: Floats
    iters: Ids | None = None
    rank: Ids | None = None
    tag: Ids | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # further columns of each query, by its id
    empty: tuple[bytes, ...] = ()  # queries without any row
    blank: Ints = field(default_factory=lambda: NO_LINES)  # the blank lines, if they matter
    sha256: str | None = None

    def __len__(self) -> int:
        return len(self.line)

    def select(self, keep: NDArray[np.bool_]) -> Rows:
        """Only the rows that are kept."""
        if keep.all():
            return self
        kept = np.flatnonzero(keep)
        columns = {name: column.take(kept) for name in ID_COLUMNS if isinstance(column := getattr(self, name), Ids)}
        return replace(
            self,
            line=self.line[kept],
            value=self.value[kept],
            **columns,  # type: ignore[arg-type]  # the columns of these names
        )

    def group(self, *, by_iter: bool = False) -> Ints:
        """A number for each query, or for each query and iter."""
        number = Interner()(self.query)
        if not by_iter or self.iters is None:
            return number
        pairs = np.stack([number, Interner()(self.iters)])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def build_run(rows: Rows, *, name: str, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from rows; raises if anything is wrong."""
    if on_duplicate == "error":
        first_rows, repeated_rows = repeated(rows.doc, rows.group())
        report_duplicates(rows.faults, rows.line, rows.doc, rows.query.__getitem__, first_rows, repeated_rows)
    _raise_or_warn(rows)
    run = Run.build(rows.query, rows.doc, rows.value, name=name, sha256=rows.sha256).with_empty(rows.empty)
    return run.deduplicated() if on_duplicate == "first" else run


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
            + _first_place(line, int(first_rows[at]))
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
    group = rows.group(by_iter=by_subtopic)
    first_rows, repeated_rows = repeated(rows.doc, group)
    if len(repeated_rows) and not by_subtopic:
        check_no_subtopics(rows, group, first_rows, repeated_rows)
    agree = rows.value[first_rows] == rows.value[repeated_rows]

    def describe(at: int) -> str:
        first, again = int(first_rows[at]), int(repeated_rows[at])
        grades = ", with the same grade" if agree[at] else f", {rows.value[first]:g} and {rows.value[again]:g}"
        return (
            f"document {shown(rows.doc[again])} judged again for query {shown(rows.query[again])}"
            + _first_place(rows.line, first)
            + grades
        )

    rows.faults.add(
        "duplicate-judgment",
        rows.line[repeated_rows],
        expected=ONE_JUDGMENT,
        found=describe,
        action=lambda at: "keep one of the two" + (", as `rankgauge qrels validate --fix` does" if agree[at] else ""),
    )
    _raise_or_warn(rows)
    qrels = Qrels.build(
        rows.query, rows.doc, rows.value, iters=rows.iters, by_subtopic=by_subtopic, name=name, unique=False
    )
    return qrels.with_queries(rows.empty).with_columns(rows.columns)


def check_no_subtopics(rows: Rows, query: Ints, first_rows: Ints, repeated_rows: Ints) -> None:
    """Raise if documents have several judgments because there is one for each subtopic."""
    if rows.iters is not None and is_by_subtopic(query, rows.iters, rows.doc, repeated_rows):
        found = describe_subtopics(rows.query, rows.iters, rows.doc, int(first_rows[0]), repeated_rows)
        line = int(rows.line[repeated_rows[0]]) or None
        message = f"expected {ONE_JUDGMENT}, found {found}"
        raise InputError.at(rows.faults.source, line, message, hint=SUBTOPIC_HINT)


def _first_place(line: Ints, row: int) -> str:
    return f" (first on line {line[row]})" if line[row] else ""


def _raise_or_warn(rows: Rows) -> None:
    rows.faults.raise_errors()
    warn_of_faults(rows.faults)


def warn_of_faults(faults: Faults) -> None:
    """Issue a Python warning for each code of the faults that are only warnings."""
    for note in faults.notes("warning"):
        warnings.warn(note.message, RankgaugeWarning, stacklevel=5)
