from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankgauge import Conventions, UsageError, compare, evaluate
from rankgauge.comparison.answer_sentences import remarks
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.render.documents.comparison import comparison_table, document
from rankgauge.render.formats import rendered
from rankgauge.stats import joint_test
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import PAIRED_TESTS
from tests.comparison.collection import GOOD, LUCKY, POOR, QRELS, QUERIES
from tests.render.formats.texts import text_of_comparison


def test_differences_intervals_and_p_are_those_of_scipy() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10 AP", statistics=Statistics(test="t"))
    for measure in ("nDCG@10", "AP"):
        one = np.array(list(evaluate(QRELS, GOOD, measure).per_query(measure).values()), dtype=float)
        other = np.array(list(evaluate(QRELS, POOR, measure).per_query(measure).values()), dtype=float)
        row = found["good", measure]
        wanted = stats.ttest_rel(one, other)
        assert row.difference == pytest.approx((one - other).mean())
        assert row.p == pytest.approx(wanted.pvalue)
        low, high = wanted.confidence_interval()
        assert row.interval.low == pytest.approx(low)
        assert row.interval.high == pytest.approx(high)
        assert row.effect.wins + row.effect.ties + row.effect.losses == row.n == 40
    assert "good is better than poor: nDCG@10" in found.answer()


def test_geometric_means_differ_by_a_ratio_and_sums_by_their_difference() -> None:
    runs = {"poor": POOR, "good": GOOD}
    how = Statistics(test="t", rope=0.1, target_difference=0.1)
    found = compare(QRELS, runs, "GMAP NumRelRet@5", by=["category"], statistics=how)
    poor, good = (evaluate(QRELS, run, "GMAP NumRelRet@5") for run in (POOR, GOOD))
    row = found["good", "GMAP"]
    logs = [np.log(np.maximum(evaluate(QRELS, run, "AP").values[:, 0], 1e-5)) for run in (GOOD, POOR)]
    assert [row.value, row.baseline] == pytest.approx([good["GMAP"], poor["GMAP"]])
    assert np.exp(row.difference or 0) == pytest.approx((good["GMAP"] or 0) / (poor["GMAP"] or 1))
    assert row.p == pytest.approx(stats.ttest_rel(*logs).pvalue)
    wanted = difference_interval(*logs)
    assert (row.interval.low, row.interval.high) == pytest.approx((wanted.low, wanted.high))
    ratio, low, high = np.exp([wanted.estimate or 0, wanted.low or 0, wanted.high or 0])
    assert f"good is better than poor: GMAP ×{ratio:.3f} (95% CI ×{low:.3f} to" in found.answer()
    assert f"×{low:.3f} to ×{high:.3f}" in text_of_comparison(found)
    assert found.to_dict()["differences"][0]["ratio"] == pytest.approx(ratio)
    total = found["good", "NumRelRet@5"]
    assert total.difference == (good["NumRelRet@5"] or 0) - (poor["NumRelRet@5"] or 0)
    assert (total.value, total.baseline) == (good["NumRelRet@5"], poor["NumRelRet@5"])
    assert (total.interval.low or 0) < (total.difference or 0) < (total.interval.high or 0)
    assert sum(
        part.difference.difference or 0 for part in found.groups if part.difference.measure == total.measure
    ) == (total.difference)
    assert (row.queries_needed, row.rope, total.queries_needed, total.rope) == (None, None, None, None)
    assert "GMAP unknown" in remarks(found)[0]
    for luck_test in (Statistics("bootstrap"), Statistics("randomization")):
        luck = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "GMAP AP", statistics=luck_test)
        alone = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "GMAP", statistics=luck_test)
        one, raw = alone["lucky", "GMAP"], luck["lucky", "AP"]
        assert one.p_corrected == pytest.approx(one.p, abs=0.005)  # one comparison: nothing to correct
        assert one.p != pytest.approx(raw.p, abs=0.01)  # logarithms are compared, not values


