from __future__ import annotations

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rankgauge.errors import printable
from rankgauge.render.document import Cell, Number, Table, name, numbers, sentence, words
from rankgauge.render.formats.markdown import as_markdown, escaped, paragraph

from .texts import shown_as, tables, texts

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = {"text", "text_special", "strong_open", "strong_close"}


def read(inline: Token) -> str:
    """The words of a piece of text; anything but words and strong ones is an error."""
    out = []
    for token in inline.children or []:
        if token.type == "html_inline" and token.content == "<!-- -->":
            continue
        assert token.type in HARMLESS, token
        out.append(token.content)
    return "".join(out)


def said(text: str) -> str:
    return printable(text, None).strip()


@given(texts)
def test_a_paragraph_says_what_the_text_says_and_nothing_in_it_is_obeyed(text: str) -> None:
    tokens = READER.parse(paragraph(text))
    assert [token.type for token in tokens] == (["paragraph_open", "inline", "paragraph_close"] if said(text) else [])
    assert [read(token) for token in tokens if token.type == "inline"] == [said(text)][: len(tokens)]


@given(tables())
def test_every_cell_of_a_table_holds_its_own_text(table: Table) -> None:
    tokens = READER.parse(as_markdown(shown_as(table)))
    cells = [read(tokens[place + 1]) for place, token in enumerate(tokens) if token.type in ("th_open", "td_open")]
    wanted = [said(title) for title in (column.title for column in table.columns)]
    wanted += [said(f"{said(cell.text)} {cell.mark or ''}") for row in table.rows for cell in row]
    assert [" ".join(cell.split()) for cell in cells] == [" ".join(cell.split()) for cell in wanted]
    assert sum(token.type == "tr_open" for token in tokens) == len(table.rows) + 1


@pytest.mark.parametrize("text", ["www.example.org", "https://example.org", "see HTTP://x and WWW.y"])
def test_github_finds_no_link_in_data(text: str) -> None:
    safe = escaped(text)
    assert "www." not in safe.lower()
    assert "://" not in safe.replace("\\://", "")


def test_nobody_is_mentioned() -> None:
    assert escaped("@team nDCG@10") == "@<!-- -->team nDCG@10"


def test_the_best_is_strong_and_numbers_stand_to_the_right() -> None:
    row: list[Cell] = [name("a|b"), Number(0.5, digits=1, best=True, mark="▲")]
    table = Table([*words(""), *numbers("RR")], [row])
    assert as_markdown(shown_as(sentence("- so"), table)) == (
        "\\- so\n\n|  | RR |\n| --- | ---: |\n| a\\|b | **0.5** ▲ |\n\nbold: the best\n"
    )
