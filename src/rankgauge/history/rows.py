"""Entries and judgments as rows of the tables of a history; written within a transaction of the caller."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rankgauge.history.entries import EntrySummary
from rankgauge.history.names import free_name

VALUE = (int, float, type(None))
COLUMNS = "id, name, uid, saved, system, collection, labels, has_run, facts"


def insert_entry(
    connection: sqlite3.Connection, summary: EntrySummary, scores: bytes, run: bytes | None
) -> EntrySummary:
    """Insert an entry, within a transaction, under its name or the next one that is free."""
    pattern = f"{summary.name}-%"
    taken = connection.execute("SELECT name FROM entries WHERE name = ? OR name LIKE ?", (summary.name, pattern))
    summary = replace(summary, name=free_name(summary.name, (row[0].decode() for row in taken)))
    inserted = connection.execute(
        "INSERT INTO entries (name, uid, saved, branch, system, collection, labels, has_run, facts) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            summary.name,
            summary.uid,
            summary.saved,
            summary.git.branch,
            stored_text(summary.system),
            stored_text(summary.collection),
            summary.labels,
            int(summary.has_run),
            stored_text(json.dumps(summary.facts, ensure_ascii=False, allow_nan=False)),
        ),
    )
    number = inserted.lastrowid
    connection.execute("INSERT INTO contents VALUES (?, ?, ?)", (number, scores, run))
    connection.executemany("INSERT INTO tags VALUES (?, ?)", [(number, tag) for tag in summary.tags])
    return summary


def insert_labels(connection: sqlite3.Connection, sha256: str, content: bytes | None) -> None:
    """Insert judgments unless the file has them; their hash alone is kept if their content is unknown."""
    connection.execute("INSERT OR IGNORE INTO labels VALUES (?, ?)", (sha256, content))
    connection.execute("UPDATE labels SET content = ? WHERE sha256 = ? AND content IS NULL", (content, sha256))


def summary_of(row: tuple[Any, ...], tags: Iterable[str]) -> EntrySummary:
    """An entry of the table of entries."""
    _, name, uid, saved, system, collection, labels, has_run, facts = row
    content = json.loads(facts.decode("utf-8", "surrogateescape"))
    if not _has_outline(content):
        check_facts(content)
        raise ValueError("its facts have another shape")
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
    from rankgauge.io.shapes import first_misfit

    misfit = first_misfit(facts, FACTS_SHAPE)
    if misfit is not None:
        raise ValueError(f"expected {misfit.expected} at {misfit.path or 'its facts'}, found {misfit.found}")


def _has_outline(facts: Any) -> bool:
    """Whether facts have what a listing reads; a whole check of 10,000 entries takes most of a second."""
    if not isinstance(facts, Mapping):
        return False
    git, means = facts.get("git"), facts.get("means")
    return (
        isinstance(git, Mapping)
        and git.keys() >= {"commit", "branch", "dirty"}
        and isinstance(means, Mapping)
        and all(isinstance(mean, Mapping) and isinstance(mean.get("value"), VALUE) for mean in means.values())
        and facts.keys() >= {"conventions", "queries", "cost", "coverage", "command", "verdict", "run_sha256"}
    )


def stored_text(text: str) -> str:
    """Text that SQLite accepts: ids and names may have bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
