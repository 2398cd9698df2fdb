"""Files in, judgments and runs out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.checks import odd
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import Rows, qrels_of, refuse_long, run_of
from rankgauge.io.sources import DEFAULT, Limits, is_dataset, name_of, opened, read_bytes

# The other formats, and what tells them apart, are imported only where a file is not plainly TREC's.


def read_qrels(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    name: str | None = None,
    by_subtopic: bool = False,
    limits: Limits = DEFAULT,
) -> Qrels:
    """Read judgments from a file, or from ``irds:…``.

    The format is told by the content, or given: see ``docs/reference/formats.md``. ``columns`` says which column is
    which where names do not: ``{"query": "question_no", "grade": "stars"}``.
    """
    rows, _ = read_rows(path, "qrels", format=format, columns=columns, limits=limits)
    odd.look_at_qrels(rows)
    return qrels_of(rows, name=name or _title(path), by_subtopic=by_subtopic)


def read_run(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    name: str | None = None,
    on_duplicate: OnDuplicate = "error",
    limits: Limits = DEFAULT,
    source: str | None = None,
) -> Run:
    """Read a run from a file, or from ``irds:…``. It is called by its tag, or else by its file.

    ``source`` is what to call the file in a message, where that is not its path.
    """
    rows, _ = read_rows(path, "run", format=format, columns=columns, limits=limits, source=source)
    return run_from_rows(rows, name=name, otherwise=_title(source or path), on_duplicate=on_duplicate)


def run_from_rows(rows: Rows, *, name: str | None = None, otherwise: str, on_duplicate: OnDuplicate) -> Run:
    """The run of a file's rows, called by its tag unless it has a name; what is odd in them is said."""
    odd.look_at_run(rows)
    tag = rows.tag[len(rows) - 1].decode("utf-8", "surrogateescape") if rows.tag is not None and len(rows) else None
    return run_of(rows, name=name or tag or otherwise, on_duplicate=on_duplicate)


def format_of(path: str | Path, kind: Kind, *, source: str | None = None, limits: Limits = DEFAULT) -> str:
    """The name of a file's format, told by its first bytes."""
    data, view = bytearray(), memoryview(bytearray(1 << 16))
    with opened(path, source=source, limits=limits) as stream:
        while (b"\n" not in data and len(data) <= limits.line) or len(data) < len(view):
            size = stream.readinto(view)
            if not size:
                break
            data += view[:size]
            if trec.plainly(bytes(data), kind):
                return "trec"
    from rankgauge.io.formats import registry as formats

    return formats.guess(bytes(data), kind, source or str(path)).name


def read_log(
    path: str | Path,
    *,
    columns: Columns | None = None,
    name: str | None = None,
    on_duplicate: OnDuplicate = "error",
    limits: Limits = DEFAULT,
) -> tuple[Qrels, Run]:
    """Read a log: one JSON object a question, with what was retrieved and what was wanted.

    ``{"question": …, "retrieved_ids": […], "relevant_ids": […], "category": …}``; further keys become columns of the
    judgments. ``columns`` says which key is which where their names do not: ``{"retrieved": "hits"}``.
    """
    from rankgauge.io.formats import log

    data, digest = read_bytes(path, limits=limits, hashed=True)
    faults = Faults(str(path), strict=limits.strict)
    found = log.load(faults, data, columns)
    wanted, retrieved = found.qrels_rows(faults), found.run_rows(faults)
    for rows in (wanted, retrieved):
        refuse_long(rows.faults, rows.line, rows.query, rows.doc, limits.line)
    title = name or name_of(path)
    # What is odd is said once: the run's rows have the faults, the judgments' none of their own.
    qrels = qrels_of(replace(wanted, faults=_errors_only(faults)), name=title)
    return qrels, run_of(replace(retrieved, sha256=digest), name=title, on_duplicate=on_duplicate)


def looks_like_log(path: str | Path) -> bool:
    """Whether a file is a log that holds both sides. What cannot be read twice (``-``, a pipe) is said to be none."""
    from rankgauge.io.formats import log
    from rankgauge.io.formats.head import LOOKED_AT, Head

    if str(path) == "-" or is_dataset(path) or not Path(path).is_file():
        return False
    data, view = bytearray(), memoryview(bytearray(LOOKED_AT))
    with opened(path) as stream:
        while size := stream.readinto(view):
            data += view[:size]
            head = Head(bytes(data))
            if not head.is_json:
                return False
            # An object ends with its line, one in an array anywhere; what is longer than 16 lines may be is no log.
            if (b"\n" in data.strip() or head.is_array) and head.record is not None:
                break
            if len(data) > 16 * stream.limits.line or (b"\n" in data.strip() and not head.is_array):
                return False
    record = Head(bytes(data)).record
    return record is not None and log.holds(record)


def read_rows(
    path: str | Path,
    kind: Kind,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    limits: Limits = DEFAULT,
    source: str | None = None,
) -> tuple[Rows, str]:
    """The rows of a file, and the name of its format. Faults are in the rows; nothing is raised for a wrong line."""
    if is_dataset(path):
        from rankgauge.io.formats import datasets

        return datasets.rows(str(path), kind), "irds"
    source = str(path) if source is None else source
    data, digest = read_bytes(path, source=source, limits=limits, hashed=kind == "run")
    if format in (None, "trec") and not columns and trec.plainly(data[:4096], kind):
        faults = Faults(source, strict=limits.strict)
        rows = trec.qrels_rows(faults, data) if kind == "qrels" else trec.run_rows(faults, data)
        refuse_long(rows.faults, rows.line, rows.query, rows.doc, limits.line)
        return replace(rows, sha256=digest), "trec"
    from rankgauge.io.formats import registry as formats

    found = formats.guess(data, kind, source) if format is None else formats.named(format, kind)
    if columns and not found.named:
        raise UsageError(
            f"{path} is read as {found.name}, whose columns have no names",
            hint=f"leave out columns, --column {shown(next(iter(columns)))}, or say another format",
        )
    rows = replace(found.read(Faults(source, strict=limits.strict), data, kind, columns), sha256=digest)
    refuse_long(rows.faults, rows.line, rows.query, rows.doc, limits.line)
    if not len(rows) and not rows.empty and not rows.faults.total("error"):
        raise InputError.at(source, None, f"no {'judgments' if kind == 'qrels' else 'results'} in it")
    return rows, found.name


def _title(path: str | Path) -> str:
    return str(path) if is_dataset(path) else name_of(path)


def _errors_only(faults: Faults) -> Faults:
    """The errors of a source, without its warnings."""
    out = Faults(faults.source, limit=faults.limit)
    out.listed = faults.of("error")
    out.counts.update({key: count for key, count in faults.counts.items() if key[1] == "error"})
    return out
