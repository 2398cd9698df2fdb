"""The rows of a file, whatever its format: what readers make and writers take."""

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
from rankgauge.errors import RankgaugeWarning, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import NONE

ONCE = "keep each document once a query, or ask for the first: on_duplicate='first', --on-duplicate first"


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of the same length. ``value`` is the score or the grade; what a format does not have is None.

    Rows that could not be read are not here: ``faults`` tells of them.
    """

    faults: Faults
    line: Ints
    query: Ids
    doc: Ids
    value: Floats
    iters: Ids | None = None
    rank: Ids | None = None
    tag: Ids | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # what is known of each query, by its id
    empty: tuple[bytes, ...] = ()  # queries that are there without any row
    blank: Ints = field(default_factory=lambda: NONE)  # the lines with nothing on them, where that matters
    sha256: str | None = None

    def __len__(self) -> int:
        return len(self.line)

    def kept(self, keep: NDArray[np.bool_]) -> Rows:
        """Only some of the rows."""
        if keep.all():
            return self
        chosen = np.flatnonzero(keep)
        taken = {
            name: column.take(chosen)
            for name in ("query", "doc", "iters", "rank", "tag")
            if isinstance(column := getattr(self, name), Ids)
        }
        return replace(self, line=self.line[chosen], value=self.value[chosen], **taken)  # type: ignore[arg-type]

    def group(self, *, by_iter: bool = False) -> Ints:
        """A number for each query, or for each query and iter."""
        number = Interner()(self.query)
        if not by_iter or self.iters is None:
            return number
        pairs = np.stack([number, Interner()(self.iters)])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def run_of(rows: Rows, *, name: str, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from rows; raises where anything is wrong."""
    if on_duplicate == "error":
        first, second = repeated(rows.doc, rows.group())
        add_duplicates(rows.faults, rows.line, rows.doc, rows.query.__getitem__, first, second)
    _finish(rows)
    made = Run.build(rows.query, rows.doc, rows.value, name=name, sha256=rows.sha256)
    made = made.with_empty(rows.empty)
    return made.deduplicated() if on_duplicate == "first" else made


def add_duplicates(
    faults: Faults, line: Ints, doc: Ids, query: Callable[[int], bytes], first: Ints, second: Ints
) -> None:
    """Documents that stand twice in a query's results."""
    faults.add(
        "duplicate-document",
        line[second],
        expected="each document once in a query's results",
        found=lambda at: (
            f"document {shown(doc[int(second[at])])} again for query {shown(query(int(second[at])))}"
            + _first_on(line, int(first[at]))
        ),
        action=ONCE,
    )


def refuse_long(faults: Faults, line: Ints, query: Ids, doc: Ids, limit: int) -> None:
    """A fault for each id longer than a line may be."""
    for what, ids in (("query id", query), ("document id", doc)):
        if int(ids.length.max(initial=0)) <= limit:
            continue
        long = np.flatnonzero(ids.length > limit)
        faults.add(
            "long-id",
            line[long],
            expected=f"a {what} of at most {limit} bytes",
            found=lambda at, ids=ids, long=long: f"{ids.length[long[at]]}",  # type: ignore[misc]
            action="raise the limit with --max-line",
        )


def qrels_of(rows: Rows, *, name: str, by_subtopic: bool = False) -> Qrels:
    """Judgments from rows; raises where anything is wrong."""
    first, second = repeated(rows.doc, rows.group(by_iter=by_subtopic))
    rows.faults.add(
        "duplicate-judgment",
        rows.line[second],
        expected="one judgment of each document for a query",
        found=lambda at: (
            f"document {shown(rows.doc[int(second[at])])} judged again for query {shown(rows.query[int(second[at])])}"
            + _first_on(rows.line, int(first[at]))
            + _grades(rows, int(first[at]), int(second[at]))
        ),
        action=lambda at: (
            "keep one of the two"
            + (", as `rankgauge qrels validate --fix` does" if _same(rows, int(first[at]), int(second[at])) else "")
        ),
    )
    _finish(rows)
    made = Qrels.build(
        rows.query, rows.doc, rows.value, iters=rows.iters, by_subtopic=by_subtopic, name=name, unique=False
    )
    return made.with_queries(rows.empty).with_columns(rows.columns)


def _first_on(line: Ints, row: int) -> str:
    return f" (first on line {line[row]})" if line[row] else ""


def _grades(rows: Rows, one: int, other: int) -> str:
    if _same(rows, one, other):
        return ", with the same grade"
    return f", {rows.value[one]:g} and {rows.value[other]:g}"


def _same(rows: Rows, one: int, other: int) -> bool:
    return bool(rows.value[one] == rows.value[other])


def _finish(rows: Rows) -> None:
    rows.faults.stop()
    warn(rows.faults)


def warn(faults: Faults) -> None:
    """Warn of what was read all the same."""
    for note in faults.notes("warning"):
        warnings.warn(note.message, RankgaugeWarning, stacklevel=5)
