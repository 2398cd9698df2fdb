from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given

from rankgauge.errors import printable
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.latex import as_latex, escaped

from .texts import grids, texts

# Everything that escaped text may consist of: a command that prints a sign, a sign in braces or in mathematics, or a
# character that TeX does not obey.
TOKEN = re.compile(r"\{--\}|\\text[a-z]+\{\}|\\ldots\{\}|\\[{}&%$#_]|\$[^$]+\$|\{[*\[\]]\}|\{\}|[^\\{}$&%#_^~]")
PRINTED = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
    r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciigrave{}": "`", r"\ldots{}": "…", "{}": "",
    "{--}": "–", "$-$": "−", r"$\times$": "×", r"$\Delta$": "Δ", r"$\uparrow$": "▲", r"$\downarrow$": "▼",
}  # fmt: skip


def read(text: str) -> str:
    """What TeX prints of escaped text."""
    assert re.fullmatch(f"(?:{TOKEN.pattern})*", text), text
    signs = (PRINTED.get(token, token.lstrip("\\").strip("{}") or token[-1]) for token in TOKEN.findall(text))
    return "".join(signs)


@given(texts)
def test_tex_prints_what_the_text_says_and_obeys_nothing_in_it(text: str) -> None:
    assert read(escaped(text)) == printable(text, None)
    assert "--" not in escaped(text).replace("{--}", "")  # which TeX would join


@given(grids())
def test_every_row_has_as_many_columns_as_the_head_and_every_brace_is_closed(grid: Grid) -> None:
    lines = as_latex([grid]).splitlines()
    sides = next(line for line in lines if line.startswith(r"\begin{tabular}"))
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == len(grid.rows) + 1
    for line in rows:
        assert len(re.findall(r"(?<!\\)&", line)) + 1 == len(grid.head)
    assert sides.removeprefix(r"\begin{tabular}") == f"{{{'l' * grid.words}{'r' * (len(grid.head) - grid.words)}}}"
    whole = re.sub(r"\\[{}]", "", "\n".join(lines))
    assert whole.count("{") == whole.count("}")
    for name in ("table", "tabular"):
        assert whole.count(rf"\begin{{{name}}}") == whole.count(rf"\end{{{name}}}") == 1


@given(grids())
def test_nothing_behind_the_end_of_a_row_looks_like_an_argument_of_it(grid: Grid) -> None:
    lines = as_latex([grid]).splitlines()
    for line, following in pairwise(lines):
        if line.endswith((r"\\", "rule")):
            assert not following.lstrip().startswith(("[", "*"))


def test_the_best_is_bold_marks_are_arrows_and_the_legend_explains_them() -> None:
    grid = Grid(["", "95 %"], [[Cell("a_b"), Cell("−0.5", best=True, mark="▲")]], legend="▲ better")
    assert as_latex([grid]).splitlines()[2:] == [
        r"\begin{table}", r"\centering", r"\begin{tabular}{lr}", r"\toprule", r" & 95 \% \\", r"\midrule",
        r"a\_b & \textbf{$-$0.5} $\uparrow$ \\", r"\bottomrule", r"\end{tabular}", r"\par\smallskip",
        r"{\footnotesize bold: the best; $\uparrow$ better\par}", r"\end{table}",
    ]  # fmt: skip
