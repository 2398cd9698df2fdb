"""What a reranker changes."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import InputError, Qrels, compare, evaluate
from rankgauge.adapters import reranking_improvement
from rankgauge.stats import joint_test
from tests.render.formats.fragments import shown

BEFORE, AFTER = [0.5, 0.4, 0.3, 0.8], [0.7, 0.4, 0.2, 0.9]


def test_improvement_is_in_percent_of_the_baseline_with_the_paired_interval() -> None:
    found = reranking_improvement(BEFORE, AFTER)
    assert found.improvement == pytest.approx(10.0)
    interval = joint_test((np.array(AFTER) - BEFORE)[:, np.newaxis]).rows[0].interval
    assert interval.low is not None
    assert found.low == pytest.approx(100 * interval.low / 0.5)
    assert found.difference == interval
    assert (found.effect.wins, found.effect.ties, found.effect.losses) == (2, 1, 1)
    assert "+10.0% (95% CI " in str(found)
    assert "2 won, 1 tied, 1 lost of 4 queries" in str(found)


def test_a_baseline_of_0_has_no_improvement_and_a_reason() -> None:
    found = reranking_improvement([0.0, 0.0], [0.5, 1.0])
    assert (found.improvement, found.low, found.reason) == (None, None, "the baseline is 0")
    assert found.difference.estimate == 0.75
    assert "undefined: the baseline is 0" in str(found)


def test_runs_are_scored_if_there_are_judgments() -> None:
    qrels = {"q": {"b": 1}, "r": {"c": 2}}
    before, after = {"q": ["a", "b"], "r": ["c"]}, {"q": ["b", "a"], "r": ["c"]}
    found = reranking_improvement(before, after, qrels=qrels, measure="ndcg_cut.5")
    assert found.measure == "nDCG@5"
    assert (found.baseline, found.reranked) == (evaluate(qrels, before, "nDCG@5")["nDCG@5"], 1.0)
    scores = [evaluate(qrels, run, "RR nDCG@5") for run in (before, after)]
    assert reranking_improvement(*scores, measure="RR").improvement == pytest.approx(100 / 3)


def test_one_query_has_no_interval() -> None:
    found = reranking_improvement([0.5], [0.6])
    assert found.improvement == pytest.approx(20)
    assert found.low is None


def test_no_queries_have_no_improvement() -> None:
    found = reranking_improvement([], [])
    assert (found.improvement, found.reason) == (None, "there are no queries")


def test_different_queries_are_an_error() -> None:
    with pytest.raises(InputError, match="reranked lacks 1 of the queries: 'q'"):
        reranking_improvement({"q": 0.5}, {"r": 0.5})


def test_the_result_is_a_table_a_frame_and_a_dict() -> None:
    found = reranking_improvement({"q": 0.5, "r": 0.5}, {"r": 1.0, "q": 0.5})
    assert found.to_polars().rows() == [("q", 0.5, 0.5), ("r", 0.5, 1.0)]
    assert found.to_pandas()["after"].tolist() == [0.5, 1.0]
    assert "50.0000" in shown(found).tables[0].rows[0]
    assert found.to_dict()["reranking_improvement"] == pytest.approx(50)


def test_the_interval_is_that_of_the_comparison() -> None:
    qrels = {f"q{n}": {"b": 1} for n in range(6)}
    before = {query: ["a", "b"] for query in qrels}
    after = {query: ["b", "a"] for query in qrels} | {"q0": ["a", "b"]}
    for measure in ("Success@1", "RR"):
        found = reranking_improvement(before, after, qrels=qrels, measure=measure)
        expected = compare(qrels, {"before": before, "after": after}, measure).differences[0].interval
        assert (found.difference.low, found.difference.high) == (expected.low, expected.high)


def test_queries_of_the_same_unit_are_one_observation() -> None:
    units = Qrels.from_dict(
        {f"q{n}": {"b": 1} for n in range(4)}, columns={"unit": {f"q{n}": f"u{n // 2}" for n in range(4)}}
    )
    before, after = {f"q{n}": ["a", "b"] for n in range(4)}, {f"q{n}": ["b"] if n else ["a", "b"] for n in range(4)}
    assert reranking_improvement(before, after, qrels=units, measure="RR").difference.units == 2


def test_an_interval_stays_within_what_a_difference_of_the_measure_can_be() -> None:
    found = reranking_improvement([0.1, 0.1], [0.1, 0.9])
    assert (found.difference.low, found.difference.high) == (-1.0, 1.0)


def test_values_that_are_not_of_the_measure_have_no_range() -> None:
    for options in ({}, {"measure": "clicks"}):
        found = reranking_improvement([10, 20, 30], [12, 40, 33], **options)
        assert found.difference.high is not None
        assert found.difference.high > 20