def test_without_a_significant_difference_the_answer_says_so_and_what_was_detectable() -> None:
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "nDCG@10 RR@10")
    assert found.answer().startswith("lucky vs. poor is inconclusive: nDCG@10 ")
    assert "minimum detectable difference 0." in found.answer()
    same = compare(QRELS, {"one": POOR, "other": POOR}, "nDCG@10")
    assert same.answer().startswith(
        "other and one have the same nDCG@10 for every query; total losses on up to 7.2% of "
    )


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_every_test_is_corrected_over_its_family(test: Any) -> None:
    how = Statistics(test=test, resamples=2000)
    found = compare(QRELS, {"poor": POOR, "good": GOOD, "lucky": LUCKY}, "nDCG@10 AP", statistics=how)
    assert len(found.differences) == 4
    for row in found.differences:
        assert row.p is not None
        assert row.p_corrected is not None
        assert row.p_corrected >= row.p - 1e-9
    assert found["good", "AP"].is_significant(found.alpha)
    assert not found["lucky", "AP"].is_significant(found.alpha)
    assert found.family.startswith(f"{test} test")


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    def p(seed: int) -> float | None:
        how = Statistics(seed=seed, resamples=5000)
        return compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"].p

    assert p(0) == p(0) != p(1)


def test_a_worse_system_is_called_worse_also_if_lower_is_better() -> None:
    found = compare(QRELS, {"good": GOOD, "poor": POOR}, "nDCG@10 FirstRel")
    assert "poor is worse than good: nDCG@10" in found.answer()
    assert (found["poor", "FirstRel"].difference or 0) > 0


def test_only_queries_that_both_sides_have_are_paired() -> None:
    from rankgauge import RankgaugeError, Run

    half = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half")
    found = compare(QRELS, [Run.from_dict(POOR, name="poor"), half], "AP", conventions=Conventions(query_set="both"))
    assert found["half", "AP"].n == 20
    assert [note.code for note in found.notes] == ["unpaired", "judged-share"]
    failed = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half", failed=QUERIES[20:])
    assert compare(QRELS, [Run.from_dict(POOR, name="poor"), failed], "AP")["half", "AP"].n == 20
    assert issubclass(UsageError, RankgaugeError)


def test_a_value_over_other_queries_than_its_difference_has_a_note_and_none_is_the_best() -> None:
    half = {query: GOOD[query] for query in QUERIES[:20]}
    found = compare(QRELS, {"poor": POOR, "half": half}, "AP", conventions=Conventions(query_set="both"))
    assert found.has_unpaired_queries("AP")
    shown = comparison_table(found)
    assert [row[2].text for row in shown.rows] == [f"{run['AP']:.4f}" for run in found.scores]
    assert not any(row[2].best for row in shown.rows)
    counts = f"poor {len(QUERIES)}, half 20"
    assert f"scores of AP ({counts}) are over each system's own queries, Δ over shared queries" in shown.legend
    assert f"scores of AP ({counts}) are over each system's own queries" in text_of_comparison(found)
    whole = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP")
    assert not whole.has_unpaired_queries("AP")
    assert [row[2].best for row in comparison_table(whole).rows] == [False, True]
    assert "own queries" not in text_of_comparison(whole)


