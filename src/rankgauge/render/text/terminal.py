"""Text for the terminal: tables and sentences that fit its width, readable without color.

With a width, sentences are wrapped between words, and a table that is too wide is made to fit. Without one, as in a
pipe or a file, nothing is wrapped or hidden, and only names of absurd length are shortened.

A table is made to fit in this order: names are shortened to a readable length; rows and columns are swapped if that
fits; columns that may be hidden are hidden; names are shortened further; and if all that is not enough, the table is
split into tables below each other, which repeat the columns of words and hide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell, Drawing, Grid, Lines, TerminalPart, VerdictLine

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
UNLIMITED_WIDTH = 160  # of charts, and before rows and columns are swapped, if nothing has to fit
MIN_WIDTH = 40  # a narrower terminal is treated as this wide
LABEL_WIDTH = 10
COLUMN_GAP = 2
READABLE_NAME, SHORTEST_NAME = 24, 10
_LABEL = re.compile(r"\S{1,24} {2,}(?=\S)")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Layout:
    """The width that text has to fit, None if it does not have to; whether there is color, and only ASCII."""

    width: int | None = None
    color: bool = False
    ascii: bool = False

    @property
    def chart_width(self) -> int:
        """The width of a chart and the text beside it."""
        return UNLIMITED_WIDTH if self.width is None else max(self.width, MIN_WIDTH)

    @property
    def best_legend(self) -> str:
        """What marks the best value."""
        return "bold: the best" if self.color else "* the best"


PLAIN = Layout()


def text_of(parts: Sequence[TerminalPart], layout: Layout = PLAIN, *, elsewhere: str = "use --format json") -> str:
    """Parts separated by blank lines; marks are explained once, and hidden columns named once.

    ``elsewhere`` says how a reader sees hidden columns, besides with a wider terminal.
    """
    blocks, hidden, explained, place = list[str](), list[str](), False, 0
    for part in parts:
        if isinstance(part, Grid):
            text, hidden_here = table_text(part, layout)
            hidden, place = [*hidden, *hidden_here], len(blocks) if hidden_here else place
            legend = part.legend_with("" if explained else layout.best_legend)
            explained = explained or part.has_best
            above, below = (wrapped(printable(line, None), layout, hanging=2) for line in (part.caption, legend))
            blocks.append("\n".join([*above, text, *below]))
        else:
            blocks.append(_block(part, layout))
    if hidden:  # said once, below the last table that lacks one
        note = f"hidden to fit the terminal: {', '.join(dict.fromkeys(hidden))}; widen it, or {elsewhere}"
        blocks[place] = "\n".join([blocks[place], *wrapped(printable(note, None), layout, hanging=2)])
    return "\n\n".join(block for block in blocks if block)


def _block(part: str | Lines | Drawing | VerdictLine, layout: Layout) -> str:
    if isinstance(part, Drawing):
        return part.text
    if isinstance(part, str):
        return "\n".join(hung(printable(part, None), layout))
    if isinstance(part, VerdictLine):
        word, colon, rest = "\n".join(wrapped(printable(part.text, None), layout, hanging=2)).partition(":")
        tone = YELLOW if part.passed is None else GREEN if part.passed else RED
        return f"{tone}{word}{RESET}{colon}{rest}" if layout.color else f"{word}{colon}{rest}"
    if not part.label:
        return "\n".join(line for text in part.lines for line in hung(printable(text, None), layout))
    texts = (wrapped(printable(text, None), layout, indent=LABEL_WIDTH) for text in part.lines)
    lines = [line for text in texts for line in text]
    return "\n".join(f"{'' if index else part.label:<{LABEL_WIDTH}}{line}" for index, line in enumerate(lines))


def hung(text: str, layout: Layout) -> list[str]:
    """A line wrapped below its text: after a label and at least two spaces, or else two columns further right."""
    content = text.lstrip(" ")
    indent = len(text) - len(content)
    label = _LABEL.match(content)
    lines = wrapped(content, layout, indent=indent, hanging=2 if label is None else label.end())
    return [" " * indent + line for line in lines] or [""]


def wrapped(text: str, layout: Layout, *, indent: int = 0, hanging: int = 0) -> list[str]:
    """The lines of a text that leaves room for an indent; all but the first have ``hanging`` spaces before them."""
    if not text:
        return []
    if layout.width is None:
        return [text]
    from rankgauge.render.text.wrapping import wrap

    return wrap(text, max(layout.width, MIN_WIDTH) - indent, hanging)


def table_text(grid: Grid, layout: Layout) -> tuple[str, list[str]]:
    """A table, and the titles of the columns that were hidden."""
    text = aligned(grid, layout)
    if is_within(text, layout.chart_width):
        return text, []
    if layout.width is not None:
        return fitted(grid, layout)
    grid = with_short_names(grid, UNLIMITED_WIDTH)  # a name that is longer than that cannot be read
    texts = [aligned(one, layout) for one in ([grid, grid.transposed()] if grid.transposable else [grid])]
    return min(texts, key=lambda table: len(table.partition("\n")[0])), []


def is_within(text: str, width: int) -> bool:
    """Whether no line of a text is wider; sequences for color do not count."""
    return all(display_width(line) <= width for line in text.split("\n"))


def aligned(grid: Grid, layout: Layout) -> str:
    """A table as wide as its content: words to the left, numbers to the right."""
    columns = [_column(grid, number, layout) for number in range(len(grid.head))]
    return "\n".join((" " * COLUMN_GAP).join(cells).rstrip() for cells in zip(*columns, strict=True))


def column_widths(grid: Grid, layout: Layout) -> list[int]:
    """The width of each column, with its marks."""
    return [display_width(_column(grid, number, layout)[0]) for number in range(len(grid.head))]


def _column(grid: Grid, number: int, layout: Layout) -> list[str]:
    cells = [row[number] for row in grid.rows]
    is_marked = any(cell.mark for cell in cells)
    is_starred = not layout.color and any(cell.best for cell in cells)
    texts = [_with_marks(cell, is_marked, is_starred) for cell in cells]
    width, title = max(map(display_width, (grid.head[number], *texts))), grid.head[number]
    if number >= grid.words:  # the title ends where the numbers do, if there is room
        title += " " * min(2 * is_marked + is_starred, width - display_width(title))
    lines = [_padded(text, width, left=number < grid.words) for text in (title, *texts)]
    if layout.color:
        for row, cell in enumerate(cells, 1):
            lines[row] = lines[row].replace(cell.text, f"{BOLD}{cell.text}{RESET}", 1) if cell.best else lines[row]
    return lines


def _with_marks(cell: Cell, is_marked: bool, is_starred: bool) -> str:
    """A cell's text with room for its marks, so that numbers with and without one are aligned."""
    mark = f" {cell.mark or ' '}" if is_marked else ""
    star = ("*" if cell.best else " ") if is_starred else ""
    return f"{cell.text}{star}{mark}"


