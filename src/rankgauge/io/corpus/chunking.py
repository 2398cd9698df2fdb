"""Documents in chunks: how they are split, and where each chunk begins and ends in its document.

A document is split by characters, sentences, Markdown headings or tokens. The chunks are a corpus, and a file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, UsageError
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.corpus.markdown import MarkdownBlock, markdown_blocks

# How documents are split.

SplitBy = Literal["characters", "sentences", "headings", "tokens"]
SPLITTERS: tuple[SplitBy, ...] = get_args(SplitBy)
DEFAULT_SIZES: dict[SplitBy, int | None] = {"characters": 800, "sentences": 800, "headings": None, "tokens": 200}


@dataclass(frozen=True)
class Chunking:
    """By what documents are split, the maximum size of a chunk, and how much of it the next one repeats.

    Sizes are in characters, or in tokens (words and punctuation marks) if ``by`` is ``tokens``. Without a size,
    ``headings`` keeps sections whole, and the others have their defaults: 800 characters, 200 tokens.
    """

    by: SplitBy = setting(
        "sentences",
        "Split every N characters, between sentences, at Markdown headings, or every N tokens.",
        Section.RETRIEVER,
        flag="-",
        choices=SPLITTERS,
    )
    size: int | None = setting(
        None,
        "Make no chunk longer than N characters, or N tokens.  [default: 800 characters, 200 tokens; whole sections if "
        "split at headings]",
        Section.RETRIEVER,
        flag="-",
        limits=">=1",
    )
    overlap: int = setting(
        0,
        "Begin each chunk with the last N characters or tokens of the one before, in whole sentences if split between "
        "them.",
        Section.RETRIEVER,
        flag="-",
        limits=">=0",
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.size is None:
            object.__setattr__(self, "size", DEFAULT_SIZES[self.by])
        if self.size is None and self.overlap:
            raise UsageError(
                "sections overlap only if long ones are split", hint="name the maximum size of a chunk as well"
            )
        if self.size is not None and self.overlap >= self.size:
            raise UsageError(
                f"overlap must be smaller than size, found {self.overlap} and {self.size}: no chunk would add anything",
                hint="a tenth of the size is common",
            )

    @property
    def unit(self) -> str:
        """What sizes count."""
        return "token" if self.by == "tokens" else "character"

    def __str__(self) -> str:
        size = "" if self.size is None else f", at most {self.size:,} {self.unit}s"
        return f"{self.by}{size}" + (f", overlap {self.overlap:,}" if self.overlap else "")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"by": self.by, "size": self.size, "overlap": self.overlap}


# Parts of a text, and how small ones are packed into chunks.


class Span(NamedTuple):
    """Where a part of a text begins, and where it ends: ``text[start:end]``."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of characters."""
        return self.end - self.start


def trimmed(text: str, start: int, end: int) -> Span:
    """A part of a text without white space around it; an empty span if there is nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def pack(units: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """Chunks of whole units, as many as fit into ``size`` characters; a unit that is longer is a chunk of its own.

    A chunk begins with the last units of the one before: as many as fit into ``overlap`` characters and leave room for
    a unit that is new.
    """
    first = 0
    while first < len(units):
        following = first + 1
        while following < len(units) and units[following].end - units[first].start <= size:
            following += 1
        yield Span(units[first].start, units[following - 1].end)
        if following == len(units):
            return
        repeated = following
        while repeated > first + 1 and units[following - 1].end - units[repeated - 1].start <= overlap:
            repeated -= 1
        while repeated < following and units[following].end - units[repeated].start > size:
            repeated += 1
        first = repeated


def cut_long(text: str, units: Iterable[Span], size: int) -> Iterator[Span]:
    """The units, with those longer than ``size`` cut at the last white space that fits, or anywhere else."""
    for unit in units:
        start = unit.start
        while unit.end - start > size:
            end = _cut(text, start, start + size)
            yield trimmed(text, start, end)
            start = trimmed(text, end, unit.end).start
        yield Span(start, unit.end)


def _cut(text: str, start: int, limit: int) -> int:
    """Where to cut before ``limit``: after the last word that fits."""
    for end in range(limit, start, -1):
        if text[end].isspace():
            return end
    return limit


# Tokens without a model: words and single punctuation marks.

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


# Sentences: a full stop, an exclamation or a question mark ends one, and so does a blank line.
#
# A full stop does not end a sentence if a lowercase letter follows ("approx. three"), after a single letter or a
# title ("J. Smith", "e.g. Berlin", "Dr. Berg"), and after a number at the beginning of a line, which numbers a list.
# Every step is linear in the text.

WIDE_MARKS = "\u3002\uff01\uff1f"  # those of Chinese and Japanese, which no space follows
MARKS = re.compile(f"[.!?\u2026{WIDE_MARKS}]+|\r?\n(?:[ \t]*\r?\n)+")
CLOSING = "\"')]}*_`\u201d\u2019\u00bb"
TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "fig", "vs", "cf", "no"})
LONGEST_TITLE = 4


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The sentences of a text or of a part of it, without white space around them."""
    end = len(text) if end is None else end
    begin = start
    for match in MARKS.finditer(text, start, end):
        stop = _sentence_end(text, match, end)
        if stop is not None and stop > begin:
            sentence = trimmed(text, begin, stop)
            if sentence.length:
                yield sentence
            begin = stop
    rest = trimmed(text, begin, end)
    if rest.length:
        yield rest


