"""A table before it has a form: the terminal, Markdown and LaTeX each make theirs of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankgauge.errors import printable

BETTER, WORSE = "▲", "▼"
Show = Callable[[str], str]  # how a name from data is written into a cell
MOST_COLUMNS = 8  # of numbers, where a page and not a terminal sets the width


@dataclass(frozen=True)
class Cell:
    """A text in a table, perhaps the best of its kind, perhaps with a mark of significance."""

    text: str
    best: bool = False
    mark: str | None = None  # None where it can have none, empty where it has none


@dataclass(frozen=True)
class Grid:
    """A head, rows of as many cells, and what must be known to read them."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    words: int = 1  # how many columns, from the first, hold words
    legend: str = ""

    def turned(self) -> Grid:
        """Columns as rows; the first column becomes the head."""
        labels = [row[0].text for row in self.rows]
        rows = [[Cell(title), *(row[place] for row in self.rows)] for place, title in enumerate(self.head)]
        return Grid([self.head[0], *labels], rows[1:], legend=self.legend)

    def for_page(self) -> Grid:
        """Turned where it has more columns than a page takes, and fewer that way."""
        return self.turned() if len(self.head) > max(MOST_COLUMNS, len(self.rows)) + 1 else self


def full(text: str) -> str:
    """A name from data, safe to print and as long as it is."""
    return printable(text, None)
