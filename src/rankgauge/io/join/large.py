"""Runs that never become a run in memory: files read in batches, folders, and TREC files with scattered queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.errors import Note
from rankgauge.io.byte_streams import ByteStream, sha256_of_part, source_name
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.arrow_batches import rows_of_batches
from rankgauge.io.formats.folders import ParquetFolder
from rankgauge.io.formats.lazy_tables import record_batches
from rankgauge.io.formats.registry import format_named
from rankgauge.io.formats.text_blocks import NotInBlocksError
from rankgauge.io.join import joining
from rankgauge.io.join.blocks import Scan
from rankgauge.io.join.scan import Progress, trec_batches
from rankgauge.io.join.spilled_scan import scan_spilled
from rankgauge.io.join.table_join import BatchSource, TableJoin, first_results
from rankgauge.io.options import Reading
from rankgauge.io.reading import check_has_names, runs_from_rows
from rankgauge.io.rows import Rows, warn_of_faults


def join_batches(
    qrels: Qrels,
    path: str | Path,
    stream: ByteStream,
    format: str,
    reading: Reading,
    compat: Compat,
    progress: Progress | None,
) -> list[Joined] | None:
    """Join judgments with each run in an open file, batch by batch; None if it must be read as a whole."""
    file_format = format_named(format, "run")
    check_has_names(stream.path, file_format, reading.columns)
    read_batches = file_format.read_batches
    if read_batches is None:
        return None

    def batches(faults: Faults) -> Iterator[Rows]:
        stream.rewind()
        return read_batches(faults, stream, reading.columns)

    source = BatchSource(stream.path, batches, lambda: stream.bytes_read)
    try:
        scans, notes = _join(qrels, source, reading, compat, progress)
    except NotInBlocksError:
        stream.rewind()
        return None
    return [_joined(qrels, path, scan, _sha256(stream.sha256, scan, scans), notes, source) for scan in scans]


def join_folder(
    qrels: Qrels, path: str | Path, reading: Reading, compat: Compat, progress: Progress | None
) -> list[Joined]:
    """Join judgments with the runs in a folder of Parquet files."""
    if reading.keep_rankings:
        runs, notes = runs_from_folder(path, reading)
        return [joining.join_run(qrels, run, notes, reading, compat) for run in runs]
    folder = ParquetFolder(path, reading.limits, reading.columns)
    source = BatchSource(str(path), folder.batches, lambda: folder.bytes_read)
    scans, notes = _join(qrels, source, reading, compat, progress)
    sha256 = folder.sha256() if reading.fingerprint else None
    return [_joined(qrels, path, scan, _sha256(sha256, scan, scans), notes, source) for scan in scans]


def join_lazy_table(qrels: Qrels, table: Any, reading: Reading, compat: Compat) -> list[Joined]:
    """Join judgments with each run in a table of another engine, which computes its batches as they are read."""

    def batches(faults: Faults) -> Iterator[Rows]:
        return rows_of_batches(faults, record_batches(table), reading.columns)

    source = BatchSource("run", batches, lambda: 0)
    scans, notes = _join(qrels, source, reading, compat, None)
    return [_joined(qrels, "run", scan, None, notes, source) for scan in scans]


def join_scattered(
    qrels: Qrels, path: str | Path, stream: ByteStream, reading: Reading, compat: Compat, progress: Progress | None
) -> Joined:
    """Join judgments with a large TREC file whose queries are not contiguous."""

    def batches(faults: Faults) -> Iterator[Rows]:
        stream.rewind()
        return trec_batches(faults, stream)

    source = BatchSource(stream.path, batches, lambda: stream.bytes_read, has_many_runs=False)
    faults = Faults(stream.path, strict=reading.limits.strict)
    stream.rewind()
    scan = scan_spilled(stream, qrels, faults, reading, compat, progress)
    if scan is not None:
        warn_of_faults(faults)
        notes = tuple(faults.notes("note"))
    else:
        (scan,), notes = _join(qrels, source, reading, compat, progress)
    return _joined(qrels, path, scan, stream.sha256, notes, source)


def runs_from_folder(path: str | Path, reading: Reading) -> tuple[list[Run], tuple[Note, ...]]:
    """The runs in a folder of Parquet files, in memory, and the notes on it."""
    folder = ParquetFolder(path, reading.limits, reading.columns)
    rows = folder.rows(Faults(folder.name, strict=reading.limits.strict))
    runs = runs_from_rows(rows, default_name=source_name(folder.name), on_duplicate=reading.on_duplicate)
    return runs, tuple(rows.faults.notes("note"))


def _join(
    qrels: Qrels, source: BatchSource, reading: Reading, compat: Compat, progress: Progress | None
) -> tuple[list[Scan], tuple[Note, ...]]:
    table = TableJoin(qrels, source, reading, compat, progress)
    scans = table.join()
    return scans, tuple(table.faults.notes("note"))


def _sha256(sha256: str | None, scan: Scan, scans: list[Scan]) -> str | None:
    """The hash of a run: that of its file, unless there are others in it."""
    return sha256 if len(scans) == 1 else sha256_of_part(sha256, scan.tag.decode("utf-8", "surrogateescape"))


def _joined(
    qrels: Qrels, path: str | Path, scan: Scan, sha256: str | None, notes: tuple[Note, ...], source: BatchSource
) -> Joined:
    name = scan.tag.decode("utf-8", "surrogateescape") or source_name(path)
    joined = Joined(scan.hits, name, len(scan.queries), tuple(scan.queries.head(3)), sha256, notes)
    return joining.with_notes(
        qrels, joined, lambda: scan.queries, lambda: first_results(source, scan, joining.EXAMINED_ROWS)
    )
