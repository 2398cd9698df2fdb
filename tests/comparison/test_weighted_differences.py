"""Differences of weighted means: a family of its own, equal to the plain one if weights are equal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, Statistics, compare
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.difference_families import WeightedFamily
from rankgauge.render.html import as_html
from rankgauge.report.report import build_report
from rankgauge.stats import Resampling, joint_test
from tests.comparison.collection import GOOD, JUDGED, LUCKY, POOR, QUERIES
from tests.render.formats.texts import text_of_comparison

RUNS = {"poor": POOR, "good": GOOD, "lucky": LUCKY}
WEIGHTS = np.random.default_rng(5).lognormal(0, 1, len(QUERIES)).tolist()
UNITS = [number // 2 for number in range(len(QUERIES))]


def judgments(weights: list[float] | None, units: list[int] | None = None) -> Qrels:
    columns = {
        name: dict(zip(QUERIES, values, strict=True))
        for name, values in (("weight", weights), ("unit", units))
        if values is not None
    }
    return Qrels.from_dict(JUDGED, columns=columns)


def made(weights: list[float] | None, units: list[int] | None = None, **how: Any) -> Comparison:
    how = {"statistics": Statistics(resamples=500, **how), "changes": 0}
    return compare(judgments(weights, units), RUNS, "AP RR", baseline=0, **how)


def family_of(comparison: Comparison) -> WeightedFamily:
    assert comparison.weighted is not None
    return comparison.weighted


@given(
    st.floats(1e-3, 1e3),
    st.booleans(),
    st.sampled_from(["two-sided", "greater"]),
    st.sampled_from(["maxt", "holm", "bonferroni", "none"]),
)
@settings(max_examples=16)
def test_equal_weights_give_exactly_the_plain_numbers(
    weight: float, shared: bool, alternative: Any, correction: Any
) -> None:
    units = UNITS if shared else None
    found = made([weight] * 40, units, alternative=alternative, correction=correction)
    rows = family_of(found).rows
    assert [row.difference for row in rows] == [found[system, "AP"] for system in ("good", "lucky")]
    assert [row.effective_queries for row in rows] == [40, 40]


@pytest.mark.parametrize("units", [None, UNITS])
def test_p_and_intervals_are_those_of_the_joint_test_with_weights(units: list[int] | None) -> None:
    found = made(WEIGHTS, units)
    values = {run.run: np.array(list(run.per_query("AP").values()), dtype=float) for run in found.scores}
    differences = np.column_stack([values[system] - values["poor"] for system in ("good", "lucky")])
    expected = joint_test(
        differences, weights=WEIGHTS, units=units, ranges=[(-1, 1)] * 2, resampling=Resampling(500, 0)
    )
    for row, joint, column in zip(family_of(found).rows, expected.rows, differences.T, strict=True):
        difference = row.difference
        assert (difference.p, difference.p_corrected, difference.interval) == (joint.p_alone, joint.p, joint.interval)
        assert difference.detectable == joint.detectable
        assert difference.difference == pytest.approx(np.average(column, weights=WEIGHTS))
        assert difference.value == pytest.approx(np.average(values[difference.system], weights=WEIGHTS))
        assert difference.baseline == pytest.approx(np.average(values["poor"], weights=WEIGHTS))
        assert row.effective_queries == pytest.approx(sum(WEIGHTS) ** 2 / sum(weight**2 for weight in WEIGHTS))


def test_queries_of_weight_0_are_left_out() -> None:
    weights = [0.0] * 5 + WEIGHTS[5:]
    kept = QUERIES[5:]
    fewer = {name: {query: run[query] for query in kept} for name, run in RUNS.items()}
    columns = {"weight": dict(zip(kept, WEIGHTS[5:], strict=True))}
    qrels = Qrels.from_dict({query: JUDGED[query] for query in kept}, columns=columns)
    expected = compare(qrels, fewer, "AP RR", baseline=0, statistics=Statistics(resamples=500), changes=0)
    assert family_of(made(weights)) == family_of(expected)


@pytest.mark.parametrize(("test", "correction"), [("t", "holm"), ("randomization", "maxt"), ("randomization", "tukey")])
def test_tests_without_weights_are_replaced_by_the_bootstrap(test: Any, correction: Any) -> None:
    found = family_of(made(WEIGHTS, test=test, correction=correction))
    assert found.description.startswith("bootstrap test")
    assert all(row.difference.p_corrected is not None for row in found.rows)


def test_there_are_none_without_weights_and_for_a_primary_measure_that_is_not_a_mean() -> None:
    assert made(None).weighted is None
    assert made(None).to_dict()["weighted"] is None
    assert compare(judgments(WEIGHTS), RUNS, "NumRelRet AP", changes=0).weighted is None


def test_they_are_in_json_and_in_a_remark() -> None:
    found = made(WEIGHTS)
    data = found.to_dict()["weighted"]
    assert [row["system"] for row in data["differences"]] == ["good", "lucky"]
    assert {"value", "baseline", "difference", "ci", "p", "p_corrected", "n"} <= set(data["differences"][0])
    assert data["family"] == "bootstrap test; max-t over 2 comparisons (2 systems)"
    remark = next(line for line in text_of_comparison(found).split("\n") if line.startswith("weighted AP"))
    assert f"good {data['differences'][0]['difference']:+.3f} (95% CI" in remark
    assert remark.endswith("with these weights, 40 queries count as 19 of equal weight")
    report = build_report(judgments(WEIGHTS), RUNS)
    assert "difference from poor: good" in as_html(report)
    assert json.dumps(data)
