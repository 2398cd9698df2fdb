"""Tokens without a model: words and single punctuation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankgauge.io.corpus.chunking.spans import Span

TOKEN = re.compile(r"\w+|[^\w\s]")


def token_spans(text: str) -> Iterator[Span]:
    """Every word and every punctuation mark; together they cover all but white space."""
    return (Span(*match.span()) for match in TOKEN.finditer(text))


def token_windows(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Chunks of ``size`` tokens, each of which begins with the last ``overlap`` tokens of the one before."""
    tokens = list(token_spans(text))
    for first in range(0, len(tokens), size - overlap):
        last = min(first + size, len(tokens)) - 1
        yield Span(tokens[first].start, tokens[last].end)
        if last == len(tokens) - 1:
            return
