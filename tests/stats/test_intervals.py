import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import InputError, UsageError
from rankgauge.stats.draws import Resampling
from rankgauge.stats.intervals import (
    DIFFERENCE_METHODS,
    MEAN_METHODS,
    DifferenceMethod,
    MeanMethod,
    difference_interval,
    geometric_mean_interval,
    mean_interval,
)
from rankgauge.stats.proportions import newcombe_interval, wilson_interval
from rankgauge.stats.results import ALTERNATIVES, Alternative, Interval
from rankgauge.stats.samples import Floats
from tests.stats.strategies import pairs

RNG = np.random.default_rng(4)
A, B = RNG.random(25), RNG.random(25)
ONES = (RNG.random(25) < 0.7).astype(float)
OTHERS = np.where(RNG.random(25) < 0.7, ONES, 1 - ONES)
UNITS = RNG.integers(0, 8, 25)


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None, interval.reason
    assert interval.high is not None
    return interval.low, interval.high


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_t_interval_is_scipys(confidence: float, alternative: Alternative) -> None:
    wanted = stats.ttest_1samp(A, 0, alternative=alternative).confidence_interval(confidence)
    assert ends(mean_interval(A, confidence=confidence, alternative=alternative)) == pytest.approx(tuple(wanted))
    wanted = stats.ttest_rel(A, B, alternative=alternative).confidence_interval(confidence)
    found = difference_interval(A, B, confidence=confidence, alternative=alternative)
    assert ends(found) == pytest.approx(tuple(wanted))
    assert found.estimate == pytest.approx(float(np.mean(A - B)))


def test_the_t_interval_with_equal_units_is_that_of_unit_means() -> None:
    units = np.repeat(np.arange(5), 5)
    wanted = stats.ttest_1samp(A.reshape(5, 5).mean(axis=1), 0).confidence_interval()
    found = mean_interval(A, units=units)
    assert ends(found) == pytest.approx(tuple(wanted))
    assert (found.n, found.units) == (25, 5)


@pytest.mark.parametrize("method", MEAN_METHODS)
@pytest.mark.parametrize("values", [[], [1.0]])
def test_fewer_than_2_values_have_no_interval(method: MeanMethod, values: list[float]) -> None:
    found = mean_interval(values, method=method)
    assert (found.low, found.high) == (None, None)
    assert found.reason == f"at least 2 queries are needed, found {len(values)}"
    assert found.estimate == (values[0] if values else None)


def test_one_unit_has_no_interval() -> None:
    assert mean_interval(A, units=[1] * 25).reason == "at least 2 units are needed, found 1 for 25 queries"


@pytest.mark.parametrize("method", ["t", "bootstrap-t"])
def test_equal_values_have_no_interval(method: MeanMethod) -> None:
    assert mean_interval([0.1, 0.1, 0.1], method=method).reason == (
        "all 3 values are equal, so their variance cannot be estimated"
    )
    assert difference_interval([0.8, 0.4], [0.7, 0.3], method=method).low is None  # type: ignore[arg-type]  # a plain str from parametrize


def test_a_seed_gives_the_same_interval_and_another_seed_another() -> None:
    one = difference_interval(A, B, method="bootstrap-t", resampling=Resampling(seed=5, labels=("a", "b", "RR")))
    assert one == difference_interval(
        A, B, method="bootstrap-t", resampling=Resampling(seed=5, labels=("a", "b", "RR"))
    )
    assert ends(one) != ends(
        difference_interval(A, B, method="bootstrap-t", resampling=Resampling(seed=6, labels=("a", "b", "RR")))
    )
    assert ends(one) != ends(
        difference_interval(A, B, method="bootstrap-t", resampling=Resampling(seed=5, labels=("a", "b", "AP")))
    )


