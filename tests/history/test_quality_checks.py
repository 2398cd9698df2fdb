"""Recent changes of every system, collection and branch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest

from rankgauge import UsageError
from rankgauge.history import CheckOptions, EntryFilter, EntrySummary, GitState, History
from tests.history.conftest import DAY

START = DAY - timedelta(days=60)
Save = Callable[..., EntrySummary]
QUERIES = [f"q{number:02}" for number in range(24)]
LABELS = {query: {"a": 1} for query in QUERIES}


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


def test_a_change_is_reported_where_it_is(history: History, save_days: Callable[..., None]) -> None:
    save_days([0] * 6)
    recent = EntryFilter(since=since(3))
    assert history.check(recent).changes == ()
    save_days([0.8] * 8, 6)
    assert [change.entry for change in history.check(recent).changes] == [history.entries()[6].name]
    save_days([0] * 6, 14)  # it recovers
    found = [change.entry for change in history.check(recent).changes]
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
    assert check.untested == 1
    assert len(history.check(EntryFilter(branch="main")).changes) == 1
    with pytest.raises(UsageError, match=r"no entry has values of P@5"):
        history.check(options=CheckOptions(("P@5",)))
    assert history.check(EntryFilter(since=since(30))).series == 0
