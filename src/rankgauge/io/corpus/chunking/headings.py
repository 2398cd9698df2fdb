"""Sections of Markdown. A code fence or a table is never cut, and no line in one is taken for a heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.io.corpus.chunking.sentences import sentence_spans
from rankgauge.io.corpus.chunking.spans import Span, cut_long, pack
from rankgauge.io.formats.markdown_blocks import MarkdownBlock, markdown_blocks

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
