"""Parts of a text, and how small ones are packed into chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


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
