"""Over what p values are corrected: which queries, which differences, and how often chance alone is significant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankgauge import Conventions, Qrels, Statistics, compare
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.evaluation.evaluate import Evaluation, evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.names import parse_measure
from rankgauge.stats import Resampling, joint_test
from tests.render.formats.texts import text_of_comparison

RNG = np.random.default_rng(11)
DOCS = [f"d{n}" for n in range(20)]
QUERIES = [f"q{n:02d}" for n in range(30)]
JUDGED = {query: {doc: int(RNG.integers(0, 2)) for doc in DOCS[:10]} for query in QUERIES}
BOTH = Conventions(query_set="both")


def system(skill: float, queries: list[str]) -> dict[str, dict[str, float]]:
    return {query: {doc: skill * JUDGED[query].get(doc, 0) + float(RNG.normal()) for doc in DOCS} for query in queries}


BASE, NEW, OTHER = system(0.0, QUERIES), system(0.4, QUERIES), system(0.0, QUERIES)
SHORT = {query: OTHER[query] for query in QUERIES[:6]}


def made(third: dict[str, dict[str, float]] | None, **how: Any) -> Comparison:
    runs = {"base": BASE, "new": NEW} | ({} if third is None else {"third": third})
    return compare(JUDGED, runs, "AP", conventions=BOTH, baseline=0, statistics=Statistics(**how, resamples=20_000))


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_system_that_lacks_queries_takes_none_from_another_pair(test: Any) -> None:
    alone, beside = (made(third, test=test)["new", "AP"] for third in (None, SHORT))
    assert (alone.n, beside.n, alone.difference, alone.p) == (30, 30, beside.difference, beside.p)
    assert beside.p_corrected is not None
    assert alone.p is not None
    assert alone.p_corrected == pytest.approx(alone.p, abs=0.01)  # one comparison, of as many flips
    assert alone.p < beside.p_corrected < 3 * alone.p  # one more, and the same queries


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_pair_without_queries_has_no_p_and_is_not_counted(test: Any) -> None:
    base = {query: BASE[query] for query in QUERIES[6:]}
    how = Statistics(test, resamples=2000)
    found = compare(
        JUDGED, {"base": base, "new": NEW, "third": SHORT}, "AP", conventions=BOTH, baseline=0, statistics=how
    )
    assert (found["third", "AP"].n, found["third", "AP"].p_corrected) == (0, None)
    assert found["new", "AP"].p_corrected is not None
    assert found.family_sizes == (1, 0)
    assert "not corrected" in found.family


def test_the_family_counts_the_p_values_that_there_are() -> None:
    found = compare(
        JUDGED, {"base": BASE, "same": BASE, "new": NEW, "other": OTHER}, "AP", baseline=0, statistics=Statistics("t")
    )
    shifted = replace(found.scores[1], values=found.scores[0].values + 0.1)  # the same difference for every query
    evaluation = Evaluation(Qrels.from_dict(JUDGED), (), (found.scores[0], shifted, *found.scores[2:]))
    again = compare_evaluation(evaluation, 0, statistics=Statistics("t"))
    assert again["same", "AP"].p is None
    assert again.family == "t test; Holm over 2 comparisons (3 systems, 1 without p)"
    smaller, larger = sorted(again[name, "AP"].p or 0.0 for name in ("new", "other"))
    assert {again[name, "AP"].p_corrected for name in ("new", "other")} == {2 * smaller, max(2 * smaller, larger)}


def by_hand(p: list[float]) -> list[float]:
    """Holm's correction, by its definition."""
    return [max(min(1.0, (len(p) - sorted(p).index(q)) * q) for q in p if q <= one) for one in p]


def test_the_first_measure_is_a_family_over_systems_and_all_others_are_another() -> None:
    runs = {"base": BASE, "new": NEW, "other": OTHER}
    found = compare(JUDGED, runs, "AP nDCG@10 P@5", baseline=0, statistics=Statistics("t"))
    assert (found.primary, found.family_sizes) == ("AP", (2, 4))
    assert found.family == (
        "t test; AP (primary): Holm over 2 comparisons (2 systems); "
        "other measures: Holm over 4 comparisons (2 systems × 2 measures)"
    )
    primary = [row for row in found.differences if row.measure == "AP"]
    secondary = [row for row in found.differences if row.measure != "AP"]
    assert (len(primary), len(secondary)) == (2, 4)
    for rows in (primary, secondary):
        assert [row.p_corrected for row in rows] == pytest.approx(by_hand([row.p or 0.0 for row in rows]))
    swapped = compare(JUDGED, runs, "P@5 AP nDCG@10", baseline=0, statistics=Statistics("t"))
    assert (swapped.primary, swapped.family_sizes) == ("P@5", (2, 4))
    assert swapped["new", "P@5"].p_corrected != found["new", "P@5"].p_corrected
    assert [(row.system, row.measure) for row in found.differences] == [
        (system, measure) for system in ("new", "other") for measure in ("AP", "nDCG@10", "P@5")
    ]


