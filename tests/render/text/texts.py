"""Texts from data that a format might obey."""

from __future__ import annotations

from hypothesis import strategies as st

from rankgauge.render.text.grid import BETTER, Cell, Grid

SIGNS = "\\`*_{}[]<>|&~#$@^%\"'!;:/.,-+=()?w1a é–−…Δ▲\r\n\t\x00\x1b\x85\u2028\u202e\udc80"
WHOLE = (
    "[a](http://b)",
    "<script>",
    "&lt;",
    "**",
    "www.a.org",
    "https://a.org",
    "\\end{tabular}",
    "\\\\",
    "---",
    "| |",
)

texts = st.one_of(st.text(max_size=12), st.text(SIGNS, max_size=12), st.sampled_from(WHOLE))


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """A table of any texts."""
    columns = draw(st.integers(1, 4))
    cells = st.builds(Cell, texts, st.booleans(), st.sampled_from([None, "", BETTER]))
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=4))
    head = draw(st.lists(texts, min_size=columns, max_size=columns))
    return Grid(head, rows, words=draw(st.integers(1, columns)), legend=draw(texts))
