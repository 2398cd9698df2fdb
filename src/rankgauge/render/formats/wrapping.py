"""Text in a limited number of columns: how wide characters are, sentences in lines, and shorter names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

ELLIPSIS = "…"
# Hangul vowels and finals, which are drawn within their syllable, and fillers, which are not drawn
NO_COLUMNS = (("\u1160", "\u11ff"), ("\u3164", "\u3164"), ("\ud7b0", "\ud7ff"), ("\uffa0", "\uffa0"))
_WORD = re.compile(r"(?<! ) *+[^ ]++(?: [=<→] [^ ]++)*")  # "p = 0.02" is not broken


def columns_of(text: str) -> int:
    """The number of columns of a text: East Asian wide characters have two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_character_columns, text))


@cache
def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or any(
        first <= character <= last for first, last in NO_COLUMNS
    ):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap(text: str, width: int, hanging: int = 0) -> list[str]:
    """Lines of at most ``width`` columns, broken between words; a longer word has a line of its own."""
    lines, line = list[str](), ""
    for word in _WORD.findall(text):
        room = width - (hanging if lines else 0)
        if line and columns_of(line) + columns_of(word) > room:
            lines.append(line)
            line = word.lstrip(" ")
        else:
            line += word
    return [f"{' ' * hanging if number else ''}{content}" for number, content in enumerate([*lines, line])]


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Texts of at most ``width`` columns; those that differ still do."""
    if all(columns_of(text) <= width for text in texts):
        return list(texts)
    count = len(set(texts))
    for cut in (_without_middle, _without_end, _without_start):
        short = [text if columns_of(text) <= width else cut(text, width) for text in texts]
        if len(set(short)) == count:
            return short
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}
    return [_numbered(text, numbers[text], width) for text in texts]


def excerpt(text: str, width: int) -> str:
    """The start of a text, with an ellipsis if it has more columns."""
    return text if columns_of(text) <= width else _without_end(text, width)


def _without_middle(text: str, width: int) -> str:
    tail = (width - 1) // 2
    return _taken(text, width - 1 - tail) + ELLIPSIS + _tail_of(text, tail)


def _without_end(text: str, width: int) -> str:
    return _taken(text, width - 1) + ELLIPSIS


def _without_start(text: str, width: int) -> str:
    return ELLIPSIS + _tail_of(text, width - 1)


def _numbered(text: str, number: int, width: int) -> str:
    suffix = f"{ELLIPSIS}{number}"
    return _taken(text, width - len(suffix)) + suffix


def _tail_of(text: str, width: int) -> str:
    return "".join(reversed(_taken(reversed(text), width)))


def _taken(characters: Iterable[str], width: int) -> str:
    kept, used = [], 0
    for character in characters:
        used += _character_columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept)