def test_by_max_t_each_family_is_one_joint_test_and_other_measures_cost_the_primary_one_nothing() -> None:
    runs, how = {"base": BASE, "new": NEW, "other": OTHER}, Statistics(resamples=999)
    found = compare(JUDGED, runs, "AP nDCG@10 P@5", baseline=0, statistics=how)
    alone = compare(JUDGED, runs, "AP", baseline=0, statistics=how)
    families = (("AP",), ("nDCG@10", "P@5"))
    for measures in families:
        keys = [(system, measure) for system in ("new", "other") for measure in measures]
        pairs = [found.paired(*key) for key in keys]
        gaps = np.column_stack([np.array(one) - np.array(other) for _, one, other in pairs])
        joint = joint_test(gaps, ranges=[(-1.0, 1.0)] * len(keys), resampling=Resampling(999, 0))
        for key, row in zip(keys, joint.rows, strict=True):
            assert (found[key].p_corrected, found[key].p) == (row.p, row.p_alone)
            assert (found[key].interval.low, found[key].interval.high) == (row.interval.low, row.interval.high)
    for system in ("new", "other"):
        assert found[system, "AP"] == alone[system, "AP"]
    assert (alone.family_sizes, found.family_sizes) == ((2, 0), (2, 4))


@pytest.mark.parametrize(
    ("test", "kind"),
    [("bootstrap", "simultaneous"), ("randomization", "unadjusted"), ("t", "unadjusted"), ("sign", "unadjusted")],
)
def test_intervals_are_labeled_by_the_family_they_hold_for(test: Any, kind: str) -> None:
    how = Statistics(test, resamples=500)
    found = compare(JUDGED, {"base": BASE, "new": NEW, "other": OTHER}, "AP", baseline=0, statistics=how)
    assert found.interval_kind == kind
    assert text_of_comparison(found).count("intervals are ") == 1
    assert f"intervals are {kind}" in text_of_comparison(found)
    assert found.to_dict()["intervals"] == kind
    alone = compare(JUDGED, {"base": BASE, "new": NEW}, "AP", baseline=0, statistics=how)
    assert (alone.interval_kind, alone.to_dict()["intervals"]) == ("", "individual")


def test_intervals_of_students_t_are_each_for_itself() -> None:
    runs = {"base": BASE, "new": NEW, "other": OTHER}
    found = compare(JUDGED, runs, "AP nDCG@10 P@5", baseline=0, statistics=Statistics("t"))
    for row in found.differences:
        _, one, other = found.paired(row.system, row.measure)
        low, high = stats.ttest_rel(one, other).confidence_interval(0.95)
        assert (row.interval.low, row.interval.high) == pytest.approx((low, high))


# ------------------------------------------------------------------------------------------------- groups of queries

MEASURES = tuple(map(parse_measure, ("AP", "RR", "nDCG@10", "P@5")))
COLUMNS = {"category": np.array([n % 3 for n in range(30)]), "length": np.array([n // 15 for n in range(30)])}


def by_chance(seed: int) -> Comparison:
    """Three systems and a baseline that differ only by chance."""
    rng = np.random.default_rng(seed)
    like = replace(evaluate(JUDGED, BASE, "AP"), measures=MEASURES, columns=COLUMNS)
    scores: list[Scores] = [replace(like, run=name, values=rng.normal(size=(30, 4))) for name in "abcd"]
    evaluation = Evaluation(Qrels.from_dict(JUDGED), (), tuple(scores))
    how = Statistics("t", resamples=999)
    return compare_evaluation(evaluation, 0, statistics=how, by=list(COLUMNS), changes=0)


@pytest.mark.slow
def test_chance_is_rarely_significant_in_any_group() -> None:
    reports, columns = 60, len(COLUMNS)
    groups = raw = 0
    for seed in range(reports):
        found = by_chance(seed)
        for by in COLUMNS:
            rows = [row.difference for row in found.groups if row.by == by]
            groups += any(row.is_significant(0.05) for row in rows)
            raw += any((row.p or 1.0) <= 0.05 for row in rows)
    assert groups <= stats.binom.ppf(0.999, reports * columns, 0.05)
    assert raw > reports * columns / 3  # as it would be, were they not corrected


def test_groups_are_corrected_over_systems_measures_and_groups() -> None:
    found = by_chance(1)
    assert found.group_families == {
        "category": "Holm over 36 comparisons (3 systems × 4 measures × 3 groups)",
        "length": "Holm over 24 comparisons (3 systems × 4 measures × 2 groups)",
    }
    for by, size in (("category", 36), ("length", 24)):
        smallest = min((row.difference for row in found.groups if row.by == by), key=lambda row: row.p or 1.0)
        assert smallest.p_corrected == pytest.approx(min(1.0, size * (smallest.p or 1.0)))
    data = found.to_dict()
    assert data["group_families"] == found.group_families
    assert f"p by length: {found.group_families['length']}" in text_of_comparison(found)
