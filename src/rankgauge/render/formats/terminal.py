"""A document on a terminal: tables and sentences that fit its width, readable without color.

With a width, sentences are wrapped between words, and a table that is too wide is made to fit. Without one, as in a
pipe or a file, nothing is wrapped or hidden, and only names of absurd length are shortened.

A table is made to fit in this order: names are shortened to a readable length; rows and columns are swapped if that
fits; columns that may be hidden are hidden; names are shortened further; and if all that is not enough, the table is
split into tables below each other, which repeat the columns of words and hide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import MISSING
from rankgauge.errors import Severity, printable, shown
from rankgauge.render.document import (
    NAME_END,
    NAME_START,
    READABLE_NAME,
    Cell,
    ChartData,
    DocumentSection,
    Facts,
    FindingPart,
    Line,
    Part,
    ResultDocument,
    Sentences,
    ShortLine,
    Table,
    TableColumn,
    Tone,
    Words,
    with_names,
)

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
TONE_COLORS: dict[Tone, str] = {"better": GREEN, "worse": RED, "neutral": YELLOW, "": ""}
SEVERITY_COLORS: dict[Severity, str] = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
UNLIMITED_WIDTH = 160  # of charts, and before rows and columns are swapped, if nothing has to fit
MIN_WIDTH = 40  # a narrower terminal is treated as this wide
LABEL_WIDTH, DETAIL_WIDTH = 10, 9
COLUMN_GAP = 2
SHORTEST_NAME = 10
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


def as_text(document: ResultDocument, layout: Layout = PLAIN) -> str:
    """Parts separated by blank lines; marks are explained once, and hidden columns named once."""
    blocks, hidden, explained, place = list[str](), list[str](), False, 0
    for part in _flat(document.parts()):
        if isinstance(part, Table):
            table = _with_columns_below(part)
            text, hidden_here = table_text(table, layout)
            hidden, place = [*hidden, *hidden_here], len(blocks) if hidden_here else place
            legend = table.legend_with("" if explained else layout.best_legend)
            explained = explained or table.has_best
            above, below = (wrapped(printable(line, None), layout, hanging=2) for line in (table.caption, legend))
            blocks.append("\n".join([*above, text, *below]))
        else:
            blocks.append(_block(part, layout))
    if hidden:  # said once, below the last table that lacks one
        note = f"hidden to fit the terminal: {', '.join(dict.fromkeys(hidden))}; widen it, or {document.elsewhere}"
        blocks[place] = "\n".join([blocks[place], *wrapped(printable(note, None), layout, hanging=2)])
    return "\n\n".join(block for block in blocks if block) + "\n"


def _flat(parts: Sequence[Part]) -> Iterator[Sentences | Table | Facts | FindingPart | ChartData]:
    """A terminal has no titles of sections, and folds nothing."""
    for part in parts:
        if isinstance(part, DocumentSection):
            yield from _flat(part.parts if part.on_terminal else ())
        else:
            yield part


def _block(part: Sentences | Facts | FindingPart | ChartData, layout: Layout) -> str:
    if isinstance(part, ChartData):
        from rankgauge.render.formats.text_chart import drawing

        return drawing(part, layout)
    if isinstance(part, Facts):
        facts = (_labeled(label, lines, layout) for label, lines in part.present.items())
        return "\n".join(line for lines in facts for line in lines)
    if isinstance(part, FindingPart):
        return "\n".join(_finding_lines(part, layout))
    if part.role in ("answer", "verdict"):
        return "\n".join(line for row, text in enumerate(part.lines) for line in _answer_lines(part, row, text, layout))
    titled = [part.title, *part.lines] if part.title else part.lines
    return "\n".join(line for text in titled for line in hung(_line(text, layout), layout))


def _answer_lines(part: Sentences, row: int, line: Line, layout: Layout) -> list[str]:
    """The first sentence after the word of a verdict, in its color; a name from data that starts an answer is bold.

    Colors come after wrapping, which would count their sequences as columns.
    """
    text = line if isinstance(line, str) else line.within(None)
    if part.role == "verdict" and row:
        return wrapped(printable(with_names(text, printable), None), layout, hanging=2)
    if part.role == "verdict":
        first, *others = wrapped(printable(f"{part.title}: {with_names(text, printable)}", None), layout, hanging=2)
        color, end = (TONE_COLORS[part.tone], RESET) if layout.color else ("", "")
        return [f"{color}{part.title}{end}{first.removeprefix(part.title)}", *others]
    first, *others = hung(printable(with_names(text, lambda one: printable(one, None)), None), layout)
    named = printable(text[1:].partition(NAME_END)[0], None) if text.startswith(NAME_START) else ""
    if named and layout.color and first.startswith(named):
        first = f"{BOLD}{named}{RESET}{first.removeprefix(named)}"
    return [first, *others]


def _labeled(label: str, lines: Sequence[Line], layout: Layout) -> list[str]:
    """Lines after their label."""
    narrow = layout if layout.width is None else replace(layout, width=layout.chart_width - LABEL_WIDTH)
    texts = (wrapped(_line(line, narrow).strip(), layout, indent=LABEL_WIDTH) for line in lines)
    made = [line for text in texts for line in text]
    return [f"{'' if index else label:<{LABEL_WIDTH}}{line}" for index, line in enumerate(made)]


def _line(line: Line, layout: Layout) -> str:
    """A sentence in which nothing from data is interpreted; names from data are quoted."""
    if isinstance(line, ShortLine):
        return line.within(None if layout.width is None else layout.chart_width)
    return printable(with_names(line, shown) if NAME_START in line else line, None)


def _finding_lines(finding: FindingPart, layout: Layout) -> list[str]:
    first, *others = hung(f"{finding.severity} {finding.code} ({finding.count:,}): {finding.message}", layout)
    if layout.color:  # after wrapping, which would count the sequences as columns
        first = f"{SEVERITY_COLORS[finding.severity]}{finding.severity}{RESET}{first.removeprefix(finding.severity)}"
    lines = [first, *others]
    for label, text in finding.details:
        indent = 2 if label in ("found", "") else 0
        rows = wrapped(text, layout, indent=DETAIL_WIDTH + 3, hanging=indent) or [""]
        lines += [f"  {'' if row else label:<{DETAIL_WIDTH}} {line}" for row, line in enumerate(rows)]
    return lines


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
    from rankgauge.render.formats.wrapping import wrap

    return wrap(text, max(layout.width, MIN_WIDTH) - indent, hanging)


# ----------------------------------------------------------------------------------------------------------- tables


def _with_columns_below(table: Table) -> Table:
    """The table without the columns that are listed below it, to leave room for the others."""
    below = [place for place, column in enumerate(table.columns) if column.is_below]
    if not below:
        return table
    legend = [] if not table.legend else [table.legend]
    for place in below:
        values = [f"{row[0].text} {row[place].text}" for row in table.rows if row[place].text != MISSING]
        legend += [f"{table.columns[place].title}: {', '.join(values)}"] if values else []
    return replace(_only(table, lambda column: not column.is_below), legend="; ".join(legend))


def _only(table: Table, is_kept: Callable[[TableColumn], bool]) -> Table:
    """The table with some of its columns."""
    kept = [place for place, column in enumerate(table.columns) if is_kept(column)]
    rows = [[row[place] for place in kept] for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in kept], rows=rows)


TextCell = tuple[str, bool, str]  # a text, whether it is the best, and its mark; a tuple, since there may be many


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text; ``words`` are its first columns, to the left."""

    head: Sequence[str]
    rows: Sequence[Sequence[TextCell]]
    words: int
    named: Sequence[int] = ()  # the columns whose titles may be shortened


