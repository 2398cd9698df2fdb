"""A table before it is formatted for the terminal, Markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import printable

BETTER, WORSE = "▲", "▼"
Show = Callable[[str], str]  # how a name from data is written into a cell
MAX_PAGE_COLUMNS = 8  # of numbers


@dataclass(frozen=True)
class Cell:
    """A text in a table, perhaps the best of its kind, perhaps with a mark of significance."""

    text: str
    best: bool = False
    mark: str | None = None  # None if it can have none, empty if it has none


@dataclass(frozen=True)
class Grid:
    """A head, rows with as many cells, and a legend."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    words: int = 1  # the number of columns, from the first, that hold words
    legend: str = ""

    def transposed(self) -> Grid:
        """Columns as rows; the first column becomes the head."""
        labels = [row[0].text for row in self.rows]
        rows = [[Cell(title), *(row[column] for row in self.rows)] for column, title in enumerate(self.head)]
        return Grid([self.head[0], *labels], rows[1:], legend=self.legend)

    def for_page(self) -> Grid:
        """Transposed if it has more columns than fit on a page, and fewer that way."""
        return self.transposed() if len(self.head) > max(MAX_PAGE_COLUMNS, len(self.rows)) + 1 else self


def full(text: str) -> str:
    """A name from data, safe to print, in full."""
    return printable(text, None)
