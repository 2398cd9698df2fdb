"""The region of practical equivalence: which differences matter, by their whole interval."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rankgauge import Qrels, Statistics, compare, evaluate
from rankgauge.comparison.answer_sentences import headline
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.evaluation.evaluate import Evaluation
from tests.comparison.collection import GOOD, LUCKY, POOR, QRELS

ALIKE = {"poor": POOR, "lucky": LUCKY}
QUERIES = 400
JUDGED = {f"q{number:03}": {"a": 1} for number in range(QUERIES)}


def shifted(mean: float, statistics: Statistics | None = None) -> Comparison:
    """A system whose AP differs from the baseline's by about 0.01 per query, and by exactly ``mean`` on average."""
    gaps = np.random.default_rng(0).normal(0.0, 0.01, (QUERIES, 1))
    base = replace(evaluate(JUDGED, {query: ["a"] for query in JUDGED}, "AP"), run="base")
    base = replace(base, values=np.full((QUERIES, 1), 0.5))
    new = replace(base, run="new", values=base.values + gaps - gaps.mean() + mean)
    return compare_evaluation(Evaluation(Qrels.from_dict(JUDGED), (), (base, new)), statistics=statistics, changes=0)


@pytest.mark.parametrize(
    ("low", "high", "p", "outcome"),
    [
        (-0.005, 0.006, 0.8, "equivalent"),
        (-0.01, 0.01, 0.8, "equivalent"),  # the bounds belong to the region
        (-0.010001, 0.01, 0.8, "inconclusive"),
        (-0.01, 0.010001, 0.8, "inconclusive"),
        (-0.1, 0.1, 0.8, "inconclusive"),
        (0.002, 0.008, 0.01, "negligible"),
        (-0.008, -0.002, 0.01, "negligible"),
        (0.002, 0.01, 0.05, "negligible"),
        (0.002, 0.010001, 0.05, "better"),
        (-0.010001, -0.002, 0.05, "worse"),
        (0.002, 0.02, 0.051, "inconclusive"),
        (0.02, 0.03, 0.01, "better"),
    ],
)
def test_an_interval_is_inside_outside_or_across_the_region(low: float, high: float, p: float, outcome: str) -> None:
    row = shifted(0.0)["new", "AP"]
    assert row.rope == 0.01
    interval = replace(row.interval, low=low, high=high)
    row = replace(row, interval=interval, difference=(low + high) / 2, p=p, p_corrected=p)
    assert row.outcome(0.05) == outcome
    assert row.is_negligible == (outcome in ("equivalent", "negligible"))
    assert not replace(row, rope=None).is_negligible
    assert replace(row, direction=-1).outcome(0.05) == {"better": "worse", "worse": "better"}.get(outcome, outcome)
    assert replace(row, direction=0).outcome(0.05) == {"better": "higher", "worse": "lower"}.get(outcome, outcome)


@pytest.mark.parametrize(
    ("mean", "outcome"),
    [(0.0, "equivalent"), (0.003, "negligible"), (-0.003, "negligible"), (0.0095, "better"), (-0.02, "worse")],
)
def test_a_difference_is_what_its_interval_says(mean: float, outcome: str) -> None:
    found = shifted(mean)
    row = found["new", "AP"]
    assert row.difference == pytest.approx(mean)
    _, one, other = found.paired("new", "AP")
    low, high = stats.ttest_rel(one, other).confidence_interval()  # 400 queries: much the same as by bootstrap
    assert (row.interval.low, row.interval.high) == pytest.approx((low, high), abs=1e-4)
    assert (abs(low) <= 0.01 and abs(high) <= 0.01) == (outcome in ("equivalent", "negligible"))
    assert row.outcome(0.05) == outcome
    assert found.to_dict()["differences"][0]["outcome"] == outcome
    span = f"{mean:+.3f}".replace("-", "−")
    if outcome == "equivalent":
        assert found.answer().startswith("new and base are equivalent within ±0.01: AP +0.000 (95% CI −0.001")
    elif outcome == "negligible":
        assert found.answer().startswith(f"new differs from base negligibly, within ±0.01: AP {span} (95% CI ")
    else:
        assert found.answer().startswith(f"new is {outcome} than base: AP ")


def test_the_region_is_as_wide_as_it_is_asked_for() -> None:
    assert shifted(0.003, Statistics(rope=0.002))["new", "AP"].outcome(0.05) == "better"
    assert shifted(0.0, Statistics(rope=0.0005))["new", "AP"].outcome(0.05) == "inconclusive"
    assert shifted(0.02, Statistics(rope=0.03))["new", "AP"].outcome(0.05) == "negligible"
    assert shifted(0.003, Statistics("t", rope=0.008))["new", "AP"].outcome(0.05) == "negligible"  # by any test


