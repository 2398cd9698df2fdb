"""Many entries are listed quickly because no value of a query is read: their number and size do not matter."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from rankgauge.history import EntrySummary, History
from rankgauge.render.documents.history import Listing, listing_document
from rankgauge.render.formats import rendered

Save = Callable[..., EntrySummary]
ENTRIES, BYTES = 300, 500  # of the values of each
COPY = """INSERT INTO entries SELECT NULL, name || '-' || ?, printf('%032x', ?), saved, branch, system, collection,
    labels, has_run, facts FROM entries WHERE id = 1"""


def test_a_list_reads_summaries_alone(history: History, save: Save) -> None:
    save(tags=("first",))
    tables: set[str | None] = set()

    def note_table(action: int, table: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            tables.add(table)
        return sqlite3.SQLITE_OK

    with history.database.transaction() as connection:
        connection.executemany(COPY, [(number, number) for number in range(2, ENTRIES + 1)])
        connection.execute("INSERT INTO contents SELECT id, zeroblob(?), NULL FROM entries WHERE id > 1", (BYTES,))
    connection.set_authorizer(note_table)
    entries = [*reversed(history.entries())]
    text = rendered(listing_document(Listing(entries, len(entries))), "table")
    assert len(text.splitlines()) == ENTRIES + 1
    assert rendered(listing_document(Listing(history.entries(last=20), ENTRIES)), "json").count('"name"') == 20
    assert "entries" in tables
    assert "contents" not in tables
    history.entry(entries[-1].name)
    assert "contents" in tables
