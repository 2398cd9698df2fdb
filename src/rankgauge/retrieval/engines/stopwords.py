"""Stop words: words that carry no information about the topic of a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.byte_streams import load_file

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
