"""Tables and sentences as Markdown, in which nothing from data is interpreted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell, Grid

_MARKDOWN_SIGNS = re.compile(r"[\\`*_{}\[\]<>|&~#$]")
_LINK = re.compile(r"(?<=www)\.|:(?=//)", re.IGNORECASE)  # what GitHub makes a link without brackets
_MENTION = re.compile(r"(?<!\w)@")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")  # what starts a list or a heading at the start of a line


@dataclass(frozen=True)
class Heading:
    """The title of a section; a deeper one is smaller."""

    text: str
    depth: int = 2


Part = str | Grid | Heading


def as_markdown(parts: Sequence[Part]) -> str:
    """Headings, paragraphs and tables, in order."""
    return "\n\n".join(_part(part) for part in parts) + "\n"


def _part(part: Part) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.depth} {escaped(part.text)}"
    return _table(part) if isinstance(part, Grid) else paragraph(part)


def paragraph(text: str) -> str:
    """A text as a paragraph, whatever it starts with."""
    return _BLOCK.sub(r"\1\\\2", escaped(text).strip())


def escaped(text: str) -> str:
    """Text in which neither Markdown, HTML nor GitHub's mentions are interpreted."""
    safe = _MARKDOWN_SIGNS.sub(r"\\\g<0>", printable(text, None))
    return _MENTION.sub("@<!-- -->", _LINK.sub(r"\\\g<0>", safe))


def _table(grid: Grid) -> str:
    rule = ["---" if column < grid.words else "---:" for column in range(len(grid.head))]
    lines = [[escaped(title) for title in grid.head], rule, *([_cell(cell) for cell in row] for row in grid.rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    legend = grid.legend_with("bold: the best")
    return f"{table}\n\n{paragraph(legend)}" if legend else table


def _cell(cell: Cell) -> str:
    text = escaped(cell.text).strip()
    strong = f"**{text}**" if cell.best and text else text
    return f"{strong} {cell.mark}" if cell.mark else strong
