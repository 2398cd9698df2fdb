"""A run scanned for validation: only the queries that may have a fault become rows, which the checks then see.

The extension finds these queries. A run in which anything else is odd (a line, a tag, a query in two places) is left to
the plain reader, and so is every run if there is no extension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.batch import NO_LINES, NO_ROWS
from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.core.progress import phase
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import ByteStream, is_dataset, open_source
from rankgauge.io.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.named_columns import Wanted
from rankgauge.io.formats.white_space import Bytes, pad, split_columns
from rankgauge.io.pipeline import run_pipeline
from rankgauge.io.sources import detect_format
from rankgauge.validation.validated_file import CheckedRows, ValidatedFile, ValidationOptions

ANY_DEPTH = 1 << 62


class _OddError(Exception):
    """Something that only the plain reader can report."""


def scan_for_validation(source: object, options: ValidationOptions) -> ValidatedFile | None:
    """The rows of a TREC run that may have a fault; None if the run must be read as a whole."""
    if compiled.scanner is None or "clean" not in run_pipeline.SHORTCUTS:
        return None
    if not _is_rereadable(source) or options.format not in (None, "trec"):
        return None
    try:
        with open_source(str(source), limits=options.limits, hashed=options.hashed) as stream:
            if options.format is None and detect_format(stream, "run") != "trec":
                return None
            checker = _Checker(stream, options)
            with phase("reading", "byte", Path(str(source)).stat().st_size) as reading:
                checker.check(reading.report)
            faults = Faults(str(source), limit=options.max_places)
            return ValidatedFile(faults, checker.table(faults), stream.sha256, "trec")
    except (_OddError, InputError):
        return None


def _is_rereadable(source: object) -> bool:
    return isinstance(source, (str, Path)) and not is_dataset(source) and Path(source).is_file()


class _Checker:
    """The state of a scan."""

    def __init__(self, stream: ByteStream, options: ValidationOptions) -> None:
        assert compiled.scanner is not None
        none = (np.zeros(PADDING, dtype=np.uint8), NO_LINES, NO_LINES)
        offsets = np.zeros(1, dtype=np.int64)
        self._scanner = compiled.scanner.Scanner(none, none, offsets, False, stream.limits.max_line, compiled.SEED)
        self._stream = stream
        self.cutoffs = np.array(options.cutoffs, dtype=np.int64)
        self.least, self.most = options.min_depth or 0, options.max_depth or ANY_DEPTH
        self.queries: set[bytes] = set()
        self.rows = 0
        self.texts: list[bytes] = []  # of the suspects …
        self.lines: list[Ints] = []  # … and the numbers of their lines
        self.suspects = 0

    def check(self, report: Callable[[int], None]) -> None:
        """Check everything."""
        faults = Faults(self._stream.path)
        blocks = trec.open_lines(self._stream, Wanted("run"), faults)
        if faults.counts:
            raise _OddError  # a byte order mark
        is_left = True
        while is_left:
            end = blocks.complete_lines()
            if end > blocks.used:
                blocks.used += self._check_block(blocks.buffer[blocks.used : end + PADDING], blocks.is_last)
            is_left = blocks.advance()
            report(self._stream.bytes_read)

    def _check_block(self, buffer: Bytes, is_last: bool) -> int:
        """Remember the queries of a block that may have a fault, and return the size of its complete queries."""
        found = self._scanner.check(buffer, is_last, self.cutoffs, self.least, self.most)
        if found is None:
            raise _OddError
        used, _, rows, table, _, _ = found
        begin, length, _, sizes, is_suspect, _ = np.frombuffer(table, dtype=np.int64).reshape(-1, 6).T
        before = len(self.queries)
        self.queries.update(Ids(buffer, begin, length))
        if len(self.queries) < before + len(begin):
            raise _OddError  # a query in two places
        ends, last_lines = np.append(begin[1:], used), self.rows + np.cumsum(sizes)  # each row is one line
        for query in np.flatnonzero(is_suspect).tolist():
            self.texts.append(buffer[begin[query] : ends[query]].tobytes())
            self.lines.append(np.arange(last_lines[query] - sizes[query], last_lines[query]) + 1)
        self.suspects += int(is_suspect.sum())
        self.rows += int(rows)
        return int(used)

    def table(self, faults: Faults) -> CheckedRows:
        """The rows of the suspects, and how many others there are."""
        if not self.rows:
            raise _OddError
        rows = NO_ROWS
        if self.suspects:
            lines = split_columns(pad(b"".join(self.texts)), len(trec.RUN_COLUMNS))
            rows = trec.run_batch(faults, lines, len(trec.RUN_COLUMNS))
            rows = replace(rows, line=np.concatenate(self.lines)[rows.line - 1])
        if faults.examples or len(rows) != sum(map(len, self.lines)):
            raise _OddError
        clean_queries = len(self.queries) - self.suspects
        return CheckedRows(rows, faults, clean_rows=self.rows - len(rows), clean_queries=clean_queries)
