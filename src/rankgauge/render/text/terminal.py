"""Tables for the terminal: readable without color, wide enough for the longest name."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell as Cell

BOLD, RESET = "\x1b[1m", "\x1b[0m"
MAX_NAME = 40


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]], *, color: bool, starred: bool = True) -> str:
    """Columns aligned, the first to the left, numbers to the right. The best is bold, or starred without color."""
    star = starred and not color and any(cell.best for row in rows for cell in row)
    widths = [max([len(title), *(len(_marked(row[column])) for row in rows)]) for column, title in enumerate(head)]

    def fit(cell: Cell, column: int) -> str:
        width, content = widths[column], _marked(cell)
        text = f"{content:<{width}}" if column == 0 else f"{content:>{width}}"
        if cell.best and color:
            text = text.replace(cell.text, f"{BOLD}{cell.text}{RESET}")
        if star and column:
            text += "*" if cell.best else " "
        return text

    lines = [[fit(Cell(title), column) for column, title in enumerate(head)]]
    lines += [[fit(cell, column) for column, cell in enumerate(row)] for row in rows]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _marked(cell: Cell) -> str:
    """A cell's text with room for its mark, so that numbers with and without one are aligned."""
    return cell.text if cell.mark is None else f"{cell.text} {cell.mark or ' '}"


def name(text: str) -> str:
    """A name from data, safe to print and short enough for a table."""
    return printable(text, MAX_NAME)
