"""Judgments joined with whatever a caller has as results: the way into every number.

A source is read batch by batch and never becomes a run in memory, unless its rankings are kept. What is in memory
already is joined as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np

from rankgauge.core.hits import Hits, Joined
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run, Status
from rankgauge.errors import Note
from rankgauge.io.byte_streams import is_dataset
from rankgauge.io.options import Reading
from rankgauge.io.pipeline import runs
from rankgauge.io.pipeline.runs import ALL_ROWS, Progress, RunReader, RunRows, first_results, part_sha256, run_name
from rankgauge.io.read import as_run
from rankgauge.io.sources import Source, is_graded, open_results

FEW_JUDGED = 10  # ids are examined if fewer than one in this many of the documents that could be judged is judged …
EXAMINED_ROWS = 1 << 18  # … in the first rows of a run


def join_any(
    qrels: Qrels, data: Any, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with a run, a dict, a frame or a path; a path or a lazy table may hold several runs."""
    if _is_source(data, reading):
        hashed = reading.fingerprint or reading.keep_rankings
        with open_results(data, "run", format=reading.run_format, limits=reading.limits, hashed=hashed) as source:
            return join_source(qrels, source, reading, compat, progress)
    is_kept = reading.fingerprint or reading.keep_rankings or bool(reading.keep_top)
    if isinstance(data, Mapping) and not is_kept and is_graded(data):
        joined = _join_dict(qrels, data, compat) if "dict" in runs.SHORTCUTS else None
        if joined is not None:
            return [joined]
    return [join_run(qrels, as_run(data, reading), (), reading, compat)]


def _is_source(data: Any, reading: Reading) -> bool:
    """Whether something is read batch by batch."""
    if isinstance(data, (str, Path)):
        return not is_dataset(data)
    if isinstance(data, (Run, Mapping)) or reading.fingerprint or reading.keep_rankings:
        return False
    from rankgauge.io.formats.lazy_tables import is_lazy_table

    return is_lazy_table(data)


def join_source(
    qrels: Qrels, source: Source, reading: Reading, compat: Compat, progress: Progress | None = None
) -> list[Joined]:
    """Join judgments with each run of a source."""
    depth = ALL_ROWS if reading.keep_rankings else reading.keep_top
    reader = RunReader(source, reading, qrels=qrels, compat=compat, kept_depth=depth, progress=progress)
    read = reader.read()
    sha256, notes = source.sha256(), tuple(reader.faults.notes("note"))

    def joined(run: RunRows) -> Joined:
        assert run.hits is not None
        name, digest = run_name(run, source), part_sha256(sha256, run, read)
        kept = run.run(name, digest) if depth else None
        whole = kept if reading.keep_rankings else None

        def results() -> Run:
            return first_results(source, run, reading, EXAMINED_ROWS) if whole is None else _first_queries(whole)

        sample = tuple(run.queries.head(3))
        top = None if reading.keep_rankings else kept
        found = Joined(run.hits, name, len(run.queries), sample, digest, notes, whole, top)
        return _with_notes(qrels, found, run.queries, results)

    return list(map(joined, read))


def _join_dict(qrels: Qrels, results: Mapping[str, Mapping[str, SupportsFloat]], compat: Compat) -> Joined | None:
    """Join judgments with ``{query: {document: score}}`` as it is; None if it is left to the pipeline."""
    from rankgauge.io.pipeline.dict_lookup import dict_hits, first_judged_queries

    hits = dict_hits(qrels, results, compat)
    if hits is None:
        return None
    sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in islice(results, 3))
    joined = Joined(hits, "run", len(results), sample)
    queries = Ids.from_text(results, "query id")
    return _with_notes(qrels, joined, queries, lambda: first_judged_queries(qrels, results, EXAMINED_ROWS))


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
        top=run if reading.keep_top and not reading.keep_rankings else None,
    )
    return _with_notes(qrels, joined, run.queries, lambda: _first_queries(run))


def _with_notes(qrels: Qrels, joined: Joined, queries: Ids, results: Callable[[], Run]) -> Joined:
    """The join with notes about ids that nearly match; results are requested only if few of them match."""
    is_missing = joined.hits.status == Status.MISSING
    has_unmatched = bool(is_missing.any()) and joined.queries > len(is_missing) - int(is_missing.sum())
    has_few_judged = _has_few_judged(joined.hits)
    if not has_unmatched and not has_few_judged:
        return joined
    from rankgauge.io.pipeline.nearby import near_documents, near_queries

    notes = near_queries(qrels, queries) if has_unmatched else ()
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
