"""The tables of a history, and entries and judgments as rows of them, written within a transaction of the caller.

Summaries are in rows of their own, so that a listing reads no values of queries. Which columns they have is declared in
``entry_columns.COLUMNS``.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.errors import shown
from rankgauge.history.entries import EntrySummary, free_name, is_saved_time
from rankgauge.history.entry_columns import FACTS_SHAPE, TEXT, EntryColumn, EntryPart, check_facts, columns_of
from rankgauge.io.formats.json_text import reject_constant
from rankgauge.io.owned_databases import DatabaseKind

TABLES = (
    """CREATE TABLE labels (
        sha256 TEXT PRIMARY KEY,
        content BLOB
    ) WITHOUT ROWID""",
    """CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        uid TEXT NOT NULL UNIQUE,
        saved TEXT NOT NULL,
        branch TEXT,
        system TEXT NOT NULL,
        collection TEXT NOT NULL,
        labels TEXT NOT NULL REFERENCES labels (sha256),
        has_run INTEGER NOT NULL,
        facts TEXT NOT NULL
    )""",
    "CREATE INDEX entries_by_time ON entries (saved, id)",
    "CREATE INDEX entries_by_labels ON entries (labels)",
    """CREATE TABLE contents (
        entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
        scores BLOB NOT NULL,
        run BLOB
    )""",
    """CREATE TABLE tags (
        entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (entry, tag)
    ) WITHOUT ROWID""",
    """CREATE TABLE alerts (
        id INTEGER PRIMARY KEY,
        branch TEXT,
        system TEXT NOT NULL,
        collection TEXT NOT NULL,
        measure TEXT NOT NULL,
        entry TEXT NOT NULL,
        after TEXT NOT NULL,
        until TEXT NOT NULL,
        difference REAL NOT NULL,
        claimed TEXT NOT NULL,
        reported TEXT
    )""",
)
HISTORY_KIND = DatabaseKind(
    "a history",
    0x726B6768,  # "rkgh"
    version=6,
    tables=TABLES,
    hint="restore the file from a copy, or import an export into a new one: rankgauge history import DIR",
    other_version="export it with the rankgauge that wrote it, and import the export into a new file",
    durable=True,
)
OWN_COLUMNS = [
    column for column in columns_of(EntryPart.ENTRY) if column.name != "tags"
]  # which have a table of their own
SELECTED = ", ".join(["id", *(column.name for column in OWN_COLUMNS), "facts"])


def insert_entry(
    connection: sqlite3.Connection, summary: EntrySummary, scores: bytes, run: bytes | None
) -> EntrySummary:
    """Insert an entry, within a transaction, under its name or the next one that is free."""
    pattern = f"{summary.name}-%"
    taken = connection.execute("SELECT name FROM entries WHERE name = ? OR name LIKE ?", (summary.name, pattern))
    summary = replace(summary, name=free_name(summary.name, (row[0].decode() for row in taken)))
    values: list[str | int | None] = [_to_sql(getattr(summary, column.name)) for column in OWN_COLUMNS]
    values += [summary.git.branch, stored_text(json.dumps(summary.facts, ensure_ascii=False, allow_nan=False))]
    columns = ", ".join([*(column.name for column in OWN_COLUMNS), "branch", "facts"])
    marks = ", ".join("?" * len(values))
    number = connection.execute(f"INSERT INTO entries ({columns}) VALUES ({marks})", values).lastrowid
    connection.execute("INSERT INTO contents VALUES (?, ?, ?)", (number, scores, run))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(number, tag) for tag in summary.tags])
    _read_back(connection, f"SELECT {columns} FROM entries WHERE id = ?", number, [tuple(values)])
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
    """An entry of the table of entries, of which a listing reads this much; ``check_summary`` checks the rest."""
    _, *own, facts = row
    values = {column.name: _from_sql(value, column) for value, column in zip(own, OWN_COLUMNS, strict=True)}
    content = json.loads(facts.decode("utf-8", "surrogateescape"), parse_constant=reject_constant)
    if not _has_outline(content):
        check_facts(content)
        raise ValueError("its facts have another shape")
    if not is_saved_time(values["saved"]):
        raise ValueError(f"expected a time as in 2026-11-02T10:11:12Z, found {shown(values['saved'])}")
    return EntrySummary(**values, facts=content, tags=tuple(tags))


def _to_sql(value: Any) -> str | int:
    return stored_text(value) if isinstance(value, str) else int(value)


def _from_sql(value: Any, column: EntryColumn) -> Any:
    """A value of the table, which has texts as bytes; only those that the user chose may be damaged."""
    if column.kind.shape is bool:
        return bool(value)
    return value.decode("utf-8", "surrogateescape" if column.kind.shape is TEXT else "strict")


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
        and facts.keys() >= FACTS_SHAPE.keys()
    )


def _is_value(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and math.isfinite(value))


def stored_text(text: str) -> str:
    """Text that SQLite accepts: ids and names may have bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
