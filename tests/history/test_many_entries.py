"""10,000 entries are listed within a second. No value of a query is read, so that their number does not matter."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rankgauge.history import EntrySummary, History
from rankgauge.render.text.history import list_json, list_table

Save = Callable[..., EntrySummary]
ENTRIES, BYTES = 10_000, 500  # of the values of each
COPY = """INSERT INTO entries SELECT NULL, name || '-' || ?1, printf('%032x', ?1), saved, branch, system, collection,
    labels, has_run, facts FROM entries WHERE id = 1"""


@pytest.mark.slow
def test_many_entries_are_listed_within_a_second(history: History, save: Save) -> None:
    save(tags=("first",))
    with history.database.transaction() as connection:
        connection.executemany(COPY, [(number,) for number in range(2, ENTRIES + 1)])
        connection.execute("INSERT INTO contents SELECT id, zeroblob(?), NULL FROM entries WHERE id > 1", (BYTES,))
    history.close()
    started = time.process_time()
    entries = [*reversed(history.entries())]
    text = list_table(entries, len(entries), [], width=80, color=False)
    seconds = time.process_time() - started
    assert len(text.splitlines()) == ENTRIES + 1
    assert seconds < 1, seconds
    started = time.process_time()
    newest = history.entries(last=20)
    assert list_json(newest, ENTRIES).count('"name"') == 20
    assert time.process_time() - started < 0.2
