"""Weighted means: equal weights are no weights, whole weights are copies of a query, and draws equal a plain loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.errors import InputError
from rankgauge.stats import Resampling, joint_test, mean_interval, wilson_interval
from rankgauge.stats.draws import RandomStream, draw, drawn_counts, unit_rows
from rankgauge.stats.intervals import MEAN_METHODS, MeanMethod
from rankgauge.stats.results import Alternative
from rankgauge.stats.samples import sample
from tests.stats.test_joint_tests import ALTERNATIVES, FEW, LIMITS, families

Family = tuple[np.ndarray, list[int] | None]


@given(families(), st.floats(1e-6, 1e6), st.sampled_from(ALTERNATIVES))
@settings(max_examples=60)
def test_equal_weights_give_exactly_the_unweighted_numbers(
    family: Family, weight: float, alternative: Alternative
) -> None:
    differences, units = family
    options: dict[str, Any] = {"units": units, "alternative": alternative, "resampling": FEW}
    options["ranges"] = [LIMITS] * differences.shape[1]
    weights = [weight] * len(differences)
    assert joint_test(differences, weights=weights, **options) == joint_test(differences, **options)
    values = np.nan_to_num(differences[:, 0])
    for method in MEAN_METHODS:
        column = (values > 0).astype(float) if method == "wilson" else values
        weighted, plain = (
            mean_interval(column, method=method, weights=given, units=units, alternative=alternative, resampling=FEW)
            for given in (weights, None)
        )
        assert weighted == plain


@given(families(), st.integers(0, 2**32), st.sampled_from(ALTERNATIVES))
@settings(max_examples=60)
def test_a_weighted_interval_excludes_0_exactly_if_its_row_is_significant(
    family: Family, seed: int, alternative: Alternative
) -> None:
    differences, units = family
    weights = np.random.default_rng(seed).lognormal(0, 1.5, len(differences))
    ranges = [LIMITS] * differences.shape[1]
    for row in joint_test(
        differences, weights=weights, units=units, alternative=alternative, ranges=ranges, resampling=FEW
    ).rows:
        low, high = row.interval.low, row.interval.high
        if row.p is None or low is None or high is None:
            assert row.interval.reason
            continue
        assert (row.p <= 0.05) == (not low <= 0 <= high)
        assert -1 <= low < high <= 1


@given(st.integers(0, 2**32), st.sampled_from(ALTERNATIVES), st.booleans())
@settings(max_examples=20)
def test_whole_weights_are_copies_of_a_query_in_its_unit(seed: int, alternative: Alternative, dense: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    values = rng.normal(0.1, 0.3, n).round(3) if dense else np.where(rng.random(n) < 0.15, 0.5, 0.0)
    weights, units = rng.integers(1, 6, n), rng.integers(0, 20, n)
    options: dict[str, Any] = {"alternative": alternative, "resampling": FEW}
    weighted = joint_test(values[:, np.newaxis], weights=weights, units=units.tolist(), ranges=[LIMITS], **options)
    copied = joint_test(
        np.repeat(values, weights)[:, np.newaxis], units=np.repeat(units, weights).tolist(), ranges=[LIMITS], **options
    )
    (one,), (other,) = weighted.rows, copied.rows
    assert one.p == pytest.approx(other.p)
    assert one.interval.low == pytest.approx(other.interval.low, rel=1e-6)
    assert one.interval.high == pytest.approx(other.interval.high, rel=1e-6)
    if dense:
        assert one.detectable == pytest.approx(other.detectable, rel=1e-6)
        for method in ("t", "bootstrap-t", "bca", "percentile"):
            first = mean_interval(values, method=method, weights=weights, units=units, **options)
            second = mean_interval(
                np.repeat(values, weights), method=method, units=np.repeat(units, weights), **options
            )
            assert (first.low, first.high) == pytest.approx((second.low, second.high), rel=1e-6)


@pytest.mark.parametrize("units", [None, [n // 3 for n in range(30)]])
@pytest.mark.parametrize("missing", [False, True])
def test_weighted_draws_equal_a_loop_over_drawn_queries(units: list[int] | None, missing: bool) -> None:
    rng = np.random.default_rng(0)
    differences, weights = np.round(rng.normal(0.1, 0.3, (30, 2)), 3), rng.lognormal(0, 1, 30)
    if missing:
        differences[4:9, 1] = np.nan
    rows, stream = unit_rows(differences, units, weights), RandomStream(3)
    draws = draw(rows, 50, stream)
    labels = np.array(units or range(30))
    (counts,) = drawn_counts(len(set(labels.tolist())), 50, stream)
    for column, row in enumerate(rows):
        present = ~np.isnan(differences[:, column])
        own, weight = differences[present, column], weights[present]
        assert row.sample.mean == pytest.approx(np.average(own, weights=weight))
        for index, count in enumerate(counts):
            clusters = [present & (labels == unit) for unit, times in enumerate(count) for _ in range(int(times))]
            clusters = [members for members in clusters if members.any()]
            groups, size = len(clusters), sum(weights[members].sum() for members in clusters)
            mean = sum((weights * differences[:, column])[members].sum() for members in clusters) / size
            squares = sum(((weights * (differences[:, column] - mean))[members].sum()) ** 2 for members in clusters)
            error = math.sqrt(groups / (groups - 1) * squares) / size
            assert draws.shift[column, index] == pytest.approx(mean - row.sample.mean, abs=1e-9)
            assert draws.error[column, index] == pytest.approx(error, rel=1e-6)


@given(st.integers(2, 30), st.integers(0, 2**32))
def test_the_standard_error_is_that_of_a_ratio(n: int, seed: int) -> None:
    """√(n / (n − 1) · Σ w² (x − mean)²) / Σ w, as survey sampling has it."""
    rng = np.random.default_rng(seed)
    values, weights = rng.random(n), rng.lognormal(0, 1, n)
    mean = (weights * values).sum() / weights.sum()
    error = math.sqrt(n / (n - 1) * np.square(weights * (values - mean)).sum()) / weights.sum()
    assert sample(values, weights=weights).standard_error == pytest.approx(error)


def test_the_scale_of_weights_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    values, weights = rng.normal(0.1, 0.3, (40, 2)).round(6), rng.lognormal(0, 1, 40)
    plain, scaled = (joint_test(values, weights=weights * factor, resampling=FEW).rows for factor in (1, 1024))
    assert plain == scaled


@pytest.mark.parametrize("alike", [True, False])
def test_equal_differences_do_not_vary_whatever_their_weights(alike: bool) -> None:
    values = np.full((400, 1), 0.123456789012)
    values[0] = values[1] if alike else 0.5
    (row,) = unit_rows(values, weights=np.random.default_rng(0).lognormal(0, 3, 400))
    assert row.varying == (0 if alike else 1)


def test_wilson_with_weights_has_the_effective_number_of_queries() -> None:
    weights = [4.0, 2.0, 1.0, 1.0]
    n, p = 8**2 / 22, 6 / 8  # (Σ w)² / Σ w², the weighted share of the first and second
    z = 1.959963984540054
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    interval = wilson_interval([1, 1, 0, 0], weights=weights)
    assert interval.low == pytest.approx((middle - half) / (1 + z * z / n))
    assert interval.high == pytest.approx((middle + half) / (1 + z * z / n))
    assert wilson_interval([1, 1, 1], weights=[0.1, 0.7, 0.3]).high == 1.0


@pytest.mark.parametrize("changed", [0, 3])
def test_a_sparse_weighted_row_adds_two_changes_of_typical_weight(changed: int) -> None:
    from scipy.stats import t

    n, weights = 40, np.random.default_rng(6).lognormal(0, 1, 40)
    order = np.argsort(weights)  # the lightest change: the next one may be heavier
    differences = np.zeros(n)
    differences[order[:changed]] = 0.5
    (row,) = joint_test(differences[:, np.newaxis], weights=weights, ranges=[LIMITS]).rows
    parts = n * weights * differences / weights.sum()
    end = (0.5 if changed else 1.0) * math.sqrt(np.square(weights).mean()) / weights.mean()
    mean = parts.sum() / (n + 2)
    variance = (np.square(parts).sum() + 2 * end**2) / (n + 2) - mean**2
    half = t.ppf(0.975, n - 1) * math.sqrt(variance / (n + 2))
    assert (row.interval.low, row.interval.high) == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -1.0], [1.0, math.inf], [1.0, math.nan], [1.0], ["a", "b"]])
def test_weights_must_be_positive_numbers_one_for_each_query(weights: list[Any]) -> None:
    with pytest.raises(InputError, match="weight"):
        joint_test([[0.1], [0.2]], weights=weights)
    with pytest.raises(InputError, match="weight"):
        mean_interval([0.1, 0.2], weights=weights)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap-t", "wilson"])
@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_weighted_intervals_cover_as_promised(method: MeanMethod, spread: float) -> None:
    """600 samples of 40 queries with lognormal weights: at most 5% miss, within four standard errors."""
    rng = np.random.default_rng(11)
    missed = 0
    for seed in range(600):
        values = (rng.random(40) < 0.7).astype(float) if method == "wilson" else rng.beta(2, 1, 40)
        interval = mean_interval(
            values, method=method, weights=rng.lognormal(0, spread, 40), resampling=Resampling(400, seed)
        )
        assert interval.low is not None
        assert interval.high is not None
        missed += not interval.low <= (0.7 if method == "wilson" else 2 / 3) <= interval.high
    assert missed / 600 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 600)
