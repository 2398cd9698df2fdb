"""Sentences: a full stop, an exclamation or a question mark ends one, and so does a blank line.

A full stop does not end a sentence if a lowercase letter follows ("approx. three"), after a single letter or a title
("J. Smith", "e.g. Berlin", "Dr. Berg"), and after a number at the beginning of a line, which numbers a list. Every step
is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankgauge.io.corpus.chunking.spans import Span, trimmed

WIDE_MARKS = "\u3002\uff01\uff1f"  # those of Chinese and Japanese, which no space follows
MARKS = re.compile(f"[.!?\u2026{WIDE_MARKS}]+|\r?\n(?:[ \t]*\r?\n)+")
CLOSING = "\"')]}*_`\u201d\u2019\u00bb"
TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "fig", "vs", "cf", "no"})
LONGEST_TITLE = 4


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The sentences of a text or of a part of it, without white space around them."""
    end = len(text) if end is None else end
    begin = start
    for match in MARKS.finditer(text, start, end):
        stop = _sentence_end(text, match, end)
        if stop is not None and stop > begin:
            sentence = trimmed(text, begin, stop)
            if sentence.length:
                yield sentence
            begin = stop
    rest = trimmed(text, begin, end)
    if rest.length:
        yield rest


def _sentence_end(text: str, match: re.Match[str], end: int) -> int | None:
    """Where the sentence ends that a mark may close; None if it closes none."""
    stop, mark = match.end(), match.group()
    if mark.isspace():
        return match.start()
    while stop < end and text[stop] in CLOSING:
        stop += 1
    if mark[-1] in WIDE_MARKS or stop == end:
        return stop
    if not text[stop].isspace():
        return None
    following = stop
    while following < end and text[following].isspace():
        following += 1
    if following < end and text[following].islower():
        return None
    return None if mark == "." and _is_abbreviated(text, match.start()) else stop


def _is_abbreviated(text: str, stop: int) -> bool:
    """Whether the full stop at this place belongs to the word before it."""
    start = stop
    while start > 0 and stop - start <= LONGEST_TITLE and text[start - 1].isalnum():
        start -= 1
    word = text[start:stop]
    if word.isdigit():
        line = text.rfind("\n", max(0, start - LONGEST_TITLE - 1), start) + 1  # further back it would be too far
        return start - line <= LONGEST_TITLE and not text[line:start].strip()
    return (len(word) == 1 and word.isalpha()) or word.lower() in TITLES
