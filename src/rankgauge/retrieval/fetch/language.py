"""A warning if texts are plainly not in English, the language of the default stemmer, stop words and embedder.

The rule is cheap and cautious. Of the first documents and queries, texts are not English if fewer than half of their
letters are Latin; or if they are sentences rather than keywords (six words or more on average, fifty in all) and fewer
than 5% of their words are among twenty English function words that are rare in other languages. In English sentences
these are 13% to 24%.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.formatting import text_of
from rankgauge.errors import Note
from rankgauge.io.corpus.corpus import Corpus

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
    settings: Iterable[RetrieverSettings], corpora: Sequence[Corpus], queries: Sequence[str]
) -> tuple[Note, ...]:
    """One note if documents or queries are not English and a retriever with these settings expects them to be."""
    options = list(dict.fromkeys(option for system in settings for option in english_options(system)))
    if not options:
        return ()
    documents = [document.full_text for corpus in corpora for document in islice(corpus, SAMPLED_TEXTS)]
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