def _as_texts(table: Table) -> TextTable:
    columns = table.columns
    rows = [[(_cell_text(cell), cell.best, cell.mark) for cell in row] for row in table.rows]
    words = next((place for place, column in enumerate(columns) if not column.is_words), len(columns))
    named = [place for place, column in enumerate(columns) if column.from_data and place >= words]
    return TextTable([_safe(column.title) for column in columns], rows, words, named)


def _cell_text(cell: Cell) -> str:
    if not isinstance(cell, Words):
        return cell.text
    return cell.text.upper() if cell.strong else _safe(cell.text)


def _safe(text: str) -> str:
    return text if text.isprintable() else printable(text, None)


def table_text(table: Table, layout: Layout) -> tuple[str, list[str]]:
    """A table, and the titles of the columns that were hidden."""
    texts = _as_texts(table)
    text = aligned(texts, layout)
    if is_within(text, layout.chart_width):
        return text, []
    if layout.width is not None:
        return fitted(table, layout)
    # A name that is longer than that cannot be read.
    candidates = [with_short_names(one, UNLIMITED_WIDTH) for one in _orientations(table)]
    return min((aligned(one, layout) for one in candidates), key=lambda one: len(one.partition("\n")[0])), []


def _orientations(table: Table) -> list[TextTable]:
    return [_as_texts(one) for one in ([table, table.transposed()] if table.may_transpose else [table])]