def _padded(text: str, width: int, *, left: bool) -> str:
    spaces = " " * (width - display_width(text))
    return text + spaces if left else spaces + text


def display_width(text: str) -> int:
    """The number of columns that a text takes on a terminal, without sequences for color."""
    if "\x1b" in text:
        text = _COLOR.sub("", text)
    if text.isascii():
        return len(text)
    from rankgauge.render.text.wrapping import columns_of

    return columns_of(text)


def fitted(grid: Grid, layout: Layout) -> tuple[str, list[str]]:
    """A table that fits the layout, and the titles of the columns that were hidden."""
    for candidate in _candidates(grid):
        text = _with_longest_names(candidate.grid, layout, candidate.shortest_name)
        if text is not None:
            return text, candidate.hidden
    orientations = [grid, grid.transposed()] if grid.transposable else [grid]
    return min((stacked(one, layout) for one in orientations), key=lambda text: text.count("\n")), []


@dataclass(frozen=True)
class _NarrowerGrid:
    """A table made narrower: how short its names may become, and the titles of its hidden columns."""

    grid: Grid
    shortest_name: int
    hidden: list[str]


def _candidates(grid: Grid) -> Iterator[_NarrowerGrid]:
    """The table made narrower step by step."""
    yield _NarrowerGrid(grid, READABLE_NAME, [])
    if grid.transposable:
        yield _NarrowerGrid(grid.transposed(), SHORTEST_NAME, [])
    hidden: list[str] = []
    for title in grid.hideable:
        grid = _only(grid, [number for number, other_title in enumerate(grid.head) if other_title != title])
        hidden.append(title)
        yield _NarrowerGrid(grid, READABLE_NAME, list(hidden))
    yield _NarrowerGrid(grid, SHORTEST_NAME, hidden)


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
    from rankgauge.render.text.wrapping import shortened

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
    from rankgauge.render.text.wrapping import shortened

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
