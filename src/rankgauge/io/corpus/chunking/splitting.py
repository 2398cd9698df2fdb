"""A text and a way to split it in; spans out."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.io.corpus.chunking.headings import section_spans
from rankgauge.io.corpus.chunking.options import Chunking
from rankgauge.io.corpus.chunking.sentences import sentence_spans
from rankgauge.io.corpus.chunking.spans import Span, cut_long, pack
from rankgauge.io.corpus.chunking.tokens import token_windows


def split_text(text: str, chunking: Chunking) -> list[Span]:
    """The chunks of a text, in order. Together they cover everything but white space; a blank text has none."""
    size, overlap = chunking.size or len(text), chunking.overlap
    match chunking.by:
        case "characters":
            return list(_windows(text, size, overlap))
        case "tokens":
            return list(token_windows(text, size, overlap))
        case "sentences":
            return list(pack(list(cut_long(text, sentence_spans(text), size)), size, overlap))
        case _:
            return list(section_spans(text, chunking.size, overlap))


def _windows(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Chunks of exactly ``size`` characters, but the last; those of white space only are left out."""
    for start in range(0, len(text), size - overlap):
        end = min(start + size, len(text))
        if not text[start:end].isspace():
            yield Span(start, end)
        if end == len(text):
            return
