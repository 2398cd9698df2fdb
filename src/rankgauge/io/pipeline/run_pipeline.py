"""The runs of a source: its rows are grouped by query, checked, and joined with judgments or kept.

    source → batches of rows → whole queries → checks → HitsBuilder, or the rows themselves

The rows of a query are usually contiguous; then each batch is done with and forgotten. If they are not, or if a late
key changes the columns, the source is read again: only here. A table with a column of run names holds several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.arrays import group_of
from rankgauge.core.batch import Batch, concatenate_batches, joined_extras
from rankgauge.core.dataclass import dataclass
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import HitsBuilder
from rankgauge.core.ids import IdIndex, Ids, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate, Run, RunExtras, Status
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import DEFAULT_LIMITS, sha256_of_part
from rankgauge.io.faults import Faults
from rankgauge.io.formats.named_columns import Wanted, scores_from_ranks
from rankgauge.io.formats.text_blocks import Restart
from rankgauge.io.pipeline.trec_scan import TrecScan
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.io.row_checks import check_results, report_duplicates, several_systems
from rankgauge.io.sources import FileSource, Source

Progress = Callable[[int], None]
T = TypeVar("T")
GROUPING_SHARE = 0.7  # of the progress, the part in which the rows of scattered queries are read
ANY_MEMORY = ALL_ROWS = 1 << 60
SHORTCUTS = {"trec", "dict", "clean"}  # ways around the pipeline; tests switch them off


@dataclass(frozen=True, eq=False)
class RunRows:
    """A run that was read: joined with judgments, kept in memory, or both."""

    tag: bytes  # on its last row
    queries: Ids  # all of them, judged or not, in the order of their first rows; empty ones last
    sizes: Ints  # the number of rows of each
    hits: Hits | None = None
    rows: Batch | None = None
    failed: tuple[bytes, ...] = ()
    extras: RunExtras | None = None

    def run(self, name: str, sha256: str | None) -> Run:
        """The run in memory, if its rows were kept."""
        assert self.rows is not None
        made = Run.build(self.rows.query, self.rows.doc, self.rows.value, name=name, sha256=sha256)
        made = replace(made.with_empty(self.rows.empty), extras=self.extras)
        return made.marked_failed(self.failed)


class RunBuilder:
    """A run while it is read: ``add`` rows of whole queries, then take the ``result``."""

    def __init__(
        self,
        faults: Faults,
        builder: HitsBuilder | None,
        *,
        kept_depth: int = 0,
        is_checked: bool = True,
        on_duplicate: OnDuplicate = "error",
        max_id_bytes: int = DEFAULT_LIMITS.max_line,
    ) -> None:
        self.faults, self.builder, self._is_checked = faults, builder, is_checked
        self.on_duplicate, self.max_id_bytes = on_duplicate, max_id_bytes
        self.tag = b""  # to be set by the caller
        self._depth = kept_depth
        self._kept: list[Batch] = []
        self._seen: dict[bytes, None] = {}
        self._empty: list[bytes] = []  # queries without rows
        self._failed: tuple[bytes, ...] = ()
        self._extras: RunExtras | None = None
        self._sizes: list[Ints] = []  # of the queries seen
        self._lines: list[Ints] = []  # of their first rows

    def attach(self, rows: Batch) -> None:
        """Keep what a batch of this run knows besides its rows."""
        if rows.extras is not None or rows.failed:
            self._extras, self._failed = joined_extras((rows.extras, self._extras)), rows.failed

    def add(self, rows: Batch) -> None:
        """Check, rank and join the rows of whole queries, each of them contiguous.

        Raises :class:`Restart` if one of the queries was added before. What is wrong is added to the faults; after an
        error nothing is joined any more, only checked.
        """
        if rows.empty:
            self._empty += rows.empty
            if self.builder is not None:
                self.builder.set_status(Ids.from_bytes(rows.empty), Status.EMPTY)
        if not len(rows):
            return
        begins = rows.query_begins()
        queries = rows.query.take(begins)
        offsets = np.append(begins, len(rows))
        self.see(list(queries), np.diff(offsets), rows.line[begins])
        if rows.has_ranks_only:
            rows = scores_from_ranks(self.faults, rows)
        if self._is_checked:
            check_results(self.faults, rows, offsets, self.max_id_bytes)
        self._join_and_keep(rows, queries, offsets)

    def _join_and_keep(self, rows: Batch, queries: Ids, offsets: Ints) -> None:
        """Join rows unless there is an error, and keep them; each document once, if the first one counts."""
        builder = None if self.faults.total("error") else self.builder
        if builder is None or not builder.add(queries, offsets, rows.doc, rows.value):
            first_rows, repeated_rows = repeated(rows.doc, group_of(offsets))
            if self.on_duplicate == "error":
                report_duplicates(self.faults, rows, first_rows, repeated_rows)
            else:
                unique_rows = np.delete(np.arange(len(rows)), repeated_rows)
                rows, offsets = rows.take(unique_rows), np.searchsorted(unique_rows, offsets)
                if builder is not None:
                    builder.add(queries, offsets, rows.doc, rows.value)
        if self._depth:
            self._kept.append(rows if self._depth == ALL_ROWS else self._top(rows, offsets))

    def _top(self, rows: Batch, offsets: Ints) -> Batch:
        """The first rows of each query, in rank order, over memory of their own."""
        compat: Compat = "trec_eval-9" if self.builder is None else self.builder.compat
        order = ranking.order(offsets, rows.doc, rows.value, compat)
        top = order[np.arange(len(order)) - offsets[:-1][group_of(offsets)] < self._depth]
        return Batch(rows.line[top], rows.query.take(top).compact(), rows.doc.take(top).compact(), rows.value[top])

    def see(self, names: list[bytes], sizes: Ints, lines: Ints) -> None:
        """Remember queries; raises :class:`Restart` if one of them was there before."""
        before = len(self._seen)
        self._seen.update(dict.fromkeys(names))
        if len(self._seen) < before + len(names):
            raise Restart
        self._sizes.append(sizes)
        self._lines.append(lines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not self._seen and not self._empty

    def result(self) -> RunRows:
        """The run; all of it was added."""
        queries, empty = Ids.from_bytes([*self._seen, *self._empty]), np.zeros(len(self._empty), dtype=np.int64)
        sizes, lines = np.concatenate([*self._sizes, empty]), np.concatenate([*self._lines, empty])
        rows = len(self._seen)
        order = np.append(np.argsort(lines[:rows], kind="stable"), np.arange(rows, len(queries)))
        kept = self._all_kept(order[:rows]) if self._depth else None
        if self.builder is not None and self._failed:
            self.builder.set_status(Ids.from_bytes(self._failed), Status.FAILED)
        hits = None if self.builder is None else self.builder.build()
        return RunRows(self.tag, queries.take(order), sizes[order], hits, kept, self._failed, self._extras)

    def _all_kept(self, order: Ints) -> Batch:
        """The rows that were kept; ``order`` has the queries in the order of their first rows."""
        kept = replace(concatenate_batches(self._kept), empty=tuple(self._empty))
        if (np.diff(order) > 0).all():
            return kept
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return kept.take(np.argsort(place[kept.query.distinct[0]], kind="stable"))


class RunReader:
    """Reads all runs of a source. Without judgments nothing is joined; so many rows of each query are kept."""

    def __init__(
        self,
        source: Source,
        reading: Reading,
        *,
        qrels: Qrels | None = None,
        compat: Compat = "trec_eval-9",
        kept_depth: int = 0,
        progress: Progress | None = None,
        listener: Callable[[Batch], None] | None = None,
        is_checked: bool = True,
    ) -> None:
        self.source, self.reading, self._depth = source, reading, kept_depth
        self._listener, self._is_checked = listener, is_checked
        self.is_scattered = False
        self._qrels, self._compat, self._report = qrels, compat, progress
        self.faults = Faults(source.name)

    def read(self) -> list[RunRows]:
        """The runs in the order of their first rows; raises if anything is wrong, and warns of what is odd."""
        builders = self.builders()
        self.faults.raise_or_warn()
        if all(builder.is_empty for builder in builders):
            raise InputError.at(self.source.name, None, "no results in the file")
        return [builder.result() for builder in builders]

    def builders(self) -> list[RunBuilder]:
        """The runs with all their rows; what is wrong with them is in the faults."""
        self.source.check_columns(self.reading.columns)
        return attempts(self._read)

    def _read(self, names: tuple[str, ...], is_scattered: bool) -> list[RunBuilder]:
        self.is_scattered = is_scattered
        has_iters = self._listener is not None
        wanted = _wanted(self.reading, names)
        self.wanted = wanted = replace(wanted, is_kept=self._depth == ALL_ROWS, has_iters=has_iters)
        if self._can_scan() and self._scan(is_scattered):
            return list(self._builders.values())
        self._start()
        if is_scattered:
            self._read_scattered(wanted)
        else:
            self._read_contiguous(wanted)
        return list(self._builders.values())

    def _start(self) -> None:
        self.faults = Faults(self.source.name, strict=self.reading.limits.strict)
        self._builders: dict[bytes, RunBuilder] = {}

    def _can_scan(self) -> bool:
        """Whether the extension may look up the judged documents of a TREC file by itself."""
        if self._qrels is None or self._depth:
            return False
        is_trec = self.source.format == "trec" and isinstance(self.source, FileSource)
        return is_trec and "trec" in SHORTCUTS and TrecScan.is_available()

    def _scan(self, is_scattered: bool) -> bool:
        """Scan a TREC file; False if its queries are scattered and the pipeline must group them."""
        assert isinstance(self.source, FileSource)
        self._start()
        with self.source.started() as stream:
            scan = TrecScan(stream, self._builder_of(b""), self.faults)
            if is_scattered:
                is_plain = self.reading.on_duplicate == "error" and scan.run_scattered(self.reading.memory)
                return is_plain and not self.faults.total("error")
            scan.run(self._report)
            return True

    def _read_contiguous(self, wanted: Wanted) -> None:
        from rankgauge.io.pipeline.grouping import WholeQueries  # a TREC file is usually scanned

        whole: dict[bytes, WholeQueries] = {}
        for batch in self.source.batches(wanted, self.faults):
            if self._listener is not None:
                self._listener(batch)
            for key, rows in self._by_run(batch):
                for group in whole.setdefault(key, WholeQueries()).push(rows):
                    self._builders[key].add(group)
            self._progress(1)
        for key, waiting in whole.items():
            for group in waiting.finish():
                self._builders[key].add(group)

    def _read_scattered(self, wanted: Wanted) -> None:
        from rankgauge.io.pipeline.grouping import Grouping  # few sources need it

        # What is kept is in memory anyway.
        memory = ANY_MEMORY if self._depth == ALL_ROWS else self.reading.memory
        with Grouping(self.faults, memory) as grouping:
            for batch in self.source.batches(wanted, self.faults):
                for key, rows in self._by_run(batch):
                    if rows.empty:
                        self._builders[key].add(replace(rows.slice(0, 0), empty=rows.empty))
                    grouping.add(list(self._builders).index(key), rows)
                self._progress(GROUPING_SHARE)
            for number, rows in grouping.by_query(lambda share: self._progress(GROUPING_SHARE * (1 - share) + share)):
                list(self._builders.values())[number].add(rows)

    def _progress(self, share: float) -> None:
        """Report how far this is, if reading the source to its end is this share of the work."""
        if self._report is not None:
            self._report(int(share * self.source.position()))

    def _by_run(self, batch: Batch) -> Iterator[tuple[bytes, Batch]]:
        """The rows of each run in a batch, with what distinguishes the run."""
        if not len(batch) and not batch.empty:
            return
        for rows in batch.by_run() if self.source.has_many_runs else [batch]:
            tag = rows.run_name
            key = tag if self.source.has_many_runs else b""
            if not self.source.has_many_runs and rows.system and key in self._builders:
                names = [name.decode("utf-8", "surrogateescape") for name in (self._builders[key].tag, tag)]
                raise several_systems(self.source.name, names)
            self._builder_of(key).tag = tag
            self._builders[key].attach(rows)
            yield key, rows

    def _builder_of(self, key: bytes) -> RunBuilder:
        if key not in self._builders:
            limit = self.reading.limits.max_line
            builder = None if self._qrels is None else HitsBuilder(self._qrels, self._compat, max_id_bytes=limit)
            self._builders[key] = RunBuilder(
                self.faults,
                builder,
                kept_depth=self._depth,
                is_checked=self._is_checked,
                on_duplicate=self.reading.on_duplicate,
                max_id_bytes=limit,
            )
        return self._builders[key]


def attempts(read: Callable[[tuple[str, ...], bool], T]) -> T:
    """Read a source, again if it turns out to be different: with all keys, or with queries that are scattered."""
    names: tuple[str, ...] = ()
    is_scattered = False
    while True:
        try:
            return read(names, is_scattered)
        except Restart as restart:
            names, is_scattered = restart.names or names, is_scattered or not restart.names


HOLDS_EMPTY = ("log", "json")  # formats that can hold a query without results


def read_runs(source: Source, reading: Reading = DEFAULT_READING, name: str | None = None) -> tuple[list[Run], Faults]:
    """All runs of a source, in memory, and its faults. A run's name is its tag, unless it has none or one is given."""
    reader = RunReader(source, reading, kept_depth=ALL_ROWS)
    read = reader.read()
    sha256 = source.sha256()
    runs = [one.run(name or run_name(one, source), part_sha256(sha256, one, read)) for one in read]
    return [replace(run, holds_empty=source.format in HOLDS_EMPTY) for run in runs], reader.faults


