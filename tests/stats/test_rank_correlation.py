import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import InputError, InputTypeError, UsageError
from rankgauge.stats.rank_correlation import kendall_tau, rbo, tau_ap
from tests.stats import definitions

few_scores = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5])

X = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
Y_TIED = [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1]


@given(st.lists(st.tuples(few_scores, few_scores), min_size=0, max_size=12))
def test_kendalls_tau_is_scipys(pairs: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    found = kendall_tau(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert found.value is None
        assert found.reason == "one ranking has no untied pairs"
    else:
        assert found.value == pytest.approx(float(stats.kendalltau(x, y).statistic))


def test_tau_ap_gives_the_values_of_urbanos_package() -> None:
    assert tau_ap(X, Y).value == pytest.approx(0.8519, abs=5e-5)
    assert tau_ap(X, Y_TIED).value == pytest.approx(0.7454, abs=5e-5)


@given(st.permutations([0.1, 0.2, 0.3, 0.4, 0.5]), st.lists(few_scores, min_size=5, max_size=5))
def test_tau_ap_is_its_mean_over_all_orders_of_ties(truth: list[float], estimate: list[float]) -> None:
    assert tau_ap(truth, estimate).value == pytest.approx(definitions.tau_ap(truth, estimate), abs=1e-12)


def test_tau_ap_weighs_errors_at_the_top() -> None:
    truth = [5, 4, 3, 2, 1]
    top, bottom = tau_ap(truth, [4, 5, 3, 2, 1]).value, tau_ap(truth, [5, 4, 3, 1, 2]).value
    assert top is not None
    assert bottom is not None
    assert top < bottom < 1
    assert tau_ap(truth, truth).value == 1
    assert tau_ap(truth, truth[::-1]).value == -1
    assert tau_ap([1, 1, 2], [1, 2, 3]).reason == "the true ranking has ties"
    assert tau_ap([1], [1]).value is None


@given(st.permutations("abcdefgh"), st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.1, 0.5, 0.9, 0.98]))
def test_rbo_is_its_sum_to_a_great_depth(labels: list[str], one: int, two: int, p: float) -> None:
    first, second = sorted(labels)[:one], labels[:two]
    wanted = definitions.rbo(first, second, p)
    assert rbo(first, second, p=p).value == pytest.approx(wanted, abs=1e-9)
    assert rbo(second, first, p=p).value == pytest.approx(wanted, abs=1e-9)
    assert rbo(labels, labels, p=p).value == pytest.approx(1)
    assert rbo(labels, [label.upper() for label in labels], p=p).value == 0


def test_rbo_of_an_example_by_hand() -> None:
    # overlaps 0, 1, 2, 4, 5 of 1 … 5: 0.1 · (0.9/2 + 0.81 · 2/3 + 0.729 + 0.6561) + 0.9⁵
    wanted = 0.1 * (0.9 / 2 + 0.81 * 2 / 3 + 0.729 + 0.6561) + 0.9**5
    assert rbo([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], p=0.9).value == pytest.approx(wanted)


@given(st.permutations("abcde"), st.permutations("abcde"), st.lists(few_scores, min_size=10, max_size=10))
def test_dicts_are_compared_by_name_in_any_order(one: list[str], two: list[str], scores: list[float]) -> None:
    first, second = dict(zip("abcde", scores[:5], strict=True)), dict(zip("abcde", scores[5:], strict=True))
    mixed = {name: first[name] for name in one}, {name: second[name] for name in two}
    assert kendall_tau(*mixed) == kendall_tau(scores[:5], scores[5:])
    assert tau_ap(*mixed) == tau_ap(scores[:5], scores[5:])


def test_dicts_with_different_names_are_refused_and_the_names_listed() -> None:
    with pytest.raises(InputError, match=r"the first lacks 1 name \(d\); the second lacks 2 names \(a, c\)"):
        kendall_tau({"a": 1, "b": 2, "c": 3}, {"b": 1, "d": 2})
    with pytest.raises(InputError, match=r"systems: the second lacks 1 name \(bm25\)"):
        tau_ap({"bm25": 1, "vector": 2}, {"vector": 1})
    for pair in (({"a": 1}, [1]), ([1], {"a": 1})):
        with pytest.raises(InputTypeError, match="one is a dict, the other is not"):
            kendall_tau(*pair)


def test_bad_rankings_are_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        rbo(["a", "a"], ["a", "b"])
    with pytest.raises(UsageError, match="p must lie between"):
        rbo(["a"], ["a"], p=1)
    with pytest.raises(InputError, match="same systems"):
        kendall_tau([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="finite"):
        tau_ap([1, math.nan], [1, 2])
    assert rbo([], ["a"]).reason == "a ranking is empty"