def is_within(text: str, width: int) -> bool:
    """Whether no line of a text is wider; sequences for color do not count."""
    return all(display_width(line) <= width for line in text.split("\n"))


def aligned(table: TextTable, layout: Layout) -> str:
    """A table as wide as its content: words to the left, numbers to the right."""
    columns = [_column(table, place, layout) for place in range(len(table.head))]
    return "\n".join((" " * COLUMN_GAP).join(cells).rstrip() for cells in zip(*columns, strict=True))


def column_widths(table: TextTable, layout: Layout) -> list[int]:
    """The width of each column, with its marks."""
    return [display_width(_column(table, place, layout)[0]) for place in range(len(table.head))]


def _column(table: TextTable, place: int, layout: Layout) -> list[str]:
    cells = [row[place] for row in table.rows]
    is_marked = any(mark for _, _, mark in cells)
    is_starred = not layout.color and any(best for _, best, _ in cells)
    texts = [_with_marks(cell, is_marked, is_starred) for cell in cells]
    width, title = max(map(display_width, (table.head[place], *texts))), table.head[place]
    if place >= table.words:  # the title ends where the numbers do, if there is room
        title += " " * min(2 * is_marked + is_starred, width - display_width(title))
    lines = [_padded(text, width, left=place < table.words) for text in (title, *texts)]
    if layout.color:
        for row, (text, best, _) in enumerate(cells, 1):
            lines[row] = lines[row].replace(text, f"{BOLD}{text}{RESET}", 1) if best else lines[row]
    return lines


def _with_marks(cell: TextCell, is_marked: bool, is_starred: bool) -> str:
    """A cell's text with room for its marks, so that numbers with and without one are aligned."""
    text, best, sign = cell
    mark = f" {sign or ' '}" if is_marked else ""
    star = ("*" if best else " ") if is_starred else ""
    return f"{text}{star}{mark}"


def _padded(text: str, width: int, *, left: bool) -> str:
    spaces = " " * (width - display_width(text))
    return text + spaces if left else spaces + text


def display_width(text: str) -> int:
    """The number of columns that a text takes on a terminal, without sequences for color."""
    if "\x1b" in text:
        text = _COLOR.sub("", text)
    if text.isascii():
        return len(text)
    from rankgauge.render.formats.wrapping import columns_of

    return columns_of(text)


def fitted(table: Table, layout: Layout) -> tuple[str, list[str]]:
    """A table that fits the layout, and the titles of the columns that were hidden."""
    for candidate in _candidates(table):
        text = _with_longest_names(_as_texts(candidate.table), layout, candidate.shortest_name)
        if text is not None:
            return text, candidate.hidden
    return min((stacked(one, layout) for one in _orientations(table)), key=lambda text: text.count("\n")), []


@dataclass(frozen=True)
class _NarrowerTable:
    """A table made narrower: how short its names may become, and the titles of its hidden columns."""

    table: Table
    shortest_name: int
    hidden: list[str]