def test_a_ratio_beyond_any_number_is_shown_as_infinite() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"old": {"q1": ["a"], "q2": ["b", "a"]}, "new": {"q1": ["b"], "q2": ["a"]}}
    found = compare(judged, runs, "GMAP", statistics=Statistics(confidence=0.999))
    assert "GMAP ×0.004 (99.9% CI ×0.000 to ×∞, p = 1.000; 2 queries are too few" in found.answer()
    text = text_of_comparison(found)
    assert "×0.000 to ×∞" in text
    assert "99.9% CI" in text
    assert json.loads(rendered(document(found), "json"))["comparison"]["differences"][0]["ratio"] == pytest.approx(
        0.0045, abs=1e-4
    )
    assert found.scores[1].interval("GMAP", confidence=0.999).high == 1.0  # no mean of precisions is higher


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_queries_of_one_unit_are_drawn_and_flipped_together(test: Any) -> None:
    units, how = QRELS.with_columns({"unit": [n // 2 for n in range(40)]}), Statistics(test)
    alone = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"]
    together = compare(units, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"]
    assert together.interval.units == 20
    assert together.p != alone.p
    assert together.difference == alone.difference
    gaps = (evaluate(QRELS, LUCKY, "AP").values - evaluate(QRELS, POOR, "AP").values)[:, 0]
    of_units = gaps.reshape(20, 2).mean(axis=1)  # units of the same size: what a test of their means says
    if test == "bootstrap":
        assert together.p == joint_test(of_units[:, np.newaxis]).rows[0].p
    signs = np.array(list(product([-1.0, 1.0], repeat=10)))
    sums = np.add.outer(signs @ of_units[:10], signs @ of_units[10:])  # all 2²⁰ ways to flip 20 units
    exact = np.mean(np.abs(sums) >= abs(of_units.sum()) - 1e-12)
    assert together.p == pytest.approx(exact, abs=1e-9 if test == "randomization" else 0.06)


def test_proportions_have_newcombes_interval_unless_the_test_has_one_of_its_own() -> None:
    def method(**how: Any) -> str:
        found = compare(QRELS, {"poor": POOR, "good": GOOD}, "Success@1", statistics=Statistics(**how))
        return found["good", "Success@1"].interval.method

    assert method(test="randomization") == "newcombe"
    assert method() == "bootstrap max-t"


def test_the_largest_changes_are_listed_with_their_documents() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", changes=2)
    gaps = {
        query: (evaluate(QRELS, GOOD, "nDCG@10").per_query("nDCG@10")[query] or 0)
        - (evaluate(QRELS, POOR, "nDCG@10").per_query("nDCG@10")[query] or 0)
        for query in QUERIES
    }
    listed = found.changes["good"]
    assert listed[0].query == max(gaps, key=lambda query: gaps[query])
    assert listed[0].difference == pytest.approx(gaps[listed[0].query], abs=1e-12)
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", changes=0).changes == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"baseline": "pour"}, "did you mean poor"),
        ({"baseline": 7}, "no run is called '7'"),
        ({"statistics": {"test": "tt"}}, "test: expected one of"),
        ({"statistics": {"alternative": "lesser"}}, "did you mean less"),
        ({"statistics": {"rope": "x"}}, "rope: expected a number above 0, found 'x'"),
        ({"statistics": {"rope": True}}, "rope: expected a number above 0, found True"),
        ({"statistics": {"rope": 0.0}}, "rope: expected a number above 0, found 0.0"),
        (
            {"statistics": {"target_difference": float("nan")}},
            "target_difference: expected a number above 0, ",
        ),
        ({"statistics": {"seed": 1.5}}, "seed: expected a whole number, found 1.5"),
        ({"statistics": {"seed": True}}, "seed: expected a whole number, found True"),
        ({"statistics": {"resamples": "many"}}, "resamples: expected a whole number of at least 1, found 'many'"),
        ({"statistics": {"confidence": "high"}}, "confidence: expected a number between 0 and 1, found 'high'"),
    ],
)
def test_what_cannot_be_compared(arguments: dict[str, Any], said: str) -> None:
    def ask() -> None:
        how = Statistics(**arguments.get("statistics", {}))
        given = {name: value for name, value in arguments.items() if name != "statistics"}
        compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", statistics=how, **given)

    with pytest.raises(UsageError, match=said):
        ask()
    with pytest.raises(UsageError, match="at least two runs"):
        compare(QRELS, {"poor": POOR}, "AP")


def test_a_comparison_is_a_table_in_a_notebook() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP")
    assert "<table" in found._repr_html_()
    pytest.importorskip("pandas")
    assert found.to_pandas()["system"].tolist() == ["good"]


def test_runs_of_the_same_name_are_numbered() -> None:
    from rankgauge import Run

    found = compare(QRELS, [Run.from_dict(POOR, name="x"), Run.from_dict(GOOD, name="x")], "AP")
    assert found.names == ("x", "x (2)")


def test_the_family_says_what_was_drawn() -> None:
    def family(**how: Any) -> str:
        runs = {"poor": POOR, "good": GOOD, "lucky": LUCKY}
        return compare(QRELS, runs, "AP", statistics=Statistics(**how, resamples=500)).family

    chosen = compare(QRELS, {"poor": POOR, "good": GOOD, "lucky": LUCKY}, "AP", baseline=0, statistics=Statistics("t"))
    assert chosen.family == "t test; Holm over 2 comparisons (2 systems)"
    assert family(test="t") == "t test; Holm over 3 comparisons (3 pairs)"
    assert family() == "bootstrap test, 500 resamples, seed 0; max-t over 3 comparisons (3 pairs)"
    assert family(test="randomization") == (
        "randomization test, 500 resamples, seed 0; Holm over 3 comparisons (3 pairs)"
    )
