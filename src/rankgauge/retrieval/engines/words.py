"""Texts as words. The only file that imports PyStemmer (extra ``retrieval``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import MissingExtraError, UsageError, nearest, shown
from rankgauge.retrieval.engines.stopwords import stop_words

WORD = re.compile(r"\w\w+")  # two characters or more, which is bm25s's rule too


class Words:
    """Cuts texts into numbered stems, and learns new ones while it is told to.

    A word is looked up, not stemmed, once it was seen: a corpus repeats itself.
    """

    def __init__(self, language: str = "english", stopwords: str | Sequence[str] = "english") -> None:
        self.language = language
        self.stopwords = stop_words(stopwords)
        self.numbers: dict[str, int] = {}  # stem → number, in the order of first appearance
        self._known: dict[str, int | None] = dict.fromkeys(self.stopwords)
        self._stem = stemmer(language)

    def learn(self, text: str) -> list[int]:
        """The numbers of a text's stems; stems that are new get the next number."""
        words, known = WORD.findall(text.lower()), self._known
        try:
            return [number for number in map(known.__getitem__, words) if number is not None]
        except KeyError:
            for word in words:
                if word not in known:
                    known[word] = self.numbers.setdefault(self._stem(word), len(self.numbers))
        return [number for number in map(known.__getitem__, words) if number is not None]

    def look_up(self, text: str) -> NDArray[np.int64]:
        """The numbers of a query's stems that are known, in order, repeated where they are repeated."""
        known, numbers, stem = self._known, self.numbers, self._stem
        out = []
        for word in WORD.findall(text.lower()):
            number = known[word] if word in known else numbers.get(stem(word))
            if number is not None:
                out.append(number)
        return np.array(out, dtype=np.int64)


def stemmer(language: str) -> Any:
    """A function from a word to its stem; ``none`` leaves words as they are."""
    if language == "none":
        return str
    try:
        import Stemmer
    except ImportError:
        raise MissingExtraError(
            "stemming needs the library PyStemmer", hint="pip install 'rankgauge[retrieval]', or stemmer 'none'"
        ) from None
    known = sorted(Stemmer.algorithms())
    if language not in known:
        close = nearest(language, known)
        raise UsageError(
            f"no stemmer {shown(language)}" + (f"; did you mean {close}?" if close else ""),
            hint=f"one of none, {', '.join(known)}",
        )
    return Stemmer.Stemmer(language, 0).stemWord  # 0: no cache of its own, ours is enough