def test_the_bootstrap_needs_little_memory() -> None:
    values = np.random.default_rng(0).random(6980)
    tracemalloc.start()
    mean_interval(values, method="bootstrap-t", resampling=Resampling(9000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000  # all draws at once would take 500 MB


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("values", [[0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 1, 0], [0] * 60 + [1]])
def test_wilson_is_scipys(values: list[float], alternative: Alternative) -> None:
    found = wilson_interval(values, alternative=alternative, confidence=0.9)
    result = stats.binomtest(int(sum(values)), len(values), alternative=alternative)
    wanted = result.proportion_ci(0.9, method="wilson")
    assert ends(found) == pytest.approx(tuple(wanted))
    assert ends(mean_interval(values, method="wilson", alternative=alternative, confidence=0.9)) == ends(found)


def fourfold(both: int, first: int, second: int, neither: int) -> tuple[Floats, Floats]:
    one = [1] * both + [1] * first + [0] * second + [0] * neither
    two = [1] * both + [0] * first + [1] * second + [0] * neither
    return np.array(one, dtype=float), np.array(two, dtype=float)


def test_newcombe_on_published_tables() -> None:
    """Cavo et al. 2012 in Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables, chapter 8."""
    assert ends(newcombe_interval(*fourfold(59, 6, 16, 80))) == pytest.approx((-0.1186, -0.0046), abs=5e-5)


@given(st.tuples(*[st.integers(0, 12)] * 4).filter(lambda table: sum(table) >= 2))
def test_newcombe_is_its_formula(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    n = sum(table)
    first, second = fourfold(a, b, c, d)
    w1 = stats.binomtest(a + b, n).proportion_ci(method="wilson")
    w2 = stats.binomtest(a + c, n).proportion_ci(method="wilson")
    p1, p2 = (a + b) / n, (a + c) / n
    bottom = (a + b) * (c + d) * (a + c) * (b + d)
    top: float = a * d - b * c
    top = max(top - n / 2, 0) if top > 0 else top
    phi = top / math.sqrt(bottom) if bottom else 0.0
    low = math.sqrt(
        max(0.0, (p1 - w1.low) ** 2 - 2 * phi * (p1 - w1.low) * (w2.high - p2) + (w2.high - p2) ** 2)
    )  # fmt: skip
    high = math.sqrt(
        max(0.0, (w1.high - p1) ** 2 - 2 * phi * (w1.high - p1) * (p2 - w2.low) + (p2 - w2.low) ** 2)
    )  # fmt: skip
    found = newcombe_interval(first, second)
    assert ends(found) == pytest.approx((max(-1, p1 - p2 - low), min(1, p1 - p2 + high)), abs=1e-7)
    assert found.estimate == pytest.approx(p1 - p2, abs=1e-12)
    swapped = newcombe_interval(second, first)
    assert ends(swapped) == pytest.approx((-ends(found)[1], -ends(found)[0]), abs=1e-12)


def test_one_sided_intervals_of_proportions_end_where_proportions_do() -> None:
    assert wilson_interval(ONES, alternative="greater").high == 1.0
    assert wilson_interval(ONES, alternative="less").low == 0.0
    assert newcombe_interval(ONES, OTHERS, alternative="greater").high == 1.0
    assert newcombe_interval(ONES, OTHERS, alternative="less").low == -1.0


def test_intervals_of_proportions_want_zeros_and_ones() -> None:
    with pytest.raises(InputError, match=r"first must be 0 or 1 .* found 0.5 at position 1"):
        newcombe_interval([1, 0.5], [1, 0])
    with pytest.raises(InputError, match="needs the values of both sides"):
        difference_interval([1, 0], method="newcombe")


def test_methods_that_know_no_units_say_so() -> None:
    for found in (
        mean_interval(ONES, method="wilson", units=UNITS),
        difference_interval(ONES, OTHERS, method="newcombe", units=UNITS),
    ):
        assert found.low is None
        assert found.reason is not None
        assert "do not share units" in found.reason


def test_geometric_means_are_intervals_of_logarithms() -> None:
    values = np.append(A, 0.0)
    logs = np.log(np.maximum(values, 1e-5))
    wanted = stats.ttest_1samp(logs, 0).confidence_interval()
    found = geometric_mean_interval(values)
    assert ends(found) == pytest.approx((math.exp(wanted.low), math.exp(wanted.high)))
    assert found.estimate == pytest.approx(math.exp(logs.mean()))
    assert found.method == "t on logarithms"
    wanted = stats.ttest_1samp(np.log(A), 0, alternative="greater").confidence_interval()
    one_sided = geometric_mean_interval(A, alternative="greater")
    assert ends(one_sided) == pytest.approx((math.exp(wanted.low), math.inf))
    with pytest.raises(InputError, match="at least 0"):
        geometric_mean_interval([0.1, -0.1])


@given(pairs(3, 12), st.sampled_from([m for m in DIFFERENCE_METHODS if m != "newcombe"]))
def test_swapping_the_systems_turns_the_interval(scores: list[tuple[float, float]], method: DifferenceMethod) -> None:
    first, second = zip(*scores, strict=True)
    one = difference_interval(first, second, method=method, resampling=Resampling(199))
    two = difference_interval(second, first, method=method, resampling=Resampling(199))
    if one.low is None or one.high is None:
        assert two.reason == one.reason
    else:
        assert ends(two) == pytest.approx((-one.high, -one.low), abs=1e-9)
        assert one.low <= one.high


@given(pairs(3, 12), st.sampled_from(["t", "bootstrap-t"]))
def test_a_higher_level_is_a_wider_interval(scores: list[tuple[float, float]], method: DifferenceMethod) -> None:
    first, second = zip(*scores, strict=True)
    narrow, wide = (
        difference_interval(first, second, method=method, resampling=Resampling(199), confidence=x) for x in (0.8, 0.95)
    )
    if narrow.low is not None and wide.low is not None:
        assert ends(wide)[0] <= ends(narrow)[0] + 1e-12
        assert ends(wide)[1] >= ends(narrow)[1] - 1e-12


def test_bad_options_are_refused() -> None:
    for confidence in (0, 1, 95, math.nan):
        with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
            mean_interval(A, confidence=confidence)
    with pytest.raises(UsageError, match="method must be one of t, bootstrap-t, wilson"):
        mean_interval(A, method="normal")  # type: ignore[arg-type]  # refused at run time
