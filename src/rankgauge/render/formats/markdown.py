"""A document as Markdown, in which nothing from data is interpreted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rankgauge.errors import printable
from rankgauge.render.document import (
    Cell,
    ChartData,
    DocumentSection,
    Facts,
    FindingPart,
    Line,
    Part,
    ResultDocument,
    Sentences,
    Table,
    Words,
    with_names,
)

_MARKDOWN_SIGNS = re.compile(r"[\\`*_{}\[\]<>|&~#$]")
_LINK = re.compile(r"(?<=www)\.|:(?=//)", re.IGNORECASE)  # what GitHub makes a link without brackets
_MENTION = re.compile(r"(?<!\w)@")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")  # what starts a list or a heading at the start of a line


def as_markdown(document: ResultDocument, *, titled: bool = False) -> str:
    """Paragraphs and tables, in order; ``titled`` if the title of the document is on the page, too."""
    title = [f"# {escaped(document.title)}"] if titled else []
    return "\n\n".join([*title, *blocks(document.parts())]) + "\n"


def blocks(parts: Sequence[Part]) -> Iterator[str]:
    """The parts of a page, one after the other."""
    for part in parts:
        if isinstance(part, DocumentSection):
            if part.on_pages:
                yield from [f"## {escaped(part.title)}"] if not part.folded else []
                yield from blocks(part.parts)
        elif isinstance(part, Table):
            yield table(part.for_page())
        elif isinstance(part, ChartData):
            yield from blocks(part.instead)
        else:
            yield from map(paragraph, lines_of(part))


def lines_of(part: Sentences | Facts | FindingPart) -> Iterator[str]:
    """The lines of a part that is no table."""
    if isinstance(part, Facts):
        yield from (f"{label}: {text_of_line(line)}" for label, lines in part.present.items() for line in lines)
    elif isinstance(part, FindingPart):
        yield f"{part.severity} {part.code} ({part.count:,}): {part.message}"
        yield from (f"{label}: {text}" if label else text for label, text in part.details)
    else:
        lines = [*map(text_of_line, part.lines)]
        if part.role == "verdict":
            yield from [f"{part.title}: {lines[0]}", *lines[1:]]
        else:
            yield from [part.title, *lines] if part.title else lines


def text_of_line(line: Line) -> str:
    """A line of its usual length, with its names as they are."""
    return with_names(line, str) if isinstance(line, str) else line.within(None, "; ")


def paragraph(text: str) -> str:
    """A text as a paragraph, whatever it starts with."""
    return _BLOCK.sub(r"\1\\\2", escaped(text).strip())


def escaped(text: str) -> str:
    """Text in which neither Markdown, HTML nor GitHub's mentions are interpreted."""
    safe = _MARKDOWN_SIGNS.sub(r"\\\g<0>", printable(text, None))
    return _MENTION.sub("@<!-- -->", _LINK.sub(r"\\\g<0>", safe))


def table(part: Table, show: Callable[[str], str] | None = None) -> str:
    """A table, and its legend below it; ``show`` writes names from data in a way of its own."""
    rule = ["---" if column.is_words else "---:" for column in part.columns]
    head = [escaped(column.title) for column in part.columns]
    rows = [[_cell(cell, show) for cell in row] for row in part.rows]
    lines = "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))
    legend = part.legend_with("bold: the best")
    return f"{lines}\n\n{paragraph(legend)}" if legend else lines


def _cell(cell: Cell, show: Callable[[str], str] | None) -> str:
    if show is not None and isinstance(cell, Words) and cell.from_data:
        return show(cell.text)
    text = escaped(cell.text).strip()
    if isinstance(cell, Words) and cell.strong:
        return f"**{text.upper()}**"
    strong = f"**{text}**" if cell.best and text else text
    return f"{strong} {cell.mark}" if cell.mark else strong
