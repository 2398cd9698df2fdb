"""Lines of a TREC run that do not fit into memory, in one temporary file: by partition of their query.

Lines stay as they are, so that the extension scans a partition as it scans a file. Each has a mark of four bytes: twice
its place in the block that was read, and 1 more if its query differs from that of the line before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.ids import PADDING, Ints
from rankgauge.io.formats.tokens import Bytes
from rankgauge.io.join.grouping import MAX_DEPTH
from rankgauge.io.join.spill import SpillFile

PARTITION_BITS = 10  # as in core/compiled/scanner.h
PARTITIONS = 1 << PARTITION_BITS
Part = tuple[Bytes, Ints]  # a padded text, and for each of its lines twice its number in the file, perhaps 1 more


@dataclass(frozen=True)
class LineSegment:
    """Where the lines of a partition in one block are, and where their marks are."""

    begin: int
    size: int
    marks_begin: int
    rows: int
    lines_before: int  # of the block, in the run


class LineSpill:
    """Lines by partition in a temporary file. ``depth`` is 0, and higher for a partition of another spill."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._segments: list[list[LineSegment]] = [[] for _ in range(PARTITIONS)]
        self._file = SpillFile()
        self._lines, self._last_query = 0, b""
        self.size = 0  # the bytes of all lines

    def __enter__(self) -> LineSpill:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add_block(self, block: Bytes, _: bool) -> int:
        """Add the lines of the next padded block of a run, and return its size."""
        self._lines += self._add(block, None, self._lines)
        return len(block) - PADDING

    def _add(self, text: Bytes, marks: Bytes | None, lines_before: int) -> int:
        """Add lines to their partitions, and return their number, blank ones included."""
        assert compiled.scanner is not None
        shift = PARTITION_BITS * self._depth
        placed = compiled.scanner.partition(text, self._last_query, marks, shift, compiled.SEED)
        data, data_marks, part_sizes, part_rows, lines, self._last_query = placed
        sizes, rows = np.frombuffer(part_sizes, dtype=np.int64), np.frombuffer(part_rows, dtype=np.int64)
        begins = self._file.append(data) + np.cumsum(sizes) - sizes
        marks_begins = self._file.append(data_marks) + 4 * (np.cumsum(rows) - rows)
        for number in np.flatnonzero(rows).tolist():
            begin, size = int(begins[number]), int(sizes[number])
            segment = LineSegment(begin, size, int(marks_begins[number]), int(rows[number]), lines_before)
            self._segments[number].append(segment)
        self.size += len(data)
        return int(lines)

    def parts(self, limit: int) -> Iterator[Part]:
        """All lines, part by part: whole queries of about this many bytes, unless a single one has more."""
        for segments in self._segments:
            size = sum(segment.size for segment in segments)
            if size > limit and size < self.size and self._depth < MAX_DEPTH:
                with LineSpill(self._depth + 1) as finer:
                    for segment in segments:
                        text, marks = self._load([segment])
                        finer._add(text, marks, segment.lines_before)
                    yield from finer.parts(limit)
            elif size:
                text, marks = self._load(segments)
                before = np.repeat(
                    [segment.lines_before + 1 for segment in segments], [segment.rows for segment in segments]
                )
                yield text, marks.view(np.uint32) + 2 * before

    def _load(self, segments: Sequence[LineSegment]) -> tuple[Bytes, Bytes]:
        """The lines of some segments, with padding, and their marks."""
        text = np.zeros(sum(segment.size for segment in segments) + PADDING, dtype=np.uint8)
        marks = np.empty(4 * sum(segment.rows for segment in segments), dtype=np.uint8)
        at = marks_at = 0
        for segment in segments:
            self._file.read_into(segment.begin, text[at : at + segment.size])
            self._file.read_into(segment.marks_begin, marks[marks_at : marks_at + 4 * segment.rows])
            at, marks_at = at + segment.size, marks_at + 4 * segment.rows
        return text, marks
