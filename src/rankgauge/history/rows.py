"""Entries and judgments as rows of the tables of a history; written within a transaction of the caller."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.errors import shown
from rankgauge.history.entries import EntrySummary
from rankgauge.history.names import checked_tag, free_name
from rankgauge.history.times import is_saved_time
from rankgauge.io.formats.jsontext import reject_constant

if TYPE_CHECKING:
    from rankgauge.io.shapes import Shape

COLUMNS = "id, name, uid, saved, system, collection, labels, has_run, facts"


def insert_entry(
    connection: sqlite3.Connection, summary: EntrySummary, scores: bytes, run: bytes | None
) -> EntrySummary:
    """Insert an entry, within a transaction, under its name or the next one that is free."""
    pattern = f"{summary.name}-%"
    taken = connection.execute("SELECT name FROM entries WHERE name = ? OR name LIKE ?", (summary.name, pattern))
    summary = replace(summary, name=free_name(summary.name, (row[0].decode() for row in taken)))
    values = (
        summary.name,
        summary.uid,
        summary.saved,
        summary.git.branch,
        stored_text(summary.system),
        stored_text(summary.collection),
        summary.labels,
        int(summary.has_run),
        stored_text(json.dumps(summary.facts, ensure_ascii=False, allow_nan=False)),
    )
    columns = "name, uid, saved, branch, system, collection, labels, has_run, facts"
    marks = ", ".join("?" * len(values))
    number = connection.execute(f"INSERT INTO entries ({columns}) VALUES ({marks})", values).lastrowid
    connection.execute("INSERT INTO contents VALUES (?, ?, ?)", (number, scores, run))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(number, tag) for tag in summary.tags])
    _read_back(connection, f"SELECT {columns} FROM entries WHERE id = ?", number, [values])
    _read_back(connection, "SELECT scores, run FROM contents WHERE entry = ?", number, [(scores, run)])
    tags = [(tag,) for tag in sorted(summary.tags, key=str.encode)]
    _read_back(connection, "SELECT tag FROM tags WHERE entry = ? ORDER BY tag", number, tags)
    return summary


def insert_labels(connection: sqlite3.Connection, sha256: str, content: bytes | None) -> None:
    """Insert judgments unless the file has them; their hash alone is kept if their content is unknown."""
    added = connection.execute("INSERT OR IGNORE INTO labels VALUES (?, ?)", (sha256, content))
    filled = connection.execute("UPDATE labels SET content = ? WHERE sha256 = ? AND content IS NULL", (content, sha256))
    if content is not None and (added.rowcount or filled.rowcount):  # otherwise they were there already, packed before
        _read_back(connection, "SELECT content FROM labels WHERE sha256 = ?", sha256, [(content,)])


def _read_back(
    connection: sqlite3.Connection, statement: str, key: object, written: Sequence[tuple[object, ...]]
) -> None:
    """Raise if a query has other rows than those that were written: texts are read as bytes."""
    expected = [tuple(value.encode() if isinstance(value, str) else value for value in row) for row in written]
    if connection.execute(statement, (key,)).fetchall() != expected:
        raise sqlite3.DatabaseError("what was written is not what the file has now")


def summary_of(row: tuple[Any, ...], tags: Iterable[str]) -> EntrySummary:
    """An entry of the table of entries."""
    _, name, uid, saved, system, collection, labels, has_run, facts = row
    content = json.loads(facts.decode("utf-8", "surrogateescape"), parse_constant=reject_constant)
    if not _has_outline(content):
        check_facts(content)
        raise ValueError("its facts have another shape")
    if not is_saved_time(saved.decode()):
        raise ValueError(f"expected a time as in 2026-11-02T10:11:12Z, found {shown(saved)}")
    return EntrySummary(
        name.decode(),
        uid.decode(),
        saved.decode(),
        system.decode("utf-8", "surrogateescape"),
        collection.decode("utf-8", "surrogateescape"),
        labels.decode(),
        bool(has_run),
        content,
        tuple(tags),
    )


def check_facts(facts: Any) -> None:
    """Raise ``ValueError`` if the facts of an entry have another shape than those that are written."""
    from rankgauge.history.shapes import FACTS_SHAPE

    _check_shape(facts, FACTS_SHAPE, "its facts")


def check_summary(summary: EntrySummary) -> None:
    """Raise ``ValueError`` if anything in a summary is not as it is written."""
    from rankgauge.history.shapes import SUMMARY_SHAPE

    _check_shape(summary.to_dict(), SUMMARY_SHAPE, "it")
    for tag in summary.tags:
        checked_tag(tag)


def _check_shape(value: Any, shape: Shape, name: str) -> None:
    from rankgauge.io.shapes import first_misfit

    misfit = first_misfit(value, shape)
    if misfit is not None:
        raise ValueError(f"expected {misfit.expected} at {misfit.path or name}, found {misfit.found}")


def _has_outline(facts: Any) -> bool:
    """Whether facts have what a listing reads; a whole check of 10,000 entries takes most of a second."""
    if not isinstance(facts, Mapping):
        return False
    git, means = facts.get("git"), facts.get("means")
    return (
        isinstance(git, Mapping)
        and git.keys() >= {"commit", "branch", "dirty"}
        and isinstance(means, Mapping)
        and all(isinstance(mean, Mapping) and _is_value(mean.get("value")) for mean in means.values())
        and facts.keys() >= {"conventions", "queries", "cost", "coverage", "command", "verdict", "run_sha256"}
    )


def _is_value(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and math.isfinite(value))


def stored_text(text: str) -> str:
    """Text that SQLite accepts: ids and names may have bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
