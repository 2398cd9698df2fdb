"""Judgments joined with whatever a caller has as a run, by the cheapest way.

A TREC file is scanned, and a file that can be read in batches is joined batch by batch: neither becomes a run in
memory. A dict is looked up in place; everything else becomes a run first. A table with a column of run names holds
several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.hits import Hits, Joined, join
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status
from rankgauge.errors import Note
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.join.blocks import Scan, ScatteredError
from rankgauge.io.join.inputs import as_run, is_graded
from rankgauge.io.join.scan import Progress, scan, scan_scattered, trec_batches
from rankgauge.io.join.table_join import BatchSource, TableJoin, first_results
from rankgauge.io.options import Reading
from rankgauge.io.reading import check_has_names, format_of, rows_from_stream, run_from_rows, runs_from_rows
from rankgauge.io.rows import Rows, warn_of_faults
from rankgauge.io.sources import READ_BYTES, ByteStream, is_dataset, is_folder, open_source, rereadable, source_name

if TYPE_CHECKING:
    from rankgauge.io.formats.folders import ParquetFolder

FEW_JUDGED = 10  # ids are examined if fewer than one in this many of the documents that could be judged is judged …
SCATTERED_SHARE = 4  # a TREC file with scattered queries is scanned in memory up to this share of the memory budget
TAGGED_FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")  # whose column of tags separates runs
EXAMINED_BYTES, EXAMINED_ROWS = 1 << 23, 1 << 18  # … in the first bytes of a file, the first rows of a run


def join_any(
    qrels: Qrels, source: Any, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with a run, a dict, a frame or a path; a path may hold several runs."""
    if _is_file(source):
        return join_file(qrels, source, reading, compat, progress)
    if isinstance(source, Mapping) and is_graded(source) and not reading.fingerprint and not reading.keep_rankings:
        from rankgauge.core.dicts import join_dict

        hits = join_dict(qrels, source, compat=compat)
        sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in list(source)[:3])
        joined = Joined(hits, "run", len(source), sample)
        with_notes = _with_notes(
            qrels, joined, lambda: Ids.from_text(source, "query id"), lambda: _first_judged_queries(qrels, source)
        )
        return [with_notes]
    return [join_run(qrels, as_run(source, reading), (), reading, compat)]


def join_run(qrels: Qrels, run: Run, notes: tuple[Note, ...], reading: Reading, compat: Compat) -> Joined:
    """Join judgments with a run in memory; ``notes`` are those on its file."""
    joined = Joined(
        join(qrels, run, compat=compat),
        run.name,
        len(run.queries),
        tuple(run.queries.head(3)),
        sha256=run.sha256 if reading.fingerprint else None,
        notes=notes,
        run=run if reading.keep_rankings else None,
    )
    return _with_notes(qrels, joined, lambda: run.queries, lambda: _first_queries(run))


