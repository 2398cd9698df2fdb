"""Which old entries are deleted. Entries with a tag stay, unless the rule says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import UsageError
from rankgauge.history.entries import ALL_ENTRIES, EntryFilter, EntrySummary, parse_time, time_text

if TYPE_CHECKING:
    from rankgauge.history.store import History


@dataclass(frozen=True)
class PruneRule:
    """Delete what is beyond the newest ``keep`` of each series, or was saved before a time; both if both are given.

    A series is a system on a collection and a branch.
    """

    keep: int | None = setting(
        None,
        "Keep the newest N entries of each system, collection and branch.",
        Section.ENTRIES,
        flag="--keep N",
        limits=">=0",
        common=True,
    )
    before: str | None = setting(
        None,
        "Delete only entries before TIME: 2026-01-01, or 90d.",
        Section.ENTRIES,
        flag="--before TIME",
        common=True,
    )
    names: tuple[str, ...] = ()  # or these entries
    filter: EntryFilter = ALL_ENTRIES
    tagged: bool = setting(False, "Delete entries with a tag too.", Section.ENTRIES, common=True)
    runs_only: bool = setting(False, "Delete only the stored runs, and keep the values.", Section.OUTPUT, common=True)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.before is not None:
            object.__setattr__(self, "before", time_text(parse_time(self.before)))
        if self.keep is None and self.before is None and not self.names:
            raise UsageError(
                "say what to delete: entries beyond the newest N, before a date, or by name",
                hint="--keep 100, --before 2026-01-01, or names of entries",
            )


def prune_entries(history: History, rule: PruneRule, *, dry_run: bool = False) -> list[EntrySummary]:
    """Delete entries, or only their runs; returns those that are affected, oldest first."""
    if dry_run:
        return _chosen(history, rule)
    with history.database.transaction() as connection:
        chosen = _chosen(history, rule)
        uids = [(entry.uid,) for entry in chosen]
        if rule.runs_only:
            entry = "(SELECT id FROM entries WHERE uid = ?)"
            connection.executemany(f"UPDATE contents SET run = NULL WHERE entry = {entry}", uids)
            connection.executemany("UPDATE entries SET has_run = 0 WHERE uid = ?", uids)
        else:
            connection.executemany("DELETE FROM entries WHERE uid = ?", uids)
            connection.execute("DELETE FROM labels WHERE sha256 NOT IN (SELECT labels FROM entries)")
    if chosen:
        history.database.compact()
    return chosen


def _chosen(history: History, rule: PruneRule) -> list[EntrySummary]:
    """The entries that a rule deletes."""
    if rule.names:
        named = {entry.uid: entry for entry in map(history.summary, rule.names)}
        chosen = sorted(named.values(), key=lambda entry: entry.saved)
    else:
        newer: dict[tuple[str, str, str | None], int] = {}
        chosen = []
        for entry in reversed(history.entries(rule.filter)):
            series = (entry.system, entry.collection, entry.git.branch)
            newer[series] = newer.get(series, 0) + 1
            is_beyond = rule.keep is None or newer[series] > rule.keep
            is_old = rule.before is None or entry.saved < rule.before
            if is_beyond and is_old and (rule.tagged or not entry.tags):
                chosen.insert(0, entry)
    return [entry for entry in chosen if entry.has_run or not rule.runs_only]
