"""Conversion from one format to another, which reports what the other format cannot hold."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, cast

import numpy as np

from rankgauge.core.batch import Batch, joined_extras
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.run import RunExtras
from rankgauge.errors import InputError, UsageError
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, file_of, is_dataset, read_bytes, source_name
from rankgauge.io.faults import Faults
from rankgauge.io.formats import registry as formats
from rankgauge.io.formats.case_keys import names_for
from rankgauge.io.formats.named_columns import Columns, Kind, Wanted, scores_from_ranks
from rankgauge.io.formats.registry import Format, WriteRows, write_delimited
from rankgauge.io.formats.subtopics import largest_grades
from rankgauge.io.formats.trec import DEFAULT_ITER, lost_extras, lost_scores
from rankgauge.io.pipeline.grouping import WholeQueries
from rankgauge.io.pipeline.run_pipeline import RunReader
from rankgauge.io.read import build_qrels, read_rows, run_from_rows
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import Source, can_read_again, open_results, split_system

UNWRITTEN_COMPRESSIONS = (".bz2", ".xz", ".zst", ".zstd")
FORMULA_DELIMITERS = {"csv": ",", "tsv": "\t"}
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
        if kind == "run" and can_read_again(source):
            conversion = self._write_in_parts(out, format)
            if conversion is not None:
                return conversion
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
        self._writer(format)(iter([rows]), kind, out)
        return Conversion(kind, source_format, format.name, len(rows), lost)

    def _writer(self, format: Format) -> WriteRows:
        if self.escape_formulas:
            return write_delimited(FORMULA_DELIMITERS[format.name], escape_formulas=True)
        assert format.write is not None
        return format.write

    def _write_in_parts(self, out: IO[bytes], format: Format) -> Conversion | None:
        """Write a run query by query, after a first reading that checks it; None if that is not possible.

        It is not if queries are scattered, or if a binary format has to know beforehand which ids are not text.
        """
        source, reading = self.source, Reading(columns=self.columns, limits=self.limits)
        with open_results(source, "run", format=self.from_format, limits=self.limits) as results:
            results.has_many_runs = False
            facts = _RunFacts(is_text_checked=not format.is_text)
            reader = RunReader(results, reading, listener=facts.see, is_checked=False)
            reader.read()
            if reader.is_scattered or not facts.is_text:
                return None
            if not facts.rows and not (facts.empty and "empty" in format.keeps):
                raise InputError.at(source, None, "nothing to write: the file has no rows")
            tag = source_name(source) if format.name == "trec" and not facts.has_tag else None
            parts = _whole_queries(results, replace(reader.wanted, has_iters=True))
            self._writer(format)(facts.kept(parts, format, tag), "run", out)
            lost = facts.lost(format, results.format or "")
            return Conversion("run", results.format or "", format.name, facts.rows, lost)

    def _target_format(self, target: str, kind: Kind) -> Format:
        by_name = self.to_format is not None
        format = formats.format_named(self.to_format or "", kind) if by_name else formats.format_by_suffix(target, kind)
        if format.write is None:
            raise UsageError(f"format {format.name} can be read but not written")
        if self.escape_formulas and format.name not in FORMULA_DELIMITERS:
            raise UsageError(f"escape_formulas applies to csv and tsv, not to {format.name}")
        return format


class _RunFacts:
    """What the first reading of a run shows, for the second one: which columns hold more than their defaults."""

    def __init__(self, *, is_text_checked: bool) -> None:
        self.has_iters = self.has_rank = self.has_tag = False
        self.is_text = True  # as far as that is checked
        self.rows = 0
        self.empty: tuple[bytes, ...] = ()
        self.failed: tuple[bytes, ...] = ()
        self.extras: RunExtras | None = None
        self._is_text_checked = is_text_checked

    def see(self, rows: Batch) -> None:
        """Look at the next rows."""
        self.rows += len(rows)
        self.has_rank |= rows.rank is not None
        self.has_tag |= rows.tag is not None
        self.empty += rows.empty
        self.failed += rows.failed
        self.extras = joined_extras((self.extras, rows.extras))
        if rows.iters is not None and not self.has_iters:
            self.has_iters = not all(value in (b"", DEFAULT_ITER["run"]) for value in rows.iters)
        if self._is_text_checked:
            columns = (rows.query, rows.doc, rows.iters, rows.rank, rows.tag)
            self.is_text &= all(column is None or column.is_utf8 for column in columns)

    def lost(self, format: Format, source_format: str) -> tuple[str, ...]:
        """What the format cannot hold."""
        columns = {"iter": self.has_iters, "rank": self.has_rank and format.name != "msmarco", "tag": self.has_tag}
        lost = [name for name, is_there in columns.items() if is_there and name not in format.keeps]
        lost += [] if "extras" in format.keeps else [*lost_extras(self.extras), *lost_scores(self.extras)]
        return (*lost, *_lost_scores(format, "run", source_format), *_lost_queries(format, self.empty))

    def kept(self, parts: Iterable[Batch], format: Format, tag: str | None) -> Iterator[Batch]:
        """The rows without what the format cannot hold, and with a tag if one is given."""
        for rows in parts:
            yield replace(
                rows,
                iters=rows.iters if self.has_iters and "iter" in format.keeps else None,
                rank=rows.rank if "rank" in format.keeps else None,
                tag=_repeat_tag(tag, len(rows)) if tag is not None else rows.tag if "tag" in format.keeps else None,
            )
        if self.empty and "empty" in format.keeps:
            no_ids = Ids.from_bytes([])
            rows = Batch(np.zeros(0, dtype=np.int64), no_ids, no_ids, np.zeros(0), empty=self.empty)
            yield replace(rows, failed=self.failed, extras=self.extras)


def _whole_queries(source: Source, wanted: Wanted) -> Iterator[Batch]:
    """The rows of a source, whose faults are known, in batches of whole queries; scores are made of ranks."""
    faults = Faults(source.name)
    whole = WholeQueries()
    for batch in source.batches(wanted, faults):
        for rows in whole.push(replace(batch, empty=())):
            yield scores_from_ranks(faults, rows) if rows.has_ranks_only else rows
    for rows in whole.finish():
        yield scores_from_ranks(faults, rows) if rows.has_ranks_only else rows


def _lost_scores(format: Format, kind: Kind, source_format: str) -> list[str]:
    is_lost = kind == "run" and "score" not in format.keeps and source_format != "msmarco"
    return ["score (ranks keep the order)"] if is_lost else []


def _lost_queries(format: Format, empty: Sequence[bytes]) -> list[str]:
    return [f"{plural(len(empty), 'query')} without any row"] if empty and "empty" not in format.keeps else []


def _detect_kind(source: str | Path, from_format: str | None, limits: Limits) -> Kind:
    if from_format is not None and len(kinds := formats.format_named(from_format).columns) == 1:
        return next(iter(kinds))
    if str(source) == "-" or is_dataset(source) or not Path(file_of(source)).is_file():
        if str(source) != "-" and not is_dataset(source) and not Path(source).exists():
            read_bytes(source, limits=limits)  # raises the error that says why it cannot be read
        raise UsageError(f"{source}: expected judgments or a run, and the kind is not given", hint=KIND_HINT)
    if split_system(source, limits)[1] is not None:
        return "run"
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
    lost += _lost_scores(format, kind, source_format)
    lost += _lost_queries(format, rows.empty)
    written = names_for(list(rows.columns), "query")[:1] if "texts" in format.keeps else []
    lost += [] if "columns" in format.keeps else [f"column {name}" for name in rows.columns if name not in written]
    lost += [] if "extras" in format.keeps else [*lost_extras(rows.extras), *lost_scores(rows.extras)]
    if format.name != "log":
        lost += (["evidence"] if rows.evidence is not None else []) + (["forbidden"] if rows.forbidden else [])
    return rows, tuple(lost)


def check_judgments(judgments: JudgmentKind, format: Format, source: str | Path) -> None:
    """Raise if a format cannot hold the kind of judgments. Grades become those of one subtopic."""
    if judgments in ("grades", format.judgments):
        return
    writable = ", ".join(f.name for f in formats.FORMATS if f.judgments == judgments and f.write is not None)
    raise InputError.at(source, None, f"{format.name} cannot hold judgments by subtopic", hint=f"write {writable}")


def _repeat_tag(name: str, count: int) -> Ids:
    word = b"_".join(name.encode("utf-8", "surrogateescape").split()) or b"run"
    return Ids.from_bytes([word] * count)
