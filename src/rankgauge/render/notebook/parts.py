"""What a view is made of, beside plain sentences, tables and headings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.markdown import Heading

Tone = Literal["", "better", "worse", "neutral"]


@dataclass(frozen=True)
class Lead:
    """The answer, at the top; with a tone, it is marked by a colored edge, and its words say the same."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Footnote:
    """How numbers were made, in small type."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``total`` is the number of rows if the grid has only the first of them."""

    grid: Grid
    caption: str
    total: int | None = None


@dataclass(frozen=True)
class Remarks:
    """A list of sentences under a title; nothing if there are none."""

    title: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Fold:
    """Parts that are shown when their summary is clicked."""

    summary: str
    parts: Sequence[ViewPart]


ViewPart = str | Heading | Lead | Footnote | Table | Remarks | Fold


def captioned(parts: Sequence[str | Grid], *captions: str) -> list[ViewPart]:
    """The parts of a page with a caption for each table, in their order; the last caption serves for the rest."""
    out: list[ViewPart] = []
    for part in parts:
        if isinstance(part, Grid):
            out.append(Table(part, captions[0]))
            captions = captions[1:] or captions
        else:
            out.append(part)
    return out


def facts(caption: str, values: dict[str, str]) -> Table:
    """A table of two columns; what is empty is left out."""
    rows = [[Cell(title), Cell(text)] for title, text in values.items() if text]
    return Table(Grid(["", ""], rows, words=2), caption)
