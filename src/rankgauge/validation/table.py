"""The rows of a file with what several checks need, each computed once and only if it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.batch import NO_LINES, Batch
from rankgauge.core.ids import Ids, Interner, Ints
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.tables import Floats, offsets_of
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Cause, Faults, HintText, MessageText
from rankgauge.io.checks.ranks import rank_numbers
from rankgauge.validation.codes import CODES


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """The rows of one file. ``skipped`` are the lines that have content and could not be read.

    A run that was scanned has only the rows of queries that may have a fault here; ``clean_rows`` and ``clean_queries``
    are the numbers of the others.
    """

    rows: Batch
    faults: Faults
    skipped: Ints = field(default_factory=lambda: NO_LINES)
    judgments: JudgmentKind = "grades"
    clean_rows: int = 0
    clean_queries: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _numbered_queries(self) -> tuple[Ints, Ids]:
        intern = Interner()
        return intern(self.rows.query), intern.ids

    @property
    def query(self) -> Ints:
        """The number of each row's query, in the order of first appearance."""
        return self._numbered_queries[0]

    @property
    def queries(self) -> Ids:
        """The ids of the queries, by number."""
        return self._numbered_queries[1]

    @property
    def row_count(self) -> int:
        """The number of rows of the file."""
        return len(self) + self.clean_rows

    @property
    def query_count(self) -> int:
        """The number of queries of the file."""
        return (len(self.queries) if len(self) else 0) + self.clean_queries

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each query."""
        return np.diff(self.offsets)

    @cached_property
    def offsets(self) -> Ints:
        """Where each query begins among the rows sorted by query."""
        return offsets_of(self.query, len(self.queries))

    @cached_property
    def first_rows(self) -> Ints:
        """The first row of each query."""
        return np.unique(self.query, return_index=True)[1].astype(np.int64)

    @cached_property
    def ranking(self) -> ranking.Ranking:
        """The rank of each row by the order rule."""
        order = np.argsort(self.query, kind="stable")
        sorted_ranking = ranking.rank(self.offsets, self.rows.doc.take(order), self.rows.value[order])
        columns = []
        for values in (sorted_ranking.rank, sorted_ranking.tie_first, sorted_ranking.tie_last):
            column = np.empty_like(values)
            column[order] = values
            columns.append(column)
        return ranking.Ranking(*columns)

    @cached_property
    def ranks(self) -> Floats | None:
        """The rank column: whole numbers, NaN if a cell is not one. None if there is no such column."""
        return None if self.rows.rank is None else rank_numbers(self.rows.rank)

    def describe_query(self, row: int) -> str:
        """The query of a row, for a message."""
        return f"query {shown(self.rows.query[row])}"

    def first_place(self, row: int) -> str:
        """The line of an earlier row, for a message; nothing if the format has no lines."""
        line = self.faults.describe_line(int(self.rows.line[row]))
        return f" (first on {line})" if line else ""

    def has_fault(self, code: str) -> bool:
        """Whether a fault of this code has been found already."""
        return any(count for (known_code, _), count in self.faults.counts.items() if known_code == code)

    def add(self, code: str, rows: Ints, *, expected: MessageText, found: MessageText, action: HintText = None) -> None:
        """Add faults on some rows."""
        self.add_lines(code, self.rows.line[rows], expected=expected, found=found, action=action)

    def add_lines(
        self, code: str, lines: Ints, *, expected: MessageText, found: MessageText, action: HintText = None
    ) -> None:
        """Add faults on some lines; 0 means no line."""
        severity = CODES[code].severity
        self.faults.add(code, lines, expected=expected, found=found, action=action, severity=severity)

    def add_cause(self, code: str, cause: Cause, *, expected: str, found: Callable[[Cause], str]) -> None:
        """Add rows that are wrong for one reason, as one fault."""
        self.faults.add_cause(code, cause, expected=expected, found=found, severity=CODES[code].severity)
