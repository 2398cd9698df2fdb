r"""Tables for a paper: booktabs, the best in bold, marks with their legend, and nothing from data interpreted.

``\usepackage{booktabs}`` is all that a document needs. Letters of other scripts stay as they are; characters that
pdfLaTeX does not have (−, Δ, ▲, …) become commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankgauge.errors import printable
from rankgauge.render.text.grid import BETTER, WORSE, Cell, Grid

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


def as_latex(parts: Sequence[str | Grid]) -> str:
    """Each table with its legend in a float of its own, and sentences as paragraphs between them."""
    return (
        "\n\n".join([PREAMBLE_COMMENT, *(_float(part) if isinstance(part, Grid) else escaped(part) for part in parts)])
        + "\n"
    )


def escaped(text: str) -> str:
    """Text in which TeX interprets nothing, and no ligature joins two hyphens."""
    separated = re.sub("-(?=-)", "-\0", printable(text, None))
    return separated.translate(_TRANSLATION).replace("\0", "{}")


def _float(grid: Grid) -> str:
    lines = [r"\begin{table}", r"\centering", *_tabular(grid)]
    legend = grid.legend_with("bold: the best")
    if legend:
        lines += [r"\par\smallskip", rf"{{\footnotesize {escaped(legend)}\par}}"]
    return "\n".join([*lines, r"\end{table}"])


def _tabular(grid: Grid) -> list[str]:
    alignment = "l" * grid.words + "r" * (len(grid.head) - grid.words)
    head = [Cell(title) for title in grid.head]
    return [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *(_row(row) for row in grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{escaped(cell.text)}}}" if cell.best else escaped(cell.text)
    return f"{text} {escaped(cell.mark)}" if cell.mark else text