def _candidates(table: Table) -> Iterator[_NarrowerTable]:
    """The table made narrower step by step."""
    yield _NarrowerTable(table, READABLE_NAME, [])
    if table.may_transpose:
        yield _NarrowerTable(table.transposed(), SHORTEST_NAME, [])
    hidden: list[str] = []
    for order in sorted({column.may_hide for column in table.columns if column.may_hide}, reverse=True):
        hidden += [column.title for column in table.columns if column.may_hide == order]
        table = _only(table, lambda column, order=order: column.may_hide != order)  # type: ignore[misc]  # bound now
        yield _NarrowerTable(table, READABLE_NAME, list(hidden))
    yield _NarrowerTable(table, SHORTEST_NAME, hidden)


def _with_longest_names(table: TextTable, layout: Layout, shortest: int) -> str | None:
    """The table with names as long as fit; None if it does not even fit with the shortest."""
    fitting, low, high = None, shortest, layout.chart_width
    while low <= high:
        limit = shortest if fitting is None else (low + high) // 2
        text = aligned(with_short_names(table, limit), layout)
        if is_within(text, layout.chart_width):
            fitting, low = text, limit + 1
        elif fitting is None:
            return None
        else:
            high = limit - 1
    return fitting


def with_short_names(table: TextTable, limit: int) -> TextTable:
    """The table with columns of words, and titles that are names, of at most ``limit`` columns of the terminal."""
    from rankgauge.render.formats.wrapping import shortened

    columns = [shortened([table.head[n], *(row[n][0] for row in table.rows)], limit) for n in range(table.words)]
    head = [*(column[0] for column in columns), *table.head[table.words :]]
    for place, title in zip(table.named, shortened([head[place] for place in table.named], limit), strict=True):
        head[place] = title
    rows = [
        [
            *((column[number], *cell[1:]) for cell, column in zip(row[: table.words], columns, strict=True)),
            *row[table.words :],
        ]
        for number, row in enumerate(table.rows, 1)
    ]
    return replace(table, head=head, rows=rows)


def stacked(table: TextTable, layout: Layout) -> str:
    """Tables below each other, each with the columns of words and as many others as fit."""
    table = with_short_names(table, READABLE_NAME)
    words = list(range(table.words))
    widths = [width + COLUMN_GAP for width in column_widths(table, layout)]
    room = layout.chart_width + COLUMN_GAP - sum(widths[: table.words])
    chunks: list[list[int]] = []
    for number in range(table.words, len(table.head)):
        if chunks and sum(widths[column] for column in (*chunks[-1], number)) <= room:
            chunks[-1].append(number)
        else:
            chunks.append([number])
    return "\n\n".join(_narrowest(_places(table, [*words, *chunk]), layout) for chunk in chunks or [[]])


def _narrowest(table: TextTable, layout: Layout) -> str:
    """A table of one column of numbers, whose cells are cut if nothing else helps."""
    text = aligned(table, layout)
    if is_within(text, layout.chart_width):
        return text
    from rankgauge.render.formats.wrapping import shortened

    table = with_short_names(table, SHORTEST_NAME)
    names = sum(width + COLUMN_GAP for width in column_widths(table, layout)[: table.words])
    room = max(SHORTEST_NAME, layout.chart_width - names - len("* ▲"))
    others = range(table.words, len(table.head))
    texts = [shortened([row[place][0] for row in table.rows], room) for place in others]
    rows = [
        [
            *row[: table.words],
            *((text[index], *cell[1:]) for cell, text in zip(row[table.words :], texts, strict=True)),
        ]
        for index, row in enumerate(table.rows)
    ]
    head = [*table.head[: table.words], *shortened(table.head[table.words :], room)]
    return aligned(replace(table, head=head, rows=rows), layout)


def _places(table: TextTable, columns: Sequence[int]) -> TextTable:
    """The table with some of its columns."""
    rows = [[row[place] for place in columns] for row in table.rows]
    named = [number for number, place in enumerate(columns) if place in table.named]
    return TextTable([table.head[place] for place in columns], rows, table.words, named)
