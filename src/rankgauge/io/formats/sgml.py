"""TREC's SGML, and XML that looks like it: the tags, found in one pass, and the topics.

The work is linear in the size of the text, whatever it contains: no regular expression searches for a closing tag.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankgauge.errors import InputError
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import Record, Records
from rankgauge.io.text_checks import check_text

COMMENT_START, COMMENT_END = "<!--", "-->"
LONG_REFERENCE = re.compile(r"&#[0-9]{100,};?")  # no character, and Python converts no number of 4,300 digits
BRACKETED = re.compile(r"<[^<>]*>")  # stops at the next bracket, so that no text is looked at twice


class Tag(NamedTuple):
    """``<name attributes>`` or ``</name>``, and where in the text it begins and ends. Names are in lower case."""

    name: str
    is_closing: bool
    attributes: str
    start: int
    end: int


class Element(NamedTuple):
    """An opening tag and the closing tag that belongs to it."""

    opening: Tag
    closing: Tag


def find_tags(text: str) -> Iterator[Tag]:
    """Every tag of a text, in order; comments, declarations and stray angle brackets are not tags."""
    position = text.find("<")
    while position >= 0:
        if text.startswith(COMMENT_START, position):
            end = text.find(COMMENT_END, position)
            if end < 0:
                return
            position = text.find("<", end)
            continue
        end = text.find(">", position)
        if end < 0:
            return
        # In "a < b <num>" the tag begins at the last bracket before its end.
        start = text.rfind("<", position, end)
        is_closing = text.startswith("/", start + 1)
        content = text[start + 1 + is_closing : end]
        if content[:1].isalpha():
            name, *attributes = content.split(None, 1)
            yield Tag(name.rstrip("/").lower(), is_closing, "".join(attributes), start, end + 1)
        position = text.find("<", end)


def find_elements(tags: list[Tag], names: Collection[str]) -> Iterator[Element]:
    """The elements with one of these names. One inside another, or one that is never closed, is skipped."""
    closing_tags: dict[str, list[Tag]] = {name: [] for name in names}
    for tag in reversed(tags):
        if tag.is_closing and tag.name in closing_tags:
            closing_tags[tag.name].append(tag)
    position = 0
    for tag in tags:
        if tag.is_closing or tag.name not in closing_tags or tag.start < position:
            continue
        remaining = closing_tags[tag.name]
        while remaining and remaining[-1].start < tag.start:
            remaining.pop()
        if remaining:
            position = remaining[-1].end
            yield Element(tag, remaining[-1])


def without_tags(text: str) -> str:
    """A text without tags, comments and declarations, with entities decoded and white space collapsed."""
    return " ".join(html.unescape(LONG_REFERENCE.sub("\ufffd", BRACKETED.sub(" ", text))).split())


def decode(data: bytes) -> str:
    """Text as UTF-8, or as Latin-1 if it is not UTF-8, as on the older TREC disks."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


# TREC topics: ``<top>`` with ``<num>``, ``<title>``, ``<desc>`` and ``<narr>``, with or without closing tags.
#
# XML topics (``<topic number="1"><query>…</query></topic>``, ``<query id="1">…</query>``) are read too. The title
# (else the query, the question, the text of the topic itself, or the description) is the text; the other fields are
# columns, with the description and the narrative always called ``desc`` and ``narr``.

TOPIC_TAGS = ("top", "topic", "query")
NUMBER_ATTRIBUTES = ("number", "id", "num", "qid")
OWN_TEXT = ""  # the field of text directly inside the topic's tag
FIELD_NAMES = {"number": "num", "description": "desc", "narrative": "narr"}
FIELD_TAGS = {
    *("num", "number", "title", "desc", "description", "narr", "narrative", "query", "question", "summary", "note"),
    *("head", "dom", "smry", "con", "fac", "def", "nat", "time"),
}
TEXT_FIELDS = ("title", "query", "question", OWN_TEXT, "desc", "summary")
# What the old style repeats after the tag: "<num> Number: 301".
LABELS = {
    "num": "number:",
    "title": "topic:",
    "desc": "description:",
    "narr": "narrative:",
    "dom": "domain:",
    "smry": "summary:",
    "con": "concept(s):",
    "fac": "factor(s):",
    "def": "definition(s):",
}
SPACES, WORD = re.compile(r"\s*"), re.compile(r"\S*")


