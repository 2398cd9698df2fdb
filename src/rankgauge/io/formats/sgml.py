"""The tags of TREC's SGML, found in one pass: documents, topics, and XML that looks like them.

The work is linear in the size of the text, whatever it contains: no regular expression searches for a closing tag.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

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
