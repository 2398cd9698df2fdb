"""The chunks of documents, as a corpus and as a file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rankgauge.errors import InputError
from rankgauge.io.corpus.chunking.options import Chunking
from rankgauge.io.corpus.chunking.splitting import split_text
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.writing import write_atomically

CHUNK_SPAN = re.compile(rb"#([0-9]+)-([0-9]+)")


class Chunk(NamedTuple):
    """A part of a document: ``text`` is what the document has from ``start`` to ``end``, counted in characters."""

    document: bytes
    start: int
    end: int
    text: str
    title: str = ""  # of the document, if its source keeps it apart from the text
    line: int = 0

    @property
    def id(self) -> bytes:
        """The document and the span: ``guide.md#120-310``. Splitting it otherwise gives no other text this id."""
        return self.document + f"#{self.start}-{self.end}".encode("ascii")

    @staticmethod
    def overlaps(chunk_id: bytes, document: bytes, start: int, end: int) -> bool:
        """Whether an id says that its chunk has some of the characters of a document."""
        if chunk_id == document:
            return True
        span = CHUNK_SPAN.fullmatch(chunk_id.removeprefix(document)) if chunk_id.startswith(document) else None
        return span is not None and int(span[1]) < end and int(span[2]) > start

    def to_line(self) -> bytes:
        """The line of a file of chunks."""
        document = self.document.decode("utf-8", "surrogateescape")
        row = {"_id": f"{document}#{self.start}-{self.end}", "title": self.title, "text": self.text, "doc": document}
        kept = {name: value for name, value in row.items() if value or name != "title"}
        text = json.dumps({**kept, "start": self.start, "end": self.end}, ensure_ascii=False)
        return text.encode("utf-8", "surrogateescape") + b"\n"


class ChunkedCorpus(Corpus):
    """The chunks of a corpus, which is streamed; each chunk is a document."""

    def __init__(self, documents: Corpus, chunking: Chunking) -> None:
        self.source = documents.source
        self.documents = documents
        self.chunking = chunking

    def chunks(self) -> Iterator[Chunk]:
        """The chunks, in the order of the documents; raises if there are none."""
        is_empty = True
        for document in self.documents.originals():
            for start, end in split_text(document.text, self.chunking):
                is_empty = False
                yield Chunk(document.id, start, end, document.text[start:end], document.title, document.line)
        if is_empty:
            raise InputError.at(self.source, None, "no chunks: no document has any text")

    def __iter__(self) -> Iterator[CorpusDocument]:
        return (CorpusDocument(chunk.id, chunk.title, chunk.text, chunk.line) for chunk in self.chunks())

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the documents."""
        return self.documents.files

    @property
    def sha256(self) -> str:
        """A hash of the documents and of how they are split."""
        options = json.dumps(self.chunking.to_dict(), sort_keys=True)
        return hashlib.sha256(f"rankgauge chunks 1\n{self.documents.sha256}\n{options}".encode("ascii")).hexdigest()


class ChunkCounts(NamedTuple):
    """What was written."""

    chunks: int
    documents: int  # with at least one chunk


def write_chunks(corpus: ChunkedCorpus, path: str | Path, *, inputs: Iterable[str | Path] = ()) -> ChunkCounts:
    """Write chunks as JSON Lines, completely or not at all: a corpus that also has ``doc``, ``start`` and ``end``."""
    count, documents = 0, set[bytes]()
    with write_atomically(path, inputs=[*corpus.files, *inputs]) as file:
        for chunk in corpus.chunks():
            file.write(chunk.to_line())
            documents.add(chunk.document)
            count += 1
    return ChunkCounts(count, len(documents))
