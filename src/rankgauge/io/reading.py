"""Judgments, runs and logs from files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import keep_freed_memory
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.byte_streams import (
    DEFAULT_LIMITS,
    AnyFile,
    ByteStream,
    Limits,
    is_dataset,
    is_folder,
    open_source,
    sha256_of_part,
    source_name,
)
from rankgauge.io.checks import odd
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import (
    Rows,
    build_qrels,
    build_run,
    checked_run,
    raise_or_warn,
    report_long_ids,
    report_repeated_documents,
)

if TYPE_CHECKING:
    from rankgauge.io.formats.registry import Format

DETECTION_BYTES = 1 << 16

# The other formats, and the detection of formats, are imported only if a file is not certainly a TREC file.


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
    rows, _ = read_rows(path, "qrels", format=format, columns=columns, limits=limits)
    odd.report_odd_qrels(rows)
    return build_qrels(rows, name=name or _default_name(path), by_subtopic=by_subtopic)


def read_run(
    path: AnyFile,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    name: str | None = None,
    on_duplicate: OnDuplicate = "error",
    limits: Limits = DEFAULT_LIMITS,
    source: str | None = None,
) -> Run:
    """Read a run from a file, a folder of Parquet files, or ``irds:…``. Its name is its tag, or its file's name.

    ``source`` is the name of the file in messages, if that is not its path.
    """
    rows, _ = read_rows(path, "run", format=format, columns=columns, limits=limits, source=source)
    return run_from_rows(rows, name=name, default_name=_default_name(source or path), on_duplicate=on_duplicate)


def run_from_rows(rows: Rows, *, name: str | None = None, default_name: str, on_duplicate: OnDuplicate) -> Run:
    """The run of a file's rows, with warnings for what is odd. Its name is its tag unless one is given."""
    odd.report_odd_run(rows)
    return build_run(rows, name=name or tag_of(rows) or default_name, on_duplicate=on_duplicate)


def runs_from_rows(rows: Rows, *, default_name: str, on_duplicate: OnDuplicate) -> list[Run]:
    """The runs in a table: one for each tag."""
    parts = rows.by_run()
    for part in parts:
        odd.report_odd_run(part)
        report_repeated_documents(part, on_duplicate)
    raise_or_warn(rows.faults)
    if len(parts) > 1:
        parts = [replace(part, sha256=sha256_of_part(rows.sha256, tag_of(part) or "")) for part in parts]
    return [checked_run(part, name=tag_of(part) or default_name, on_duplicate=on_duplicate) for part in parts]


def tag_of(rows: Rows) -> str | None:
    """The tag on the last row."""
    return rows.tag[len(rows) - 1].decode("utf-8", "surrogateescape") if rows.tag is not None and len(rows) else None


def format_of(stream: ByteStream, kind: Kind) -> str:
    """The name of a file's format, detected from its first bytes; reading the stream still starts with these."""
    data = b""
    while (b"\n" not in data and len(data) <= stream.limits.line) or len(data) < DETECTION_BYTES:
        more = stream.grow_head(DETECTION_BYTES)
        if more is None:
            break
        data = more
        if trec.is_certainly_trec(data, kind):
            return "trec"
    from rankgauge.io.formats import registry as formats

    return formats.detect_format(data, kind, stream.path).name


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
    for rows in (relevant, retrieved):
        report_long_ids(rows.faults, rows.line, rows.query, rows.doc, limits.line)
    # Warnings are issued once: with the run, whose rows have all faults.
    qrels = build_qrels(replace(relevant, faults=faults.errors_only()), name=name)
    return qrels, build_run(replace(retrieved, sha256=stream.sha256), name=name, on_duplicate=on_duplicate)


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
        if len(data) > 16 * stream.limits.line or (b"\n" in data.strip() and not head.is_array):
            return False
    record = Head(data).record
    return record is not None and log.is_log_record(record)


def read_rows(
    path: AnyFile,
    kind: Kind,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    limits: Limits = DEFAULT_LIMITS,
    source: str | None = None,
) -> tuple[Rows, str]:
    """The rows of a file, and the name of its format. A wrong line does not raise: the rows have the faults."""
    if is_dataset(path):
        from rankgauge.io.formats import datasets

        return datasets.rows(str(path), kind), "irds"
    if kind == "run" and is_folder(path) and format in (None, "parquet"):
        from rankgauge.io.formats.folders import ParquetFolder

        return ParquetFolder(str(path), limits, columns).rows(
            Faults(source or str(path), strict=limits.strict)
        ), "parquet"
    with open_source(path, source=source, limits=limits, hashed=kind == "run") as stream:
        return rows_from_stream(stream, kind, format=format, columns=columns)


def rows_from_stream(
    stream: ByteStream, kind: Kind, *, format: str | None = None, columns: Columns | None = None
) -> tuple[Rows, str]:
    """The same of a stream that is open already."""
    keep_freed_memory()
    data, digest, limits, source = stream.read(), stream.sha256, stream.limits, stream.path
    faults = Faults(source, strict=limits.strict)
    if format in (None, "trec") and not columns and trec.is_certainly_trec(data, kind):
        rows = trec.qrels_rows(faults, data) if kind == "qrels" else trec.run_rows(faults, data)
        report_long_ids(rows.faults, rows.line, rows.query, rows.doc, limits.line)
        return replace(rows, sha256=digest), "trec"
    from rankgauge.io.formats import registry as formats

    head = data[: limits.line + DETECTION_BYTES]
    file_format = formats.detect_format(head, kind, source) if format is None else formats.format_named(format, kind)
    check_has_names(source, file_format, columns)
    rows = replace(file_format.read(faults, data, kind, columns), sha256=digest)
    report_long_ids(rows.faults, rows.line, rows.query, rows.doc, limits.line)
    if not len(rows) and not rows.empty and not rows.faults.total("error"):
        raise InputError.at(source, None, f"no {'judgments' if kind == 'qrels' else 'results'} in the file")
    return rows, file_format.name


def check_has_names(source: str, format: Format, columns: Columns | None) -> None:
    """Raise if columns are named and the format has no names."""
    if columns and not format.has_names:
        raise UsageError(
            f"{source} is read as {format.name}, whose columns have no names",
            hint=f"remove columns, --column {shown(next(iter(columns)))}, or choose another format",
        )


def _default_name(path: AnyFile) -> str:
    return str(path) if is_dataset(path) else source_name(path)
