"""The parts of a view as HTML: everything from data is escaped, and styles hold only inside the wrapper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from rankgauge.core.formatting import plural
from rankgauge.render.html.text import plain_lines, shorten_middle
from rankgauge.render.notebook.parts import Fold, Footnote, Lead, Remarks, Table, ViewPart
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid
from rankgauge.render.text.markdown import Heading

WRAPPER = "rankgauge-view"
MAX_ROWS = 60  # of one table
MAX_CELL_CHARACTERS = 200
COLORS = re.compile(r":root \{(.*?)\}", re.DOTALL)
MARK_WORDS = {BETTER: "better", WORSE: "worse"}


def as_fragment(parts: Sequence[ViewPart], label: str) -> str:
    """A view for a notebook; ``label`` names it for screen readers."""
    return wrapped("".join(map(_part, parts)), label)


def wrapped(body: str, label: str, *classes: str) -> str:
    """Our own HTML with the styles that it needs."""
    names = " ".join((WRAPPER, *classes))
    return f'<div class="{names}" role="group" aria-label="{_text(label)}"><style>{styles()}</style>{body}</div>'


@cache
def styles() -> str:
    """The colors of the page and the rules of views, on few lines; every rule holds only inside the wrapper."""
    assets = files("rankgauge.render.html") / "assets"
    page, rules = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "notebook.css"))
    colors = COLORS.search(page)
    assert colors is not None  # in our own file
    used = set(re.findall(r"var\((--\w+)\)", rules))
    declarations = [line.strip() for line in colors[1].split(";") if line.split(":")[0].strip() in used]
    return f".{WRAPPER}{{{';'.join(declarations)}}}\n{rules}".replace("VIEW", f".{WRAPPER}.{WRAPPER}")


def _part(part: ViewPart) -> str:
    if isinstance(part, str):
        return f"<p>{_text(part)}</p>"
    if isinstance(part, Heading):
        return f'<p class="title">{_text(part.text)}</p>'
    if isinstance(part, Lead):
        tone = f" {part.tone}" if part.tone else ""
        return f'<p class="lead{tone}">{_text(part.text)}</p>'
    if isinstance(part, Footnote):
        return f'<p class="legend">{_text(part.text)}</p>'
    if isinstance(part, Remarks):
        items = "".join(f"<li>{_text(sentence)}</li>" for sentence in part.sentences)
        return f'<p class="title">{_text(part.title)}</p><ul>{items}</ul>' if items else ""
    if isinstance(part, Fold):
        inner = "".join(map(_part, part.parts))
        return f"<details><summary>{_text(part.summary)}</summary>{inner}</details>"
    return _table(part)


def _table(part: Table) -> str:
    grid, caption = part.grid, _text(part.caption)
    rows = grid.rows[:MAX_ROWS]
    head = "".join(_head_cell(title, column >= grid.words) for column, title in enumerate(grid.head))
    head_element = f"<thead><tr>{head}</tr></thead>" if any(grid.head) else ""
    body = "".join(f"<tr>{''.join(_cell(cell, column, grid) for column, cell in enumerate(row))}</tr>" for row in rows)
    table = f"<table><caption>{caption}</caption>{head_element}<tbody>{body}</tbody></table>"
    left_out = (len(grid.rows) if part.total is None else part.total) - len(rows)
    notes = [*filter(None, [grid.legend_with("bold: the best")])]
    notes += [f"{plural(left_out, 'more row')} not shown"] if left_out > 0 else []
    legend = "".join(f'<p class="legend">{_text(note)}</p>' for note in notes)
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{caption}">{table}</div>{legend}'


def _head_cell(title: str, is_number: bool) -> str:
    side = ' class="n"' if is_number else ""
    return f'<th scope="col"{side}>{_short(title)}</th>' if title else "<td></td>"


def _cell(cell: Cell, column: int, grid: Grid) -> str:
    text = f"<b>{_short(cell.text)}</b>" if cell.best else _short(cell.text)
    if cell.mark:
        word = MARK_WORDS.get(cell.mark, "")
        text += f' <i class="{word}" role="img" aria-label="{word}">{_text(cell.mark)}</i>'
    if column >= grid.words:
        return f'<td class="n">{text}</td>'
    is_head = cell.text and (any(grid.head) or column == 0)  # in a table of facts only the first column heads a row
    return f'<th scope="row">{text}</th>' if is_head else f"<td>{text}</td>"


def _short(text: str) -> str:
    return escape(shorten_middle(text, MAX_CELL_CHARACTERS))


def _text(text: str) -> str:
    return escape(plain_lines(text))
