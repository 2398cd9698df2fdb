"""Judgments, runs and logs in memory: the batches of a source, collected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.core.batch import Batch, concatenate_batches
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import JudgmentKind, Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import keep_freed_memory
from rankgauge.errors import InputError, InputTypeError, Note, held_warnings
from rankgauge.io.byte_streams import (
    DEFAULT_LIMITS,
    AnyFile,
    ByteStream,
    Limits,
    LoadedFile,
    is_dataset,
    open_source,
    source_name,
)
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.names import Columns, Kind, Wanted
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.pipeline.runs import attempts, batches_again, raise_or_warn, read_runs, run_from_batches
from rankgauge.io.row_checks import check_judgments, report_long_ids, report_repeated_judgments
from rankgauge.io.sources import Source, TableSource, is_graded, open_results

NO_ROWS: dict[Kind, str] = {"qrels": "no judgments in the file", "run": "no results in the file"}


@dataclass(frozen=True, eq=False)
class SourceRows:
    """All rows of a source in its order. Those that could not be read are missing: ``faults`` describes them."""

    rows: Batch
    faults: Faults
    format: str | None = None
    judgments: JudgmentKind = "grades"
    sha256: str | None = None


def collect(source: Source, wanted: Wanted, faults: Faults) -> Batch:
    """All rows of a source. If it is read a second time, what was said the first time is void."""
    keep_freed_memory()
    source.check_columns(wanted.columns)
    before = faults.copy(limit=faults.limit)

    def read(names: tuple[str, ...], _: bool) -> Batch:
        if names:
            faults.reset(before)
        return concatenate_batches(list(source.batches(replace(wanted, names=names, is_kept=True), faults)))

    rows = attempts(read)
    if rows.has_ranks_only:
        from rankgauge.io.formats.columns import scores_from_ranks  # few sources have no scores

        rows = scores_from_ranks(faults, rows)
    return rows


def read_rows(
    data: AnyFile,
    kind: Kind,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SourceRows:
    """All rows of a file. A wrong line does not raise: the faults have it."""
    with open_results(data, kind, format=format, limits=limits, hashed=kind == "run") as source:
        return rows_of_source(source, Wanted(kind, columns), Faults(source.name, strict=limits.strict), limits)


def rows_of_source(source: Source, wanted: Wanted, faults: Faults, limits: Limits) -> SourceRows:
    """All rows of a source; raises if there is none, and nothing says why."""
    rows = collect(source, wanted, faults)
    report_long_ids(faults, rows, limits.max_line)
    if not len(rows) and not rows.empty and not faults.total("error"):
        raise InputError.at(source.name, None, NO_ROWS[wanted.kind])
    return SourceRows(rows, faults, source.format, source.judgments, source.sha256())


# -- judgments --------------------------------------------------------------------------------------------------


def read_qrels(
    path: AnyFile,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    name: str | None = None,
    by_subtopic: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Qrels:
    """Read judgments from a file, or from ``irds:…``.

    The format is detected from the content unless it is given: see ``docs/reference/formats.md``. ``columns`` says
    which column is which if their names do not: ``{"query": "question_no", "grade": "stars"}``.
    """
    read = read_rows(path, "qrels", format=format, columns=columns, limits=limits)
    check_judgments(read.faults, read.rows)
    return build_qrels(read, name=name or _default_name(path), by_subtopic=by_subtopic)


def build_qrels(read: SourceRows, *, name: str, by_subtopic: bool = False) -> Qrels:
    """Judgments from their rows; raises if there are faults, or if a document is judged twice."""
    rows, faults = read.rows, read.faults
    report_repeated_judgments(faults, rows, read.judgments, by_iter=by_subtopic)
    raise_or_warn(faults)
    if read.judgments == "grades" and not by_subtopic:
        qrels = Qrels.build(rows.query, rows.doc, rows.value, iters=rows.iters, name=name, unique=False)
        return qrels.with_queries(rows.empty).with_columns(rows.columns)
    if rows.iters is None:
        raise InputError.at(faults.source, None, "judgments by subtopic need a subtopic for each row")
    qrels = Qrels.build_by_group(
        rows.query,
        rows.iters,
        rows.doc,
        rows.value,
        subgroup=rows.subgroup,
        by_subtopic=by_subtopic or read.judgments == "subtopics",
        name=name,
    )
    return qrels.with_queries(rows.empty).with_columns(rows.columns)


def as_qrels(data: Any, reading: Reading = DEFAULT_READING) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}``, ``{query: [documents]}`` or a frame."""
    if isinstance(data, Qrels):
        return data
    if isinstance(data, (str, Path, LoadedFile)):
        return read_qrels(data, format=reading.qrels_format, limits=reading.limits)
    if isinstance(data, Mapping):
        return Qrels.from_dict(data) if is_graded(data) else Qrels.from_lists(data)
    from rankgauge.io.formats.frames import is_frame

    if is_frame(data):
        return qrels_from_frame(data)
    raise InputTypeError(f"judgments must be a frame, a path, a dict or Qrels, found {type(data).__name__}")


