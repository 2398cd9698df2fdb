"""A shortcut: the extension scans the blocks of a TREC run and looks up the judged documents by itself.

Unjudged rows are only counted, and no column of all rows is made. A block in which anything is odd goes through the
pipeline instead, so that faults, warnings and their lines come from one place: the extension reports nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.arrays import keep_freed_memory
from rankgauge.core.ids import PADDING, Ids
from rankgauge.errors import InputError
from rankgauge.io import rank_checks
from rankgauge.io.byte_streams import READ_BYTES, ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.named_columns import Wanted
from rankgauge.io.formats.text_blocks import TextBlocks
from rankgauge.io.row_checks import report_split_queries
from rankgauge.io.text_checks import BOM, add_bom_warning

if TYPE_CHECKING:
    from rankgauge.io.pipeline.run_pipeline import RunBuilder

COLUMNS = len(trec.RUN_COLUMNS)
SCATTERED_SHARE = 4  # a run with scattered queries is scanned in memory up to this share of the memory budget


class TrecScan:
    """The scan of a stream, whose runs go to a builder."""

    def __init__(self, stream: ByteStream, run: RunBuilder, faults: Faults) -> None:
        self._stream, self._run, self._faults = stream, run, faults
        self._usual_columns = 0  # the number of columns of the first row, if it is known
        self._has_content = False
        keep_freed_memory()

    @staticmethod
    def is_available() -> bool:
        """Whether there is an extension."""
        return compiled.scanner is not None

    def run(self, progress: Callable[[int], None] | None) -> None:
        """Scan everything."""
        blocks = trec.open_lines(self._stream, Wanted("run"), self._faults)
        is_left = blocks.used < blocks.size or blocks.advance()
        while is_left:
            end = blocks.complete_lines()
            if end > blocks.used and not self._scan(blocks, end):
                self._read_odd(blocks, end)
            is_left = blocks.advance()
            if progress is not None:
                progress(self._stream.bytes_read)
        self._faults.raise_errors()
        if not self._has_content:
            raise InputError.at(self._faults.source, None, "no lines with content")

    def run_scattered(self, memory: int) -> bool:
        """Scan a run whose queries are in several places, all of it in memory; False if it is too large, or odd."""
        limit = memory // SCATTERED_SHARE
        if self._stream.stored_size() > limit:
            return False
        data, view = bytearray(), memoryview(bytearray(READ_BYTES))
        while size := self._stream.readinto(view):
            data += view[:size]
            if len(data) > limit:
                return False
        if data.startswith(BOM):
            add_bom_warning(self._faults)
            del data[: len(BOM)]
        data += bytes(PADDING)
        text = np.frombuffer(data, dtype=np.uint8)
        builder = self._run.builder
        assert builder is not None
        found = builder.scanner.scan_scattered(text)
        if found is None:
            return False
        _, _, rows, table, tag, tag_length = found
        begin, length, numbers, sizes, resumed, first = np.frombuffer(table, dtype=np.int64).reshape(-1, 6).T
        names = list(Ids(text, begin, length))
        self._run.see(names, sizes, first)
        self._run.tag = text[tag : tag + tag_length].tobytes()
        again = np.flatnonzero(resumed)
        again = again[np.argsort(resumed[again])]
        report_split_queries(self._faults, resumed[again], lambda at: names[int(again[at])])
        rank_checks.report_none(self._faults, int(rows) - len(sizes))
        builder.add_judged(numbers, sizes)
        return True

    def _scan(self, blocks: TextBlocks, end: int) -> bool:
        """Scan the complete queries of a block; whether it is plain."""
        builder = self._run.builder
        assert builder is not None
        if self._usual_columns not in (0, COLUMNS):
            return False
        text = blocks.buffer[blocks.used : end + PADDING]
        found = builder.scanner.scan(text, blocks.is_last)
        if found is None:
            return False
        used, lines, rows, table, tag, tag_length = found
        begin, length, numbers, sizes, _, _ = np.frombuffer(table, dtype=np.int64).reshape(-1, 6).T
        # Each row is one line: a block with a blank one is odd.
        first_lines = blocks.line + 1 + np.cumsum(sizes) - sizes
        self._run.see(list(Ids(text, begin, length)), sizes, first_lines)
        blocks.used += int(used)
        blocks.line += int(lines)
        if rows:
            self._has_content = True
            self._usual_columns = COLUMNS
            rank_checks.report_none(self._faults, int(rows) - len(sizes))
            builder.add_judged(numbers, sizes)
            if blocks.is_last:
                self._run.tag = text[tag : tag + tag_length].tobytes()
        return True

    def _read_odd(self, blocks: TextBlocks, end: int) -> None:
        """Pass the complete queries of a block on to the pipeline."""
        lines = trec.split_block(blocks, end, COLUMNS, by_query=True)
        self._has_content |= bool(len(lines) or len(lines.short))
        self._usual_columns = self._usual_columns or (int(lines.count[0]) if len(lines) else 0)
        rows = trec.run_batch(self._faults, lines, self._usual_columns or COLUMNS)
        self._run.add(rows)
        if blocks.is_last and len(lines):
            self._run.tag = lines.column(5)[len(lines) - 1]
