"""Tables for the terminal: readable without colour, wide enough for the longest name."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell as Cell

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
LONGEST_NAME = 40


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]], *, colour: bool, starred: bool = True) -> str:
    """Columns aligned, the first to the left, numbers to the right. The best is bold, or starred without colour."""
    star = starred and not colour and any(cell.best for row in rows for cell in row)
    widths = [max([len(title), *(len(_marked(row[place])) for row in rows)]) for place, title in enumerate(head)]

    def fit(cell: Cell, place: int) -> str:
        width, said = widths[place], _marked(cell)
        text = f"{said:<{width}}" if place == 0 else f"{said:>{width}}"
        if cell.best and colour:
            text = text.replace(cell.text, f"{BOLD}{cell.text}{PLAIN}")
        if star and place:
            text += "*" if cell.best else " "
        return text

    lines = [[fit(Cell(title), place) for place, title in enumerate(head)]]
    lines += [[fit(cell, place) for place, cell in enumerate(row)] for row in rows]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _marked(cell: Cell) -> str:
    """A cell's text with room for its mark, so that numbers stand below each other with one and without."""
    return cell.text if cell.mark is None else f"{cell.text} {cell.mark or ' '}"


def name(text: str) -> str:
    """A name from data, safe to print and short enough for a table."""
    return printable(text, LONGEST_NAME)


def number(value: float | None, *, whole: bool = False) -> str:
    """Four decimals; a count without any; a dash where there is no value."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.0f}" if whole else f"{value:.4f}"
