from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from rankgauge.errors import InputError, UsageError
from rankgauge.stats import Resampling, change_points, paired_test
from rankgauge.stats.change_detection import balanced_splits
from rankgauge.stats.draws import MAX_DRAWS, draws_for_level

Floats = NDArray[np.float64]
values = st.integers(-8, 8).map(lambda number: number / 8)
matrices = st.tuples(st.integers(2, 6), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=values)
)


def brute_force_p(matrix: Floats) -> float:
    """The smallest p by its definition: every pattern of signs, every split, every width of the family."""
    n, times = matrix.shape
    columns = []
    for begin, split, end in balanced_splits(times).tolist():
        assert split - begin == end - split
        column = matrix[:, split:end].mean(axis=1) - matrix[:, begin:split].mean(axis=1)
        if np.abs(column).max() > 1e-12:
            columns.append(column / math.sqrt(float((column**2).sum())))
    if not columns:
        return 1.0
    largest = [
        max(abs(sum(sign * value for sign, value in zip(signs, column, strict=True))) for column in columns)
        for signs in itertools.product((1, -1), repeat=n)
    ]
    own = max(abs(float(column.sum())) for column in columns)
    return float(np.mean([value >= own - 1e-9 for value in largest]))


@given(matrices)
def test_p_is_the_share_of_sign_patterns_of_whole_queries(matrix: Floats) -> None:
    assert change_points(matrix).p == pytest.approx(brute_force_p(matrix))


@given(matrices, values)
def test_the_level_of_a_query_and_the_direction_do_not_matter(matrix: Floats, constant: float) -> None:
    first = change_points(matrix, alpha=0.5)
    moved = change_points(matrix + constant * np.arange(len(matrix))[:, np.newaxis], alpha=0.5)
    turned = change_points(-matrix, alpha=0.5)
    assert first.p == moved.p == turned.p
    assert [point.index for point in first.points] == [point.index for point in turned.points]
    assert [point.difference for point in first.points] == pytest.approx([-point.difference for point in turned.points])


@given(matrices)
def test_change_points_do_not_overlap(matrix: Floats) -> None:
    points = change_points(matrix, alpha=0.9).points
    for point in points:
        assert point.first < point.index <= point.last
        assert point.p <= 0.9
    for before, after in itertools.pairwise(points):
        assert before.last <= after.first


def test_two_entries_are_a_paired_randomization_test() -> None:
    matrix = np.random.default_rng(1).normal(0.3, 0.5, (9, 2))
    expected = paired_test("randomization", matrix[:, 1], matrix[:, 0])
    assert change_points(matrix).p == pytest.approx(expected.p)


def test_splits_have_as_many_columns_on_both_sides_and_every_place() -> None:
    for length in range(2, 40):
        splits = balanced_splits(length)
        assert set(splits[:, 1].tolist()) == set(range(1, length))
        assert np.array_equal(splits[:, 1] - splits[:, 0], splits[:, 2] - splits[:, 1])
        assert splits.min() >= 0
        assert splits.max() <= length
        assert len({*map(tuple, splits.tolist())}) == len(splits)


def drawn(rng: np.random.Generator, n: int = 40, times: int = 16) -> Floats:
    return rng.uniform(0, 1, (n, 1)) + rng.normal(0, 0.1, (n, times))


def test_two_changes_are_found_where_they_are() -> None:
    matrix = drawn(np.random.default_rng(2))
    matrix[:, 5:] -= 0.2
    matrix[:, 11:] += 0.3
    result = change_points(matrix)
    assert [point.index for point in result.points] == [5, 11]
    assert [point.difference for point in result.points] == pytest.approx([-0.2, 0.3], abs=0.04)
    assert result.segments == (0, 5, 11)
    assert all(point.p < 0.01 for point in result.points)


def test_a_query_counts_where_it_has_values_on_both_sides() -> None:
    rng = np.random.default_rng(3)
    matrix = drawn(rng)
    matrix[:, 8:] -= 0.2
    matrix[:20, 8:] = np.nan  # removed when the change came
    matrix[20:25, :2] = np.nan  # added later
    result = change_points(matrix)
    assert [point.index for point in result.points] == [8]
    assert result.points[0].difference == pytest.approx(-0.2, abs=0.04)
    matrix[20:, 8:] = np.nan
    assert change_points(matrix).points == ()


def test_what_never_changes_has_no_change_point() -> None:
    constant = np.repeat(np.random.default_rng(4).uniform(size=(30, 1)), 10, axis=1)
    assert (change_points(constant).p, change_points(constant).points) == (1.0, ())
    assert change_points(constant[:, :1]).reason is not None
    assert change_points(np.full((3, 4), np.nan)).reason is not None
    with pytest.raises(InputError, match="number of runs"):
        change_points(constant, runs=[1, 2])


def test_queries_of_one_unit_flip_together() -> None:
    matrix = drawn(np.random.default_rng(5), n=5, times=4)
    copied = np.repeat(matrix, 4, axis=0)
    assert change_points(copied, units=np.repeat(np.arange(5), 4)).p == change_points(matrix).p
    assert change_points(copied).p != change_points(matrix).p


def skewed(rng: np.random.Generator, n: int, times: int) -> Floats:
    return np.where(rng.random((n, times)) < 0.1, 0.2, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("make", [drawn, skewed])
def test_false_alarms_are_as_rare_as_promised(make: Callable[..., Floats]) -> None:
    """5% are expected, and 1.96 standard errors are 2.1%. One skewed entry against all others would be far above."""
    rng = np.random.default_rng(8)
    found = [change_points(make(rng, 25, 12), resampling=Resampling(199, seed)).points for seed in range(400)]
    assert np.mean([bool(points) for points in found]) < 0.08


@pytest.mark.slow
def test_there_are_no_more_change_points_than_changes() -> None:
    rng = np.random.default_rng(9)
    counts, exact = [], []
    for seed in range(150):
        matrix = drawn(rng, 40, 16)
        matrix[:, 9:] -= 0.07
        points = change_points(matrix, resampling=Resampling(199, seed)).points
        counts.append(len(points))
        exact += [point.index == 9 for point in points]
    assert np.mean(np.array(counts) > 1) < 0.09
    assert np.mean(np.array(counts) > 0) > 0.95
    assert np.mean(exact) > 0.7


def test_a_stricter_level_takes_more_draws_until_there_are_too_many() -> None:
    assert draws_for_level(0.00025) == 40_000
    assert draws_for_level(10 / MAX_DRAWS) == MAX_DRAWS
    with pytest.raises(UsageError, match="more than 1,000,000 draws"):
        draws_for_level(5e-6)
