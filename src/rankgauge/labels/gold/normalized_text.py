"""The form in which quotes and chunks are compared, and the way back to the text as it was written.

Two texts are compared after these changes, in this order:

1. Unicode NFKC: ligatures, full-width characters and composed accents become their plain forms.
2. Case folding: "Straße" and "STRASSE" are the same.
3. Quotation marks become ``"`` or ``'``, dashes and minus signs become ``-``; soft hyphens, zero-width characters,
   direction marks and variation selectors disappear, and so do the characters of Markdown ``* _ ` # | ~``.
4. Each run of white space becomes one space, and none is left at either end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, unique_ids

_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f\0"
_MARKUP = "*_`#|~"
_REPLACED = str.maketrans(
    {
        **dict.fromkeys(_SINGLE_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_INVISIBLE + _MARKUP, ""),
    }
)
_ASCII_REPLACED = str.maketrans("", "", _MARKUP + "\0")
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)


def normalized(text: str) -> str:
    """A text in the form in which texts are compared."""
    return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower().translate(_ASCII_REPLACED)
    # A mark that is replaced by white space and an accent is decomposed first, so replacing comes before and after.
    folded = unicodedata.normalize("NFKC", text.translate(_REPLACED)).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_REPLACED)


@dataclass(frozen=True, eq=False)
class NormalizedText:
    """A normalized text; character i comes from ``original[starts[i]:ends[i]]``."""

    original: str
    text: str
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, original: str) -> NormalizedText:
        """Normalize a text and remember where each character comes from."""
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        position = 0
        for word in original.split():
            position = original.index(word, position)
            for text, start, end in _word_pieces(word):
                pieces.append(text)
                starts += [position + start] * len(text)
                ends += [position + end] * len(text)
            position += len(word)
            pieces.append(" ")
            starts.append(position)
            ends.append(position)
        return cls._collapsed(original, "".join(pieces), starts, ends)

    @classmethod
    def _collapsed(cls, original: str, text: str, starts: list[int], ends: list[int]) -> NormalizedText:
        """Without white space that follows white space or an end; replacements can make more of it."""
        is_space = np.array([character.isspace() for character in text], dtype=bool)
        keep = ~is_space
        keep[1:] |= ~is_space[:-1]
        kept = np.flatnonzero(keep)
        while len(kept) and is_space[kept[-1]]:
            kept = kept[:-1]
        characters = "".join(" " if is_space[row] else text[row] for row in kept.tolist())
        return cls(original, characters, np.array(starts, dtype=np.int64)[kept], np.array(ends, dtype=np.int64)[kept])

    def source(self, start: int, end: int) -> str:
        """The original text behind some of the characters."""
        if start >= end or start >= len(self.text):
            return ""
        return self.original[int(self.starts[start]) : int(self.ends[min(end, len(self.text)) - 1])]


def _word_pieces(word: str) -> list[tuple[str, int, int]]:
    """The parts of a word that are folded each by itself: (folded text, start, end)."""
    if word.isascii():
        return [(_folded(character), index, index + 1) for index, character in enumerate(word)]
    begins = [index for index, character in enumerate(word) if index == 0 or not _continues(character)]
    bounds = zip(begins, [*begins[1:], len(word)], strict=True)
    pieces = [(_folded(word[start:end]), start, end) for start, end in bounds]
    whole = _folded(word)
    # Characters that combine in some other way have no places of their own: they share that of the word.
    return pieces if "".join(text for text, _, _ in pieces) == whole else [(whole, 0, len(word))]


def _continues(character: str) -> bool:
    """Whether a character combines with the one before it."""
    return unicodedata.combining(character) != 0 or ord(character) in _HANGUL_VOWELS_AND_FINALS


# Chunks in the form in which they are compared with quotes, in blocks.

BLOCK_CHARACTERS = 1 << 20


@dataclass(frozen=True)
class NormalizedChunk:
    """A chunk: its number in the corpus, its normalized text with the title in front, and where its body begins there.

    A quote can be cut off at the beginning of the text, at that of the body, and at the end.
    """

    number: int
    document: CorpusDocument
    text: str
    body: int

    @classmethod
    def of(cls, number: int, document: CorpusDocument) -> NormalizedChunk:
        """Normalize a document."""
        title, body = normalized(document.title), normalized(document.text)
        if not title or not body:
            return cls(number, document, title or body, 0)
        return cls(number, document, f"{title} {body}", len(title) + 1)

    @property
    def edges(self) -> tuple[int, ...]:
        """The positions at which a cut quote can go on."""
        return (0, self.body) if self.body else (0,)


def chunk_blocks(corpus: Corpus) -> Iterator[Sequence[NormalizedChunk]]:
    """All chunks, some at a time."""
    block: list[NormalizedChunk] = []
    size = 0
    for number, document in enumerate(corpus):
        block.append(NormalizedChunk.of(number, document))
        size += len(block[-1].text) + 1
        if size >= BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


class ChunkIds:
    """The ids of the chunks that passed, in order; raises at the end if one appears twice."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.names: list[bytes] = []
        self._lines: list[int] = []

    def add(self, block: Sequence[NormalizedChunk]) -> None:
        """Note the ids of a block."""
        self.names += [chunk.document.id for chunk in block]
        self._lines += [chunk.document.line for chunk in block]

    def check(self) -> None:
        """Raise if there are no chunks, or if an id appears twice."""
        unique_ids(self._source, self.names, self._lines)
