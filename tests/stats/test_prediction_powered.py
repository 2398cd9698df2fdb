"""Prediction-powered means against ppi_py, by their properties, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import InputError, UsageError
from rankgauge.stats import Resampling, mean_interval, prediction_powered_mean
from rankgauge.stats.distributions import normal_quantile

# fmt: off
LABELS = [0.426, 0.293, 0.238, 0.408, 0.417, 0.148, 0.649, 0.546, 0.159, 0.355, 0.674, 0.197, 0.128, 0.41, 0.321, 0.191,
          0.698, 0.071, 0.564, 0.672, 0.552, 0.23, 0.36, 0.437]
KNOWN = [0.282, 0.356, 0.23, 0.528, 0.786, 0.148, 0.674, 0.671, 0.318, 0.434, 0.749, 0.381, 0.29, 0.386, 0.411, 0.295,
         0.671, 0.202, 0.561, 0.889, 0.675, 0.341, 0.389, 0.523]
REST = [0.201, 0.29, 0.701, 0.86, 0.456, 0.52, 0.249, 0.379, 0.476, 0.401, 0.558, 0.628, 0.494, 0.178, 0.551, 0.405,
        0.556, 0.682, 0.355, 0.742, 0.57, 0.414, 0.902, 0.549, 0.299, 0.469, 0.453, 0.15, 0.075, 0.286, 0.338, 0.316,
        0.365, 0.0, 0.394, 0.778, 0.609, 0.256, 0.478, 0.543, 0.162, 0.46, 0.65, 0.611, 0.507, 0.475, 0.501, 0.604,
        0.239, 0.346, 0.553, 1.0, 0.71, 0.401, 0.536, 0.192, 0.172, 0.362, 0.608, 0.613]
# fmt: on


@pytest.mark.parametrize(
    ("weight", "estimate", "low", "high"),  # ppi_py 0.2.3: ppi_mean_pointestimate, ppi_mean_ci at alpha 0.05
    [
        (1.0, 0.37521666666666664, 0.3108353629364918, 0.4395979703968415),
        (0.5, 0.3781083333333333, 0.3268788704074121, 0.42933779625925456),
        (0.0, 0.381, 0.3065916947235311, 0.4554083052764689),
    ],
)
def test_estimate_and_error_are_those_of_ppi_py(weight: float, estimate: float, low: float, high: float) -> None:
    result = prediction_powered_mean(LABELS, KNOWN, REST, weight=weight)
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    # It divides by n where this divides by n − 1, and uses the normal quantile instead of the bootstrap's.
    used = weight
    rectifier = np.var(np.array(LABELS) - used * np.array(KNOWN)) / len(LABELS)
    imputed = used**2 * np.var(REST) / len(REST)
    reach = normal_quantile(0.975) * np.sqrt(rectifier + imputed)
    assert (estimate - reach, estimate + reach) == pytest.approx((low, high), abs=1e-12)
    corrected = rectifier * len(LABELS) / (len(LABELS) - 1) + imputed * len(REST) / (len(REST) - 1)
    assert result.standard_error == pytest.approx(np.sqrt(corrected), abs=1e-12)
    assert result.weight == weight


def test_the_weight_is_the_slope_of_the_labels_on_the_predictions() -> None:
    result = prediction_powered_mean(LABELS, KNOWN, REST)
    n, rest = len(LABELS), len(REST)
    label, known = sum(LABELS) / n, sum(KNOWN) / n
    together = sum((y - label) * (f - known) for y, f in zip(LABELS, KNOWN, strict=True))
    slope = together / sum((f - known) ** 2 for f in KNOWN)
    weight = slope * rest / (n + rest)
    assert 0 < slope < 1
    assert result.weight == pytest.approx(weight)
    assert result.estimate == pytest.approx(label + weight * (sum(REST) / rest - known))
    # As in double sampling: the mean of the labels, moved along the line to the mean of all predictions.
    assert result.estimate == pytest.approx(label + slope * ((sum(KNOWN) + sum(REST)) / (n + rest) - known))


def test_the_interval_is_that_of_a_plain_loop() -> None:
    resampling = Resampling(399, 3)
    result = prediction_powered_mean(LABELS, KNOWN, REST, resampling=resampling)
    n, rest = len(LABELS), len(REST)

    def estimate(pairs: list[tuple[float, float]], mean: float) -> tuple[float, float]:
        labels, known = np.array(pairs).T
        spread = np.mean((known - known.mean()) ** 2)
        slope = min(max(np.mean((labels - labels.mean()) * (known - known.mean())) / spread, 0), 1)
        weight = slope * rest / (n + rest)
        errors = labels - weight * known
        error = np.sqrt(np.sum((errors - errors.mean()) ** 2) / (n - 2) / n + weight**2 * np.var(REST, ddof=1) / rest)
        return labels.mean() + weight * (mean - known.mean()), error

    pairs = list(zip(LABELS, KNOWN, strict=True))
    middle, error = estimate(pairs, float(np.mean(REST)))
    drawn = resampling.stream.child("labels", "block 0").bits().below(n, n, 400)[:, :399]
    words = resampling.stream.child("predictions").bits().words(1, 399)[0]
    deviations = [normal_quantile((float(word >> np.uint64(11)) + 0.5) * 2.0**-53) for word in words]
    t = []
    for column, deviation in zip(drawn.T, deviations, strict=True):
        mean = float(np.mean(REST)) + deviation * np.std(REST, ddof=1) / np.sqrt(rest)
        other, its_error = estimate([pairs[row] for row in column], mean)
        t.append((other - middle) / its_error)
    t.sort()
    assert result.interval.low == pytest.approx(middle - t[-10] * error)
    assert result.interval.high == pytest.approx(middle - t[9] * error)


def test_labels_that_are_all_equal_leave_room_for_others() -> None:
    """Twenty right answers do not show that all are right, whatever the machine says of the others."""
    result = prediction_powered_mean([1.0] * 20, [1.0] * 20, [1.0] * 180, limits=(0, 1))
    assert (result.estimate, result.interval.high) == (1.0, 1.0)
    assert result.interval.low is not None
    assert 0.8 < result.interval.low < 0.9
    unknown = prediction_powered_mean([1.0] * 20, [1.0] * 20, [1.0] * 180).interval
    assert unknown.low is None
    assert "the range of labels is unknown" in (unknown.reason or "")


def test_machine_labels_that_never_erred_may_still_err() -> None:
    """7 of 20 right by people and machine alike, 180 of 180 by the machine: these 200 queries score 0.935."""
    labels = [1.0] * 7 + [0.0] * 13
    result = prediction_powered_mean(labels, labels, [1.0] * 180, limits=(0, 1))
    assert result.estimate == pytest.approx(187 / 200)
    low, high = result.interval.low, result.interval.high
    assert low is not None
    assert high is not None
    assert low < 0.88
    assert high > 0.98


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1, width=32)), min_size=20, max_size=40),
    st.lists(st.floats(0, 1, width=32), max_size=30),
)
def test_an_interval_has_a_width_contains_its_estimate_and_stays_in_the_range(
    pairs: list[tuple[float, float]], rest: list[float]
) -> None:
    labels, known = zip(*pairs, strict=True)
    result = prediction_powered_mean(labels, known, rest, limits=(0, 1), resampling=Resampling(199))
    low, high = result.interval.low, result.interval.high
    assert low is not None
    assert high is not None
    assert 0 <= low < high <= 1
    assert result.estimate is not None
    assert low <= result.estimate <= high


def test_a_weight_of_zero_is_the_mean_of_the_labels() -> None:
    result = prediction_powered_mean(LABELS, KNOWN, REST, weight=0)
    plain = mean_interval(LABELS, method="bootstrap-t")  # by other draws
    assert result.estimate == pytest.approx(np.mean(LABELS))
    assert (result.interval.low, result.interval.high) == pytest.approx((plain.low, plain.high), abs=0.003)


values = st.lists(st.floats(0, 1, width=32), min_size=3, max_size=20)


@given(values, values, st.floats(-5, 5, width=32))
def test_a_constant_error_of_the_predictions_changes_nothing(
    labels: list[float], rest: list[float], shift: float
) -> None:
    known = [value**2 for value in labels]
    plain = prediction_powered_mean(labels, known, rest)
    moved = prediction_powered_mean(labels, np.array(known) + shift, np.array(rest) + shift)
    assert moved.estimate == pytest.approx(plain.estimate, abs=1e-6)
    assert moved.standard_error == pytest.approx(plain.standard_error, abs=1e-6)


@given(values, values)
def test_predictions_that_say_nothing_get_no_weight(labels: list[float], rest: list[float]) -> None:
    result = prediction_powered_mean(labels, [0.5] * len(labels), [0.5] * len(rest))
    assert result.weight == 0
    assert result.estimate == pytest.approx(np.mean(labels))


def test_perfect_predictions_get_most_of_the_weight() -> None:
    rest = LABELS * 20
    result = prediction_powered_mean(LABELS, LABELS, rest)
    assert result.weight == pytest.approx(1 / (1 + 1 / 20), abs=0.002)
    assert result.standard_error is not None
    assert result.standard_error < (prediction_powered_mean(LABELS, LABELS, rest, weight=0).standard_error or 0)


def test_without_unlabeled_predictions_it_is_the_mean_of_the_labels() -> None:
    result = prediction_powered_mean(LABELS, KNOWN, [])
    assert result.estimate == pytest.approx(np.mean(LABELS))
    assert result.unlabeled == 0


def test_too_few_labels_have_a_reason_and_bad_ones_are_errors() -> None:
    assert prediction_powered_mean([0.5, 0.6], [0.5, 0.6], [0.1]).interval.reason == "too few labels: 2"
    with pytest.raises(InputError, match="each label needs a prediction"):
        prediction_powered_mean([0.5], [0.5, 0.6], [0.1])
    with pytest.raises(UsageError, match="weight must lie between 0 and 1"):
        prediction_powered_mean(LABELS, KNOWN, REST, weight=2)


@pytest.mark.slow
def test_intervals_cover_and_those_of_the_predictions_alone_do_not() -> None:
    rng = np.random.default_rng(11)
    n, rest, draws, truth = 20, 100, 1000, 0.4  # the mean of a Beta(2, 3)
    covered, naive = 0, 0
    for _ in range(draws):
        values = rng.beta(2, 3, n + rest)
        predicted = np.clip(values + 0.1 + rng.normal(0, 0.15, n + rest), 0, 1)
        interval = prediction_powered_mean(
            values[:n], predicted[:n], predicted[n:], resampling=Resampling(399)
        ).interval
        alone = mean_interval(predicted)
        for counted, one in ((True, interval), (False, alone)):
            is_covered = one.low is not None and one.high is not None and one.low <= truth <= one.high
            covered += counted and is_covered
            naive += not counted and is_covered
    assert 0.925 <= covered / draws <= 0.975
    assert naive / draws < 0.1
