"""Which changes were reported already: a change is reported once, however often it is found again.

The place of a change is an estimate that moves as entries are added. A change is one that was reported if both have the
same direction and their ranges overlap; each that was reported accounts for one. Before a report is sent its changes
are claimed, so that two checks at the same time do not both send it; if sending fails, the claim is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.history.checks import QualityChange
from rankgauge.history.rows import stored_text
from rankgauge.history.times import time_text

if TYPE_CHECKING:
    from rankgauge.history.store import History

CLAIM_LIFETIME = timedelta(minutes=15)  # after which a check that claimed a change was killed


class ReportedRange(NamedTuple):
    """A change that was reported, and the range in which it is."""

    entry: str  # the uid
    after: str
    until: str
    difference: float

    @classmethod
    def of_row(cls, entry: bytes, after: bytes, until: bytes, difference: float) -> ReportedRange:
        """A row of the table of alerts."""
        return cls(entry.decode(), after.decode(), until.decode(), difference)

    def is_of(self, change: QualityChange) -> bool:
        """Whether it can be the same change."""
        overlaps = max(self.after, change.after_time) < min(self.until, change.until_time)
        return (self.difference < 0) is (change.difference < 0) and (overlaps or self.entry == change.uid)


@contextmanager
def claimed_changes(history: History, changes: Sequence[QualityChange]) -> Iterator[list[QualityChange]]:
    """Those of the changes that were not reported; they count as reported if the block succeeds."""
    now = datetime.now(UTC)
    with history.database.transaction() as connection:
        connection.execute(
            "DELETE FROM alerts WHERE reported IS NULL AND claimed < ?", (time_text(now - CLAIM_LIFETIME),)
        )
    new, claims = [], []
    with history.database.transaction() as connection:
        for series in _by_series(changes):
            key = _series_of(series[0])
            rows = connection.execute(
                "SELECT entry, after, until, difference FROM alerts "
                "WHERE branch IS ? AND system = ? AND collection = ? AND measure = ?",
                key,
            ).fetchall()
            known = [ReportedRange.of_row(*row) for row in rows]
            for change in unreported(series, known):
                inserted = connection.execute(
                    "INSERT INTO alerts (branch, system, collection, measure, entry, after, until, difference, claimed)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*key, change.uid, change.after_time, change.until_time, change.difference, time_text(now)),
                )
                new.append(change)
                claims.append((inserted.lastrowid,))
    try:
        yield new
    except BaseException:
        with history.database.transaction() as connection:
            connection.executemany("DELETE FROM alerts WHERE id = ?", claims)
        raise
    with history.database.transaction() as connection:
        reported = [(time_text(datetime.now(UTC)), *claim) for claim in claims]
        connection.executemany("UPDATE alerts SET reported = ? WHERE id = ?", reported)


def unreported(changes: Sequence[QualityChange], known: Sequence[ReportedRange]) -> list[QualityChange]:
    """The changes of one series, whose ranges do not overlap, that none of the reported ones accounts for.

    From the first change on, each takes the reported range that ends first: those that end later may be needed later.
    """
    free = sorted(known, key=lambda reported: reported.until)
    new = []
    for change in sorted(changes, key=lambda change: (change.until_time, change.after_time)):
        match = next((reported for reported in free if reported.is_of(change)), None)
        if match is None:
            new.append(change)
        else:
            free.remove(match)
    return new


class _AlertSeries(NamedTuple):
    """What a change is a change of, as the table of reports has it."""

    branch: str | None
    system: str
    collection: str
    measure: str


def _series_of(change: QualityChange) -> _AlertSeries:
    return _AlertSeries(change.branch, stored_text(change.system), stored_text(change.collection), change.measure)


def _by_series(changes: Sequence[QualityChange]) -> Iterator[list[QualityChange]]:
    series: dict[object, list[QualityChange]] = {}
    for change in changes:
        series.setdefault(_series_of(change), []).append(change)
    yield from series.values()
