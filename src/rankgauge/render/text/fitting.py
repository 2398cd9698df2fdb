"""A table that is wider than the terminal: the other orientation, shorter names, fewer columns, or several tables.

In this order: names are shortened to a readable length; rows and columns are swapped if that fits; columns that may be
hidden are hidden; names are shortened further; and if all that is not enough, the table is split into tables below each
other, which repeat the columns of words and hide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.terminal import COLUMN_GAP, Layout, aligned, column_widths, is_within
from rankgauge.render.text.wrapping import shortened

READABLE_NAME, SHORTEST_NAME = 24, 10


def fitted(grid: Grid, layout: Layout) -> tuple[str, list[str]]:
    """A table that fits the layout, and the titles of the columns that were hidden."""
    for candidate, shortest, hidden in _candidates(grid):
        text = _with_longest_names(candidate, layout, shortest)
        if text is not None:
            return text, hidden
    orientations = [grid, grid.transposed()] if grid.transposable else [grid]
    return min((stacked(one, layout) for one in orientations), key=lambda text: text.count("\n")), []


def _candidates(grid: Grid) -> Iterator[tuple[Grid, int, list[str]]]:
    """The table made narrower step by step: how short its names may become, and the titles of its hidden columns."""
    yield grid, READABLE_NAME, []
    if grid.transposable:
        yield grid.transposed(), SHORTEST_NAME, []
    hidden: list[str] = []
    for title in grid.hideable:
        grid = _only(grid, [number for number, other_title in enumerate(grid.head) if other_title != title])
        hidden.append(title)
        yield grid, READABLE_NAME, list(hidden)
    yield grid, SHORTEST_NAME, hidden


def _with_longest_names(grid: Grid, layout: Layout, shortest: int) -> str | None:
    """The table with names as long as fit; None if it does not even fit with the shortest."""
    fitting, low, high = None, shortest, layout.chart_width
    while low <= high:
        limit = shortest if fitting is None else (low + high) // 2
        text = aligned(with_short_names(grid, limit), layout)
        if is_within(text, layout.chart_width):
            fitting, low = text, limit + 1
        elif fitting is None:
            return None
        else:
            high = limit - 1
    return fitting


def with_short_names(grid: Grid, limit: int) -> Grid:
    """The table with columns of words, and titles that are names, of at most ``limit`` columns of the terminal."""
    columns = [shortened([grid.head[n], *(row[n].text for row in grid.rows)], limit) for n in range(grid.words)]
    titles = list(grid.head[grid.words :])
    if grid.named_columns:
        titles = shortened(titles, limit)
    rows = [
        [
            *(replace(cell, text=column[number]) for cell, column in zip(row[: grid.words], columns, strict=True)),
            *row[grid.words :],
        ]
        for number, row in enumerate(grid.rows, 1)
    ]
    return replace(grid, head=[*(column[0] for column in columns), *titles], rows=rows)


def stacked(grid: Grid, layout: Layout) -> str:
    """Tables below each other, each with the columns of words and as many others as fit."""
    grid = with_short_names(grid, READABLE_NAME)
    words = list(range(grid.words))
    widths = [width + COLUMN_GAP for width in column_widths(grid, layout)]
    room = layout.chart_width + COLUMN_GAP - sum(widths[: grid.words])
    chunks: list[list[int]] = []
    for number in range(grid.words, len(grid.head)):
        if chunks and sum(widths[column] for column in (*chunks[-1], number)) <= room:
            chunks[-1].append(number)
        else:
            chunks.append([number])
    return "\n\n".join(_narrowest(_only(grid, [*words, *chunk]), layout) for chunk in chunks or [[]])


def _narrowest(grid: Grid, layout: Layout) -> str:
    """A table of one column of numbers, whose cells are cut if nothing else helps."""
    text = aligned(grid, layout)
    if is_within(text, layout.chart_width):
        return text
    grid = with_short_names(grid, SHORTEST_NAME)
    names = sum(width + COLUMN_GAP for width in column_widths(grid, layout)[: grid.words])
    room = max(SHORTEST_NAME, layout.chart_width - names - len("* ▲"))
    texts = [shortened([cell.text for cell in column], room) for column in _columns(grid)[grid.words :]]
    rows = [
        [
            *row[: grid.words],
            *(replace(cell, text=text[index]) for cell, text in zip(row[grid.words :], texts, strict=True)),
        ]
        for index, row in enumerate(grid.rows)
    ]
    head = [*grid.head[: grid.words], *shortened(grid.head[grid.words :], room)]
    return aligned(replace(grid, head=head, rows=rows), layout)


def _columns(grid: Grid) -> list[list[Cell]]:
    return [[row[number] for row in grid.rows] for number in range(len(grid.head))]


def _only(grid: Grid, columns: Sequence[int]) -> Grid:
    """The table with some of its columns."""
    rows = [[row[number] for number in columns] for row in grid.rows]
    return replace(grid, head=[grid.head[number] for number in columns], rows=rows)
