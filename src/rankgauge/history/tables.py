"""The tables of a history. Summaries are in rows of their own, so that a listing reads no values of queries.

A new version of the schema is one more tuple of statements; a file is brought up to date when it is opened.
"""

from __future__ import annotations

from rankgauge.io.databases import DatabaseKind

VERSION_1 = (
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
)
VERSION_2 = (
    """CREATE TABLE sequences (
        id INTEGER PRIMARY KEY,
        branch TEXT NOT NULL,
        collection TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT,
        builds INTEGER NOT NULL,
        alpha REAL NOT NULL,
        control TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX open_sequences ON sequences (branch, collection) WHERE ended IS NULL",
    """CREATE TABLE builds (
        sequence INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        key TEXT NOT NULL,
        started TEXT NOT NULL,
        level REAL NOT NULL,
        alarms INTEGER NOT NULL,
        failed INTEGER,
        PRIMARY KEY (sequence, number),
        UNIQUE (sequence, key)
    ) WITHOUT ROWID""",
)
VERSION_3 = (
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
    (VERSION_1, VERSION_2, VERSION_3),
    hint="restore the file from a copy, or import an export into a new one: rankgauge history import DIR",
    durable=True,
)
