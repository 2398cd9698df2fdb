"""Texts as numbered stems. The only file that imports PyStemmer (extra ``retrieval``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import MissingExtraError
from rankgauge.retrieval.engines.stopwords import stop_words
from rankgauge.retrieval.loading import unknown_name

WORD_PATTERN = re.compile(r"\w\w+")  # two characters or more, as in bm25s


class Vocabulary:
    """Split texts into numbered stems.

    The stem of a word is computed once and then looked up: a corpus repeats its words.
    """

    def __init__(self, language: str = "english", stopwords: str | Sequence[str] = "english") -> None:
        self.language = language
        self.stopwords = stop_words(stopwords)
        self.stem_numbers: dict[str, int] = {}  # stem → number, in order of first appearance
        self._word_numbers: dict[str, int | None] = dict.fromkeys(self.stopwords)  # None for stop words
        self._stem = make_stemmer(language)

    def add_text(self, text: str) -> list[int]:
        """The numbers of a text's stems; a new stem gets the next number."""
        words, word_numbers = WORD_PATTERN.findall(text.lower()), self._word_numbers
        try:
            return [number for number in map(word_numbers.__getitem__, words) if number is not None]
        except KeyError:
            for word in words:
                if word not in word_numbers:
                    word_numbers[word] = self.stem_numbers.setdefault(self._stem(word), len(self.stem_numbers))
        return [number for number in map(word_numbers.__getitem__, words) if number is not None]

    def look_up(self, text: str) -> NDArray[np.int64]:
        """The numbers of a query's stems that are in the vocabulary, in order, with repetitions."""
        word_numbers, stem_numbers, stem = self._word_numbers, self.stem_numbers, self._stem
        out = []
        for word in WORD_PATTERN.findall(text.lower()):
            number = word_numbers[word] if word in word_numbers else stem_numbers.get(stem(word))
            if number is not None:
                out.append(number)
        return np.array(out, dtype=np.int64)


def make_stemmer(language: str) -> Any:
    """A function from a word to its stem; ``none`` leaves words unchanged."""
    if language == "none":
        return str
    try:
        import Stemmer
    except ModuleNotFoundError:
        raise MissingExtraError(
            "stemming needs the library PyStemmer", hint="pip install 'rankgauge[retrieval]', or use the stemmer 'none'"
        ) from None
    languages = sorted(Stemmer.algorithms())
    if language not in languages:
        raise unknown_name("stemmer", language, ["none", *languages])
    return Stemmer.Stemmer(language, 0).stemWord  # 0: no second cache