@pytest.mark.parametrize(("rope", "needed"), [(0.01, 299), (0.02, 149), (0.05, 59)])
def test_a_region_needs_a_number_of_queries(rope: float, needed: int) -> None:
    """If total losses in a share of the queries are missed with a probability of 5%, they cannot be ruled out."""
    assert 0.95 * math.log(0.05) / math.log(1 - rope) < needed
    assert math.ceil(math.log(0.05) / math.log(1 - rope)) == needed
    row = shifted(0.0, Statistics(rope=rope))["new", "AP"]
    assert replace(row, n=needed).outcome(0.05) == "equivalent"
    assert replace(row, n=needed - 1).outcome(0.05) == "inconclusive"
    assert replace(row, interval=replace(row.interval, units=needed - 1)).outcome(0.05) == "inconclusive"
    significant = replace(shifted(rope / 4, Statistics(rope=rope))["new", "AP"], p_corrected=0.01)
    assert replace(significant, n=needed).outcome(0.05) == "negligible"
    assert replace(significant, n=needed - 1).outcome(0.05) == "better"


def test_few_queries_without_a_difference_say_what_they_cannot_rule_out() -> None:
    judged = {f"q{number:02}": {"a": 1} for number in range(50)}
    base = replace(evaluate(judged, {query: ["a"] for query in judged}, "AP"), run="base")
    base = replace(base, values=np.full((50, 1), 0.5))
    gaps = np.random.default_rng(1).normal(0.0, 0.001, (50, 1))
    new = replace(base, run="new", values=base.values + gaps - gaps.mean())
    found = compare_evaluation(Evaluation(Qrels.from_dict(judged), (), (base, new)), changes=0)
    row = found["new", "AP"]
    assert row.outcome(0.05) == "inconclusive"
    assert row.smallest_margin == pytest.approx(1 - 0.05 ** (1 / 50))
    assert found.to_dict()["differences"][0]["smallest_margin"] == row.smallest_margin
    assert (
        "no difference observed; total losses on up to 5.8% of queries cannot be ruled out (0 of 50 observed); the "
        "smallest margin that 50 queries support is ±0.058"
    ) in found.answer()


def test_few_queries_are_inconclusive_rather_than_equivalent() -> None:
    found = compare(QRELS, ALIKE, "nDCG@10 AP")
    assert {row.outcome(0.05) for row in found.differences} == {"inconclusive"}
    assert {row.outcome(0.05) for row in compare(QRELS, ALIKE, "AP", statistics=Statistics(rope=0.2)).differences} == {
        "equivalent"
    }
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "AP")["good", "AP"].outcome(0.05) == "better"


def test_unchanged_is_not_equivalent() -> None:
    """40 queries without a change leave room for rare changes; the same rankings are known to be the same."""
    found = compare(QRELS, {"one": POOR, "other": POOR}, "AP")
    row = found["other", "AP"]
    assert row.outcome(0.05) == "unchanged"
    assert not row.is_negligible
    assert (row.p, row.difference) == (1.0, 0.0)
    assert headline(found)[0].startswith(
        "other and one have the same AP for every query; total losses on up to 7.2% of "
    )
    mixed = compare(QRELS, ALIKE, "AP R@30")  # all documents are retrieved
    assert mixed["lucky", "R@30"].outcome(0.05) == "unchanged"
    assert mixed.answer().startswith("lucky vs. poor is inconclusive: AP +")
    assert mixed.answer().endswith(" R@30: the same value for every query.")
    assert "equivalent" not in mixed.answer()


def test_geometric_means_sums_and_one_sided_tests_have_no_region() -> None:
    wide = Statistics(rope=100.0, resamples=500)
    found = compare(QRELS, ALIKE, "AP GMAP NumRelRet@5", statistics=wide)
    assert [row.rope for row in found.differences] == [100.0, None, None]
    assert [row.outcome(0.05) for row in found.differences] == ["equivalent", "inconclusive", "inconclusive"]
    assert found.answer().startswith("lucky and poor are equivalent within ±100: AP +")
    assert ". GMAP: inconclusive (×" in found.answer()
    assert ". NumRelRet@5: inconclusive (+" in found.answer()
    one_sided = compare(QRELS, ALIKE, "AP", statistics=replace(wide, alternative="greater"))
    assert one_sided["lucky", "AP"].rope is None
    assert one_sided["lucky", "AP"].outcome(0.05) == "inconclusive"


def test_only_measures_from_0_to_1_have_a_region_by_default() -> None:
    found = compare(QRELS, ALIKE, "AP FirstRel")
    assert [row.rope for row in found.differences] == [0.01, None]
    asked = compare(QRELS, ALIKE, "AP FirstRel", statistics=Statistics(rope=0.5))
    assert [row.rope for row in asked.differences] == [0.5, 0.5]
