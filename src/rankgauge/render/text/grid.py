"""What a text is made of before it is laid out for the terminal, Markdown or LaTeX."""

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
    mark: str = ""


@dataclass(frozen=True)
class Grid:
    """A head, rows with as many cells, and a legend."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    words: int = 1  # the number of columns, from the first, that hold words
    legend: str = ""
    caption: str = ""  # above the table, on a terminal
    hideable: Sequence[str] = ()  # the titles of columns that a narrow terminal may hide, the least important first
    transposable: bool = False  # whether rows and columns may be swapped if that fits better
    named_columns: bool = False  # whether the titles are names from data, which may be shortened

    @property
    def has_best(self) -> bool:
        """Whether a cell is the best of its kind."""
        return any(cell.best for row in self.rows for cell in row)

    def legend_with(self, best: str) -> str:
        """The legend, which starts with what marks the best value if there is one."""
        return "; ".join(filter(None, [best if self.has_best else "", self.legend]))

    def transposed(self) -> Grid:
        """Columns as rows; the first column becomes the head."""
        labels = [row[0].text for row in self.rows]
        rows = [[Cell(title), *(row[column] for row in self.rows)] for column, title in enumerate(self.head)]
        return Grid([self.head[0], *labels], rows[1:], legend=self.legend, named_columns=True)

    def for_page(self) -> Grid:
        """Transposed if it has more columns than fit on a page, and fewer that way."""
        return self.transposed() if len(self.head) > max(MAX_PAGE_COLUMNS, len(self.rows)) + 1 else self


@dataclass(frozen=True)
class Lines:
    """Lines of a terminal that belong together, perhaps with a label before the first."""

    lines: Sequence[str]
    label: str = ""


@dataclass(frozen=True)
class Drawing:
    """A chart of a terminal, drawn for its width."""

    text: str


@dataclass(frozen=True)
class VerdictLine:
    """A sentence that starts with a verdict and a colon."""

    text: str
    passed: bool | None  # None if it is neither passed nor failed


TerminalPart = str | Grid | Lines | Drawing | VerdictLine


def full(text: str) -> str:
    """A name from data, safe to print, in full."""
    return printable(text, None)
