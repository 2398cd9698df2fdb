"""Some rows of a source, in its order: what readers yield, checks see, and builders and writers take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids, Interner, Ints, concatenate, number_ids

if TYPE_CHECKING:
    from rankgauge.core.run import RunExtras
    from rankgauge.core.subtopic_judgments import Evidence

ID_COLUMNS = ("query", "doc", "iters", "rank", "tag")
NO_LINES: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of the same length. ``value`` is the score or the grade; a column that a source lacks is None.

    ``line`` is where each row is: its line, or its number if the source has no lines. If several judges judged,
    ``iters`` is the subtopic if judgments are by subtopic. A query may go on in the next batch.
    """

    line: Ints
    query: Ids
    doc: Ids
    value: Floats
    iters: Ids | None = None
    rank: Ids | None = None
    tag: Ids | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # further columns of each query, by its id
    empty: tuple[bytes, ...] = ()  # queries without any row
    failed: tuple[bytes, ...] = ()  # queries that the system failed to answer, with or without rows
    system: bytes = b""  # the run that all rows belong to, if the source knows it without a column of tags
    extras: RunExtras | None = None  # what came with the results of that run
    forbidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # documents not to be returned, by query
    evidence: Evidence | None = None  # alternatives among the judged documents, if queries list them
    blank: Ints = field(default_factory=lambda: NO_LINES)  # the blank lines, if they matter
    has_ranks_only: bool = False  # the values are ranks, of which scores are made when all rows of a query are there
    is_visible: bool = False  # whether the ids are known to have visible ASCII characters only
    begins: Ints | None = None  # where the rows of another query begin than before, if that is known
    is_whole: bool = False  # whether the last query is known to end here, if the source has its rows in one place

    def __len__(self) -> int:
        return len(self.line)

    def select(self, keep: NDArray[np.bool_]) -> Batch:
        """Only the rows that are kept."""
        return self if keep.all() else self.take(np.flatnonzero(keep))

    def take(self, rows: Ints) -> Batch:
        """Some rows, in the given order."""
        columns = {name: column.take(rows) for name in ID_COLUMNS if isinstance(column := getattr(self, name), Ids)}
        return replace(
            self,
            line=self.line[rows],
            value=self.value[rows],
            begins=None,
            is_whole=False,
            **columns,  # type: ignore[arg-type]  # the columns of these names
        )

    def slice(self, begin: int, end: int) -> Batch:
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
            begins=None,
            is_whole=False,
            **columns,  # type: ignore[arg-type]  # the columns of these names
        )

    def query_begins(self) -> Ints:
        """The rows whose query differs from that of the row before; the first one does."""
        return self.query.changes() if self.begins is None else self.begins

    @property
    def run_name(self) -> bytes:
        """The name of the run that the rows belong to; empty if they do not say so."""
        return self.system if self.tag is None or not len(self) else self.tag[len(self) - 1]

    def by_run(self) -> list[Batch]:
        """The rows of each run, by the tag, in the order of first appearance; all rows if there is one tag or none."""
        if self.tag is None or not len(self):
            return [self]
        run, runs = number_ids(self.tag, np.zeros(len(self), dtype=np.int64))
        return [self] if runs == 1 else [self.select(run == number) for number in range(runs)]

    def group(self, *, by_iter: bool = False, by_tag: bool = False) -> Ints:
        """A number for each query, or for each query and iter, and tag."""
        number, _ = self.query.distinct
        chosen = ((by_iter, self.iters), (by_tag, self.tag))
        others = [Interner()(column) for is_chosen, column in chosen if is_chosen and column is not None]
        others = [column for column in others if column.any()]
        if not others:
            return number
        keys = np.stack([number, *others])
        return np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


NO_ROWS = Batch(NO_LINES, Ids.from_bytes([]), Ids.from_bytes([]), np.zeros(0))


def concatenate_batches(parts: Sequence[Batch]) -> Batch:
    """All rows of some batches of one source, which have the same columns."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return NO_ROWS
    columns = {
        name: concatenate([getattr(part, name) for part in parts])
        for name in ID_COLUMNS
        if getattr(parts[0], name) is not None
    }
    return replace(
        parts[0],
        line=np.concatenate([part.line for part in parts]),
        value=np.concatenate([part.value for part in parts]),
        columns={name: values for part in parts for name, values in part.columns.items()},
        extras=joined_extras(part.extras for part in parts),
        empty=tuple(query for part in parts for query in part.empty),
        failed=tuple(query for part in parts for query in part.failed),
        blank=np.concatenate([part.blank for part in parts]),
        is_visible=all(part.is_visible for part in parts),
        begins=None,
        is_whole=False,
        **columns,  # type: ignore[arg-type]  # the columns of these names
    )


def joined_extras(parts: Iterable[RunExtras | None]) -> RunExtras | None:
    """What came with the results of some batches of one run: that of the first, with the given scores of all."""
    joined: RunExtras | None = None
    for extras in parts:
        joined = extras if joined is None else joined.with_given(extras)
    return joined


class Part(NamedTuple):
    """Which part of a file some rows of whole queries are."""

    is_first: bool = True
    is_last: bool = True


WHOLE = Part()
