"""A change is reported once, however often it is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import UsageError
from rankgauge.history import CheckOptions, EntryFilter, EntrySummary, GitState, History, QualityChange
from rankgauge.history import quality_checks as module
from rankgauge.history.quality_checks import ReportedRange, alert_message, unreported
from tests.history.conftest import DAY

START = DAY - timedelta(days=60)
Save = Callable[..., EntrySummary]
QUERIES = [f"q{number:02}" for number in range(24)]
LABELS = {query: {"a": 1} for query in QUERIES}
CHANGE = QualityChange(
    "RR", "system", "labels", "main", "entry", "3", None, "before", "entry", -0.1, 0.001, True, "uid", "2", "3"
)


def ranking(seed: int, drop: float) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    run = {}
    for query in QUERIES:
        docs = ["x", "y", "z", "w", "v"]
        docs[int(rng.random() < 0.3) + 3 * int(rng.random() < drop)] = "a"
        run[query] = {doc: 9.0 - place for place, doc in enumerate(docs)}
    return run


@pytest.fixture
def save_days(save: Save) -> Callable[..., None]:
    """Save an entry per day, with the share of queries that are worse."""

    def call(drops: list[float], first: int = 0, branch: str | None = "main") -> None:
        for day, drop in enumerate(drops, first):
            git = GitState(f"{day:040x}", branch, False)
            save(LABELS, ranking(day, drop), date=START + timedelta(days=day), git=git, measures=["RR", "nDCG@10"])

    return call


def since(day: int) -> str:
    return (START + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")


def reported(history: History, filter: EntryFilter, measures: tuple[str, ...] = ()) -> list[str]:
    with history.unreported(history.check(filter, CheckOptions(measures)).changes) as new:
        return [change.entry for change in new]


def test_a_change_is_reported_once_while_entries_are_added(history: History, save_days: Callable[..., None]) -> None:
    save_days([0] * 6)
    recent = EntryFilter(since=since(3))
    assert reported(history, recent) == []
    found = []
    for day in range(6, 14):
        save_days([0.8], day)
        found += reported(history, recent)
    assert found == [history.entries()[6].name]
    for day in range(14, 20):  # it recovers
        save_days([0], day)
        found += reported(history, recent)
    assert found == [history.entries()[6].name, history.entries()[14].name]
    check = history.check(recent, CheckOptions(worse_only=True))
    assert [change.is_worse for change in check.changes] == [True]
    assert history.check(EntryFilter(since=since(9)), CheckOptions(worse_only=True)).changes == ()


def test_branches_and_measures_have_changes_of_their_own(history: History, save_days: Callable[..., None]) -> None:
    save_days([0] * 5 + [0.9] * 5)
    save_days([0] * 5 + [0.9] * 5, branch=None)
    save_days([0] * 10, branch="other")
    check = history.check(options=CheckOptions(("RR", "nDCG@10")))
    assert [(change.branch, change.measure) for change in check.changes] == [
        ("main", "RR"), ("main", "nDCG@10"), (None, "RR"), (None, "nDCG@10"),
    ]  # fmt: skip
    assert check.series == 3
    assert check.alpha == pytest.approx(0.01 / 6)
    save_days([0], branch="new")  # a single entry, which takes no share of the level
    check = history.check(options=CheckOptions(("RR", "nDCG@10")))
    assert check.series == 4
    assert check.alpha == pytest.approx(0.01 / 6)
    assert len(reported(history, EntryFilter(branch="main"))) == 1
    assert len(reported(history, EntryFilter())) == 1  # that without a branch
    assert len(reported(history, EntryFilter(), measures=("RR", "nDCG@10"))) == 2  # those of RR
    with pytest.raises(UsageError, match=r"no entry has values of P@5"):
        history.check(options=CheckOptions(("P@5",)))
    assert history.check(EntryFilter(since=since(30))).series == 0


def test_a_report_that_fails_is_made_again(history: History, save_days: Callable[..., None]) -> None:
    save_days([0] * 5 + [0.9] * 5)
    changes = history.check().changes

    def fail() -> None:
        with history.unreported(changes) as new:
            assert len(new) == 1
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        fail()
    with history.unreported(changes) as new:
        assert len(new) == 1
        with history.unreported(changes) as meanwhile:  # another check
            assert meanwhile == []
    with history.unreported(changes) as new:
        assert new == []


def test_what_a_killed_check_claimed_is_reported_later(
    history: History, save_days: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    save_days([0] * 5 + [0.9] * 5)
    changes = history.check().changes
    context = history.unreported(changes)
    context.__enter__()
    with history.unreported(changes) as new:
        assert new == []
    monkeypatch.setattr(module, "CLAIM_LIFETIME", timedelta(minutes=-1))
    with history.unreported(changes) as new:
        assert len(new) == 1


def test_a_report_has_no_ids_of_queries_and_no_secrets() -> None:
    token = "ghp_" + "a1" * 12
    message = alert_message([replace(CHANGE, system=f"search {token}")])
    assert token not in str(message)
    assert message["text"] == "RR of search … on labels, branch main: −0.1000 since entry (p = 0.001)"
    assert message["changes"][0].keys().isdisjoint({"uid", "after_time", "until_time"})


def change(start: int, end: int, difference: float = -0.1) -> QualityChange:
    return replace(
        CHANGE, uid=f"{start}-{end}", after_time=f"{start:02}", until_time=f"{end:02}", difference=difference
    )


def known(start: int, end: int, difference: float = -0.1) -> ReportedRange:
    return ReportedRange("gone", f"{start:02}", f"{end:02}", difference)


def test_a_change_is_the_same_if_its_range_overlaps_and_its_direction_is_the_same() -> None:
    assert unreported([change(3, 5)], [known(4, 9)]) == []
    assert unreported([change(3, 5)], [known(5, 9)]) == [change(3, 5)]  # it comes after the other
    assert unreported([change(3, 5)], [known(4, 9, 0.1)]) == [change(3, 5)]
    assert unreported([change(3, 5), change(7, 9)], [known(3, 9)]) == [change(7, 9)]  # one turned out to be two
    assert unreported([change(3, 5), change(7, 9)], [known(7, 9), known(3, 9)]) == []
    tied = replace(change(4, 4), uid="gone")  # saved within one second
    assert unreported([tied], [known(4, 4)]) == []


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=8, unique=True).map(sorted),
    st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4)), max_size=4),
)
def test_as_many_changes_as_possible_are_known(ends: list[int], ranges: list[tuple[int, int]]) -> None:
    changes = [change(*pair) for pair in zip(ends[::2], ends[1::2], strict=False)]
    reports = [known(start, start + size) for start, size in ranges]
    padded = [*reports, *[None] * len(changes)]
    best = max(
        sum(report is not None and report.is_of(own) for own, report in zip(changes, order, strict=False))
        for order in permutations(padded, len(changes))
    )
    assert len(changes) - len(unreported(changes, reports)) == best
