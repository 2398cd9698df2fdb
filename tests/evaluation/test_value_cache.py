from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Conventions, InputError, MetricsCache, Qrels, Run, Scores, UsageError, evaluate, measure
from rankgauge.evaluation import content_key, evaluate_cached
from rankgauge.measures.registry import unregister

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}}
RUN = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"x": 2.0, "c": 1.0}}
NAMES = ["nDCG@10", "RR", "ERR@5", "P@3"]


def same(one: Scores, other: Scores) -> bool:
    return (
        np.array_equal(one.values, other.values, equal_nan=True)
        and one.to_dict(per_query=True) == other.to_dict(per_query=True)
        and (one.measures, one.requested, one.notes, one.conventions, one.queries)
        == (other.measures, other.requested, other.notes, other.conventions, other.queries)
    )


@pytest.fixture(params=["memory", "disk"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> MetricsCache:
    return MetricsCache(tmp_path / "deep" / "cache.sqlite" if request.param == "disk" else None)


def test_what_is_found_again_is_what_evaluate_gives(cache: MetricsCache) -> None:
    plain = evaluate(QRELS, RUN, NAMES)
    assert same(evaluate_cached(QRELS, RUN, NAMES, cache=cache), plain)
    assert cache.info().hits == 0
    assert same(evaluate_cached(QRELS, RUN, NAMES, cache=cache), plain)
    assert cache.info().hits == 5  # four measures, and what is known of the queries
    assert cache.info().entries == 5


def test_notes_on_a_file_appear_whether_or_not_its_scores_are_cached(cache: MetricsCache, tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    run.write_text("q1 Q0 b 1 3 tag\nq2 Q0 c 1 2 tag\nq1 Q0 a 2 1 tag\n")
    plain = evaluate(QRELS, run, NAMES)
    assert "split-query" in {note.code for note in plain.notes}
    for _ in range(2):
        assert evaluate_cached(QRELS, run, NAMES, cache=cache).notes == plain.notes


@pytest.mark.parametrize(
    "change",
    [
        {"run": {**RUN, "q2": {"c": 2.0, "x": 1.0}}},
        {"run": {**RUN, "q2": {"x": 2.0, "c": 1.5}}},
        {"run": {"q1": RUN["q1"]}},
        {"qrels": {**QRELS, "q2": {"c": 2}}},
        {"qrels": {**QRELS, "q4": {}}},
        {"conventions": Conventions(no_relevant="skip")},
        {"conventions": Conventions(query_set="both")},
        {"conventions": Conventions(compat="trec_eval-10")},
        {"conventions": Conventions(rel=2)},
        {"conventions": Conventions(graded=False)},
    ],
)
def test_whatever_changes_nothing_old_is_served(cache: MetricsCache, change: dict[str, Any]) -> None:
    evaluate_cached(QRELS, RUN, NAMES, cache=cache)
    inputs = {"qrels": QRELS, "run": RUN, "conventions": Conventions(), **change}
    qrels, run, conventions = inputs["qrels"], inputs["run"], inputs["conventions"]
    scores = evaluate_cached(qrels, run, NAMES, cache=cache, conventions=conventions)
    assert same(scores, evaluate(qrels, run, NAMES, conventions=conventions))
    assert cache.info().hits == 0


def test_a_file_that_changes_under_its_name_and_time_is_seen(cache: MetricsCache, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text("q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\n")
    stat = run.stat()
    before = evaluate_cached(QRELS, run, "RR(rel=2)", cache=cache)["RR(rel=2)"]
    run.write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\n")
    os.utime(run, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert evaluate_cached(QRELS, run, "RR(rel=2)", cache=cache)["RR(rel=2)"] != before


def test_a_run_that_was_cut_is_another_though_its_file_is_the_same(cache: MetricsCache) -> None:
    run = replace(Run.from_dict({"q1": {"x": 2.0, "a": 1.0}}), source_sha256="0" * 64)
    assert evaluate_cached(QRELS, run, "hits", cache=cache)["hits"] == 1
    assert evaluate_cached(QRELS, run.top(1), "hits", cache=cache)["hits"] == 0


def test_a_cutoff_in_a_column_belongs_to_the_key(cache: MetricsCache) -> None:
    for depth, wanted in ((1, 0.0), (2, 1.0)):
        qrels = Qrels.from_dict({"q2": {"c": 1}}, columns={"k": {"q2": depth}})
        assert evaluate_cached(qrels, RUN, "R@k", cache=cache)["R@k"] == wanted


def test_a_measure_from_outside_is_never_cached(cache: MetricsCache) -> None:
    try:
        for value in (0.25, 0.75):

            @measure("Mine")
            def mine(hits: Any, *, rel: float = 1) -> Any:
                """A constant."""
                return np.full(len(hits), value)  # noqa: B023  # it is called at once

            assert evaluate_cached(QRELS, RUN, ["RR", "Mine"], cache=cache)["Mine"] == value
            unregister("Mine")
    finally:
        from rankgauge.measures.measure import DEFINITIONS

        if "Mine" in DEFINITIONS:
            unregister("Mine")
    assert cache.info().entries == 0


def test_a_file_outlives_the_object(tmp_path: Path) -> None:
    with MetricsCache(tmp_path / "c") as first:
        evaluate_cached(QRELS, RUN, NAMES, cache=first)
    with MetricsCache(tmp_path / "c") as second:
        evaluate_cached(QRELS, RUN, NAMES, cache=second)
        assert second.info().hits == 5
        second.clear()
        assert second.info().entries == 0
        assert second.get("x") is None


def test_memory_is_bounded() -> None:
    cache = MetricsCache(in_memory=2)
    for key in ("a", "b"):
        cache.put({key: b""})
    assert cache.get("a") == b""
    cache.put({"c": b""})
    assert [cache.get(key) for key in ("a", "b", "c")] == [b"", None, b""]
    with pytest.raises(UsageError, match="at least 1"):
        MetricsCache(in_memory=0)


def test_a_file_that_is_no_cache_is_left_alone_and_said(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, longer than a header of a database would be" * 20)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"cannot use .*notes\.txt as a cache"):
        MetricsCache(path).put({"a": b""})
    assert path.read_bytes() == before


def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE entries (key TEXT, value BLOB)")
    theirs.commit()
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="is a database of another program, not a cache of rankgauge"):
        MetricsCache(path).get("a")
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write: File exists"):
        MetricsCache(tmp_path / "file" / "cache").put({"a": b""})


WORK = """
import sys
from rankgauge import MetricsCache, evaluate
from rankgauge.evaluation import evaluate_cached
number, path = int(sys.argv[1]), sys.argv[2]
sys.stdin.readline()  # all begin together
with MetricsCache(path) as cache:
    for turn in range(12):
        shared = turn % 2 == 0
        run = {"q": {"a": 1.0, "b": 2.0 if shared else 1.5 + number + turn}}
        found = evaluate_cached({"q": {"a": 1, "c": turn}}, run, ["RR", "nDCG"], cache=cache)
        plain = evaluate({"q": {"a": 1, "c": turn}}, run, ["RR", "nDCG"])
        assert found.to_dict(per_query=True) == plain.to_dict(per_query=True)
    print(cache.info().hits)
"""


@pytest.mark.slow
def test_eight_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "shared.sqlite"
    command = [sys.executable, "-W", "error", "-c", WORK]
    processes = [
        subprocess.Popen(
            [*command, str(number), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ended = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, [err for _, err in ended]
    with MetricsCache(path) as cache:
        # Six turns that all share and six of each process's own, of three entries each.
        assert cache.info().entries == 3 * (6 + 8 * 6)


def test_the_names_of_the_specification_work() -> None:
    cache = MetricsCache()
    assert cache.get_cached_metric("q1", "ndcg", 10) is None
    cache.cache_metric("q1", "ndcg", 10, 0.5)
    assert cache.get_cached_metric("q1", "ndcg", 10) == 0.5
    assert cache.get_cached_metric("q1", "nDCG", 10) == 0.5
    assert cache.get_cached_metric("q1", "ndcg", 5) is None
    assert cache.get_cached_metric("q2", "ndcg", 10) is None
    assert cache.info() == type(cache.info())(hits=2, misses=3, entries=1)


def test_a_value_with_content_is_found_for_that_content_only(tmp_path: Path) -> None:
    one, other = content_key(["a", "b"], ["a"]), content_key(["b", "a"], ["a"])
    with MetricsCache(tmp_path / "c") as cache:
        cache.cache_metric("q1", "mrr", 10, 1.0, content=one)
        cache.cache_metric("q1", "mrr", 10, 0.25)
    with MetricsCache(tmp_path / "c") as cache:
        assert cache.get_cached_metric("q1", "mrr", 10, content=one) == 1.0
        assert cache.get_cached_metric("q1", "mrr", 10, content=other) is None
        assert cache.get_cached_metric("q1", "mrr", 10) is None  # nobody knows of what: it did not go to the file


def test_different_content_has_different_keys() -> None:
    contents: list[Any] = [
        "", "a", b"a", 1, 1.0, True, None, [], ["a"], ["a", ""], [["a"]], ["a", "b"], ["ab"], {"a": 1}, {"a": "1"},
        {"a"}, {"a", "b"}, ["1"], [1], ["b", "a"],
    ]  # fmt: skip
    assert len({content_key(content) for content in contents}) == len(contents)
    assert content_key("a", "b") != content_key("ab") != content_key(["a", "b"])
    assert content_key({"x", "y", "z"}) == content_key({"z", "y", "x"})
    with pytest.raises(UsageError, match="object"):
        content_key(object())


def test_a_file_whose_schema_is_damaged_is_refused_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with MetricsCache(path) as cache:
        cache.put({"a": b"1"})
    path.write_bytes(path.read_bytes().replace(b"BLOB NOT NULL", b"BLOB NOT \xffULL", 1))
    with pytest.raises(InputError, match=r"cannot use .* as a cache"), MetricsCache(path) as cache:
        cache.get("a")
