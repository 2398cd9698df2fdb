"""Intervals of weighted means: those of the plain mean if weights are equal, and shown beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, RetrievalEvaluator, Scores, evaluate
from rankgauge.stats import mean_interval, wilson_interval
from tests.render.formats.fragments import shown

MEASURES = "RR Success@1 P@2"


def scores(weights: list[Any] | None, units: list[Any] | None = None, n: int = 30) -> Scores:
    """Random rankings of four documents, one of them relevant, for queries with weights."""
    rng = np.random.default_rng(8)
    queries = [f"q{number:02d}" for number in range(n)]
    columns = {
        name: dict(zip(queries, values, strict=True))
        for name, values in (("weight", weights), ("unit", units))
        if values is not None
    }
    qrels = Qrels.from_dict({query: {"a": 1} for query in queries}, columns=columns)
    return evaluate(qrels, {query: rng.permutation(list("abcd")).tolist() for query in queries}, MEASURES)


@pytest.mark.slow
@given(st.floats(1e-3, 1e3), st.booleans(), st.sampled_from(["two-sided", "less", "greater"]))
def test_equal_weights_give_exactly_the_plain_numbers(weight: float, shared: bool, alternative: Any) -> None:
    units = [number // 2 for number in range(30)] if shared else None
    weighted, plain = scores([weight] * 30, units), scores(None, units)
    assert weighted.weighted == {name: value for name, (value, _) in plain.over_queries.items()}
    for measure in plain.measures:
        interval = weighted.weighted_interval(measure, confidence=0.9, alternative=alternative)
        assert interval == plain.interval(measure, confidence=0.9, alternative=alternative)


def test_the_interval_is_that_of_the_weighted_values() -> None:
    weights = np.random.default_rng(1).lognormal(0, 1, 30)
    units = [number // 2 for number in range(30)]
    for shared in (None, units):
        found = scores(weights.tolist(), shared)
        values = np.array(list(found.per_query("RR").values()), dtype=float)
        interval = found.weighted_interval("RR")
        expected = mean_interval(values, method="bootstrap-t", weights=weights, units=shared)
        assert interval is not None
        assert interval.low == expected.low
        assert interval.high == min(1.0, expected.high or 0.0)
        assert interval.estimate == pytest.approx(found.weighted["RR"])  # type: ignore[index]  # there are weights
    hits = np.array(list(scores(None).per_query("Success@1").values()), dtype=float)
    assert scores(weights.tolist()).weighted_interval("Success@1") == wilson_interval(hits, weights=weights)


def test_a_query_of_weight_0_is_left_out() -> None:
    weights = [1.0, 2.0, 3.0] * 10
    without = scores([*weights[:-4], 0, 0, 0, 0])
    for measure in without.measures:
        values = np.array(list(without.per_query(measure).values())[:-4], dtype=float)
        interval = without.weighted_interval(measure)
        assert interval is not None
        assert interval.n == 26
        assert interval.estimate == pytest.approx(np.average(values, weights=weights[:-4]))


def test_equal_values_count_as_many_as_their_weights_do() -> None:
    queries = [f"q{number}" for number in range(12)]
    weights = [8.0] + [1.0] * 11
    qrels = Qrels.from_dict(
        {q: {"a": 1} for q in queries}, columns={"weight": dict(zip(queries, weights, strict=True))}
    )
    found = evaluate(qrels, {query: list("xa") for query in queries}, "RR")
    effective = 19**2 / (64 + 11)
    share = 1 - 0.025 ** (1 / effective)
    interval = found.weighted_interval("RR")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.5 - share * 0.5, 0.5 + share * 0.5))


def test_there_is_no_interval_without_weights_nor_of_sums_and_geometric_means() -> None:
    assert scores(None).weights is None
    assert scores(None).weighted_interval("RR") is None
    qrels = Qrels.from_dict({"q": {"a": 1}, "r": {"a": 1}}, columns={"weight": {"q": 1, "r": 2}})
    found = evaluate(qrels, {"q": ["a"], "r": ["x"]}, "NumRel GMAP")
    for measure in found.measures:
        interval = found.weighted_interval(measure)
        assert interval is not None
        assert interval.low is None
        assert interval.reason


@pytest.mark.parametrize(
    ("weight", "message"), [(-1, "found -1"), ("x", "found 'x'"), (None, "found nothing"), (float("inf"), "found inf")]
)
def test_a_wrong_weight_is_one_error_that_names_the_query(weight: Any, message: str) -> None:
    found = scores([1.0] * 29 + [weight])
    with pytest.raises(InputError, match=f"a weight must be a number of at least 0, {message} for query 'q29'"):
        found.weighted_interval("RR")


def test_a_batch_shows_intervals_of_weighted_means() -> None:
    rng = np.random.default_rng(2)
    retrieved = [rng.permutation(list("abcd")).tolist() for _ in range(20)]
    weights = rng.lognormal(0, 1, 20).tolist()
    batch = RetrievalEvaluator().evaluate_batch(["q"] * 20, retrieved, [["a"]] * 20, k=2, weights=weights)
    interval = batch.weighted_interval("nDCG@2")
    assert interval is not None
    data = batch.to_dict()["measures"]["nDCG@2"]
    assert data["weighted_ci"] == interval.to_dict()
    assert f"nDCG@2 {data['weighted']:.2f} ({interval.low:.2f} to {interval.high:.2f})" in str(batch).split("\n")[1]
    assert shown(batch).tables[0].head[-2:] == ["weighted", "95% CI"]


def test_evaluate_shows_them_beside_the_plain_ones(tmp_path: Path, command: Callable[..., Any]) -> None:
    queries = [f"q{number:02d}" for number in range(20)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    rankings = [(query, "ab" if number % 3 else "ba") for number, query in enumerate(queries)]
    (tmp_path / "run").write_text(
        "".join(f"{query} Q0 {docs[0]} 1 2 r\n{query} Q0 {docs[1]} 2 1 r\n" for query, docs in rankings)
    )
    rows = [{"_id": query, "text": "x", "weight": 1 + number % 4} for number, query in enumerate(queries)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["evaluate", *(str(tmp_path / name) for name in ("qrels", "run")), "-m", "RR", "--ci"]
    topics = ["--queries", str(tmp_path / "queries.jsonl")]
    assert "weighted" not in command(*arguments).out
    heads = [line.split() for line in command(*arguments, *topics).out.split("\n") if "CI" in line]
    assert heads == [["measure", "run", "mean", "95%", "CI", "weighted", "95%", "CI"]]
    measure = json.loads(command(*arguments, *topics, "--format", "json").out)["runs"][0]["measures"]["RR"]
    assert set(measure) == {"value", "n", "weighted", "ci", "weighted_ci"}
    assert measure["weighted_ci"]["low"] < measure["weighted"] < measure["weighted_ci"]["high"]
