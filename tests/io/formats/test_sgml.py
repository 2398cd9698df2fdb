"""Tags of TREC's SGML."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from rankgauge import InputError, read_queries
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


# TREC topics in the styles of different years, and XML topics.

OLD = """
<top>

<num> Number: 301
<title> Bicycle Lane Safety

<desc> Description:
Do separated lanes reduce the number of
accidents of cyclists?

<narr> Narrative:
A relevant document compares streets with & without a lane.  Opinions
are not relevant.

</top>

<top>

<num> Number: 302
<title> Winter Tires &amp; Ice

<desc> Description:
How do winter tires behave on ice?

<narr> Narrative:
Tests with a stopping distance are relevant.

</top>
"""
CLOSED = """<top>
<num>301</num>
<title>Bicycle Lane Safety</title>
<desc>Do separated lanes reduce the number of accidents of cyclists?</desc>
<narr>A relevant document compares streets with &amp; without a lane. Opinions are not relevant.</narr>
</top>
<top>
<num>302</num>
<title>Winter <i>Tires</i> &amp; Ice</title>
<desc>How do winter tires behave on ice?</desc>
<narr>Tests with a stopping distance are relevant.</narr>
</top>
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<!-- <topic number="0"><query>not one</query></topic> -->
<topics task="ad hoc">
  <topic number='301' type="faceted">
    <query>Bicycle Lane Safety</query>
    <description>Do separated lanes reduce the number of accidents of cyclists?</description>
    <narrative>A relevant document compares streets with &amp; without a lane. Opinions are not relevant.</narrative>
  </topic>
  <topic type=single number=302>
    <query>Winter Tires &amp; Ice</query>
    <description>How do winter tires behave on ice?</description>
    <narrative>Tests with a stopping distance are relevant.</narrative>
  </topic>
</topics>
"""


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    return tmp_path / "topics"


@pytest.mark.parametrize("text", [OLD, CLOSED, XML, OLD.replace("</top>", ""), CLOSED.replace("\n", "\r\n")])
def test_number_title_description_and_narrative_are_read(topics: Path, text: str) -> None:
    topics.write_text(text, newline="")
    queries = read_queries(topics)
    assert list(queries.ids) == [b"301", b"302"]
    assert queries.texts == ["Bicycle Lane Safety", "Winter Tires & Ice"]
    assert queries.columns == {
        "desc": {
            "301": "Do separated lanes reduce the number of accidents of cyclists?",
            "302": "How do winter tires behave on ice?",
        },
        "narr": {
            "301": "A relevant document compares streets with & without a lane. Opinions are not relevant.",
            "302": "Tests with a stopping distance are relevant.",
        },
    }


def test_the_oldest_topics_have_more_fields(topics: Path) -> None:
    topics.write_text(
        "<top>\n<head> Tipster Topic Description\n<num> Number:  051\n<dom> Domain:  Economics\n"
        "<title> Topic:  Airbus Subsidies\n<con> Concept(s):\n1. trade dispute\n2. grants\n</top>\n"
    )
    queries = read_queries(topics)
    assert (list(queries.ids), queries.texts) == ([b"051"], ["Airbus Subsidies"])
    assert queries.columns == {
        "head": {"051": "Tipster Topic Description"},
        "dom": {"051": "Economics"},
        "con": {"051": "1. trade dispute 2. grants"},
    }


def test_the_text_may_be_directly_in_the_topic(topics: Path) -> None:
    topics.write_text('<queries><query id="a">one <b>two</b> three</query>\n<query id="b">four</query></queries>')
    queries = read_queries(topics)
    assert (list(queries.ids), queries.texts, queries.columns) == ([b"a", b"b"], ["one two three", "four"], {})


def test_topics_of_old_disks_are_latin_1(topics: Path) -> None:
    topics.write_bytes("<top><num> Number: 1 <title> Café".encode("latin-1"))
    assert read_queries(topics).texts == ["Café"]


def test_a_topic_without_a_number_is_an_error_with_its_line(topics: Path) -> None:
    topics.write_text("<top>\n<num> 1\n</top>\n<top>\n<title> two\n</top>\n")
    with pytest.raises(InputError, match=r"topics:4: expected <num> or a number attribute in a topic, found none"):
        read_queries(topics)


def test_a_number_that_appears_twice_is_an_error(topics: Path) -> None:
    topics.write_text("<top>\n<num> 1\n</top>\n<top>\n<num> 1\n</top>\n")
    with pytest.raises(InputError, match=r"topics:4: expected each query id once, found '1' again \(first on line 1\)"):
        read_queries(topics)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["<top>", "<num>", "<", "</top>", "<b>", "<topic a=b ", "<query id=' "])
def test_a_hostile_file_takes_no_longer_than_its_size(topics: Path, part: str) -> None:
    topics.write_text("<topic number='1'>x" + part * 200_000)
    started = time.perf_counter()
    with suppress(InputError):
        read_queries(topics)
    assert time.perf_counter() - started < 5  # anything quadratic would take minutes
