"""Judgments meet whatever a caller has as a run, by the shortest way to the join.

A TREC file is scanned and never becomes a run in memory; a dict is looked up where it stands; all else becomes a run
first.
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
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.join.inputs import as_run, is_graded
from rankgauge.io.join.scan import Progress, Scan, ScatteredError, scan
from rankgauge.io.options import Reading
from rankgauge.io.reading import format_of, read_rows, run_from_rows
from rankgauge.io.rows import warn
from rankgauge.io.sources import is_dataset, name_of, opened, rereadable

FEW = 10  # ids are looked into where fewer than one in so many documents is judged that could be
LOOKED_AT, LOOKED_AT_ROWS = 1 << 23, 1 << 18  # … in the first bytes of a file, the first rows of a run


def join_any(qrels: Qrels, source: Any, reading: Reading, compat: Compat, progress: Progress | None = None) -> Joined:
    """Join judgments with a run, a dict, a frame or a path."""
    if reading.keep_rankings:
        return join_run(qrels, as_run(source, reading), reading, compat)
    if isinstance(source, (str, Path)) and not is_dataset(source):
        return join_file(qrels, source, reading, compat, progress)
    if isinstance(source, Mapping) and is_graded(source) and not reading.fingerprint:
        from rankgauge.core.dicts import join_dict

        hits = join_dict(qrels, source, compat=compat)
        sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in list(source)[:3])
        joined = Joined(hits, "run", len(source), sample)
        return _hinted(qrels, joined, lambda: Ids.from_text(source, "query id"), lambda: _some_of(qrels, source))
    return join_run(qrels, as_run(source, reading), reading, compat)


def join_run(qrels: Qrels, run: Run, reading: Reading, compat: Compat, notes: tuple[Note, ...] = ()) -> Joined:
    """Join judgments with a run in memory."""
    joined = Joined(
        join(qrels, run, compat=compat),
        run.name,
        len(run.queries),
        tuple(run.queries.head(3)),
        sha256=run.sha256 if reading.fingerprint else None,
        notes=notes,
        run=run if reading.keep_rankings else None,
    )
    return _hinted(qrels, joined, lambda: run.queries, lambda: _first_of(run))


def join_file(
    qrels: Qrels, path: str | Path, reading: Reading, compat: Compat, progress: Progress | None = None
) -> Joined:
    """Join judgments with the run in a file, standard input or a pipe."""
    with rereadable(path, limits=reading.limits) as file:
        form = reading.run_format or format_of(file, "run", source=str(path), limits=reading.limits)
        if form == "trec":
            try:
                found, digest = _scanned(qrels, file, str(path), reading, compat, progress)
            except ScatteredError:
                pass  # rare: the rows of a query stand apart, so that all of them are needed at once
            else:
                name = found.tag.decode("utf-8", "surrogateescape") or name_of(path)
                joined = Joined(found.hits, name, len(found.queries), tuple(found.queries.head(3)), digest)
                return _hinted(qrels, joined, lambda: found.queries, lambda: _head_of(file, str(path), reading))
        rows, _ = read_rows(file, "run", format=form, source=str(path), limits=reading.limits)
        run = run_from_rows(rows, otherwise=name_of(path), on_duplicate=reading.on_duplicate)
        return join_run(qrels, run, reading, compat, tuple(rows.faults.notes("note")))


def _scanned(
    qrels: Qrels, file: Path, source: str, reading: Reading, compat: Compat, progress: Progress | None
) -> tuple[Scan, str | None]:
    faults = Faults(source, strict=reading.limits.strict)
    with opened(file, source=source, limits=reading.limits, hashed=reading.fingerprint) as stream:
        found = scan(stream, qrels, faults, compat=compat, on_duplicate=reading.on_duplicate, progress=progress)
        digest = stream.sha256
    warn(faults)
    return found, digest


def _hinted(qrels: Qrels, joined: Joined, queries: Callable[[], Ids], results: Callable[[], Run]) -> Joined:
    """The join with a note where ids do not match and nearly do; nothing is asked for where enough of them do."""
    missing = joined.hits.status == Status.MISSING
    strange = bool(missing.any()) and joined.queries > len(missing) - int(missing.sum())
    few = _few(joined.hits)
    if not strange and not few:
        return joined
    from rankgauge.io.join.nearby import near_documents, near_queries

    found = near_queries(qrels, queries()) if strange else ()
    found += near_documents(qrels, results()) if few else ()
    return replace(joined, notes=joined.notes + found)


def _few(hits: Hits) -> bool:
    """Whether next to none of the documents that could be judged are."""
    possible = int(np.minimum(np.diff(hits.judged_offsets), hits.retrieved).sum())
    return FEW * len(hits.rank) < possible


def _first_of(run: Run) -> Run:
    """The results of the first queries."""
    some = np.flatnonzero(run.offsets[:-1] < LOOKED_AT_ROWS)
    return run if len(some) == len(run.queries) else run.select(some)


def _some_of(qrels: Qrels, given: Mapping[str, Any]) -> Run:
    """The results of the first judged queries."""
    known = set(qrels.queries)
    some: dict[str, Any] = {}
    size = 0
    for query, row in given.items():
        if size < LOOKED_AT_ROWS and encode_id(query, "query id") in known:
            some[query] = row
            size += len(row)
    return Run.from_dict(some)


def _head_of(file: Path, source: str, reading: Reading) -> Run:
    """The results on the first lines of a TREC file."""
    data, view = bytearray(), memoryview(bytearray(min(LOOKED_AT, 1 << 20)))
    with opened(file, source=source, limits=reading.limits) as stream:
        while len(data) < LOOKED_AT and (size := stream.readinto(view)):
            data += view[:size]
    if len(data) >= LOOKED_AT:
        del data[data.rfind(b"\n") + 1 :]
    rows = trec.run_rows(Faults(source), bytes(data))
    return Run.build(rows.query, rows.doc, rows.value)
