r"""A document for a paper: booktabs, the best in bold, marks with their legend, and nothing from data interpreted.

``\usepackage{booktabs}`` is all that a document needs. Letters of other scripts stay as they are; characters that
pdfLaTeX does not have (−, Δ, ▲, …) become commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rankgauge.errors import printable
from rankgauge.render.document import (
    BETTER,
    WORSE,
    Cell,
    ChartData,
    DocumentSection,
    Part,
    ResultDocument,
    Table,
    Words,
)
from rankgauge.render.formats.markdown import lines_of

# A star or a bracket after the end of a row would be read as its argument.
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "*": "{*}", "[": "{[}", "]": "{]}",
    "−": "$-$", "×": r"$\times$", "Δ": r"$\Delta$", "…": r"\ldots{}", "–": "{--}",
    BETTER: r"$\uparrow$", WORSE: r"$\downarrow$",
}  # fmt: skip
_TRANSLATION = str.maketrans(_LATEX_ESCAPES)
PREAMBLE_COMMENT = r"% needs \usepackage{booktabs}"


def as_latex(document: ResultDocument) -> str:
    """Each table with its legend in a float of its own, and sentences as paragraphs between them."""
    return "\n\n".join([PREAMBLE_COMMENT, *_blocks(document.parts())]) + "\n"


def _blocks(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, DocumentSection):
            yield from _blocks(part.parts) if part.on_pages else ()
        elif isinstance(part, Table):
            yield _float(part.for_page())
        elif isinstance(part, ChartData):
            yield from _blocks(part.instead)
        else:
            yield from map(escaped, lines_of(part))


def escaped(text: str) -> str:
    """Text in which TeX interprets nothing, and no ligature joins two hyphens."""
    separated = re.sub("-(?=-)", "-\0", printable(text, None))
    return separated.translate(_TRANSLATION).replace("\0", "{}")


def _float(table: Table) -> str:
    lines = [r"\begin{table}", r"\centering", *_tabular(table)]
    legend = table.legend_with("bold: the best")
    if legend:
        lines += [r"\par\smallskip", rf"{{\footnotesize {escaped(legend)}\par}}"]
    return "\n".join([*lines, r"\end{table}"])


def _tabular(table: Table) -> list[str]:
    alignment = "".join("l" if column.is_words else "r" for column in table.columns)
    head = [Words(column.title) for column in table.columns]
    return [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *(_row(row) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    is_strong = isinstance(cell, Words) and cell.strong
    text = rf"\textbf{{{escaped(cell.text)}}}" if cell.best or is_strong else escaped(cell.text)
    return f"{text} {escaped(cell.mark)}" if cell.mark else text