def _sentence_end(text: str, match: re.Match[str], end: int) -> int | None:
    """Where the sentence ends that a mark may close; None if it closes none."""
    stop, mark = match.end(), match.group()
    if mark.isspace():
        return match.start()
    while stop < end and text[stop] in CLOSING:
        stop += 1
    if mark[-1] in WIDE_MARKS or stop == end:
        return stop
    if not text[stop].isspace():
        return None
    following = stop
    while following < end and text[following].isspace():
        following += 1
    if following < end and text[following].islower():
        return None
    return None if mark == "." and _is_abbreviated(text, match.start()) else stop


def _is_abbreviated(text: str, stop: int) -> bool:
    """Whether the full stop at this place belongs to the word before it."""
    start = stop
    while start > 0 and stop - start <= LONGEST_TITLE and text[start - 1].isalnum():
        start -= 1
    word = text[start:stop]
    if word.isdigit():
        line = text.rfind("\n", max(0, start - LONGEST_TITLE - 1), start) + 1  # further back it would be too far
        return start - line <= LONGEST_TITLE and not text[line:start].strip()
    return (len(word) == 1 and word.isalpha()) or word.lower() in TITLES


# Sections of Markdown. A code fence or a table is never cut, and no line in one is taken for a heading.

WHOLE = ("fence", "table")


def section_spans(text: str, size: int | None, overlap: int) -> Iterator[Span]:
    """One chunk per section; one that is longer than ``size`` is split between its blocks, then its sentences."""
    for blocks in _sections(text):
        section = Span(blocks[0].start, blocks[-1].end)
        if size is None or section.length <= size:
            yield section
        else:
            yield from pack(_units(text, blocks, size), size, overlap)


def _sections(text: str) -> Iterator[list[MarkdownBlock]]:
    """The blocks of each section. A heading without a text of its own stays with the section that follows."""
    section: list[MarkdownBlock] = []
    has_text = False
    for block in markdown_blocks(text):
        if block.kind == "heading" and has_text:
            yield section
            section, has_text = [], False
        section.append(block)
        has_text |= block.kind != "heading"
    if section:
        yield section


def _units(text: str, blocks: Sequence[MarkdownBlock], size: int) -> list[Span]:
    """What a long section is packed from: blocks, and the sentences of long ones. A heading stays with what follows."""
    units: list[Span] = []
    heading: Span | None = None
    for block in blocks:
        span = Span(block.start, block.end)
        if block.kind in WHOLE or span.length <= size:
            parts = [span]
        else:
            parts = list(cut_long(text, sentence_spans(text, *span), size))
        if heading is not None:
            joined = Span(heading.start, parts[0].end)
            if block.kind in WHOLE or joined.length <= size:
                parts[0] = joined
            else:
                parts.insert(0, heading)
            heading = None
        if block.kind == "heading":
            heading = parts.pop()
        units += parts
    return units if heading is None else [*units, heading]


# A text and a way to split it in; spans out.


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


# The chunks of documents, as a corpus and as a file.

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
