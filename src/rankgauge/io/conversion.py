"""Conversion from one format to another, which reports what the other format cannot hold."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from rankgauge.core.batch import Batch
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import InputError, UsageError
from rankgauge.io import writers
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, is_dataset, read_bytes, source_name
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.grouped import largest_grades
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.formats.registry import Format
from rankgauge.io.read import build_qrels, read_rows, run_from_rows
from rankgauge.io.trec_writer import DEFAULT_ITER
from rankgauge.io.writing import write_atomically

UNWRITTEN_COMPRESSIONS = (".bz2", ".xz", ".zst", ".zstd")
FORMULA_DELIMITERS = {"csv": ",", "tsv": "\t"}
HELD_JUDGMENTS = {
    "groups": "the grades of several judges",
    "preferences": "preferences",
    "subtopics": "judgments by subtopic",
}
KIND_HINT = "choose one: --kind qrels or --kind run"


@dataclass(frozen=True)
class Conversion:
    """The formats, the number of rows, and what the target format could not hold."""

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
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Write judgments or a run in another format, completely or not at all; ``-`` as target is standard output.

    Unless they are given, the kind and the format of the source are detected from its content, the target's format
    from its name. ``escape_formulas`` puts a ``'`` before ids that a spreadsheet would read as formulas (CSV and TSV
    only); reading such a file removes it.
    """
    converter = _Converter(source, kind, from_format, to_format, columns, escape_formulas, limits)
    if str(target) == "-":
        buffer = BytesIO()
        conversion = converter.write(buffer, "-")
        sys.stdout.flush()
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()
        return conversion
    if str(target).endswith(UNWRITTEN_COMPRESSIONS):
        raise UsageError(f"{target}: only gzip is written", hint="name it .gz, or without such a suffix")
    # Entered before anything is read: a folder that is not writable is reported at once.
    with write_atomically(target, inputs=[] if is_dataset(source) else [source]) as out:
        if not str(target).endswith(".gz"):
            return converter.write(out, str(target))
        import gzip

        with gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as compressed:
            return converter.write(cast("IO[bytes]", compressed), str(target))


@dataclass(frozen=True)
class _Converter:
    """The options of a conversion."""

    source: str | Path
    kind: Kind | None
    from_format: str | None
    to_format: str | None
    columns: Columns | None
    escape_formulas: bool
    limits: Limits

    def write(self, out: IO[bytes], target: str) -> Conversion:
        """Read the source and write it to an open file."""
        source = self.source
        kind = self.kind or _detect_kind(source, self.from_format, self.limits)
        format = self._target_format(target, kind)
        read = read_rows(source, kind, format=self.from_format, columns=self.columns, limits=self.limits)
        rows, judgments = read.rows, read.judgments
        source_format = read.format or ""
        if kind == "run":
            run_from_rows(read, name="run")  # so that what is written is a valid run
        else:
            keeps_iter = "iter" in format.keeps and judgments == format.judgments
            build_qrels(read, name="qrels", by_subtopic=rows.iters is not None and keeps_iter)
        if judgments == "subtopics" and format.judgments == "grades":
            rows, judgments = largest_grades(rows), "grades"
        check_judgments(judgments, format, source)
        rows, lost = _drop_unsupported(rows, judgments, format, kind, source_format)
        if not len(rows) and not (rows.empty and "empty" in format.keeps):
            raise InputError.at(source, None, "nothing to write: the file has no rows")
        if rows.tag is None and kind == "run" and format.name == "trec":
            rows = replace(rows, tag=_repeat_tag(source_name(source), len(rows)))
        if self.escape_formulas:
            writers.delimited(rows, kind, out, FORMULA_DELIMITERS[format.name], escape_formulas=True)
        elif format.write is not None:
            format.write(rows, kind, out)
        return Conversion(kind, source_format, format.name, len(rows), lost)

    def _target_format(self, target: str, kind: Kind) -> Format:
        by_name = self.to_format is not None
        format = formats.format_named(self.to_format or "", kind) if by_name else formats.format_by_suffix(target, kind)
        if format.write is None:
            raise UsageError(f"format {format.name} can be read but not written")
        if self.escape_formulas and format.name not in FORMULA_DELIMITERS:
            raise UsageError(f"escape_formulas applies to csv and tsv, not to {format.name}")
        return format


def _detect_kind(source: str | Path, from_format: str | None, limits: Limits) -> Kind:
    if from_format is not None and len(kinds := formats.format_named(from_format).columns) == 1:
        return next(iter(kinds))
    if str(source) == "-" or is_dataset(source) or not Path(source).is_file():
        if str(source) != "-" and not is_dataset(source) and not Path(source).exists():
            read_bytes(source, limits=limits)  # raises the error that says why it cannot be read
        raise UsageError(f"{source}: expected judgments or a run, and the kind is not given", hint=KIND_HINT)
    return formats.detect_kind(read_bytes(source, limits=limits)[0], str(source))


def _drop_unsupported(
    rows: Batch, judgments: JudgmentKind, format: Format, kind: Kind, source_format: str
) -> tuple[Batch, tuple[str, ...]]:
    """The rows without what the format cannot hold, and what that is. A column of default values is not a loss."""
    lost: list[str] = []
    if rows.iters is not None and all(value in (b"", DEFAULT_ITER[kind]) for value in rows.iters):
        rows = replace(rows, iters=None)
    keeps = format.keeps if judgments == format.judgments else format.keeps - {"iter"}
    for name, attribute in (("iter", "iters"), ("rank", "rank"), ("tag", "tag")):
        if getattr(rows, attribute) is not None and name not in keeps:
            if not (name == "rank" and format.name == "msmarco"):
                lost.append(name)
            rows = replace(rows, **{attribute: None})  # type: ignore[arg-type]  # three columns of the same type
    if kind == "run" and "score" not in format.keeps and source_format != "msmarco":
        lost.append("score (ranks keep the order)")
    if rows.empty and "empty" not in format.keeps:
        lost.append(f"{plural(len(rows.empty), 'query')} without any row")
    lost += [f"column {name}" for name in rows.columns]
    return rows, tuple(lost)


def check_judgments(judgments: JudgmentKind, format: Format, source: str | Path) -> None:
    """Raise if a format cannot hold the kind of judgments. Grades become the judgments of one judge."""
    if judgments in ("grades", format.judgments):
        return
    writable = ", ".join(f.name for f in formats.FORMATS if f.judgments == judgments and f.write is not None)
    hint = f"write {writable}"
    if judgments == "groups":
        other = "--from qrels_prefs reads the grades as preferences"
        if format.judgments == "grades":
            other = "--from ndeval keeps the largest grade of each document"
        hint += f"; {other}"
    raise InputError.at(source, None, f"{format.name} cannot hold {HELD_JUDGMENTS[judgments]}", hint=hint)


def _repeat_tag(name: str, count: int) -> Ids:
    word = b"_".join(name.encode("utf-8", "surrogateescape").split()) or b"run"
    return Ids.from_bytes([word] * count)
