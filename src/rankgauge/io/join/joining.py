"""Judgments joined with whatever a caller has as a run, by the cheapest way.

A TREC file is scanned, and a file that can be read in batches is joined batch by batch: neither becomes a run in
memory. A dict is looked up in place; everything else becomes a run first. A table with a column of run names holds
several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.hits import Hits, Joined, join
from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status
from rankgauge.errors import Note
from rankgauge.io.byte_streams import (
    READ_BYTES,
    ByteStream,
    is_dataset,
    is_folder,
    open_source,
    rereadable,
    source_name,
)
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.join.blocks import ScatteredError
from rankgauge.io.join.inputs import as_run, is_graded
from rankgauge.io.join.scan import Progress, scan, scan_scattered
from rankgauge.io.options import Reading
from rankgauge.io.reading import format_of, rows_from_stream, run_from_rows, runs_from_rows
from rankgauge.io.rows import warn_of_faults

FEW_JUDGED = 10  # ids are examined if fewer than one in this many of the documents that could be judged is judged …
SCATTERED_SHARE = 4  # a TREC file with scattered queries is scanned in memory up to this share of the memory budget
TAGGED_FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")  # whose column of tags separates runs
EXAMINED_BYTES, EXAMINED_ROWS = 1 << 23, 1 << 18  # … in the first bytes of a file, the first rows of a run


def join_any(
    qrels: Qrels, source: Any, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with a run, a dict, a frame or a path; a path or a lazy table may hold several runs."""
    if _is_file(source):
        return join_file(qrels, source, reading, compat, progress)
    if isinstance(source, Mapping) and is_graded(source) and not reading.fingerprint and not reading.keep_rankings:
        from rankgauge.core.dicts import join_dict

        hits = join_dict(qrels, source, compat=compat)
        sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in list(source)[:3])
        joined = Joined(hits, "run", len(source), sample)
        noted = with_notes(
            qrels, joined, lambda: Ids.from_text(source, "query id"), lambda: _first_judged_queries(qrels, source)
        )
        return [noted]
    if not isinstance(source, (Run, Mapping)) and not reading.fingerprint and not reading.keep_rankings:
        from rankgauge.io.formats.lazy_tables import is_lazy_table

        if is_lazy_table(source):
            from rankgauge.io.join.large import join_lazy_table

            return join_lazy_table(qrels, source, reading, compat)
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
    return with_notes(qrels, joined, lambda: run.queries, lambda: _first_queries(run))


def join_file(
    qrels: Qrels, path: str | Path, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with each run in a file, a folder of Parquet files, standard input or a pipe."""
    if is_folder(path):
        from rankgauge.io.join.large import join_folder

        return join_folder(qrels, path, reading, compat, progress)
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
        if not reading.keep_rankings and format != "trec":
            from rankgauge.io.join.large import join_batches

            joins = join_batches(qrels, path, stream, format, reading, compat, progress)
            if joins is not None:
                return joins
        runs, notes = _runs_from_stream(stream, format, path, reading)
        return [join_run(qrels, run, notes, reading, compat) for run in runs]


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
            from rankgauge.io.join.large import join_scattered

            return join_scattered(qrels, path, stream, reading, compat, progress)
        stream.rewind()
        faults = Faults(stream.path, strict=reading.limits.strict)
        whole = scan_scattered(stream, qrels, faults, compat=compat)
        if whole is None:
            return None
        scanned = whole

        def first_results() -> Run:
            stream.rewind()
            rows = trec.run_rows(Faults(stream.path), stream.read())  # whose warnings were issued by then
            return _first_queries(Run.build(rows.query, rows.doc, rows.value))

    warn_of_faults(faults)
    name = scanned.tag.decode("utf-8", "surrogateescape") or source_name(path)
    sample, notes = tuple(scanned.queries.head(3)), tuple(faults.notes("note"))
    joined = Joined(scanned.hits, name, len(scanned.queries), sample, stream.sha256, notes)
    return with_notes(qrels, joined, lambda: scanned.queries, first_results)


def runs_and_notes(source: Any, reading: Reading) -> tuple[list[Run], tuple[Note, ...]]:
    """The runs in whatever a caller has, and the notes on its file."""
    if not _is_file(source):
        return [as_run(source, reading)], ()
    if is_folder(source):
        from rankgauge.io.join.large import runs_from_folder

        return runs_from_folder(source, reading)
    with open_source(source, limits=reading.limits, hashed=True) as stream:
        return _runs_from_stream(stream, reading.run_format, source, reading)


def _is_file(source: Any) -> bool:
    return isinstance(source, (str, Path)) and not is_dataset(source)


def _runs_from_stream(
    stream: ByteStream, format: str | None, path: str | Path, reading: Reading
) -> tuple[list[Run], tuple[Note, ...]]:
    rows, format = rows_from_stream(stream, "run", format=format, columns=reading.columns)
    if format in TAGGED_FORMATS:
        runs = runs_from_rows(rows, default_name=source_name(path), on_duplicate=reading.on_duplicate)
    else:
        runs = [run_from_rows(rows, default_name=source_name(path), on_duplicate=reading.on_duplicate)]
    return runs, tuple(rows.faults.notes("note"))


def with_notes(qrels: Qrels, joined: Joined, queries: Callable[[], Ids], results: Callable[[], Run]) -> Joined:
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
