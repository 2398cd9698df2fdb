"""Trends: what changed, when, and whether it was the system."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, Qrels, Run, UsageError, evaluate
from rankgauge.history import EntryFacts, EntryFilter, EntrySummary, GitState, History, TrendOptions
from rankgauge.history.folder import compressed_log
from rankgauge.retrieval.latency import Cost

QUERIES = [f"q{number:02}" for number in range(30)]
LABELS = {query: {"a": 1} for query in QUERIES}
CATEGORIES = {query: "odd" if number % 2 else "even" for number, query in enumerate(QUERIES)}
Saver = Callable[..., EntrySummary]


def ranking(seed: int, drop: float = 0.0, queries: list[str] = QUERIES) -> dict[str, dict[str, float]]:
    """The relevant document at a rank that varies from run to run, and is lower after a drop."""
    rng = np.random.default_rng(seed)
    run = {}
    for query in queries:
        rank = 1 + int(rng.random() < 0.3) + int(rng.random() < drop) * 3
        docs = [f"x{place}" for place in range(6)]
        docs[rank - 1] = "a"
        run[query] = {doc: float(10 - place) for place, doc in enumerate(docs)}
    return run


@pytest.fixture
def entry(history: History) -> Saver:
    def save(day: int, run: Any, labels: Any = LABELS, **options: Any) -> EntrySummary:
        qrels = Qrels.from_dict(labels, name="labels").with_columns({"category": CATEGORIES})
        named = Run.from_dict(run, name=options.pop("system", "search"))
        scores = evaluate(qrels, named, ["RR@10", "nDCG@10"])
        git = GitState(f"{options.pop('commit', day):02x}" * 20, options.pop("branch", "main"), False)
        facts = EntryFacts(cost=Cost(3, 1.0, 2.0 + day, 3.0), coverage=1 / 6, depth=6)
        log = partial(compressed_log, named, qrels, {}) if options.pop("keep", False) else None
        date = datetime(2026, 11, day, tzinfo=UTC)
        return history.save(scores, facts=facts, date=date, git=git, log=log, **options)

    return save


def test_a_change_is_found_at_its_commit(history: History, entry: Saver) -> None:
    for day in range(1, 13):
        entry(day, ranking(day, 0.0 if day < 8 else 0.6))
    trend = history.trend("RR@10", EntryFilter(branch="main"))
    (series,) = trend.series
    (change,) = series.changes
    assert change.entry.startswith("2026-11-08T00-00-00Z-search-")
    assert (change.index, change.commit) == (7, "08" * 20)
    assert change.difference < -0.2
    assert [value.value for value in series.values] == [entry.means["RR@10"].value for entry in history.entries()]
    assert (trend.points[3].coverage, trend.points[3].p95, trend.points[3].queries) == (1 / 6, 6.0, 30)
    assert trend.to_dict()["schema"] == "rankgauge.trend/3"


def test_groups_have_their_own_series_at_a_shared_level(history: History, entry: Saver) -> None:
    for day in range(1, 11):
        run = ranking(day)
        if day > 5:
            worse = ranking(day, 1.0)
            run |= {query: worse[query] for query in QUERIES if CATEGORIES[query] == "odd"}
        entry(day, run)
    trend = history.trend("nDCG@10", options=TrendOptions(by="category"))
    assert [series.group for series in trend.series] == [None, "even", "odd"]
    assert [len(series.changes) for series in trend.series[1:]] == [0, 1]
    assert [series.alpha for series in trend.series] == [0.05, 0.025, 0.025]
    assert {value.n for value in trend.series[1].values} == {15}
    scores = history.entry(history.entries()[0].name).scores
    odd = [scores.per_query("nDCG@10")[query] for query in QUERIES if CATEGORIES[query] == "odd"]
    assert trend.series[2].values[0].value == pytest.approx(sum(value or 0.0 for value in odd) / 15)
    with pytest.raises(UsageError, match="no column"):
        history.trend("nDCG@10", options=TrendOptions(by="color"))


def test_new_labels_are_no_change_of_the_system(history: History, entry: Saver) -> None:
    """Every query gets a second relevant document that no run has, and the system is the same.

    Where the logs are there, they are scored again: nDCG is level. Elsewhere it falls, and that is no change.
    """
    grown = {query: {"a": 1, "other": 1} for query in QUERIES}
    for keep in (True, False):
        for day in range(1, 11):
            entry(day, ranking(day), LABELS if day < 6 else grown, keep=keep, system=f"keep {keep}")
    for keep in (True, False):
        trend = history.trend("nDCG@10", EntryFilter(system=f"keep {keep}"))
        values = [value.value or 0.0 for value in trend.series[0].values]
        if keep:
            assert max(values) - min(values) < 0.1
            assert (len(trend.rescored), trend.left_out_queries) == (5, ())
        else:
            assert min(values[:5]) > max(values[5:]) + 0.1
            assert (trend.rescored, len(trend.left_out_queries)) == ((), 30)
        assert trend.series[0].changes == ()
    partly = {**LABELS, "q00": {"a": 1, "other": 1}}
    for day in range(1, 11):
        entry(day, ranking(day, 0.0 if day < 6 else 0.7), LABELS if day < 6 else partly, system="partly")
    (change,) = history.trend("nDCG@10", EntryFilter(system="partly")).series[0].changes
    assert change.index == 5


def test_the_mix_of_queries_is_beside_the_values(history: History, entry: Saver) -> None:
    fewer = {query: LABELS[query] for query in QUERIES[:25]}
    entry(1, ranking(1), fewer)
    entry(2, ranking(2))
    entry(3, ranking(3), {query: LABELS[query] for query in QUERIES[3:]})
    points = history.trend("RR@10").points
    assert [(point.queries, point.added, point.removed) for point in points] == [(25, 0, 0), (30, 5, 0), (27, 0, 3)]


def test_repeats_of_a_commit_are_never_split(history: History, entry: Saver) -> None:
    """Eight runs of a day, the last two of another commit; on days of their own, the data may have changed."""
    for number in range(8):
        entry(1, ranking(number, 0.0 if number < 4 else 0.8), commit=1 if number < 6 else 2, system="one day")
        entry(number + 1, ranking(number, 0.0 if number < 4 else 0.8), commit=1, system="daily")
    trend = history.trend("RR@10", EntryFilter(system="one day"))
    assert {change.index for change in trend.series[0].changes} <= {6}
    daily = history.trend("RR@10", EntryFilter(system="daily"))
    assert [change.index for change in daily.series[0].changes] == [4]


def test_what_cannot_be_shown_together_is_said(history: History, entry: Saver) -> None:
    with pytest.raises(InputError, match="no entries of branch 'main'"):
        history.trend("RR@10", EntryFilter(branch="main"))
    entry(1, ranking(1))
    assert history.trend("RR@10").series[0].reason is not None
    entry(2, ranking(2), system="other")
    with pytest.raises(UsageError, match="several systems: 'search', 'other'"):
        history.trend("RR@10")
    with pytest.raises(UsageError, match="no values of AP"):
        history.trend("AP", EntryFilter(system="search"))


def test_what_is_damaged_is_left_out_and_named(history: History, entry: Saver, recwarn: Any) -> None:
    """A line that is cut, and a log that is none: the other entries are compared as without it."""
    for day in range(1, 13):
        entry(day, ranking(day, 0.0 if day < 8 else 0.6), keep=True)
    damaged, without_log = history.entries()[3], history.entries()[5]
    damaged.path.write_text(damaged.path.read_text()[:-9])
    assert without_log.log is not None
    without_log.log.write_bytes(b"\x28\xb5\x2f\xfd")
    grown = {query: {"a": 1, "other": 1} for query in QUERIES}
    entry(13, ranking(13, 0.6), grown, keep=True)
    trend = history.trend("RR@10")
    assert (len(trend.points), len(trend.rescored)) == (12, 10)
    assert [change.index for change in trend.series[0].changes] == [6]
    said = [str(warning.message) for warning in recwarn]
    assert [damaged.name in text or damaged.path.name in text for text in said] == [True, False]
    assert said[0].startswith("left out: ")
    assert said[1].startswith("scores are not made again: ")
