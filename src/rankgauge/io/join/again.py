"""Results that are read a second time, batch by batch, for what a join does not keep.

A join keeps judged rows. A report also shows the first documents of each ranking, and the cause of a drop may be in
documents that are not judged; both are found here without a whole run in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.hits import Joined
from rankgauge.core.ids import Ids, concatenate
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, held_warnings
from rankgauge.io.byte_streams import is_dataset, is_folder, open_source
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.text_blocks import NotInBlocksError
from rankgauge.io.join.inputs import as_run
from rankgauge.io.join.joining import join_any, runs_and_notes
from rankgauge.io.join.scan import Progress, trec_batches
from rankgauge.io.options import Reading
from rankgauge.io.reading import format_of
from rankgauge.io.rows import Rows

FIRST_SHARE = 0.25  # of the progress, the part of the first reading
MAX_UNCUT_ROWS = 1 << 18  # of rankings whose rows are scattered, before they are cut again


def can_read_again(source: Any) -> bool:
    """Whether results can be read twice: not standard input, a pipe, or a table that another engine computes."""
    if isinstance(source, (str, Path)):
        return is_dataset(source) or is_folder(source) or (str(source) != "-" and Path(source).is_file())
    from rankgauge.io.formats.lazy_tables import is_lazy_table  # as below

    return not is_lazy_table(source)


def join_with_tops(
    qrels: Qrels, source: Any, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with each run of a source, and keep the first documents of each query."""
    if reading.keep_rankings:
        return join_any(qrels, source, reading, compat, progress)
    is_file = isinstance(source, (str, Path)) and not is_dataset(source) and can_read_again(source)
    if not is_file or reading.on_duplicate == "first":  # which may be far from the top
        joins = join_any(qrels, source, replace(reading, keep_rankings=True), compat, progress)
        return [replace(joined, run=None, top=joined.run) for joined in joins]
    state = _file_state(source)
    first, second = _progress_of_both(progress)
    joins = join_any(qrels, source, reading, compat, first)
    tops = _tops(source, reading, compat, second)
    if _file_state(source) != state:
        raise InputError.at(source, None, "changed while it was read", hint="try again when nothing writes to it")
    return [replace(joined, top=top) for joined, top in zip(joins, tops, strict=True)]


def documents_of(source: Any, reading: Reading) -> Iterator[Ids]:
    """The documents of all results, in columns of which each has some of them."""
    if isinstance(source, (str, Path)) and not is_dataset(source):
        try:
            for rows in _batches(source, reading):
                yield rows.doc
            return
        except NotInBlocksError:
            pass
    with held_warnings():  # they were issued before
        run = as_run(source, reading)
    yield run.docs


class _TopRows:
    """The first rows of each query of a run, whose rows come in any order."""

    def __init__(self, depth: int, compat: Compat) -> None:
        self._depth, self._compat = depth, compat
        self._parts: list[Run] = []
        self._limit = MAX_UNCUT_ROWS

    def add(self, rows: Rows) -> None:
        """Take the first rows of a batch."""
        self._parts.append(self._cut(rows.query, rows.doc, -rows.value if rows.has_ranks_only else rows.value))
        if sum(map(len, self._parts)) > self._limit:
            self._parts = [self.run()]
            self._limit = max(MAX_UNCUT_ROWS, 2 * len(self._parts[0]))

    def run(self) -> Run:
        """The first rows of all batches."""
        parts = self._parts
        return self._cut(
            concatenate([part.queries.take(part.query) for part in parts]),
            concatenate([part.docs for part in parts]),
            np.concatenate([part.scores for part in parts]),
        )

    def _cut(self, query: Ids, docs: Ids, scores: Floats) -> Run:
        top = Run.build(query, docs, scores).top(self._depth, self._compat)
        return replace(top, queries=top.queries.compact(), docs=top.docs.compact())


def _tops(path: str | Path, reading: Reading, compat: Compat, progress: Progress | None) -> list[Run]:
    """The first documents of each query, for each run of a file or folder, in the order of their first rows."""
    tops: dict[bytes, _TopRows] = {}
    try:
        for rows in _batches(path, reading, progress):
            for part in rows.by_run() if len(rows) or rows.empty else []:
                tag = b"" if part.tag is None or not len(part) else part.tag[0]
                tops.setdefault(tag, _TopRows(reading.keep_top, compat)).add(part)
        return [top.run() for top in tops.values()]
    except NotInBlocksError:
        with held_warnings():  # they were issued before
            return [run.top(reading.keep_top, compat) for run in runs_and_notes(path, reading)[0]]


def _batches(path: str | Path, reading: Reading, progress: Progress | None = None) -> Iterator[Rows]:
    """The rows of a file or folder; raises ``NotInBlocksError`` if it must be read as a whole."""
    from rankgauge.io.formats.folders import ParquetFolder  # most gates read nothing again
    from rankgauge.io.formats.registry import format_named

    faults = Faults(str(path))  # which were reported before
    if is_folder(path):
        folder = ParquetFolder(path, reading.limits, reading.columns)
        yield from _reported(folder.batches(faults), lambda: folder.bytes_read, progress)
        return
    with open_source(path, limits=reading.limits) as stream:
        format = reading.run_format or format_of(stream, "run")
        stream.rewind()
        if format == "trec":  # whose tags do not separate runs
            batches = (replace(rows, tag=None) for rows in trec_batches(faults, stream))
            yield from _reported(batches, lambda: stream.bytes_read, progress)
            return
        read_batches = format_named(format, "run").read_batches
        if read_batches is None:
            raise NotInBlocksError
        yield from _reported(read_batches(faults, stream, reading.columns), lambda: stream.bytes_read, progress)


def _reported(batches: Iterator[Rows], position: Callable[[], int], progress: Progress | None) -> Iterator[Rows]:
    for rows in batches:
        yield rows
        if progress is not None:
            progress(position())


def _progress_of_both(progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """What the first and the second reading of a source report to, so that together they are one."""
    if progress is None:
        return None, None
    size = 0

    def first(position: int) -> None:
        nonlocal size
        size = max(size, position)
        progress(int(FIRST_SHARE * position))

    def second(position: int) -> None:
        progress(int(FIRST_SHARE * size + (1 - FIRST_SHARE) * position))

    return first, second


def _file_state(path: str | Path) -> list[tuple[str, int, int]]:
    """The files of a source, their sizes and when they were changed."""
    files = sorted(Path(path).rglob("*")) if is_folder(path) else [Path(path)]
    states = [(str(file), file.stat()) for file in files]
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]