def join_file(
    qrels: Qrels, path: str | Path, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with each run in a file, a folder of Parquet files, standard input or a pipe."""
    if is_folder(path):
        return _join_folder(qrels, path, reading, compat, progress)
    source, hashed = str(path), reading.fingerprint or reading.keep_rankings
    with (
        rereadable(path, limits=reading.limits) as file,
        open_source(file, source=source, limits=reading.limits, hashed=hashed) as stream,
    ):
        format = reading.run_format or format_of(stream, "run")
        if format == "trec" and not reading.keep_rankings and not reading.columns:
            joined = _join_scanned(qrels, path, stream, reading, compat, progress)
            if joined is not None:
                return [joined]
            stream.rewind()
        batches = None if reading.keep_rankings else _batch_source(stream, format, reading)
        if batches is not None:
            scans, notes = _join_batches(qrels, batches, reading, compat, progress)
            return [_joined(qrels, path, scan, stream.sha256, notes, batches) for scan in scans]
        runs, notes = _runs_from_stream(stream, format, path, reading)
        return [join_run(qrels, run, notes, reading, compat) for run in runs]


def _join_folder(
    qrels: Qrels, path: str | Path, reading: Reading, compat: Compat, progress: Progress | None
) -> list[Joined]:
    """Join judgments with the runs in a folder of Parquet files."""
    from rankgauge.io.formats.folders import ParquetFolder

    folder = ParquetFolder(path, reading.limits, reading.columns)
    if reading.keep_rankings:
        runs, notes = _runs_from_folder(folder, reading)
        return [join_run(qrels, run, notes, reading, compat) for run in runs]
    batches = BatchSource(str(path), folder.batches, lambda: folder.bytes_read)
    scans, notes = _join_batches(qrels, batches, reading, compat, progress)
    sha256 = folder.sha256() if reading.fingerprint else None
    return [_joined(qrels, path, scan, sha256, notes, batches) for scan in scans]


def _batch_source(stream: ByteStream, format: str, reading: Reading) -> BatchSource | None:
    """The batches of an open file; None if its format has none."""
    from rankgauge.io.formats.registry import format_named

    file_format = format_named(format, "run")
    check_has_names(stream.path, file_format, reading.columns)
    read_batches = file_format.read_batches
    if read_batches is None:
        return None

    def batches(faults: Faults) -> Iterator[Rows]:
        stream.rewind()
        return read_batches(faults, stream, reading.columns)

    return BatchSource(stream.path, batches, lambda: stream.bytes_read)


def _join_batches(
    qrels: Qrels, source: BatchSource, reading: Reading, compat: Compat, progress: Progress | None
) -> tuple[list[Scan], tuple[Note, ...]]:
    table = TableJoin(qrels, source, reading, compat, progress)
    scans = table.join()
    return scans, tuple(table.faults.notes("note"))


def _joined(
    qrels: Qrels, path: str | Path, scan: Scan, sha256: str | None, notes: tuple[Note, ...], source: BatchSource
) -> Joined:
    name = scan.tag.decode("utf-8", "surrogateescape") or source_name(path)
    joined = Joined(scan.hits, name, len(scan.queries), tuple(scan.queries.head(3)), sha256, notes)
    return _with_notes(qrels, joined, lambda: scan.queries, lambda: first_results(source, scan, EXAMINED_ROWS))


def _join_scanned(
    qrels: Qrels, path: str | Path, stream: ByteStream, reading: Reading, compat: Compat, progress: Progress | None
) -> Joined | None:
    """The join of a TREC file by a scanner; None if the plain reader must read it."""
    faults = Faults(stream.path, strict=reading.limits.strict)

    def first_results() -> Run:
        return _first_lines(stream)

    try:
        scanned = scan(stream, qrels, faults, compat=compat, on_duplicate=reading.on_duplicate, progress=progress)
    except ScatteredError:
        stream.rewind()  # the rows of a query are not contiguous
        if not has_at_most(stream, reading.memory // SCATTERED_SHARE):
            return _join_scattered(qrels, path, stream, reading, compat, progress)
        stream.rewind()
        faults = Faults(stream.path, strict=reading.limits.strict)
        whole = scan_scattered(stream, qrels, faults, compat=compat)
        if whole is None:
            return None
        scanned = whole

        def first_results() -> Run:
            stream.rewind()
            return _first_queries(_runs_from_stream(stream, "trec", path, reading)[0][0])

    warn_of_faults(faults)
    name = scanned.tag.decode("utf-8", "surrogateescape") or source_name(path)
    sample, notes = tuple(scanned.queries.head(3)), tuple(faults.notes("note"))
    joined = Joined(scanned.hits, name, len(scanned.queries), sample, stream.sha256, notes)
    return _with_notes(qrels, joined, lambda: scanned.queries, first_results)


def _join_scattered(
    qrels: Qrels, path: str | Path, stream: ByteStream, reading: Reading, compat: Compat, progress: Progress | None
) -> Joined:
    """The join of a large TREC file whose queries are not contiguous."""

    def batches(faults: Faults) -> Iterator[Rows]:
        stream.rewind()
        return trec_batches(faults, stream)

    source = BatchSource(stream.path, batches, lambda: stream.bytes_read, has_many_runs=False)
    (scanned,), notes = _join_batches(qrels, source, reading, compat, progress)
    return _joined(qrels, path, scanned, stream.sha256, notes, source)


def runs_and_notes(source: Any, reading: Reading) -> tuple[list[Run], tuple[Note, ...]]:
    """The runs in whatever a caller has, and the notes on its file."""
    if not _is_file(source):
        return [as_run(source, reading)], ()
    if is_folder(source):
        from rankgauge.io.formats.folders import ParquetFolder

        return _runs_from_folder(ParquetFolder(source, reading.limits, reading.columns), reading)
    with open_source(source, limits=reading.limits, hashed=True) as stream:
        return _runs_from_stream(stream, reading.run_format, source, reading)


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, Path)) and not is_dataset(source)


def _runs_from_folder(folder: ParquetFolder, reading: Reading) -> tuple[list[Run], tuple[Note, ...]]:
    rows = folder.rows(Faults(folder.name, strict=reading.limits.strict))
    runs = runs_from_rows(rows, default_name=source_name(folder.name), on_duplicate=reading.on_duplicate)
    return runs, tuple(rows.faults.notes("note"))


def _runs_from_stream(
    stream: ByteStream, format: str | None, path: str | Path, reading: Reading
) -> tuple[list[Run], tuple[Note, ...]]:
    rows, format = rows_from_stream(stream, "run", format=format, columns=reading.columns)
    if format in TAGGED_FORMATS:
        runs = runs_from_rows(rows, default_name=source_name(path), on_duplicate=reading.on_duplicate)
    else:
        runs = [run_from_rows(rows, default_name=source_name(path), on_duplicate=reading.on_duplicate)]
    return runs, tuple(rows.faults.notes("note"))


def _with_notes(qrels: Qrels, joined: Joined, queries: Callable[[], Ids], results: Callable[[], Run]) -> Joined:
    """The join with notes about ids that nearly match; ids and results are requested only if few of them match."""
    is_missing = joined.hits.status == Status.MISSING
    has_unmatched = bool(is_missing.any()) and joined.queries > len(is_missing) - int(is_missing.sum())
    has_few_judged = _has_few_judged(joined.hits)
    if not has_unmatched and not has_few_judged:
        return joined
    from rankgauge.io.join.nearby import near_documents, near_queries

    notes = near_queries(qrels, queries()) if has_unmatched else ()
    notes += near_documents(qrels, results()) if has_few_judged else ()
    return replace(joined, notes=joined.notes + notes)


def _has_few_judged(hits: Hits) -> bool:
    """Whether almost none of the documents that could be judged are."""
    possible = int(np.minimum(np.diff(hits.judged_offsets), hits.retrieved).sum())
    return FEW_JUDGED * len(hits.rank) < possible


def _first_queries(run: Run) -> Run:
    """The results of the first queries."""
    queries = np.flatnonzero(run.offsets[:-1] < EXAMINED_ROWS)
    return run if len(queries) == len(run.queries) else run.select(queries)


def _first_judged_queries(qrels: Qrels, rankings: Mapping[str, Any]) -> Run:
    """The results of the first judged queries."""
    judged_queries = set(qrels.queries)
    examined: dict[str, Any] = {}
    size = 0
    for query, ranking in rankings.items():
        if size < EXAMINED_ROWS and encode_id(query, "query id") in judged_queries:
            examined[query] = ranking
            size += len(ranking)
    return Run.from_dict(examined)


def has_at_most(stream: ByteStream, size: int) -> bool:
    """Whether a stream has at most this many bytes, decompressed."""
    view = memoryview(bytearray(READ_BYTES))
    while stream.bytes_read <= size and stream.readinto(view):
        pass
    return stream.bytes_read <= size


def _first_lines(stream: ByteStream) -> Run:
    """The results on the first lines of a TREC file."""
    stream.rewind()
    data, view = bytearray(), memoryview(bytearray(min(EXAMINED_BYTES, READ_BYTES)))
    while len(data) < EXAMINED_BYTES and (size := stream.readinto(view)):
        data += view[:size]
    if len(data) >= EXAMINED_BYTES:
        del data[data.rfind(b"\n") + 1 :]
    rows = trec.run_rows(Faults(stream.path), bytes(data))
    return Run.build(rows.query, rows.doc, rows.value)
