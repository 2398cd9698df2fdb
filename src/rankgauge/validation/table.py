"""The rows of a file with what several checks need of them, each computed once and only where asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Interner, Ints
from rankgauge.core.tables import Floats, offsets_of
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Advice, Said
from rankgauge.io.checks.ranks import numbers
from rankgauge.io.rows import Rows
from rankgauge.validation.codes import CODES

NONE: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of one file. ``skipped`` are the lines that hold something and could not be read."""

    rows: Rows
    skipped: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _numbered(self) -> tuple[Ints, Ids]:
        intern = Interner()
        return intern(self.rows.query), intern.ids

    @property
    def query(self) -> Ints:
        """The number of each row's query, in the order of first appearance."""
        return self._numbered[0]

    @property
    def queries(self) -> Ids:
        """The ids of the queries, by number."""
        return self._numbered[1]

    @cached_property
    def sizes(self) -> Ints:
        """How many rows each query has."""
        return np.diff(self.offsets)

    @cached_property
    def offsets(self) -> Ints:
        """Where each query begins among the rows sorted by query."""
        return offsets_of(self.query, len(self.queries))

    @cached_property
    def first(self) -> Ints:
        """The first row of each query."""
        return np.unique(self.query, return_index=True)[1].astype(np.int64)

    @cached_property
    def ranking(self) -> ranking.Ranking:
        """The place of each row by the order rule."""
        order = np.argsort(self.query, kind="stable")
        made = ranking.rank(self.offsets, self.rows.doc.take(order), self.rows.value[order])
        columns = []
        for values in (made.rank, made.tie_first, made.tie_last):
            column = np.empty_like(values)
            column[order] = values
            columns.append(column)
        return ranking.Ranking(*columns)

    @cached_property
    def ranks(self) -> Floats | None:
        """What the rank column says: whole numbers, NaN where it holds none. None where there is no such column."""
        if self.rows.rank is None:
            return None
        return numbers(self.rows.rank)

    def of(self, row: int) -> str:
        """The query of a row, for a message."""
        return f"query {shown(self.rows.query[row])}"

    def first_on(self, row: int) -> str:
        """Where an earlier row stands, for a message; nothing where the format has no lines."""
        return f" (first on line {self.rows.line[row]})" if self.rows.line[row] else ""

    def has(self, code: str) -> bool:
        """Whether a fault of this code was found already."""
        return any(count for (known, _), count in self.rows.faults.counts.items() if known == code)

    def add(self, code: str, rows: Ints, *, expected: Said, found: Said, action: Advice = None) -> None:
        """Faults on some rows."""
        self.add_lines(code, self.rows.line[rows], expected=expected, found=found, action=action)

    def add_lines(self, code: str, lines: Ints, *, expected: Said, found: Said, action: Advice = None) -> None:
        """Faults on some lines; 0 is no line at all."""
        severity = CODES[code].severity
        self.rows.faults.add(code, lines, expected=expected, found=found, action=action, severity=severity)
