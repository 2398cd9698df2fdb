"""Files in, judgments and runs out."""

from __future__ import annotations

from pathlib import Path

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.io import trec
from rankgauge.io.faults import Faults
from rankgauge.io.rows import qrels_of, run_of
from rankgauge.io.sources import DEFAULT, Limits, name_of, read_bytes


def read_qrels(
    path: str | Path, *, name: str | None = None, by_subtopic: bool = False, limits: Limits = DEFAULT
) -> Qrels:
    """Read judgments from a file."""
    data, _ = read_bytes(path, limits=limits)
    rows = trec.qrels_rows(Faults(str(path)), data)
    return qrels_of(rows, name=name or name_of(path), by_subtopic=by_subtopic)


def read_run(
    path: str | Path, *, name: str | None = None, on_duplicate: OnDuplicate = "error", limits: Limits = DEFAULT
) -> Run:
    """Read a run from a file. It is called by its tag, or else by its file."""
    from dataclasses import replace

    data, digest = read_bytes(path, limits=limits, hashed=True)
    rows = replace(trec.run_rows(Faults(str(path)), data), sha256=digest)
    tag = rows.tag[len(rows) - 1].decode("utf-8", "surrogateescape") if rows.tag is not None and len(rows) else None
    return run_of(rows, name=name or tag or name_of(path), on_duplicate=on_duplicate)
