"""From one format to another, keeping what the other can hold and saying what it cannot."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, UsageError
from rankgauge.io import writers
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.registry import Format
from rankgauge.io.reading import read_rows
from rankgauge.io.rows import Rows, qrels_of, run_of
from rankgauge.io.sources import DEFAULT, Limits, is_dataset, name_of, read_bytes
from rankgauge.io.writing import atomic

PACKED = (".bz2", ".xz", ".zst", ".zstd")
FORMULAS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Conversion:
    """What was done: from which format to which, how many rows, and what the target could not hold."""

    kind: Kind
    source: str
    target: str
    rows: int
    lost: tuple[str, ...]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    kind: Kind | None = None,
    from_format: str | None = None,
    to_format: str | None = None,
    columns: Columns | None = None,
    escape_formulas: bool = False,
    limits: Limits = DEFAULT,
) -> Conversion:
    """Write judgments or a run in another format, whole or not at all; ``-`` as target is standard output.

    The kind and the source's format are told by its content, the target's format by its name, unless given.
    ``escape_formulas`` puts a ``'`` before ids that a spreadsheet would take for a formula (CSV and TSV only); they
    are then no longer the same ids.
    """
    asked = _Asked(source, kind, from_format, to_format, columns, escape_formulas, limits)
    if str(target) == "-":
        held = BytesIO()
        done = asked.into(held, "-")
        sys.stdout.flush()
        sys.stdout.buffer.write(held.getvalue())
        sys.stdout.buffer.flush()
        return done
    if str(target).endswith(PACKED):
        raise UsageError(f"{target}: only gzip is written", hint="name it .gz, or without such an ending")
    # Entered before anything is read: a folder that cannot be written to is told at once.
    with atomic(target, inputs=[] if is_dataset(source) else [source]) as out:
        if not str(target).endswith(".gz"):
            return asked.into(out, str(target))
        import gzip

        with gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as packed:
            return asked.into(cast("IO[bytes]", packed), str(target))


@dataclass(frozen=True)
class _Asked:
    """What the caller wants."""

    source: str | Path
    kind: Kind | None
    from_format: str | None
    to_format: str | None
    columns: Columns | None
    escape_formulas: bool
    limits: Limits

    def into(self, out: IO[bytes], target: str) -> Conversion:
        """Read the source and write it to an open file."""
        source = self.source
        kind = self.kind or _kind(source, self.from_format, self.limits)
        wanted = self._target(target, kind)
        rows, found = read_rows(source, kind, format=self.from_format, columns=self.columns, limits=self.limits)
        if kind == "run":
            run_of(rows, name="run")  # all that must hold of a run holds of what is written
        else:
            qrels_of(rows, name="qrels", by_subtopic=rows.iters is not None and "iter" in wanted.keeps)
        rows, lost = _fitted(rows, wanted, kind, found)
        if not len(rows) and not (rows.empty and "empty" in wanted.keeps):
            raise InputError.at(source, None, "nothing to write: there is no row in it")
        if rows.tag is None and kind == "run" and wanted.name == "trec":
            rows = replace(rows, tag=_tag(name_of(source), len(rows)))
        if self.escape_formulas:
            writers.delimited(rows, kind, out, FORMULAS[wanted.name], escape_formulas=True)
        elif wanted.write is not None:
            wanted.write(rows, kind, out)
        return Conversion(kind, found, wanted.name, len(rows), lost)

    def _target(self, target: str, kind: Kind) -> Format:
        wanted = formats.by_suffix(target, kind) if self.to_format is None else formats.named(self.to_format, kind)
        if wanted.write is None:
            raise UsageError(f"format {wanted.name} can be read, not written")
        if self.escape_formulas and wanted.name not in FORMULAS:
            raise UsageError(f"escape_formulas is for csv and tsv, not for {wanted.name}")
        return wanted


def _kind(source: str | Path, from_format: str | None, limits: Limits) -> Kind:
    if from_format is not None and len(held := formats.named(from_format).columns) == 1:
        return next(iter(held))
    if str(source) == "-" or is_dataset(source) or not Path(source).is_file():
        if str(source) != "-" and not is_dataset(source) and not Path(source).exists():
            read_bytes(source, limits=limits)  # says why it cannot be read
        raise UsageError(f"{source}: judgments or a run?", hint="say which: --kind qrels or --kind run")
    return formats.kind_of(read_bytes(source, limits=limits)[0], str(source))


def _fitted(rows: Rows, wanted: Format, kind: Kind, found: str) -> tuple[Rows, tuple[str, ...]]:
    """The rows without what the format cannot hold, and what that is. A column that says nothing is no loss."""
    lost: list[str] = []
    if rows.iters is not None and all(value in (b"", writers.DEFAULT_ITER[kind]) for value in rows.iters):
        rows = replace(rows, iters=None)
    for name, field in (("iter", "iters"), ("rank", "rank"), ("tag", "tag")):
        if getattr(rows, field) is not None and name not in wanted.keeps:
            if not (name == "rank" and wanted.name == "msmarco"):
                lost.append(name)
            rows = replace(rows, **{field: None})  # type: ignore[arg-type]  # three columns of the same type
    if kind == "run" and "score" not in wanted.keeps and found != "msmarco":
        lost.append("score (ranks keep the order)")
    if rows.empty and "empty" not in wanted.keeps:
        lost.append(f"{len(rows.empty)} {'query' if len(rows.empty) == 1 else 'queries'} without any row")
    lost += [f"column {name}" for name in rows.columns]
    return rows, tuple(lost)


def _tag(name: str, count: int) -> Ids:
    word = b"_".join(name.encode("utf-8", "surrogateescape").split()) or b"run"
    return Ids.from_bytes([word] * count)
