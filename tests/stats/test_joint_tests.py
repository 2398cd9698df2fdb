"""The joint bootstrap: p and interval agree, equal a plain loop over the draws, and keep their promises."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rankgauge.errors import InputError
from rankgauge.stats import Resampling, joint_test
from rankgauge.stats.draws import RandomStream, draw, drawn_counts, unit_rows
from rankgauge.stats.randomization import flipped_sums
from rankgauge.stats.results import Alternative
from rankgauge.stats.sparse_rows import one_way_significant

LIMITS = (-1.0, 1.0)
FEW = Resampling(400, 1)
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "less", "greater")


@st.composite
def families(draw: st.DrawFn) -> tuple[np.ndarray, list[int] | None]:
    """Differences of 0/1 and graded measures with ties, missing queries, equal rows, and perhaps units."""
    n, rows = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for _ in range(rows):
        kind = draw(st.sampled_from(["binary", "graded", "sparse", "equal", "one way"]))
        values = {
            "binary": rng.integers(-1, 2, n).astype(float),
            "graded": np.round(rng.normal(draw(st.sampled_from([0, 0.1, 0.5])), 0.2, n), 2).clip(-1, 1),
            "sparse": np.where(rng.random(n) < 0.1, 0.25, 0.0),
            "equal": np.full(n, draw(st.sampled_from([0.0, 0.5, -0.25]))),
            "one way": -(rng.random(n) < 0.6).astype(float) * rng.choice([0.1, 0.5, 1.0], n),
        }[kind]
        if draw(st.booleans()):
            values = np.where(rng.random(n) < 0.3, np.nan, values)
        columns.append(values)
    units = rng.integers(0, max(1, n // 2), n).tolist() if draw(st.booleans()) else None
    return np.column_stack(columns), units


@given(families(), st.sampled_from(ALTERNATIVES), st.sampled_from([0.8, 0.95]))
@settings(max_examples=150)
def test_an_interval_excludes_0_exactly_if_its_row_is_significant(
    family: tuple[np.ndarray, list[int] | None], alternative: Alternative, confidence: float
) -> None:
    differences, units = family
    result = joint_test(
        differences,
        units=units,
        alternative=alternative,
        confidence=confidence,
        ranges=[LIMITS] * differences.shape[1],
        resampling=FEW,
    )
    for row in result.rows:
        low, high = row.interval.low, row.interval.high
        if row.p is None or low is None or high is None:
            assert row.interval.reason
            continue
        assert (row.p <= round(1 - confidence, 12)) == (not low <= 0 <= high)
        assert -1 <= low <= high <= 1
        assert low < high


def test_an_interval_ends_at_0_if_t_equals_the_critical_value() -> None:
    """A tie of the observed t with a draw: mean − critical · error was 1e-17 above 0, and p above alpha."""
    rng = np.random.default_rng(3516)
    assert rng.integers(12, 26) == 25
    differences = rng.choice([-0.5, 0.0, 0.5], size=(25, 1), p=[0.25, 0.35, 0.4])
    (row,) = joint_test(differences, confidence=0.6, resampling=Resampling(19, 3516)).rows
    assert (row.p, row.interval.low) == (0.5, 0.0)


@given(families(), st.integers(0, 3))
@settings(max_examples=30)
def test_swapping_the_systems_mirrors_everything(family: tuple[np.ndarray, list[int] | None], seed: int) -> None:
    differences, units = family
    options = {"units": units, "ranges": [LIMITS] * differences.shape[1], "resampling": Resampling(200, seed)}
    for row, mirror in zip(
        joint_test(differences, **options).rows,  # type: ignore[arg-type]  # a dict of different options
        joint_test(-differences, **options).rows,  # type: ignore[arg-type]  # as above
        strict=True,
    ):
        assert row.p == pytest.approx(mirror.p)
        if row.interval.low is not None and mirror.interval.high is not None:
            assert row.interval.low == pytest.approx(-mirror.interval.high)


@pytest.mark.parametrize("units", [None, [n // 3 for n in range(30)]])
@pytest.mark.parametrize("missing", [False, True])
def test_draws_equal_a_loop_over_drawn_queries(units: list[int] | None, missing: bool) -> None:
    rng = np.random.default_rng(0)
    differences = np.round(rng.normal(0.1, 0.3, (30, 2)), 3)
    if missing:
        differences[4:9, 1] = np.nan
    rows, stream = unit_rows(differences, units), RandomStream(3)
    draws = draw(rows, 50, stream)
    labels = np.array(units or range(30))
    (counts,) = drawn_counts(len(set(labels.tolist())), 50, stream)
    for index, count in enumerate(counts):
        drawn = [unit for unit, times in enumerate(count) for _ in range(int(times))]
        for column, row in enumerate(rows):
            clusters = [differences[labels == unit, column] for unit in drawn]
            clusters = [values[~np.isnan(values)] for values in clusters if not np.isnan(values).all()]
            n, groups = sum(map(len, clusters)), len(clusters)
            mean = sum(values.sum() for values in clusters) / n
            error = math.sqrt(groups / (groups - 1) * sum((values - mean).sum() ** 2 for values in clusters)) / n
            assert draws.shift[column, index] == pytest.approx(mean - row.sample.mean, abs=1e-9)
            assert draws.error[column, index] == pytest.approx(error, rel=1e-6)


def test_p_and_critical_values_are_those_of_the_largest_and_the_smallest_t_and_of_sign_flips() -> None:
    rng = np.random.default_rng(5)
    differences = rng.normal(0.1, 0.3, (40, 3)) * [1, 0.1, 2]
    resampling = Resampling(999, 7)
    result = joint_test(differences, resampling=resampling)
    rows = unit_rows(differences)
    drawn = draw(rows, 999, resampling.stream.child("joint")).t
    signs = flipped_sums(np.eye(40), 999, resampling.stream.child("joint"))
    flipped = differences.T @ np.hstack([*signs]) / np.sqrt(np.square(differences).sum(axis=0))[:, np.newaxis]
    for row, column in zip(result.rows, differences.T, strict=True):
        error = column.std(ddof=1) / math.sqrt(40)
        sums = column.sum() / math.sqrt(np.square(column).sum())
        above = max(np.count_nonzero(drawn.max(axis=0) >= column.mean() / error), np.sum(flipped.max(axis=0) >= sums))
        below = max(np.count_nonzero(drawn.min(axis=0) <= column.mean() / error), np.sum(flipped.min(axis=0) <= sums))
        assert row.p == min(1.0, 2 * (min(above, below) + 1) / 1000)
        lower, upper = np.sort(drawn.min(axis=0))[24], np.sort(drawn.max(axis=0))[-25]  # 2.5% of 1000
        assert row.critical == max(-lower, upper)
        is_explained = (np.sum(flipped.max(axis=0) >= sums) + 1) / 1000 > 0.025  # by signs: the interval reaches 0
        low = column.mean() - upper * error
        assert row.interval.low == pytest.approx(min(low, 0.0) if is_explained else low)
        assert row.interval.high == pytest.approx(column.mean() - lower * error)


def one_way(sizes: list[float], n: int) -> np.ndarray:
    """Losses among queries without a change."""
    return np.array([*(-size for size in sizes), *[0.0] * (n - len(sizes))])[:, np.newaxis]


def test_one_way_losses_of_a_few_queries_are_found() -> None:
    """Of 200 queries, 2 fall from rank 1 to 50, 3 from 1 to 2, 8 from 5 to 10: 13 losses and no gain."""
    losses = one_way([1 - 1 / 50] * 2 + [0.5] * 3 + [1 / 5 - 1 / 10] * 8, 200)
    (row,) = joint_test(losses, ranges=[LIMITS]).rows
    (drop,) = joint_test(losses, ranges=[LIMITS], alternative="less", confidence=0.975).rows
    assert row.p == 2 * 2.0**-13 == 2 * (drop.p or 0.0)
    assert row.interval.high == drop.interval.high
    assert drop.interval.high is not None
    assert drop.interval.high < 0


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("spread", [0.0, 0.01])
def test_p_falls_with_every_further_loss_of_the_same_size(n: int, spread: float) -> None:
    jitter = np.random.default_rng(n).uniform(-1, 1, n) * spread
    sizes = sorted((0.3 + jitter).tolist(), reverse=True)
    p = [joint_test(one_way(sizes[:k], n), ranges=[LIMITS], resampling=FEW).rows[0].p or 0.0 for k in range(1, n)]
    assert all(later <= earlier for earlier, later in pairwise(p))
    assert p[0] == 1.0
    assert p[9] < 0.004


def p_with_a_further_loss(before: list[float], loss: float) -> tuple[float, float, float]:
    """p before and after the last tie becomes a loss, and how much higher the second may be by chance."""
    after = [*before[:-1], -loss]
    assume(sum(before) < 0)
    old, new = (
        joint_test(np.array(values)[:, np.newaxis], ranges=[LIMITS], sensitivity=False, resampling=Resampling(1999))
        for values in (before, after)
    )
    p, p_after = old.rows[0].p, new.rows[0].p
    assert p is not None
    assert p_after is not None
    only_losses = max(before) <= 0
    return p, p_after, 1e-12 if only_losses else 2 * (4 * math.sqrt(p / 2 * (1 - p / 2) / 2000) + 2 / 2000)


@given(
    st.lists(st.floats(0.01, 1), min_size=1, max_size=40),
    st.lists(st.floats(0.01, 1), max_size=20),
    st.integers(1, 60),
    st.floats(0.01, 1),
)
@example([0.25] * 3 + [0.2] * 3 + [0.1, 0.05], [0.558], 1, 0.78)  # the tenth change: p was 0.41 before and 0.55 after
def test_a_tie_that_becomes_a_loss_no_larger_than_the_others_does_not_raise_p(
    losses: list[float], gains: list[float], ties: int, share: float
) -> None:
    """Exactly if there are only losses; up to the draws if there are gains, too."""
    before = [*(-size for size in losses), *gains, *[0.0] * ties]
    p, p_after, resolution = p_with_a_further_loss(before, share * min(losses))
    assert p_after <= p + resolution


def test_a_loss_as_large_as_another_does_not_take_a_row_out_of_the_draws() -> None:
    """Two of 11 changes are then equal, and nine differ from them: p was 0.05 before and 0.09 after."""
    losses, gains = [0.626, 0.132, 0.913, 0.702, 0.09, 0.292, 0.528, 0.758], [0.132, 0.444]
    before = np.array([*(-size for size in losses), *gains, 0.0])[:, np.newaxis]
    after = before.copy()
    after[-1] = -0.09
    old, new = (joint_test(values, ranges=[LIMITS]).rows[0] for values in (before, after))
    assert old.p is not None
    assert new.p is not None
    assert new.p <= old.p
    assert new.critical is not None


@given(st.integers(1, 8), st.floats(0.05, 0.6), st.floats(0.01, 1), st.integers(1, 40))
def test_a_tie_that_becomes_the_tenth_change_does_not_raise_p(losses: int, size: float, gain: float, ties: int) -> None:
    """Across the switch from a row that is not drawn."""
    before = [*[-size] * losses, *[gain] * (9 - losses), *[0.0] * (ties + 10)]
    p, p_after, _ = p_with_a_further_loss(before, size)
    assert p_after <= p + 1e-12


@given(
    st.floats(0.02, 0.5),
    st.lists(st.floats(0.01, 1), min_size=1, max_size=9),
    st.lists(st.floats(0, 0.5), max_size=9),
    st.integers(1, 40),
    st.integers(1, 4),
)
@example(0.05, [0.02] * 8, [0.5], 20, 1)  # p was 0.001 before and 0.14 after
@example(0.1, [0.1] * 8, [0.5], 20, 1)
@example(0.2, [0.2], [0.5], 8, 2)  # 0.025 and 0.066
@example(0.2, [0.4], [0.5, 0.1], 8, 2)  # 0.038 and 0.073
@example(0.05, [0.025, 0.025, 0.05], [0.1], 12, 1)  # 0.005 and 0.02
def test_a_tie_that_becomes_the_loss_of_most_queries_does_not_raise_p(
    loss: float, gains: list[float], further: list[float], most: int, ties: int
) -> None:
    """The tie was evidence that queries differ. A row is tested alone if fewer than ten of them do."""
    before = [*[-loss] * most, *(-min(1.0, loss + more) for more in further), *gains, *[0.0] * ties]
    p, p_after, resolution = p_with_a_further_loss(before, loss)
    assert p_after <= p + resolution


def test_a_row_in_which_most_queries_lost_the_same_does_not_widen_the_others() -> None:
    """26 of 35 lost the same and 8 gained a little: many draws have hardly any spread, but only in this row."""
    alike = np.array([-0.05] * 26 + [0.02] * 8 + [-0.5])
    dense = np.random.default_rng(4).normal(0.05, 0.2, 35)
    alone, together = (
        joint_test(np.column_stack(rows), ranges=[LIMITS] * len(rows), resampling=FEW).rows
        for rows in ([dense], [dense, alike])
    )
    assert together[0].p == pytest.approx(min(1.0, 2 * (alone[0].p or 0.0)))
    (row,) = joint_test(alike[:, np.newaxis], ranges=[LIMITS], resampling=FEW).rows
    assert row.p is not None
    assert row.p < 0.01
    assert row.interval.high is not None
    assert row.interval.high < 0


def test_equal_losses_have_an_interval_of_positive_width() -> None:
    (row,) = joint_test(np.full((30, 1), -0.1), ranges=[LIMITS]).rows
    assert row.interval.low is not None
    assert row.interval.high is not None
    assert row.interval.low < -0.1 < row.interval.high < 0
    assert row.critical is None


@given(families(), st.integers(0, 3))
@settings(max_examples=30)
def test_a_two_sided_test_is_both_one_sided_ones_at_half_the_level(
    family: tuple[np.ndarray, list[int] | None], seed: int
) -> None:
    differences, units = family
    options = {"units": units, "ranges": [LIMITS] * differences.shape[1], "resampling": Resampling(199, seed)}
    both = joint_test(differences, confidence=0.9, **options).rows  # type: ignore[arg-type]  # a dict of different options
    sides = [
        joint_test(differences, confidence=0.95, alternative=side, **options).rows  # type: ignore[arg-type]  # as above
        for side in ("less", "greater")
    ]
    for row, drop, rise in zip(both, *sides, strict=True):
        assert (row.p is None) == (drop.p is None)
        if row.p is None or drop.p is None or rise.p is None:
            continue
        assert row.p == pytest.approx(min(1.0, 2 * min(drop.p, rise.p)))
        assert (row.p <= 0.1) == (drop.p <= 0.05 or rise.p <= 0.05)
        if row.interval.low is not None and drop.interval.high is not None and row.p <= 0.1:
            assert (row.interval.low, row.interval.high) == pytest.approx((rise.interval.low, drop.interval.high))


def test_the_scale_of_a_row_does_not_matter_and_its_order_neither() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.3, (40, 3)).round(6)
    plain = joint_test(differences, resampling=FEW).rows
    changed = joint_test(differences[:, [2, 0, 1]] * 0.5, resampling=FEW).rows
    assert [row.p for row in changed] == [plain[index].p for index in (2, 0, 1)]


def test_a_sparse_row_has_the_interval_of_bonett_and_price() -> None:
    """3 of 50 queries gained and 1 lost; the formula of the paper, with t instead of the normal distribution."""
    from scipy.stats import t

    differences = np.zeros((50, 1))
    differences[:3], differences[3] = 1.0, -1.0
    (row,) = joint_test(differences, ranges=[LIMITS]).rows
    gained, lost = (3 + 1) / 52, (1 + 1) / 52
    half = t.ppf(0.975, 49) * math.sqrt((gained + lost - (gained - lost) ** 2) / 52)
    assert row.interval.low == pytest.approx(gained - lost - half)
    assert row.interval.high == pytest.approx(gained - lost + half)
    assert row.p == 10 / 16  # sign flips; the p of the interval is smaller
    assert row.critical is None
    assert row.changes_needed == 6  # 2 · 2⁻⁶ is the first below 5%


def test_rows_without_any_change_have_an_interval_of_positive_width_and_no_p_below_1() -> None:
    (row,) = joint_test(np.zeros((30, 1)), ranges=[LIMITS]).rows
    assert row.p == 1
    assert row.interval.low == -row.interval.high < 0  # type: ignore[operator]  # both ends exist
    (row,) = joint_test(np.zeros((30, 1))).rows
    assert row.interval.low is None
    assert "range" in str(row.interval.reason)


def test_a_row_outside_of_the_draws_takes_only_its_share_of_alpha() -> None:
    rng = np.random.default_rng(1)
    dense = rng.normal(0.09, 0.2, (50, 1))
    sparse = np.where(np.arange(50) < 3, 1.0, 0.0)[:, np.newaxis]
    alone, together = joint_test(dense, resampling=FEW), joint_test(np.hstack([dense, sparse]), resampling=FEW)
    assert together.rows[0].p == pytest.approx(2 * alone.rows[0].p)  # type: ignore[operator]  # it has a p
    assert together.family == 2


@pytest.mark.parametrize("data", [[[math.inf]], [1.0], [["a"]]])
def test_bad_differences_are_refused(data: object) -> None:
    with pytest.raises(InputError):
        joint_test(data)  # type: ignore[arg-type]  # refused at run time


def test_the_detectable_difference_is_found_with_its_power() -> None:
    """New samples with a true difference of the stated size, as a shift: at least 75% are significant."""
    rng = np.random.default_rng(0)
    population = rng.normal(0, 0.25, 5000)
    (row,) = joint_test(rng.choice(population, 50)[:, np.newaxis], resampling=FEW).rows
    assert row.detectable is not None
    found = 0
    for seed in range(100):
        values = rng.choice(population, 50) - population.mean() + row.detectable
        p = joint_test(values[:, np.newaxis], resampling=Resampling(200, seed)).rows[0].p
        found += p is not None and p <= 0.05
    assert 70 <= found <= 100


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("kind", ["skewed", "sparse", "one way"])
def test_errors_of_the_family_and_coverage_are_as_promised(n: int, kind: str) -> None:
    """400 families of three rows without a true difference: at most 5% err, within four standard errors."""
    rng = np.random.default_rng(n)
    wrong = missed = 0
    for seed in range(400):
        shared = rng.random((n, 1))
        if kind == "skewed":
            values, mean = rng.exponential(0.2, (n, 3)) - rng.exponential(0.2, (n, 3)) * shared * 2, 0.0
        elif kind == "sparse":
            values, mean = np.where(rng.random((n, 3)) < 0.2, rng.choice([-1.0, 1.0], (n, 3)), 0.0), 0.0
        else:
            values, mean = -(rng.random((n, 3)) < 0.2).astype(float), -0.2
        result = joint_test(values, ranges=[LIMITS] * 3, resampling=Resampling(400, seed))
        wrong += mean == 0 and any(row.p is not None and row.p <= 0.05 for row in result.rows)
        intervals = [row.interval for row in result.rows]
        missed += not all(i.low is not None and i.high is not None and i.low <= mean <= i.high for i in intervals)
    assert wrong / 400 <= 0.06 + 4 * math.sqrt(0.06 * 0.94 / 400)
    assert missed / 400 <= 0.08 + 4 * math.sqrt(0.08 * 0.92 / 400)


@given(
    st.lists(st.sampled_from([0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=9),
    st.integers(10, 60),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_one_way_changes_are_significant_as_the_detectable_difference_assumes(
    sizes: list[float], units: int, alternative: Alternative, confidence: float
) -> None:
    values = np.zeros((units, 1))
    values[: len(sizes), 0] = np.array(sizes) * (-1 if alternative == "less" else 1)
    options = {"alternative": alternative, "confidence": confidence, "ranges": [LIMITS], "resampling": FEW}
    (row,) = joint_test(values, **options).rows  # type: ignore[arg-type]  # a dict of different options
    drawn = np.array([sizes])
    outside = (1 - confidence) / (2 if alternative == "two-sided" else 1)
    expected = one_way_significant(
        drawn.cumsum(axis=1), np.square(drawn).cumsum(axis=1), np.maximum.accumulate(drawn, axis=1), units, outside
    )
    assert row.p is not None
    assert (row.p <= round(1 - confidence, 12)) == expected[0, -1]


def test_few_and_many_columns_have_the_same_draws() -> None:
    """A product of few columns is computed in another way than one of many; sums are exact in both."""
    differences = np.random.default_rng(6).normal(0.1, 0.3, (40, 40)).round(4)
    many, few = (
        draw(unit_rows(differences), 30, RandomStream(2)),
        draw(unit_rows(differences[:, :3]), 30, RandomStream(2)),
    )
    assert np.array_equal(many.t[:3], few.t)
