"""Kappa and alpha against scikit-learn, statsmodels, the published example, and their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import InputError, UsageError
from rankgauge.stats import Resampling, agreement_intervals, cohen_kappa, krippendorff_alpha
from rankgauge.stats.bootstrap import bca_quantiles, resampled_sums
from rankgauge.stats.draws import RandomStream
from rankgauge.stats.rater_agreement import ALPHA_LEVELS, KAPPA_WEIGHTS, kappa_statistic
from rankgauge.stats.samples import Floats

TABLE = [[13, 2, 2, 0], [2, 9, 3, 2], [0, 2, 8, 4], [0, 0, 1, 12]]
PAIRS = [(row, column) for row in range(4) for column in range(4) for _ in range(TABLE[row][column])]
NAN = math.nan
# Four observers and twelve units: Krippendorff, Computing Krippendorff's alpha-reliability, 2011, section C.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


@pytest.mark.parametrize(
    ("weights", "expected"),  # scikit-learn 1.9's cohen_kappa_score; statsmodels 0.15's cohens_kappa agrees
    [("none", 0.6010343553749538), ("linear", 0.7139141742522757), ("quadratic", 0.809119830328738)],
)
def test_kappa_is_that_of_scikit_learn(weights: str, expected: float) -> None:
    assert cohen_kappa(TABLE, weights=weights).value == pytest.approx(expected, abs=1e-14)  # type: ignore[arg-type]  # a literal


@pytest.mark.parametrize(
    ("level", "published", "exact"),  # the paper has three digits; all of them from krippendorff 0.9
    [
        ("nominal", 0.743, 0.743421052631579),
        ("ordinal", 0.815, 0.8153875037548814),
        ("interval", 0.849, 0.8491071428571428),
    ],
)
def test_alpha_is_that_of_the_published_example(level: str, published: float, exact: float) -> None:
    alpha = krippendorff_alpha(PUBLISHED, level=level)  # type: ignore[arg-type]  # a literal
    assert alpha.value == pytest.approx(exact, abs=1e-14)
    assert round(alpha.value or 0, 3) == published
    assert alpha.n == 11  # the unit with one rating does not count


def confusion_table(pairs: list[tuple[int, int]]) -> Floats:
    """How often the first assessor gave the grade of a row, and the second that of a column."""
    return np.array([[pairs.count((a, b)) for b in range(4)] for a in range(4)], dtype=np.float64)


grades = st.integers(0, 3)
ratings = st.lists(st.tuples(grades, grades), min_size=2, max_size=30)


@given(ratings)
def test_kappa_is_one_minus_observed_by_expected_disagreement(pairs: list[tuple[int, int]]) -> None:
    n = len(pairs)
    table = confusion_table(pairs)
    for power, weights in enumerate(KAPPA_WEIGHTS):

        def cost(a: int, b: int, power: int = power) -> float:
            return float(a != b) * float(abs(a - b)) ** power

        observed = sum(cost(a, b) for a, b in pairs) / n
        expected = sum(cost(a, d) for a, _ in pairs for _, d in pairs) / n**2
        kappa = cohen_kappa(table, weights=weights)
        if expected:
            assert kappa.value == pytest.approx(1 - observed / expected, abs=1e-12)
        else:
            assert kappa.value is None
            assert kappa.reason


@given(ratings)
def test_alpha_is_one_minus_observed_by_expected_disagreement(pairs: list[tuple[int, int]]) -> None:
    pooled = [grade for pair in pairs for grade in pair]
    counts = [pooled.count(grade) for grade in range(4)]

    def cost(level: str, a: int, b: int) -> float:
        low, high = sorted((a, b))
        between = sum(counts[low : high + 1]) - (counts[low] + counts[high]) / 2
        return {"nominal": float(a != b), "ordinal": float(a != b) * between**2, "interval": (a - b) ** 2}[level]

    n = len(pooled)
    for level in ALPHA_LEVELS:
        observed = sum(cost(level, a, b) for a, b in pairs) / len(pairs)
        expected = sum(cost(level, pooled[i], pooled[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
        alpha = krippendorff_alpha(pairs, level=level).value
        assert (alpha is None) == (expected == 0)
        if expected:
            assert alpha == pytest.approx(1 - observed / expected, abs=1e-9)


@given(ratings)
def test_kappa_does_not_depend_on_who_is_first(pairs: list[tuple[int, int]]) -> None:
    table = confusion_table(pairs)
    first, second = cohen_kappa(table, weights="linear").value, cohen_kappa(table.T, weights="linear").value
    assert first == pytest.approx(second) if first is not None else second is None


def tables(rng: np.random.Generator, queries: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    out = np.zeros((queries, 4, 4))
    for table in out:
        shift = rng.normal(0, 0.7)  # queries differ, so that documents of a query are not independent
        for _ in range(10):
            first = int(rng.integers(0, 4))
            second = int(np.clip(round(first + shift + rng.normal(0, 0.5)), 0, 3))
            table[first, second] += 1
    return out


def test_intervals_resample_queries_and_not_documents() -> None:
    parts = tables(np.random.default_rng(5), 30)
    statistic = {"kappa": kappa_statistic(4, "quadratic")}
    by_query = agreement_intervals(parts, statistic)["kappa"]
    cells = np.concatenate([np.repeat(np.arange(16), part.astype(int).ravel()) for part in parts])
    single = np.zeros((len(cells), 16))
    single[np.arange(len(cells)), cells] = 1  # a table for each document
    by_document = agreement_intervals(single.reshape(-1, 4, 4), statistic)["kappa"]
    assert by_query.estimate == pytest.approx(by_document.estimate)
    assert by_query.low is not None
    assert by_query.high is not None
    assert by_query.low < (by_query.estimate or 0) < by_query.high
    assert by_document.high is not None
    assert by_document.low is not None
    assert by_query.high - by_query.low > 1.2 * (by_document.high - by_document.low)


def test_the_same_seed_gives_the_same_interval() -> None:
    parts = tables(np.random.default_rng(6), 12)
    statistic = {"kappa": kappa_statistic(4, "none")}
    first, second, other = (
        agreement_intervals(parts, statistic, resampling=Resampling(500, seed))["kappa"] for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other


@pytest.mark.slow
def test_intervals_of_kappa_cover() -> None:
    rng = np.random.default_rng(8)
    statistic = kappa_statistic(4, "quadratic")
    truth = float(statistic(tables(rng, 4000).sum(axis=0)))
    covered = 0
    for seed in range(100):
        interval = agreement_intervals(tables(rng, 40), {"kappa": statistic}, resampling=Resampling(400, seed))["kappa"]
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= truth <= interval.high
    assert 0.88 <= covered / 100 <= 0.99


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (np.zeros((3, 2, 2)) + np.diag([5, 0]), "all grades are the same"),
        (np.ones((1, 2, 2)), "at least 2 queries are needed"),
        (np.ones((3, 2, 2)), "resamples of the queries hardly differ"),
    ],
)
def test_an_interval_that_cannot_be_made_says_why(
    parts: np.ndarray[tuple[int, ...], np.dtype[np.float64]], reason: str
) -> None:
    interval = agreement_intervals(parts, {"kappa": kappa_statistic(2, "none")})["kappa"]
    assert (interval.low, interval.high) == (None, None)
    assert interval.reason == reason


def test_bad_tables_and_options_are_errors() -> None:
    with pytest.raises(InputError, match="square"):
        cohen_kappa([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(UsageError, match="weights must be one of"):
        cohen_kappa(TABLE, weights="cubic")  # type: ignore[arg-type]  # which is not one


def test_bca_is_the_formula_applied_to_the_resamples() -> None:
    values = np.array([0.0, 0.0, 0.1, 0.2, 0.25, 0.5, 1.0, 1.0])
    (sums,) = resampled_sums(values[np.newaxis], 999, RandomStream(1))
    drawn = sums[0] / len(values)
    theta = float(values.mean())
    without = np.array([np.delete(values, place).mean() for place in range(len(values))])
    c = without.mean() - without
    a = (c**3).sum() / (6 * (c**2).sum() ** 1.5)
    ties = np.isclose(drawn, theta, atol=1e-10)
    assert ties.any()
    z0 = stats.norm.ppf(((drawn < theta) & ~ties).mean() + ties.mean() / 2)
    wanted = [
        np.quantile(drawn, stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))) for z in stats.norm.ppf([0.025, 0.975])
    ]
    assert bca_quantiles(drawn, theta, without, 0.025, slack=1e-10) == pytest.approx(tuple(wanted), rel=1e-9)


def test_resampled_sums_are_all_those_possible_with_their_chances() -> None:
    found = np.hstack([sums[0] for sums in resampled_sums(np.array([[0.5, 1.0]]), 40_000, RandomStream(2))])
    seen, counts = np.unique(found, return_counts=True)
    assert dict(zip(seen.tolist(), (counts / 40_000).tolist(), strict=True)) == pytest.approx(
        {1.0: 0.25, 1.5: 0.5, 2.0: 0.25}, abs=0.015
    )