def run_from_batches(
    faults: Faults,
    batches: Iterable[Batch],
    *,
    name: str,
    sha256: str | None = None,
    on_duplicate: OnDuplicate = "error",
) -> Run:
    """A run from all its rows, whose faults are known; raises if there are any, or if a document appears twice."""
    from rankgauge.io.pipeline.grouping import Grouping

    rows = RunBuilder(faults, None, kept_depth=ALL_ROWS, is_checked=False, on_duplicate=on_duplicate)
    with Grouping(faults, ANY_MEMORY) as grouping:
        for batch in batches:
            rows.attach(batch)
            rows.add(replace(batch.slice(0, 0), empty=batch.empty))
            grouping.add(0, batch)
        for _, group in grouping.by_query(lambda share: None):
            rows.add(group)
    faults.raise_or_warn()
    return rows.result().run(name, sha256)


def run_name(run: RunRows, source: Source) -> str:
    """The name of a run: its tag, or the name of its source."""
    return run.tag.decode("utf-8", "surrogateescape") or source.title


def part_sha256(sha256: str | None, run: RunRows, runs: list[RunRows]) -> str | None:
    """The hash of a run: that of its source, unless there are others in it."""
    return sha256 if len(runs) == 1 else sha256_of_part(sha256, run.tag.decode("utf-8", "surrogateescape"))