def qrels_from_frame(
    frame: Any, *, columns: Columns | None = None, name: str = "qrels", by_subtopic: bool = False
) -> Qrels:
    """Judgments from a pandas, polars or pyarrow frame; columns are detected by name, or given as ``columns``."""
    faults = Faults(name)
    rows = collect(TableSource(frame, name), Wanted("qrels", columns), faults)
    check_judgments(faults, rows)
    return build_qrels(SourceRows(rows, faults), name=name, by_subtopic=by_subtopic)


# -- runs -------------------------------------------------------------------------------------------------------


def read_run(
    path: AnyFile,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    name: str | None = None,
    on_duplicate: OnDuplicate = "error",
    limits: Limits = DEFAULT_LIMITS,
) -> Run:
    """Read a run from a file, a folder of Parquet files, or ``irds:…``. Its name is its tag, or its file's name."""
    reading = Reading(run_format=format, columns=columns, on_duplicate=on_duplicate, limits=limits)
    with open_results(path, "run", format=format, limits=limits, hashed=True) as source:
        source.has_many_runs = False
        return read_runs(source, reading, name)[0][0]


def run_from_rows(read: SourceRows, *, name: str, on_duplicate: OnDuplicate = "error") -> Run:
    """A run from its rows, whose faults are known; raises if there are any, or if a document appears twice."""
    return run_from_batches(read.faults, [read.rows], name=name, sha256=read.sha256, on_duplicate=on_duplicate)


def runs_and_notes(data: Any, reading: Reading) -> tuple[list[Run], tuple[Note, ...]]:
    """The runs in whatever a caller has, and the notes on its file."""
    if not isinstance(data, (str, Path)) or is_dataset(data):
        return [as_run(data, reading)], ()
    with open_results(data, "run", format=reading.run_format, limits=reading.limits, hashed=True) as source:
        runs, faults = read_runs(source, reading)
        return runs, tuple(faults.notes("note"))


def documents_of(data: Any, reading: Reading) -> Iterator[Ids]:
    """The documents of all results, in columns of which each has some of them. Nothing is reported a second time."""
    if not isinstance(data, (str, Path)) or is_dataset(data):
        with held_warnings():
            run = as_run(data, reading)
        yield run.docs
        return
    with open_results(data, "run", format=reading.run_format, limits=reading.limits) as source:
        for batch in batches_again(source, reading):
            yield batch.doc


