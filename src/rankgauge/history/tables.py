"""The tables of a history. Summaries are in rows of their own, so that a listing reads no values of queries."""

from __future__ import annotations

from rankgauge.io.databases import DatabaseKind

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
    version=4,
    tables=TABLES,
    hint="restore the file from a copy, or import an export into a new one: rankgauge history import DIR",
    other_version="export it with the rankgauge that wrote it, and import the export into a new file",
    durable=True,
)
