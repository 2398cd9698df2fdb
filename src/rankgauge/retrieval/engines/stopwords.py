"""Words that say nothing of what a text is about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankgauge.errors import InputError, UsageError, shown

# The short list of Lucene: long ones also drop words that questions turn on (when, where, most, not).
ENGLISH = tuple(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)


def stop_words(given: str | Sequence[str]) -> tuple[str, ...]:
    """``english``, ``none``, a file with a word a line, or the words themselves; sorted, lower case."""
    if not isinstance(given, str):
        return tuple(sorted({word.lower() for word in given}))
    if given in ("english", "en"):
        return ENGLISH
    if given == "none":
        return ()
    if not Path(given).is_file():
        raise UsageError(f"stop words are 'english', 'none' or a file with a word a line, found {shown(given)}")
    try:
        words = Path(given).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError.at(given, None, f"cannot read: {error}") from None
    return tuple(sorted({word.lower() for word in words}))
