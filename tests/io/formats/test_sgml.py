"""Tags of TREC's SGML."""

from __future__ import annotations

import pytest

from rankgauge.io.formats.sgml import find_elements, find_tags, without_tags


def elements(text: str, *names: str) -> list[str]:
    return [text[e.opening.end : e.closing.start] for e in find_elements(list(find_tags(text)), names)]


def test_tags_have_names_attributes_and_positions() -> None:
    text = 'a < b <Topic  number="1"\n type="x">t</TOPIC> <br/> 3 > 2'
    tags = list(find_tags(text))
    assert [(tag.name, tag.is_closing, tag.attributes) for tag in tags] == [
        ("topic", False, 'number="1"\n type="x"'),
        ("topic", True, ""),
        ("br", False, ""),
    ]
    assert [text[tag.start : tag.end] for tag in tags] == ['<Topic  number="1"\n type="x">', "</TOPIC>", "<br/>"]


def test_comments_and_declarations_are_not_tags() -> None:
    assert [tag.name for tag in find_tags("<?xml version='1'?><!DOCTYPE x><!-- <a> --><b>")] == ["b"]
    assert not list(find_tags("<!-- <a>"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<t>1</t><t>2</t>", ["1", "2"]),
        ("<t>1<t>2</t>3</t>", ["1<t>2"]),
        ("<t>1<u>2</u>", ["2"]),
        ("</t><t>1</t>", ["1"]),
        ("<t>", []),
    ],
)
def test_elements_end_at_the_next_closing_tag_of_their_name(text: str, expected: list[str]) -> None:
    assert elements(text, "t", "u") == expected


def test_text_without_tags_has_single_spaces_and_decoded_entities() -> None:
    assert without_tags("<p>Caf&eacute;\n &amp; <!-- x --> bar</p>") == "Café & bar"
