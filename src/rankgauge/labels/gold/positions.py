"""Where gold passages are in the gold text of their query, so that text that spans share counts once.

Spans of one document that overlap are laid over each other, as they are in the document; their own texts and offsets
are enough for that. All other passages are laid end to end: where a quote without a document is, nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.labels.gold.labels import GoldPassage
from rankgauge.labels.gold.normalization import NormalizedText
from rankgauge.labels.gold.options import Tokenizer
from rankgauge.labels.gold.token_places import TokenPlaces

Position = tuple[int, int]  # in characters and in tokens


def passage_positions(
    passages: Sequence[GoldPassage], lengths: Sequence[TokenPlaces], tokenizer: Tokenizer
) -> list[Position]:
    """Where each passage begins; ``lengths`` are those of the normalized texts."""
    positions = [(0, 0)] * len(passages)
    characters = tokens = 0
    for rows in _overlapping(passages):
        begins = [(0, 0)] if len(rows) == 1 else _positions_within([passages[row] for row in rows], tokenizer)
        ends = [
            (begin[0] + lengths[row].characters, begin[1] + len(lengths[row]))
            for row, begin in zip(rows, begins, strict=True)
        ]
        for row, begin in zip(rows, begins, strict=True):
            positions[row] = (characters + begin[0], tokens + begin[1])
        characters += max(end[0] for end in ends)
        tokens += max(end[1] for end in ends)
    return positions


def _overlapping(passages: Sequence[GoldPassage]) -> Iterator[list[int]]:
    """The rows of passages that share text, by query; a row by itself if it shares none."""
    spans: dict[tuple[str, str], list[int]] = {}
    for row, passage in enumerate(passages):
        if passage.is_span:
            spans.setdefault((passage.query, str(passage.document)), []).append(row)
        else:
            yield [row]
    for rows in spans.values():
        members: list[int] = []
        reached = 0
        for row in sorted(rows, key=lambda row: (passages[row].start, passages[row].end)):
            if members and passages[row].start >= reached:
                yield members
                members = []
            members.append(row)
            reached = max(reached, passages[row].end)
        yield members


def _positions_within(spans: Sequence[GoldPassage], tokenizer: Tokenizer) -> list[Position]:
    """Where overlapping spans, in their order, begin in the normalized text of all of them together."""
    first, text = spans[0].start, ""
    for span in spans:
        text += str(span.text)[first + len(text) - span.start :] if first + len(text) < span.end else ""
    union = NormalizedText.of(text)
    tokens = TokenPlaces.of(union.text, tokenizer)
    positions = []
    for span in spans:
        begin = int(np.searchsorted(union.starts, span.start - first))
        begin += union.text[begin : begin + 1] == " "
        positions.append((begin, int(np.searchsorted(tokens.ends, begin, side="right"))))
    return positions
