from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given

from rankgauge.errors import printable
from rankgauge.render.document import Cell, Number, Table, name, numbers, words
from rankgauge.render.formats.latex import as_latex, escaped

from .texts import shown_as, tables, texts

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


@given(tables())
def test_every_row_has_as_many_columns_as_the_head_and_every_brace_is_closed(table: Table) -> None:
    lines = as_latex(shown_as(table)).splitlines()
    sides = next(line for line in lines if line.startswith(r"\begin{tabular}"))
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == len(table.rows) + 1
    for line in rows:
        assert len(re.findall(r"(?<!\\)&", line)) + 1 == len(table.columns)
    wanted = "".join("l" if column.is_words else "r" for column in table.columns)
    assert sides.removeprefix(r"\begin{tabular}") == f"{{{wanted}}}"
    whole = re.sub(r"\\[{}]", "", "\n".join(lines))
    assert whole.count("{") == whole.count("}")
    for kind in ("table", "tabular"):
        assert whole.count(rf"\begin{{{kind}}}") == whole.count(rf"\end{{{kind}}}") == 1


@given(tables())
def test_nothing_behind_the_end_of_a_row_looks_like_an_argument_of_it(table: Table) -> None:
    lines = as_latex(shown_as(table)).splitlines()
    for line, following in pairwise(lines):
        if line.endswith((r"\\", "rule")):
            assert not following.lstrip().startswith(("[", "*"))


def test_the_best_is_bold_marks_are_arrows_and_the_legend_explains_them() -> None:
    row: list[Cell] = [name("a_b"), Number(-0.5, digits=1, best=True, mark="▲")]
    table = Table([*words(""), *numbers("95 %")], [row], legend="▲ better")
    assert as_latex(shown_as(table)).splitlines()[2:] == [
        r"\begin{table}", r"\centering", r"\begin{tabular}{lr}", r"\toprule", r" & 95 \% \\", r"\midrule",
        r"a\_b & \textbf{$-$0.5} $\uparrow$ \\", r"\bottomrule", r"\end{tabular}", r"\par\smallskip",
        r"{\footnotesize bold: the best; $\uparrow$ better\par}", r"\end{table}",
    ]  # fmt: skip
