"""Judgments, runs and logs in memory: the batches of a source, collected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.core.arrays import keep_freed_memory
from rankgauge.core.batch import Batch, concatenate_batches
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import JudgmentKind, Qrels
from rankgauge.core.run import OnDuplicate, Run, ScoreMeaning
from rankgauge.errors import InputError, InputTypeError, Note, UsageError, held_warnings, shown, warn_user
from rankgauge.io.byte_streams import (
    DEFAULT_LIMITS,
    AnyFile,
    ByteStream,
    Limits,
    LoadedFile,
    file_of,
    is_dataset,
    open_source,
    sha256_of_part,
    source_name,
    split_selector,
)
from rankgauge.io.faults import Faults
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.named_columns import Columns, Kind, Wanted, columns_for, scores_from_ranks
from rankgauge.io.pipeline.run_pipeline import attempts, batches_again, read_runs, run_from_batches
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.io.row_checks import (
    check_judgments,
    find_system,
    report_long_ids,
    report_repeated_judgments,
    several_systems,
)
from rankgauge.io.sources import Source, TableSource, is_graded, open_results, split_system

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
    faults.raise_or_warn()
    if read.judgments == "grades" and not by_subtopic:
        qrels = Qrels.build(rows.query, rows.doc, rows.value, iters=rows.iters, name=name, unique=False)
        qrels = qrels.with_queries(rows.empty)
        qrels = qrels.with_forbidden(rows.forbidden) if rows.forbidden else qrels
        qrels = qrels.with_evidence(rows.evidence).with_columns(rows.columns)
        return qrels.expecting_nothing() if rows.empty else qrels
    if rows.iters is None:
        raise InputError.at(faults.source, None, "judgments by subtopic need a subtopic for each row")
    qrels = Qrels.build_by_subtopic(rows.query, rows.iters, rows.doc, rows.value, name=name)
    return qrels.with_queries(rows.empty).with_columns(rows.columns)


def as_qrels(data: Any, reading: Reading = DEFAULT_READING) -> Qrels:
    """Judgments from the object itself, a path, ``{query: {document: grade}}``, ``{query: [documents]}`` or a frame.

    Documents that the reading names as forbidden are added.
    """
    qrels = _as_qrels(data, reading)
    return qrels if reading.forbidden is None else qrels.with_forbidden(read_pairs(reading.forbidden, reading.limits))


def _as_qrels(data: Any, reading: Reading) -> Qrels:
    if isinstance(data, Qrels):
        return data
    if isinstance(data, (str, Path, LoadedFile)):
        return read_qrels(data, format=reading.qrels_format, limits=reading.limits)
    if isinstance(data, Mapping):
        if not data:
            raise InputError("the judgments are empty", hint="expected {query: {document: grade}}")
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


def read_pairs(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> dict[str, list[str]]:
    """Documents by query, from a file with a query and a document on each line: separated by a tab, a comma or spaces.

    A first line that names the columns is left out.
    """
    with open_source(path, limits=limits) as stream:
        lines = stream.read().decode("utf-8-sig", "surrogateescape").splitlines()
    separator = "\t" if any("\t" in line for line in lines) else "," if any("," in line for line in lines) else None
    documents: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.split(separator)]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            raise InputError.at(str(path), number, f"expected a query and a document, found {shown(line)}")
        if number == 1 and columns_for(cells[:1], "query") and columns_for(cells[1:], "doc"):
            continue
        documents.setdefault(cells[0], []).append(cells[1])
    if not documents:
        raise InputError.at(str(path), None, "expected a query and a document on each line, found none")
    return documents


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
        if reading.scores is not None:
            if source.format != "log":
                raise UsageError(
                    f"reading.scores applies to lists of results: {source.name} is no log", hint="leave it out"
                )
            runs = [run.scored_as(reading.scores) for run in runs]
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
        if is_graded(data):
            return Run.from_dict(data)
        run = Run.from_lists(data, on_duplicate=reading.on_duplicate)
        return run if reading.scores is None else run.scored_as(reading.scores)
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
    """Read a log of one system: one JSON object per query, with the retrieved and the relevant documents.

    Of several systems, ``FILE#NAME`` chooses one.

    ``{"query": …, "retrieved": […], "relevant": […], "category": …}``; other keys become columns of the judgments.
    Texts, metadata and latencies are in ``Run.extras``. ``columns`` says which key is which if their names do not:
    ``{"retrieved": "hits"}``.
    """
    file, system = split_system(path, limits)
    with open_source(file, limits=limits, hashed=True) as stream:
        name = name or source_name(file)
        qrels, runs = log_from_stream(stream, columns=columns, name=name, on_duplicate=on_duplicate)
    if system is not None:
        runs = [runs[find_system(file, [run.name for run in runs], system)]]
    if len(runs) > 1:
        raise several_systems(str(path), [run.name for run in runs])
    return qrels, runs[0]


def log_from_stream(
    stream: ByteStream,
    *,
    columns: Columns | None = None,
    name: str,
    on_duplicate: OnDuplicate,
    fields: Sequence[str] = (),
    scores: ScoreMeaning | None = None,
    labels_apply: bool = True,
) -> tuple[Qrels, list[Run]]:
    """The judgments of a log that is open, and the run of each of its systems; other judgments may apply to these."""
    from rankgauge.io.formats import question_log
    from rankgauge.io.formats.log_results import run_batches

    data, limits = stream.read(), stream.limits
    faults = Faults(stream.path, strict=limits.strict)
    questions = replace(question_log.load(faults, data, columns, fields), labels_apply=labels_apply)
    questions = replace(questions, knows_scores=scores is not None)
    for note in questions.warnings:
        warn_user(note.message)
    relevant, retrieved = questions.qrels_rows(faults), list(run_batches(questions, faults))
    report_long_ids(faults, relevant, limits.max_line)
    # Warnings are issued once: with the first run, whose faults are all faults.
    qrels = build_qrels(SourceRows(relevant, faults.errors_only()), name=name)
    runs: list[Run] = []
    for batch in retrieved:
        system = batch.system.decode("utf-8", "surrogateescape")
        sha256 = stream.sha256 if len(retrieved) == 1 else sha256_of_part(stream.sha256, system)
        known = faults.errors_only() if runs else faults
        run = run_from_batches(known, [batch], name=system or name, sha256=sha256, on_duplicate=on_duplicate)
        run = replace(run, holds_empty=True)
        runs.append(run if scores is None else run.scored_as(scores))
    return qrels, runs


def looks_like_log(path: str | Path) -> bool:
    """Whether a file is a log with both sides. The answer is no for what cannot be read twice (``-``, a pipe)."""
    if str(path) == "-" or is_dataset(path) or not Path(file_of(path)).is_file():
        return False
    with open_source(path) as stream:
        record = head_record(stream)
    from rankgauge.io.formats import question_log

    return record is not None and question_log.is_log_record(record)


def head_record(stream: ByteStream) -> dict[str, Any] | None:
    """The first object of an open source, or the first case in it, whatever contains the cases; None if there is none.

    Reading it still starts at its beginning. A record longer than 16 lines may have is not looked for.
    """
    from rankgauge.io.formats.test_sets import first_case

    data: bytes | None = stream.head(HEAD_BYTES)
    name = split_selector(stream.path)
    record: dict[str, Any] | None = None
    while data is not None and record is None:
        head = Head(data, *name)
        if not head.is_json and not head.is_yaml:
            return None
        if head.is_json:
            record = first_case(head) or head.record
        is_long = len(data) > 16 * stream.limits.max_line
        data = None if is_long or record is not None else stream.grow_head(len(data) or HEAD_BYTES)
        if head.is_yaml and data is None:  # which is read whole
            record = first_case(head)
    return record


def _default_name(path: AnyFile) -> str:
    return str(path) if is_dataset(path) else source_name(path)
