"""Texts and tables from data that a format might obey, and parts of documents as formats show them."""

from __future__ import annotations

from hypothesis import strategies as st

from rankgauge.comparison.comparison_result import Comparison
from rankgauge.render.document import BETTER, Cell, Number, Part, ResultDocument, Table, TableColumn, Words
from rankgauge.render.documents.comparison import Extent, comparison_document
from rankgauge.render.formats.terminal import PLAIN, Layout, as_text

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
def tables(draw: st.DrawFn) -> Table:
    """A table of any texts and numbers."""
    columns = draw(st.integers(1, 4))
    words = st.builds(Words, texts, from_data=st.booleans())
    numbers = st.builds(
        Number, st.none() | st.floats(-1e6, 1e6), best=st.booleans(), mark=st.sampled_from(["", BETTER])
    )
    cells: st.SearchStrategy[Cell] = st.one_of(words, numbers)
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=4))
    titles = draw(st.lists(texts, min_size=columns, max_size=columns))
    words_first = draw(st.integers(1, columns))
    head = [TableColumn(title, is_words=place < words_first) for place, title in enumerate(titles)]
    return Table(head, rows, legend=draw(texts))


def shown_as(*parts: Part) -> ResultDocument:
    """A document of some parts."""
    return ResultDocument("", lambda: parts)


def text_of(*parts: Part, layout: Layout = PLAIN) -> str:
    """Parts as a terminal shows them."""
    return as_text(shown_as(*parts), layout).removesuffix("\n")


def text_of_comparison(comparison: Comparison) -> str:
    """A comparison as a terminal shows it."""
    return as_text(comparison_document(comparison, Extent(sort="given")))
