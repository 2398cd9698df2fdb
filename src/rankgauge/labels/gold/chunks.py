"""Chunks in the form in which they are compared with quotes, in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, unique_ids
from rankgauge.labels.gold.normalization import normalized

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
