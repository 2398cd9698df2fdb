"""The order of systems under two sets of judgments."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge import Conventions, evaluate
from rankgauge.comparison import qrels_agreement
from rankgauge.errors import InputError, UsageError
from rankgauge.stats.rank_correlation import discordant_pairs
from tests.stats import definitions

Command = Callable[..., Any]
DOCS = list("abcdef")
FIRST = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1, "e": 0}}
SECOND = {"q1": {"a": 0, "b": 1, "c": 1}, "q3": {"f": 1}}
RANKINGS = {
    "alpha": {"q1": list("abc"), "q2": list("de"), "q3": list("xf")},
    "beta": {"q1": list("cba"), "q2": list("ed"), "q3": list("f")},
    "gamma": {"q1": list("bac"), "q2": list("xd"), "q3": list("xyf")},
}
grades = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), min_size=1),
    min_size=1,
)
rankings = st.fixed_dictionaries({query: st.permutations(DOCS) for query in ("q1", "q2", "q3")})


@pytest.mark.slow
@given(grades, grades, st.lists(rankings, min_size=2, max_size=6))
def test_it_is_the_correlation_of_two_evaluations(first: Any, second: Any, runs: list[Any]) -> None:
    systems = {f"s{n}": run for n, run in enumerate(runs)}
    found = qrels_agreement(first, second, systems, "nDCG@5 RR FirstRel")
    assert found.queries == (len(first), len(second))
    assert found.shared_queries == len(first.keys() & second.keys())
    for name, direction in (("nDCG@5", 1), ("RR", 1), ("FirstRel", -1)):
        row = found[name]
        one, two = ([evaluate(qrels, run, name)[name] for run in runs] for qrels in (first, second))
        assert list(row.values.values()) == list(zip(one, two, strict=True))
        if None in one or None in two:
            assert "no value under" in (row.tau.reason or "")
            continue
        x, y = [direction * (value or 0) for value in one], [direction * (value or 0) for value in two]
        if row.tau.value is not None:
            # rounded as kendall_tau does: sums in another order are no difference
            tau = stats.kendalltau([round(v, 9) for v in x], [round(v, 9) for v in y]).statistic
            assert row.tau.value == pytest.approx(float(tau))
        if row.tau_ap.value is not None:
            assert row.tau_ap.value == pytest.approx(definitions.tau_ap(x, [round(v, 9) for v in y]), abs=1e-9)
        swapped = {
            frozenset((f"s{i}", f"s{j}"))
            for i, j in combinations(range(len(runs)), 2)
            if round(x[i] - x[j], 9) * round(y[i] - y[j], 9) < 0
        }
        assert {frozenset((swap.better, swap.worse)) for swap in row.swaps} == swapped
        for swap in row.swaps:
            assert direction * swap.better_values[0] > direction * swap.worse_values[0]
            assert direction * swap.better_values[1] < direction * swap.worse_values[1]
            assert swap.better_values == row.values[swap.better]
        assert [swap.size for swap in row.swaps] == sorted((swap.size for swap in row.swaps), reverse=True)


def test_an_example_by_hand() -> None:
    found = qrels_agreement(FIRST, SECOND, RANKINGS, "RR")
    row = found["RR"]
    # first: alpha 1, beta (1/2 + 1/2) / 2, gamma (1 + 1/2) / 2; second: alpha 1/2, beta 1, gamma (1 + 1/3) / 2
    assert row.values == {
        "alpha": (1.0, 0.5),
        "beta": (0.5, 1.0),
        "gamma": (0.75, pytest.approx(2 / 3)),
    }
    assert (row.tau.value, row.tau_ap.value, row.pairs) == (-1.0, -1.0, 3)
    assert [(swap.better, swap.worse) for swap in row.swaps] == [
        ("alpha", "beta"),
        ("gamma", "beta"),
        ("alpha", "gamma"),
    ]
    assert (found.queries, found.shared_queries, found.systems) == ((2, 2), 1, ("alpha", "beta", "gamma"))


def test_pairs_in_opposite_order_are_those_that_tau_counts() -> None:
    assert discordant_pairs([3, 2, 1], [1, 2, 2]) == [(0, 1), (0, 2)]
    assert discordant_pairs([1, 1, 2], [2, 1, 0]) == [(2, 0), (2, 1)]
    assert discordant_pairs([0.1 + 0.2, 0.3], [1, 2]) == []  # equal but for rounding


def test_judgments_need_not_share_a_query_but_each_run_needs_one_of_each() -> None:
    elsewhere = {"q9": {"a": 1}}
    runs = {name: ranking | {"q9": ["x"] * n + ["a"]} for n, (name, ranking) in enumerate(RANKINGS.items()) if n < 2}
    found = qrels_agreement(FIRST, elsewhere, runs, "RR")
    assert (found.shared_queries, found["RR"].tau.value) == (0, 1.0)
    with pytest.raises(InputError, match="no query in common"):
        qrels_agreement(FIRST, elsewhere, RANKINGS, "RR")


def test_conventions_and_measures_without_a_direction() -> None:
    found = qrels_agreement(
        FIRST, SECOND, RANKINGS, "RR NumRet ERR", conventions=Conventions(rel=2, no_relevant="skip")
    )
    assert found["NumRet"].tau.reason == "neither a higher nor a lower value is better"
    assert (found["RR(rel=2)"].values["alpha"], found["RR(rel=2)"].swaps) == ((0.5, 0.0), ())
    assert found["ERR"].values["alpha"][0] is not None  # its largest grade is that of each set of judgments
    with pytest.raises(KeyError, match="AP was not evaluated"):
        found["AP"]


@pytest.mark.parametrize("count", [0, 1])
def test_one_run_has_no_order(count: int) -> None:
    with pytest.raises(UsageError, match=f"at least two runs, found {count}"):
        qrels_agreement(FIRST, SECOND, list(RANKINGS.values())[:count])


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = []
    for name, judged in (("strict", FIRST), ("lenient", SECOND)):
        made.append(tmp_path / f"{name}.qrels")
        lines = [f"{query} 0 {doc} {grade}\n" for query, docs in judged.items() for doc, grade in docs.items()]
        made[-1].write_text("".join(lines))
    for name, ranking in RANKINGS.items():
        made.append(tmp_path / f"{name}.run")
        lines = [f"{q} Q0 {doc} {n} {-n} {name}\n" for q, docs in ranking.items() for n, doc in enumerate(docs, 1)]
        made[-1].write_text("".join(lines))
    return made


def test_the_command_prints_the_correlations_and_the_swaps(command: Command, files: list[Path]) -> None:
    table = command("agreement", *files, "-m", "RR")
    assert table.code == 0
    assert table.out.splitlines()[0] == (
        "Order of 3 systems by strict.qrels (2 queries) and by lenient.qrels (2 queries); 1 query in both."
    )
    assert "RR         −1.000  −1.000         3 of 3" in table.out
    assert "RR  alpha over beta   1.0000 vs. 0.5000  0.5000 vs. 1.0000" in table.out
    assert "warning: strict.qrels" in table.err
    for format in ("markdown", "latex"):
        assert "alpha over beta" in command("agreement", *files, "-m", "RR", "--format", format).out


def test_json_and_rows_have_every_digit(command: Command, files: list[Path]) -> None:
    data = json.loads(command("agreement", *files, "-m", "RR", "-m", "AP", "--format", "json").out)
    expected = qrels_agreement(FIRST, SECOND, RANKINGS, "RR AP")
    assert data["schema"] == "rankgauge.agreement/1"
    assert data["measures"] == json.loads(json.dumps(expected.to_dict()["measures"]))
    assert [(side["name"], side["queries"]) for side in data["qrels"]] == [("strict.qrels", 2), ("lenient.qrels", 2)]
    assert all(run["sha256"] for run in data["runs"])
    rows = [json.loads(line) for line in command("agreement", *files, "-m", "RR", "--format", "jsonl").out.splitlines()]
    assert [row["tau"] for row in rows] == [-1.0, None, None, None]
    assert (rows[1]["better"], rows[1]["worse_second"]) == ("alpha", 1.0)
    assert len(command("agreement", *files, "--format", "csv").out.splitlines()) >= 4


def test_faults_of_the_call_are_explained(command: Command, files: list[Path], tmp_path: Path) -> None:
    one = command("agreement", *files[:3])
    assert (one.code, "at least two runs, found 1" in one.err) == (64, True)
    twice = command("agreement", "-", "-", *files[2:])
    assert (twice.code, "standard input" in twice.err) == (64, True)
    (tmp_path / "by.yaml").write_text("statistics: {by: [category]}\n")
    grouped = command("agreement", *files, "--config", tmp_path / "by.yaml")
    assert (grouped.code, "cannot use statistics.by" in grouped.err) == (64, True)
    missing = command("agreement", files[0], tmp_path / "none.qrels", *files[2:])
    assert (missing.code, "none.qrels" in missing.err) == (2, True)