def as_run(data: Any, reading: Reading = DEFAULT_READING) -> Run:
    """A run from the object itself, a path, ``{query: {document: score}}``, ``{query: [documents]}`` or a frame.

    What a retriever gave, live or fetched, holds its run.
    """
    if isinstance(data, Run):
        return data
    if isinstance(held := getattr(data, "run", None), Run):
        return held
    if isinstance(data, (str, Path, LoadedFile)):
        return read_run(
            data,
            format=reading.run_format,
            columns=reading.columns,
            on_duplicate=reading.on_duplicate,
            limits=reading.limits,
        )
    if isinstance(data, Mapping):
        return Run.from_dict(data) if is_graded(data) else Run.from_lists(data, on_duplicate=reading.on_duplicate)
    from rankgauge.io.formats.frames import is_frame

    if is_frame(data):
        return run_from_frame(data, columns=reading.columns, on_duplicate=reading.on_duplicate)
    raise InputTypeError(
        f"a run must be a data frame, a path, a dict or Run, found {type(data).__name__}",
        hint="for several runs, call evaluate_runs or compare" if isinstance(data, (list, tuple)) else None,
    )


def run_from_frame(
    frame: Any, *, columns: Columns | None = None, name: str = "run", on_duplicate: OnDuplicate = "error"
) -> Run:
    """A run from a pandas, polars or pyarrow frame; without scores, ranks give the order.

    Ranks that contradict the scores are a warning, as in a file.
    """
    source = TableSource(frame, name)
    source.has_many_runs = False
    return read_runs(source, Reading(columns=columns, on_duplicate=on_duplicate), name)[0][0]


# -- logs -------------------------------------------------------------------------------------------------------


def read_log(
    path: str | Path,
    *,
    columns: Columns | None = None,
    name: str | None = None,
    on_duplicate: OnDuplicate = "error",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Qrels, Run]:
    """Read a log: one JSON object per question, with the retrieved and the relevant documents.

    ``{"question": …, "retrieved_ids": […], "relevant_ids": […], "category": …}``; other keys become columns of the
    judgments. ``columns`` says which key is which if their names do not: ``{"retrieved": "hits"}``.
    """
    with open_source(path, limits=limits, hashed=True) as stream:
        return log_from_stream(stream, columns=columns, name=name or source_name(path), on_duplicate=on_duplicate)


def log_from_stream(
    stream: ByteStream, *, columns: Columns | None = None, name: str, on_duplicate: OnDuplicate
) -> tuple[Qrels, Run]:
    """The judgments and the run of a log that is open."""
    from rankgauge.io.formats import log

    data, limits = stream.read(), stream.limits
    faults = Faults(stream.path, strict=limits.strict)
    questions = log.load(faults, data, columns)
    relevant, retrieved = questions.qrels_rows(faults), questions.run_rows(faults)
    report_long_ids(faults, relevant, limits.max_line)
    # Warnings are issued once: with the run, whose faults are all faults.
    qrels = build_qrels(SourceRows(relevant, faults.errors_only()), name=name)
    return qrels, run_from_batches(faults, [retrieved], name=name, sha256=stream.sha256, on_duplicate=on_duplicate)


def looks_like_log(path: str | Path) -> bool:
    """Whether a file is a log with both sides. The answer is no for what cannot be read twice (``-``, a pipe)."""
    if str(path) == "-" or is_dataset(path) or not Path(path).is_file():
        return False
    with open_source(path) as stream:
        return is_log(stream)


def is_log(stream: ByteStream) -> bool:
    """Whether an open source is a log with both sides; reading it still starts with its first bytes."""
    from rankgauge.io.formats import log
    from rankgauge.io.formats.head import HEAD_BYTES, Head

    data = b""
    while (more := stream.grow_head(HEAD_BYTES)) is not None:
        data = more
        head = Head(data)
        if not head.is_json:
            return False
        # An object ends with its line, one in an array anywhere. A record longer than 16 lines is not a log's.
        if (b"\n" in data.strip() or head.is_array) and head.record is not None:
            break
        if len(data) > 16 * stream.limits.max_line or (b"\n" in data.strip() and not head.is_array):
            return False
    record = Head(data).record
    return record is not None and log.is_log_record(record)


def _default_name(path: AnyFile) -> str:
    return str(path) if is_dataset(path) else source_name(path)