@dataclass
class _Topic:
    """A topic while its tags are read."""

    tag: Tag
    fields: dict[str, str] = field(default_factory=dict)
    field_name: str | None = OWN_TEXT  # the open field, None between two fields
    field_start: int = 0
    has_own_text: bool = False


def is_topics(head: bytes) -> bool:
    """Whether a file begins with a tag."""
    return head.lstrip()[:1] == b"<"


def read_topics(faults: Faults, data: bytes) -> Records:
    """The topics of a file, one row per topic."""
    text = decode(check_text(faults, data))
    lines: list[int] = []
    rows: list[Record] = []
    line, position = 1, 0
    for topic in _split(text):
        line += text.count("\n", position, topic.tag.start)
        position = topic.tag.start
        lines.append(line)
        rows.append(_row(faults.source, line, topic))
    if not rows:
        raise InputError.at(faults.source, None, "expected TREC topics (<top> or <topic>), found none")
    return Records(np.array(lines, dtype=np.int64), rows)


def _split(text: str) -> Iterator[_Topic]:
    """The topics with their raw fields. A topic ends at its closing tag or where the next one begins."""
    topic: _Topic | None = None
    for tag in find_tags(text):
        if _begins_topic(tag, topic):
            if topic is not None:
                _close_field(topic, text, tag.start)
                yield topic
            topic = _Topic(tag, field_start=tag.end)
        elif topic is None:
            continue
        elif tag.is_closing and tag.name == topic.tag.name:
            _close_field(topic, text, tag.start)
            yield topic
            topic = None
        elif tag.is_closing:
            if tag.name == topic.field_name:
                _close_field(topic, text, tag.start)
        elif _begins_field(tag, topic, text):
            _close_field(topic, text, tag.start)
            topic.field_name, topic.field_start = tag.name, tag.end
    if topic is not None:
        _close_field(topic, text, len(text))
        yield topic


def _begins_topic(tag: Tag, topic: _Topic | None) -> bool:
    if tag.is_closing or tag.name not in TOPIC_TAGS:
        return False
    # <query> is a field of <topic>; by itself it is a topic if it has a number.
    return tag.name != "query" or ((topic is None or topic.tag.name == "query") and _number(tag) is not None)


def _begins_field(tag: Tag, topic: _Topic, text: str) -> bool:
    """Whether a tag begins a field; an unknown one inside a field that has text is markup."""
    if tag.name in FIELD_TAGS or topic.field_name is None:
        return True
    if topic.field_name == OWN_TEXT and not topic.has_own_text:  # looked at until there is text, not at every tag
        topic.has_own_text = bool(text[topic.field_start : tag.start].strip())
        return not topic.has_own_text
    return False


def _close_field(topic: _Topic, text: str, end: int) -> None:
    if topic.field_name is not None:
        topic.fields.setdefault(topic.field_name, text[topic.field_start : end])
        topic.field_name = None


def _row(source: str, line: int, topic: _Topic) -> Record:
    fields: dict[str, str] = {}
    for name, raw_text in topic.fields.items():
        name = FIELD_NAMES.get(name, name)
        content = without_tags(raw_text)
        label = LABELS.get(name, "")
        fields[name] = content[len(label) :].lstrip() if content.lower().startswith(label) else content
    number = _number(topic.tag) or next(iter(fields.pop("num", "").split()), None)
    if number is None:
        raise InputError.at(source, line, "expected <num> or a number attribute in a topic, found none")
    text_field = next((name for name in TEXT_FIELDS if fields.get(name)), None)
    row: Record = {"_id": number, "text": None if text_field is None else fields.pop(text_field)}
    return row | {name: content for name, content in fields.items() if name and content}


def _number(tag: Tag) -> str | None:
    return next((value for name, value in _attributes(tag.attributes) if name in NUMBER_ATTRIBUTES), None)


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    """The names and values of attributes, with or without quotation marks."""
    position = 0
    while (equals := text.find("=", position)) >= 0:
        name = text[position:equals].split()[-1:]
        spaces = SPACES.match(text, equals + 1)
        start = spaces.end() if spaces else equals + 1
        quote = text[start : start + 1]
        if quote in ('"', "'"):
            start += 1
            end = text.find(quote, start)
            end = len(text) if end < 0 else end
        else:
            word = WORD.match(text, start)
            end = word.end() if word else start
        value = text[start:end] if quote in ('"', "'") else text[start:end].rstrip("/")
        if name:
            yield name[0].lower(), value.strip()
        position = end + 1
