"""A document says what something is; outputs decide how it looks, and read no word to find out what it means."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankgauge.render.document import (
    Cell,
    ChartData,
    Check,
    DocumentSection,
    Facts,
    Number,
    Range,
    ResultDocument,
    Rows,
    Sentences,
    ShortLine,
    Table,
    TableColumn,
    Tone,
    Words,
    marked,
    numbers,
    sentence,
    with_names,
    words,
)
from rankgauge.render.formats import rendered
from rankgauge.render.formats.terminal import Layout
from rankgauge.render.html.page_tables import content
from tests.render.formats.texts import shown_as, text_of


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
@example("a", "b\x03c\x02", "d")
def test_names_inside_a_sentence_are_found_again_and_what_is_around_them_is_not_touched(
    before: str, name: str, after: str
) -> None:
    own = [text.replace("\x02", "").replace("\x03", "") for text in (before, after)]
    text = f"{own[0]}{marked(name)}{own[1]}"
    safe = name.replace("\x02", r"\x02").replace("\x03", r"\x03")
    assert with_names(text, lambda found: f"<{found}>", str.upper) == f"{own[0].upper()}<{safe}>{own[1].upper()}"


def test_a_name_is_quoted_on_a_terminal_and_code_on_github() -> None:
    document = shown_as(sentence(f"lost: {marked('d*1')}"))
    assert rendered(document, "table") == "lost: 'd*1'\n"
    assert rendered(document, "markdown") == "lost: d\\*1\n"
    assert rendered(document, "github") == "- lost: `d*1`\n"


@pytest.mark.parametrize(("tone", "color"), [("better", "32"), ("worse", "31"), ("neutral", "33")])
def test_the_color_of_a_verdict_follows_its_tone_and_not_its_words(tone: Tone, color: str) -> None:
    part = Sentences(["FAILED: everything is worse."], "verdict", tone, "MISSED")
    text = text_of(part, layout=Layout(color=True))
    assert text == f"\x1b[{color}mMISSED\x1b[0m: FAILED: everything is worse."


def test_an_outcome_on_the_page_follows_its_tone_and_not_its_words() -> None:
    assert content(Words("missed", "better")) == (
        '<span class="verdict pass"><span aria-hidden="true">✓</span> Missed</span>'
    )
    assert content(Words("missed")) == "missed"


def test_a_strong_word_cannot_be_overlooked_in_any_format() -> None:
    table = Table([*words(""), TableColumn("", is_outcome=True)], [[Words("RR"), Words("worse", "worse", strong=True)]])
    assert "WORSE" in text_of(table)
    assert "**WORSE**" in rendered(shown_as(table), "markdown")
    assert r"\textbf{worse}" in rendered(shown_as(table), "latex")


def test_a_column_below_is_in_the_legend_of_a_terminal_and_in_the_table_elsewhere() -> None:
    columns = [*words(""), *numbers("now"), TableColumn("drop", is_below=True)]
    rows: list[list[Cell]] = [
        [Words("RR"), Number(0.5, digits=1), Number(0.25, digits=2)],
        [Words("AP"), Number(0.4, digits=1), Number(None)],
    ]
    table = Table(columns, rows)
    assert text_of(table) == "    now\nRR  0.5\nAP  0.4\ndrop: RR 0.25"
    assert "| RR | 0.5 | 0.25 |" in rendered(shown_as(table), "markdown")


def test_cells_have_the_form_of_their_kind() -> None:
    assert Number(0.5, digits=3, ends=(0.25, 1)).text == "0.500 (0.250 to 1.000)"
    assert Number(0.5, digits=3, ends=(None, None)).text == "0.500"
    assert Range(-0.5, 0.5, "difference").text == "−0.500 to +0.500"
    assert Range(None, 0.5).text == "at most 0.500"
    assert Range(None, None, reason="too few").text == "too few"


@given(st.integers(10, 200), st.integers(0, 4), st.text("abc ", max_size=80))
def test_a_short_line_fits_unless_its_start_does_not(width: int, count: int, quoted: str) -> None:
    line = ShortLine("  +0.5  q1", quoted, [f"document-{number}" for number in range(count)])
    text = line.within(width)
    assert len(text) <= max(width, len("  +0.5  q1"))
    assert text.startswith("  +0.5  q1")
    listed = sum(f"document-{number}" in text for number in range(count))
    assert f"+ {count - listed} more" in text or listed == count or text == "  +0.5  q1"


def test_an_output_has_the_parts_that_are_for_it() -> None:
    document = shown_as(
        DocumentSection("a", [sentence("terminal only")], on_pages=False),
        DocumentSection("b", [sentence("page only")], on_terminal=False),
        ChartData("means", None, [sentence("instead of a chart")]),
        Facts({"known": ["yes"], "unknown": [""]}),
    )
    page = rendered(document, "markdown")
    assert "terminal only" not in page
    assert all(text in page for text in ("## b", "page only", "instead of a chart", "known: yes"))
    assert "unknown" not in page
    assert "page only" not in text_of(DocumentSection("b", [sentence("page only")], on_terminal=False))


def test_an_output_computes_only_what_it_shows() -> None:
    def never() -> list[Sentences]:
        raise AssertionError

    document = ResultDocument("x", never, lambda: {"a": 1}, lambda: Rows(["a"], [{"a": 1}]))
    assert rendered(document, "json") == '{\n  "a": 1\n}\n'
    assert rendered(document, "csv") == "a\n1\n"
    assert rendered(document, "jsonl") == '{"a": 1}\n'


def test_every_check_is_a_test_case() -> None:
    checks = [
        Check("require", "RR >= 1", "failed", "RR >= 1 is missed: 0.5", "requirement", ["why"]),
        Check("against", "AP", "passed", "no worse"),
        Check("against", "P", "skipped", "nothing to test"),
    ]
    document = ResultDocument("Gate", lambda: [sentence("text")], checks=lambda: checks, properties=lambda: {"a": "b"})
    text = rendered(document, "junit")
    assert '<testsuite name="rankgauge gate" tests="3" failures="1" errors="0" skipped="1">' in text
    assert '<failure type="requirement" message="RR &gt;= 1 is missed: 0.5">why</failure>' in text
    assert '<skipped message="nothing to test" />' in text
    assert '<property name="a" value="b" />' in text
