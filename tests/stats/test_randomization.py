import math
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import InputError, UsageError
from rankgauge.stats import randomization
from rankgauge.stats.draws import RandomStream, Resampling
from rankgauge.stats.randomization import enumerated_sums, flipped_sums, randomization_test
from rankgauge.stats.results import Alternative
from tests.stats import definitions
from tests.stats.strategies import alternatives, lists_of_differences, pairs


@given(pairs(1, 10), alternatives)
def test_few_differences_give_the_share_of_all_sign_patterns(
    scores: list[tuple[float, float]], alternative: Alternative
) -> None:
    first, second = zip(*scores, strict=True)
    found = randomization_test(first, second, alternative=alternative)
    assert found.exact
    assert found.p == definitions.randomization_p([a - b for a, b in scores], alternative)


PINNED = 0.045729542704572954


def test_differences_that_are_equal_but_for_noise_are_equal() -> None:
    assert 0.8 - 0.7 != 0.4 - 0.3
    first, second = [0.8, 0.3, 0.5], [0.7, 0.4, 0.2]  # 0.1, −0.1 and 0.3: turning the first two leaves the sum
    assert randomization_test(first, second, alternative="greater").p == 3 / 8


def test_sums_that_are_equal_but_for_rounding_are_equal() -> None:
    thirds = [1 / 3, 1 / 3, 1 / 3, -1.0]  # add up to 0
    assert randomization_test(thirds).p == 1.0
    exact = [Fraction(1, 3)] * 3 + [Fraction(-1)]
    at_least = [sum(s * d for s, d in zip(signs, exact, strict=True)) >= 0 for signs in product((1, -1), repeat=4)]
    assert randomization_test(thirds, alternative="greater").p == sum(at_least) / 16


def test_zero_differences_change_nothing() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.1, 1, 60)
    padded = np.insert(values, [0, 7, 30, 60], 0.0)
    assert randomization_test(values).p == randomization_test(padded).p


@given(lists_of_differences(1, 9), st.lists(st.integers(0, 3), min_size=9, max_size=9), alternatives)
def test_units_flip_together(values: list[float], units: list[int], alternative: Alternative) -> None:
    labels = [f"session {unit}" for unit in units[: len(values)]]
    found = randomization_test(values, units=labels, alternative=alternative)
    assert found.p == definitions.randomization_p(definitions.totals(values, labels), alternative)


def test_a_query_without_a_unit_is_a_unit_of_its_own() -> None:
    values = [0.1, 0.4, 0.2, -0.3]
    assert randomization_test(values, units=[None, None, None, None]).p == randomization_test(values).p


def test_drawn_permutations_come_near_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 26)
    sides: list[Alternative] = ["two-sided", "less", "greater"]
    exact = [randomization_test(values, alternative=side).p for side in sides]
    monkeypatch.setattr(randomization, "MAX_EXACT_DIFFERENCES", 0)
    drawn = [randomization_test(values, alternative=side) for side in sides]
    assert [found.exact for found in drawn] == [False] * 3
    for found, p in zip(drawn, exact, strict=True):
        assert p is not None
        assert found.p == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 100_000))


def test_p_is_never_0_and_counts_the_observed_pattern_once() -> None:
    values = np.full(40, 0.5)
    assert randomization_test(values, resampling=Resampling(999)).p == 1 / 1000
    assert randomization_test(values[:20], resampling=Resampling(999)).p == 2 / 2**20


def test_one_sided_p_values_of_swapped_systems_are_the_same() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.random(50), rng.random(50)
    p = randomization_test(a, b, alternative="greater").p
    swapped = randomization_test(b, a, alternative="less").p
    assert p is not None
    assert swapped is not None
    assert p == swapped
    assert randomization_test(a, b).p == randomization_test(b, a).p


def test_drawn_sums_are_sums_under_signs() -> None:
    parts = np.array([[3.0, 1.0], [5.0, -2.0], [11.0, 4.0]])
    sums = np.hstack(list(flipped_sums(parts, 10_000, RandomStream(0))))
    every = np.hstack(list(enumerated_sums(parts)))
    wanted = sorted(tuple(np.array(signs) @ parts) for signs in product((1, -1), repeat=3))
    assert sorted(map(tuple, every.T)) == wanted
    patterns, counts = np.unique(sums, axis=1, return_counts=True)
    assert sorted(map(tuple, patterns.T)) == wanted
    assert counts.min() > 1100  # 1,250 expected, sd 33


def test_enumeration_goes_on_beyond_one_block() -> None:
    parts = np.array([[2.0**k] for k in range(15)])
    sums = np.hstack(list(enumerated_sums(parts)))
    assert len(np.unique(sums)) == 2**15


def test_the_p_of_a_seed_never_changes() -> None:
    values = np.arange(-30, 41) / 100
    assert randomization_test(values, resampling=Resampling(seed=42, labels=("a", "b", "nDCG@10"))).p == PINNED
    assert randomization_test(values, resampling=Resampling(seed=43, labels=("a", "b", "nDCG@10"))).p != PINNED
    assert randomization_test(values, resampling=Resampling(seed=42, labels=("a", "b", "RR"))).p != PINNED


def test_the_p_of_a_seed_follows_from_the_bits_by_hand() -> None:
    values = [int(value) for value in range(-30, 41)]
    stream = RandomStream(42, ("a", "sign flips", "block 0"))
    words = definitions.philox(stream.key, 9 * 40 // 8)
    data = b"".join(word.to_bytes(8, "little") for word in words)
    extreme = 0
    for place in range(39):
        signs = [1 - 2 * (data[40 * (row // 8) + place] >> row % 8 & 1) for row in range(len(values) - 1)]
        kept = [value for value in values if value]
        extreme += abs(sum(s * v for s, v in zip(signs, kept, strict=True))) >= abs(sum(kept))
    found = randomization_test(np.array(values) / 100, resampling=Resampling(39, seed=42, labels=("a",)))
    assert found.p == (extreme + 1) / 40
    assert extreme > 0


def test_nothing_to_test_gives_a_reason() -> None:
    found = randomization_test([], [])
    assert found.p is None
    assert found.reason == "there are no differences"
    assert randomization_test([0.0, 0.0]).p == 1.0
    assert randomization_test([0.3]).p == 1.0


def test_bad_values_are_refused() -> None:
    with pytest.raises(InputError, match="finite, found nan at position 1"):
        randomization_test([0.1, math.nan])
    with pytest.raises(InputError, match="found 2 and 3"):
        randomization_test([0.1, 0.2], [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="expected a unit for each query, found 1 for 2 queries"):
        randomization_test([0.1, 0.2], units=[1])
    with pytest.raises(InputError, match="must be numbers"):
        randomization_test(["a"])
    with pytest.raises(UsageError, match="alternative must be one of"):
        randomization_test([0.1], alternative="larger")  # type: ignore[arg-type]  # refused at run time
    with pytest.raises(UsageError, match="at least 1"):
        randomization_test([0.1], resampling=Resampling(0))


def test_scipy_is_not_needed_to_import_or_to_permute() -> None:
    code = (
        "import sys, rankgauge.stats\n"
        "[getattr(rankgauge.stats, name) for name in rankgauge.stats.__all__]\n"
        "from rankgauge.stats import randomization_test\n"
        "randomization_test([0.1] * 50)\n"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
