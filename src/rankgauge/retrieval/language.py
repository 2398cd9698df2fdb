"""The language of texts: their words, stems and stop words, and a note if they are plainly not English.

The only file that imports PyStemmer (extra ``retrieval``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.formatting import text_of
from rankgauge.errors import InputError, MissingExtraError, Note, UsageError, shown
from rankgauge.io.byte_streams import load_file
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.named_code import unknown_name

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


# Stop words: words that carry no information about the topic of a text.

# Lucene's short list: longer lists also drop words that queries depend on (when, where, most, not).
ENGLISH_STOP_WORDS = tuple(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)


def stop_words(source: str | Sequence[str]) -> tuple[str, ...]:
    """Stop words from ``english``, ``none``, a file with one word per line, or a list; sorted, lowercase."""
    if not isinstance(source, str):
        return tuple(sorted({word.lower() for word in source}))
    if source in ("english", "en"):
        return ENGLISH_STOP_WORDS
    if source == "none":
        return ()
    if not Path(source).is_file():
        raise UsageError(
            f"stop words must be 'english', 'none' or a file with one word per line, found {shown(source)}"
        )
    try:
        words = load_file(source).stored.decode("utf-8").split()
    except UnicodeDecodeError as error:
        raise InputError.at(source, None, f"cannot read: {error}") from None
    return tuple(sorted({word.lower() for word in words}))


# A warning if texts are plainly not in English, the language of the default stemmer, stop words and embedder.
#
# The rule is cheap and cautious. Of the first documents and queries, texts are not English if fewer than half of
# their letters are Latin; or if they are sentences rather than keywords (six words or more on average, fifty in all)
# and fewer than 5% of their words are among twenty English function words that are rare in other languages. In
# English sentences these are 13% to 24%.

SAMPLED_TEXTS = 200
SAMPLED_CHARACTERS = 2000  # of each text
ENGLISH_WORDS = frozenset(
    "the and to that for with are this by be from which have been it these their not but or".split()
)
MIN_LATIN_SHARE, MIN_ENGLISH_SHARE = 0.5, 0.05
MIN_LETTERS, MIN_WORDS, MIN_WORDS_PER_TEXT = 20, 50, 6
WORD = re.compile(r"[^\W\d_]{2,}")
LETTER, LATIN_LETTER = re.compile(r"[^\W\d_]"), re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def language_notes(
    settings: Iterable[RetrieverSettings], corpus: Corpus | None, queries: Sequence[str]
) -> tuple[Note, ...]:
    """One note if documents or queries are not English and a retriever with these settings expects them to be."""
    options = list(dict.fromkeys(option for system in settings for option in english_options(system)))
    if not options:
        return ()
    documents = [] if corpus is None else [document.full_text for document in islice(corpus, SAMPLED_TEXTS)]
    reasons = {"documents": foreign_evidence(documents), "queries": foreign_evidence(queries)}
    foreign = [f"the {side} do not look English ({reason})" for side, reason in reasons.items() if reason is not None]
    if not foreign:
        return ()
    verb = "expects" if len(options) == 1 else "expect"
    message = f"{', '.join(foreign)}, but {' and '.join(options)} {verb} English: choose what suits their language"
    return (Note("language", message),)


def english_options(settings: RetrieverSettings) -> list[str]:
    """The options that suit English only."""
    options = []
    if settings.mode in ("lexical", "hybrid"):
        options += ["stemmer english"] if settings.stemmer == "english" else []
        options += ["stopwords english"] if settings.stopwords in ("english", "en") else []
    embeds = settings.mode in ("vector", "hybrid") and settings.vectors is None
    if settings.embedder == "wordllama" and (embeds or settings.rerank == "sentences"):
        options.append("embedder wordllama")
    return options


def foreign_evidence(texts: Iterable[str]) -> str | None:
    """Why texts are plainly not English; None if they may be."""
    sample = [text[:SAMPLED_CHARACTERS] for text in islice(texts, SAMPLED_TEXTS)]
    letters = sum(len(LETTER.findall(text)) for text in sample)
    latin = sum(len(LATIN_LETTER.findall(text)) for text in sample)
    if letters >= MIN_LETTERS and latin < MIN_LATIN_SHARE * letters:
        return f"{text_of(latin / letters, 'share')} of the letters are Latin"
    words = [word for text in sample for word in WORD.findall(text.lower())]
    if len(words) < max(MIN_WORDS, MIN_WORDS_PER_TEXT * len(sample)):
        return None
    share = sum(word in ENGLISH_WORDS for word in words) / len(words)
    return f"{text_of(share, 'share')} of the words are English function words" if share < MIN_ENGLISH_SHARE else None
