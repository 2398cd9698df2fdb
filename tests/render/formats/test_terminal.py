"""The layout of terminal text: widths, lines, shorter names and narrower tables."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from rankgauge.render.document import Cell, Facts, Number, Sentences, Table, TableColumn, name, numbers, sentence, words
from rankgauge.render.formats.terminal import Layout, display_width
from rankgauge.render.formats.wrapping import columns_of, excerpt, shortened, wrap

from .texts import text_of

TEXT = st.text(st.sampled_from("ab cd-é検索e\u0301ß▲−→😀"), max_size=60)
COUNTING_RODS = "".join(map(chr, range(0x1D360, 0x1D380)))  # wide since Unicode 16
NAME = st.text(st.sampled_from("abcxyz-0189検索é▲"), min_size=1, max_size=50)


@given(
    st.text(
        st.characters(exclude_categories=("C", "Mc", "Lm", "Sk", "So", "Zl", "Zp"), exclude_characters=COUNTING_RODS)
    )
)
@example("\u1161\u11ff\ud7b0\ud7fb\u3164\uffa0")
def test_a_text_is_as_wide_as_rich_says(text: str) -> None:
    """Symbols, emoji and counting rods differ between versions of Unicode, and so between any two tables."""
    assert columns_of(text) == sum(cell_len(character) for character in text)


@given(TEXT, st.integers(10, 40), st.sampled_from([0, 2, 6]))
def test_wrapped_lines_fit_and_have_every_word(text: str, width: int, hanging: int) -> None:
    lines = wrap(text, width, hanging)
    assert " ".join(lines).split() == text.split()
    for number, line in enumerate(lines):
        content = line[hanging:] if number else line
        assert not number or line.startswith(" " * hanging)
        assert columns_of(line) <= width or len(content.split()) == 1 or "→" in content


@given(st.lists(NAME, min_size=1, max_size=8), st.integers(5, 30))
def test_shortened_names_fit_and_stay_different(names: list[str], width: int) -> None:
    short = shortened(names, width)
    assert all(columns_of(name) <= width for name in short)
    assert len(set(short)) == len(set(names))
    assert all(new == old for new, old in zip(short, names, strict=True)) or any(columns_of(n) > width for n in names)


def test_names_keep_both_ends_unless_that_makes_them_equal() -> None:
    assert shortened(["bm25-title-and-body", "dense"], 9) == ["bm25…body", "dense"]
    same_ends = ["run-with-k1-0.9-final", "run-with-k1-1.2-final"]
    assert shortened(same_ends, 8) == ["run-w…1", "run-w…2"] or len(set(shortened(same_ends, 8))) == 2
    assert excerpt("検索システム", 7) == "検索シ…"


def table(rows: int, columns: int, *, may_transpose: bool = False, hidden_first: tuple[str, ...] = ()) -> Table:
    titles = [f"nDCG@{number}" for number in range(columns)]
    order = {title: len(hidden_first) - place for place, title in enumerate(hidden_first)}
    head = [*words(""), *(TableColumn(title, may_hide=order.get(title, 0)) for title in titles)]
    cells: list[list[Cell]] = [
        [name(f"system-with-a-long-name-{row}"), *(Number(0.1234) for _ in range(columns))] for row in range(rows)
    ]
    return Table(head, cells, may_transpose=may_transpose)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (3, 20), (20, 3), (20, 20)])
@pytest.mark.parametrize("may_transpose", [False, True])
def test_a_table_fits_and_has_every_value(width: int, rows: int, columns: int, may_transpose: bool) -> None:
    text = text_of(table(rows, columns, may_transpose=may_transpose), layout=Layout(width))
    assert max(map(display_width, text.split("\n"))) <= width
    assert text.count("0.1234") == rows * columns
    assert all(f"nDCG@{number}" in text for number in range(columns))


def test_columns_are_hidden_in_order_and_named_once() -> None:
    first = table(2, 6, hidden_first=("nDCG@5", "nDCG@2"))
    text = text_of(first, sentence("sentence"), first, layout=Layout(70))
    assert text.count("hidden to fit the terminal: nDCG@5; widen it, or use --format json") == 1
    assert text.count("nDCG@5") == 1
    assert "nDCG@2" in text
    assert text.endswith("use --format json")
    whole = text_of(first)
    assert all(f"nDCG@{number}" in whole for number in range(6))
    assert "hidden" not in whole


def test_marks_take_no_room_where_there_are_none_and_the_best_is_explained_once() -> None:
    best = Number(0.5, digits=1, best=True, mark="▲")
    rows: list[list[Cell]] = [
        [name("a"), best, Number(1, "count")],
        [name("b"), Number(0.4, digits=1), Number(2, "count")],
    ]
    table = Table([*words(""), *numbers("x", "y")], rows, legend="▲ better")
    assert text_of(table, table) == (
        "     x     y\na  0.5* ▲  1\nb  0.4     2\n* the best; ▲ better\n\n"
        "     x     y\na  0.5* ▲  1\nb  0.4     2\n▲ better"
    )
    assert text_of(table, layout=Layout(color=True)).splitlines()[1] == "a  \x1b[1m0.5\x1b[0m ▲  1"


def test_a_label_stays_before_its_lines() -> None:
    text = text_of(Facts({"Caveats": ["one two three four five six seven eight", "nine"]}), layout=Layout(40))
    assert text.splitlines() == [
        "Caveats   one two three four five six",
        "          seven eight",
        "          nine",
    ]


def test_every_sentence_hangs_below_its_first_line() -> None:
    text = "conventions: " + "linear gain, " * 10
    for part in (sentence(text), Sentences([text], "footnote"), Sentences([text], "answer")):
        first, *others = text_of(part, layout=Layout(60)).split("\n")
        assert not first.startswith(" ")
        assert others
        assert all(line.startswith("  ") and not line.startswith("   ") for line in others)
