from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from rankgauge import UsageError
from rankgauge.history import EntryFilter, EntrySummary, GitState, History, PruneRule
from rankgauge.history.entries import parse_time, time_text
from tests.history.conftest import DAY, GROWN

Save = Callable[..., EntrySummary]


@pytest.fixture
def filled(history: History, save: Save) -> History:
    """Six days, of which the odd ones are on another branch, and the second has a tag."""
    for day in range(6):
        branch = GitState(None, "other" if day % 2 else "main", dirty=False)
        save(date=DAY + timedelta(days=day), git=branch, tags=("good",) if day == 1 else (), keep=day < 3)
    return history


def days(entries: list[EntrySummary]) -> list[int]:
    return [int(entry.saved[8:10]) - 2 for entry in entries]


@pytest.mark.parametrize(
    ("rule", "deleted"),
    [
        (PruneRule(keep=1), [0, 2, 3]),
        (PruneRule(keep=1, tagged=True), [0, 1, 2, 3]),
        (PruneRule(keep=0), [0, 2, 3, 4, 5]),
        (PruneRule(before="2026-11-05"), [0, 2]),
        (PruneRule(keep=2, before="2026-11-03"), [0]),
        (PruneRule(keep=1, filter=EntryFilter(branch="main")), [0, 2]),
        (PruneRule(names=("good", "2026-11-07")), [1, 5]),
    ],
)
def test_what_a_rule_selects_is_deleted_and_nothing_else(filled: History, rule: PruneRule, deleted: list[int]) -> None:
    assert days(filled.prune(rule, dry_run=True)) == deleted
    assert filled.count() == 6
    assert days(filled.prune(rule)) == deleted
    assert days(filled.entries()) == [day for day in range(6) if day not in deleted]
    for entry in filled.entries():
        filled.entry(entry.name)


def test_judgments_that_no_entry_needs_are_deleted(filled: History, save: Save) -> None:
    name = save(GROWN).name
    assert filled.database.query("SELECT count(*) FROM labels") == [(2,)]
    filled.prune(PruneRule(names=(name,)))
    assert filled.database.query("SELECT count(*) FROM labels") == [(1,)]
    assert filled.database.query("SELECT count(*) FROM contents") == [(6,)]


def test_only_the_runs_can_be_deleted(filled: History) -> None:
    assert days(filled.prune(PruneRule(before="2026-11-04", runs_only=True, tagged=True))) == [0, 1]
    assert [entry.has_run for entry in filled.entries()] == [False, False, True, False, False, False]
    assert filled.entry("good").run is None


def test_a_rule_must_say_what_to_delete() -> None:
    with pytest.raises(UsageError, match="say what to delete"):
        PruneRule()
    with pytest.raises(UsageError, match="keep: expected a whole number of at least 0"):
        PruneRule(keep=-1)


def test_times_are_dates_times_or_durations() -> None:
    assert time_text(parse_time("2026-11-02")) == "2026-11-02T00:00:00Z"
    assert time_text(parse_time("2026-11-02T10:11:12Z")) == "2026-11-02T10:11:12Z"
    assert time_text(parse_time("2026-11-02T10:11:12+02:00")) == "2026-11-02T08:11:12Z"
    for text, hours in (("7d", 168), ("12h", 12), ("2w", 336)):
        assert abs((datetime.now(UTC) - parse_time(text)).total_seconds() - hours * 3600) < 60
    for text in ("yesterday", "7x", "2026-13-01", "", "999999w"):
        with pytest.raises(UsageError, match="expected a time"):
            parse_time(text)