def _wanted(reading: Reading, names: tuple[str, ...]) -> Wanted:
    return Wanted(
        "run",
        reading.columns,
        names,
        fields=reading.match_fields,
        is_by_text=reading.is_by_text,
        knows_scores=reading.scores is not None,
    )


def first_results(source: Source, run: RunRows, reading: Reading, rows: int) -> Run:
    """The results of the first queries of a run, up to about this many rows: the source is read again for them."""
    chosen = run.queries.head(int(np.searchsorted(np.cumsum(run.sizes) - run.sizes, rows)))
    return results_of(source, run, chosen, int(run.sizes[: len(chosen)].sum()), reading)


def batches_again(source: Source, reading: Reading) -> Iterator[Batch]:
    """The rows of a source that was read before, whose faults are known; some may come twice."""
    names: tuple[str, ...] = ()
    while True:
        try:
            yield from source.batches(_wanted(reading, names), Faults(source.name))
            return
        except Restart as restart:
            names = restart.names


def results_of(source: Source, run: RunRows, queries: Ids, rows: int, reading: Reading) -> Run:
    """The results of some queries of a run, which have this many rows: the source is read again for them."""
    index = IdIndex(queries, np.zeros(len(queries), dtype=np.int64))
    parts: list[Batch] = []

    def read(names: tuple[str, ...], _: bool) -> None:
        parts.clear()
        left = rows
        for batch in source.batches(_wanted(reading, names), Faults(source.name)):
            part = batch.take(_rows_of_run(batch, run.tag if source.has_many_runs else None))
            parts.append(part.take(index.find(part.query, np.zeros(len(part), dtype=np.int64))[0]))
            left -= len(parts[-1])
            if not left:
                break

    attempts(read)
    found = concatenate_batches(parts)
    if found.has_ranks_only:
        found = scores_from_ranks(Faults(source.name), found)
    return Run.build(found.query, found.doc, found.value)


def _rows_of_run(rows: Batch, tag: bytes | None) -> Ints:
    if tag is None or rows.tag is None:
        return np.arange(len(rows) if tag in (None, rows.system) else 0)
    index = IdIndex(Ids.from_bytes([tag]), np.zeros(1, dtype=np.int64))
    return index.find(rows.tag, np.zeros(len(rows), dtype=np.int64))[0]
