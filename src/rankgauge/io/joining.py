"""Judgments meet whatever a caller has as a run, by the shortest way to the join.

A TREC file is scanned and never becomes a run in memory; a dict is looked up where it stands; all else becomes a run
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.core.dicts import join_dict
from rankgauge.core.hits import Joined, join
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.io.faults import Faults
from rankgauge.io.inputs import as_run, is_graded
from rankgauge.io.reading import format_of, read_run
from rankgauge.io.rows import warn
from rankgauge.io.scan import Progress, Scan, ScatteredError, scan
from rankgauge.io.sources import DEFAULT, Limits, name_of, opened, rereadable


@dataclass(frozen=True)
class Reading:
    """How runs are read."""

    compat: Compat = "trec_eval-9"
    on_duplicate: OnDuplicate = "error"
    format: str | None = None
    limits: Limits = DEFAULT
    fingerprint: bool = False  # whether the hash of each run is wanted, which costs about as much as half of reading


def join_any(qrels: Qrels, given: Any, reading: Reading, progress: Progress | None = None) -> Joined:
    """Join judgments with a run, a dict, a frame or a path."""
    if isinstance(given, (str, Path)) and not str(given).startswith("irds:"):
        return join_file(qrels, given, reading, progress)
    if isinstance(given, Mapping) and is_graded(given) and not reading.fingerprint:
        hits = join_dict(qrels, given, compat=reading.compat)
        sample = tuple(str(query).encode("utf-8", "surrogateescape") for query in list(given)[:3])
        return Joined(hits, "run", len(given), sample)
    return join_run(qrels, as_run(given, on_duplicate=reading.on_duplicate), reading)


def join_run(qrels: Qrels, run: Run, reading: Reading) -> Joined:
    """Join judgments with a run in memory."""
    hits = join(qrels, run, compat=reading.compat)
    sample = tuple(run.queries[number] for number in range(min(3, len(run.queries))))
    return Joined(hits, run.name, len(run.queries), sample, run.sha256 if reading.fingerprint else None)


def join_file(qrels: Qrels, path: str | Path, reading: Reading, progress: Progress | None = None) -> Joined:
    """Join judgments with the run in a file, standard input or a pipe."""
    with rereadable(path, limits=reading.limits) as file:
        form = reading.format or format_of(file, "run", source=str(path), limits=reading.limits)
        if form == "trec":
            try:
                found, digest = _scanned(qrels, file, str(path), reading, progress)
            except ScatteredError:
                pass  # rare: the rows of a query stand apart, so that all of them are needed at once
            else:
                name = found.tag.decode("utf-8", "surrogateescape") or name_of(path)
                return Joined(found.hits, name, found.queries, found.sample, digest)
        run = read_run(
            file,
            format=form,
            source=str(path),
            on_duplicate=reading.on_duplicate,
            limits=reading.limits,
        )
        return join_run(qrels, run, reading)


def _scanned(
    qrels: Qrels, file: Path, source: str, reading: Reading, progress: Progress | None
) -> tuple[Scan, str | None]:
    faults = Faults(source)
    with opened(file, source=source, limits=reading.limits, hashed=reading.fingerprint) as stream:
        found = scan(stream, qrels, faults, compat=reading.compat, on_duplicate=reading.on_duplicate, progress=progress)
        digest = stream.sha256
    warn(faults)
    return found, digest
