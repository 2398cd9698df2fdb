"""Files as validation reads them: every line that can be read, and a fault for each that cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import datasets
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.names import Kind
from rankgauge.io.rows import Rows
from rankgauge.io.sources import DEFAULT, Limits, is_dataset, read_bytes
from rankgauge.validation.table import NONE, Table
from rankgauge.validation.text import check_lines, looked_at


@dataclass(frozen=True, eq=False)
class Source:
    """A file that was read: its faults so far, and its rows where it has any."""

    faults: Faults
    table: Table | None
    sha256: str | None
    format: str | None


def read(
    given: str | Path | Rows, kind: Kind, *, format: str | None = None, places: int | None, limits: Limits = DEFAULT
) -> Source:
    """A file's rows, with what its text and its reader have to say."""
    if isinstance(given, Rows) or is_dataset(given):
        rows = given if isinstance(given, Rows) else datasets.rows(str(given), kind)
        # Checks add to the faults: those of the caller stay as they are.
        mine = Faults(rows.faults.source, limit=places)
        mine.listed, mine.counts = list(rows.faults.listed), rows.faults.counts.copy()
        return Source(mine, Table(replace(rows, faults=mine), NONE), rows.sha256, None)
    known = None if format is None else formats.named(format, kind)
    data, digest = read_bytes(given, limits=limits, hashed=True)
    known = known or formats.guess(data, kind, str(given))
    faults = Faults(str(given), limit=places)
    if known.name != "trec":
        rows = known.read(faults, data, kind)
        if not len(rows) and not faults.listed:
            faults.add("empty", [0], expected="at least one row", found="none")
        return Source(faults, Table(rows, NONE), digest, known.name)
    text = looked_at(faults, data, kind)
    if text is None:
        return Source(faults, None, digest, known.name)
    rows = known.read(faults, text.data, kind)
    return Source(faults, Table(rows, check_lines(faults, text, rows.line)), digest, known.name)
