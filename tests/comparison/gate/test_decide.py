"""What fails, what is inconclusive, and how often: seeded, so that these tests always pass or always fail."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import gate
from rankgauge.comparison.gate.decide import Rule, decide
from rankgauge.comparison.statistics import Statistics
from rankgauge.errors import UsageError
from rankgauge.stats.power_analysis import detectable_difference
from rankgauge.stats.samples import Floats

RUNS = 1000
FAST = 999  # permutations: a Monte Carlo p is valid at any number of them
VALUES = np.array([0.0] + [1 / rank for rank in range(10, 0, -1)])
CHANCES = np.array([0.30, 0.02, 0.02, 0.02, 0.02, 0.02, 0.03, 0.05, 0.07, 0.10, 0.35])


def outcome(differences: Floats, margin: float = 0.0) -> str:
    return decide(np.asarray(differences)[:, np.newaxis], Rule(margin))[0].outcome


def fast(seed: int) -> Statistics:
    return Statistics(correction="maxt", resamples=FAST, seed=seed)


def rankings(rng: np.random.Generator, queries: int, measures: int) -> Floats:
    """Differences of two systems that are equally good: half the queries change, measures go together."""
    shape = (queries, 1)
    first = rng.choice(VALUES, size=shape, p=CHANCES)
    second = np.where(rng.random(shape) < 0.5, first, rng.choice(VALUES, size=shape, p=CHANCES))
    alike = rng.random((queries, measures)) < 0.7
    other = rng.choice(VALUES, size=(queries, measures), p=CHANCES) - rng.choice(VALUES, (queries, measures), p=CHANCES)
    return np.asarray(np.where(alike, second - first, other), dtype=np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("measures", [1, 4])
def test_of_1000_builds_in_which_nothing_changed_at_most_73_fail(measures: int) -> None:
    rng = np.random.default_rng(4)
    failed = 0
    for seed in range(RUNS):
        decisions = decide(rankings(rng, 40, measures), Rule(statistics=fast(seed)))
        failed += any(decision.outcome == "worse" for decision in decisions)
    assert failed <= 73  # 99.9% of the binomial at 0.05
    assert failed >= 20  # and it is not asleep


@pytest.mark.slow
def test_a_true_drop_of_the_size_it_states_is_caught_at_the_stated_power() -> None:
    rng = np.random.default_rng(5)
    sd, queries, measures, runs = 0.2, 50, 3, 400
    seen = detectable_difference(sd, queries, power=0.8, alpha=0.05 / measures, alternative="greater").difference
    assert seen is not None
    caught, stated = 0, []
    for seed in range(runs):
        differences = rng.normal(0, sd, (queries, measures))
        differences[:, 1] -= seen
        decision = decide(differences, Rule(statistics=fast(seed)))[1]
        caught += decision.outcome == "worse"
        stated.append(decision.detectable)
    # Three standard errors below; max-T is a little sharper than the Bonferroni bound that is stated.
    assert 0.8 - 3 * (0.16 / runs) ** 0.5 <= caught / runs <= 0.92
    assert np.mean(np.array(stated, dtype=float)) == pytest.approx(seen, rel=0.02)


def test_a_large_margin_raises_the_drop_that_would_fail_and_its_power_holds() -> None:
    rng = np.random.default_rng(6)
    sd, queries, margin, runs = 0.1, 100, 0.05, 400
    true = decide(rng.normal(0, sd, (queries, 1)), Rule(margin=margin))[0]
    assert true.detectable is not None
    assert true.smallest_drop is not None
    assert true.detectable < margin < true.smallest_drop
    caught = sum(
        decide(rng.normal(-true.smallest_drop, sd, (queries, 1)), Rule(margin, fast(seed)))[0].outcome == "worse"
        for seed in range(runs)
    )
    assert 0.74 <= caught / runs <= 0.86


def test_identical_runs_are_unchanged() -> None:
    decision = decide(np.zeros((20, 2)))[0]
    assert decision.outcome == "unchanged"
    assert decision.p == 1
    assert decision.smallest_drop is None
    assert outcome(np.array([0.3 - 0.2 - 0.1] * 20)) == "unchanged"  # but for rounding


def test_a_significant_drop_below_the_margin_does_not_fail() -> None:
    drop = np.random.default_rng(1).normal(-0.02, 0.01, 100)
    assert outcome(drop) == "worse"
    assert outcome(drop, margin=0.05) == "no worse"
    assert outcome(drop, margin=1e-4 - drop.mean()) == "inconclusive"


def test_a_drop_of_exactly_the_margin_fails() -> None:
    assert outcome(np.array([-0.1] * 20), margin=0.1) == "worse"
    assert outcome(np.array([-0.1] * 20), margin=0.1000001) != "worse"


def test_a_large_drop_that_is_not_significant_is_inconclusive() -> None:
    assert outcome(np.array([-1.0, -1.0, 0.5, 0.4])) == "inconclusive"
    assert outcome(np.array([-1.0, -1.0, 0.5, 0.4]), margin=0.1) == "inconclusive"


def test_an_improvement_is_no_worse() -> None:
    assert outcome(np.random.default_rng(2).normal(0.1, 0.05, 50)) == "no worse"
    assert outcome(np.array([0.1] * 20)) == "no worse"  # no spread, so that t has no answer


def test_one_query_is_never_enough() -> None:
    decision = decide([[-1.0]])[0]
    assert decision.outcome == "inconclusive"
    assert decision.smallest_drop is None
    assert decide(np.zeros((0, 2)))[1].outcome == "inconclusive"


def test_queries_of_one_unit_count_as_one() -> None:
    drop = np.array([-0.2, -0.1, -0.3, -0.2, -0.1, -0.2, -0.3, -0.1])
    assert decide(drop[:, np.newaxis])[0].outcome == "worse"
    shared = decide(drop[:, np.newaxis], units=[1, 1, 1, 1, 2, 2, 2, 2])[0]
    assert shared.outcome == "inconclusive"
    assert (shared.n, shared.units) == (8, 2)


def test_a_query_set_that_cannot_detect_the_margin_says_how_many_queries_could() -> None:
    values = np.random.default_rng(3).normal(0, 0.3, (50, 1))
    decision = decide(values, Rule(margin=0.02))[0]
    assert decision.queries_needed is not None
    assert decision.queries_needed > 500
    assert decide(values, Rule(margin=0.5))[0].queries_needed is None
    assert decide(values)[0].queries_needed is None


def test_the_same_numbers_give_the_same_decision() -> None:
    values = np.random.default_rng(7).normal(-0.05, 0.2, (60, 3))
    assert decide(values) == decide(values.copy())


@pytest.mark.parametrize(
    ("name", "value"), [("power", 0.01), ("power", 1.0), ("margin", -0.1), ("margin", float("nan"))]
)
def test_a_rule_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        Rule(**{name: value})  # type: ignore[arg-type]  # only floats are passed


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_a_confidence_that_leaves_no_room_is_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
        Rule(statistics=Statistics(correction="maxt", confidence=confidence))


def test_a_gate_tests_for_drops_only() -> None:
    with pytest.raises(UsageError, match="a gate is one-sided, and Tukey's test is two-sided"):
        Rule(statistics=Statistics(correction="tukey"))
    with pytest.raises(UsageError, match="a gate tests for drops: alternative 'greater' cannot be used"):
        Rule(statistics=Statistics(alternative="greater"))


def test_only_a_test_of_signs_is_bounded_by_the_number_of_queries() -> None:
    judged, before = {f"q{n}": {"d": 1} for n in range(4)}, {f"q{n}": ["d"] for n in range(4)}
    now = {"q0": ["x", "d"], "q1": ["x", "y", "d"], "q2": ["x", "d"], "q3": ["x", "y", "d"]}
    by_signs = gate(judged, now, "RR", against=before)
    by_t = gate(judged, now, "RR", against=before, statistics=Statistics(test="t", correction="holm"))
    assert [note.code for note in by_signs.notes] == ["few-queries"]
    assert by_signs.passed
    assert by_t.notes == ()
    assert by_t.failed
