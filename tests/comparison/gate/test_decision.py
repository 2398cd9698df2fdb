"""What fails, what is inconclusive, and how often: seeded, so that these tests always pass or always fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rankgauge import Qrels, evaluate, gate
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.gate.decision import Decision, decide
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.significance import PairedColumns
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.verdicts import NOT_WORSE
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.stats.samples import Floats

RUNS = 1000
FAST = 999  # resamples: a Monte Carlo p is valid at any number of them
VALUES = np.array([0.0] + [1 / rank for rank in range(10, 0, -1)])
CHANCES = np.array([0.30, 0.02, 0.02, 0.02, 0.02, 0.02, 0.03, 0.05, 0.07, 0.10, 0.35])


def decisions_on(
    differences: ArrayLike, rule: GateRule | None = None, units: list[int] | None = None
) -> tuple[Decision, ...]:
    """The decisions on differences from a baseline of 0."""
    values = np.asarray(differences, dtype=float)
    labels = None if units is None else np.array(units)
    return decide(PairedColumns(values, np.zeros_like(values), ((-1.0, 1.0),) * values.shape[1], labels), rule)


def outcome(differences: Floats, margin: float = 0.0) -> str:
    return decisions_on(np.asarray(differences)[:, np.newaxis], GateRule(margin))[0].outcome


def fast(seed: int) -> Statistics:
    return Statistics(resamples=FAST, seed=seed)


def rankings(rng: np.random.Generator, queries: int, measures: int) -> Floats:
    """Differences of two systems that are equally good: half the queries change, measures go together."""
    shape = (queries, 1)
    first = rng.choice(VALUES, size=shape, p=CHANCES)
    second = np.where(rng.random(shape) < 0.5, first, rng.choice(VALUES, size=shape, p=CHANCES))
    alike = rng.random((queries, measures)) < 0.7
    other = rng.choice(VALUES, size=(queries, measures), p=CHANCES) - rng.choice(VALUES, (queries, measures), p=CHANCES)
    return np.asarray(np.where(alike, second - first, other), dtype=np.float64)


@pytest.mark.slow
@pytest.mark.usefixtures("only_outcomes")
@pytest.mark.parametrize("measures", [1, 4])
def test_of_1000_builds_in_which_nothing_changed_at_most_73_fail(measures: int) -> None:
    rng = np.random.default_rng(4)
    failed = 0
    for seed in range(RUNS):
        decisions = decisions_on(rankings(rng, 40, measures), GateRule(statistics=fast(seed)))
        failed += any(decision.outcome == "worse" for decision in decisions)
    assert failed <= 73  # 99.9% of the binomial at 0.05
    assert failed >= 20  # and it is not asleep


@pytest.mark.slow
@pytest.mark.parametrize("one_way", [False, True])
def test_a_true_drop_of_the_size_it_states_is_caught_at_the_stated_power(
    one_way: bool, request: pytest.FixtureRequest
) -> None:
    """The stated size comes from one sample; new samples have it as a shift, or as one-way losses of a few queries."""
    rng = np.random.default_rng(5)
    queries, measures, runs = 50, 3, 300

    def sample(drop: float) -> Floats:
        if one_way:
            return np.float64(-0.5) * (rng.random((queries, measures)) < max(drop / 0.5, 0.25 if drop == 0 else 0.0))
        return rng.normal(-drop, 0.2, (queries, measures))

    stated = [
        decision.smallest_drop for _ in range(20) for decision in decisions_on(sample(0), GateRule(statistics=fast(1)))
    ]
    drop = float(np.mean([size for size in stated if size is not None]))
    request.getfixturevalue("only_outcomes")
    caught = sum(
        decisions_on(sample(drop), GateRule(statistics=fast(seed)))[1].outcome == "worse" for seed in range(runs)
    )
    assert 0.8 - 4 * (0.16 / runs) ** 0.5 <= caught / runs <= 0.98


@pytest.mark.slow
def test_a_large_margin_raises_the_drop_that_would_fail_and_its_power_holds() -> None:
    rng = np.random.default_rng(6)
    sd, queries, margin, runs = 0.1, 100, 0.05, 200
    values = rng.normal(0, sd, (queries, 1))
    true, without = decisions_on(values, GateRule(margin=margin))[0], decisions_on(values)[0]
    assert true.smallest_drop is not None
    assert without.smallest_drop is not None
    assert without.smallest_drop < margin < true.smallest_drop
    caught = sum(
        decisions_on(rng.normal(-true.smallest_drop, sd, (queries, 1)), GateRule(margin, fast(seed)))[0].outcome
        == "worse"
        for seed in range(runs)
    )
    assert 0.7 <= caught / runs <= 0.9


@pytest.mark.parametrize(("margin", "queries"), [(0.0, 30), (0.03, 30), (0.03, 120)])
def test_an_outcome_is_what_its_bounds_say(margin: float, queries: int) -> None:
    rng = np.random.default_rng(8)
    claims = margin > 0 and queries >= np.log(0.05) / np.log(1 - margin)
    for seed in range(60):
        values = rng.normal(rng.choice([-0.1, 0, 0.05]), 0.15, (queries, 3)) * (
            rng.random((queries, 3)) < rng.choice([0.1, 0.5, 1])
        )
        for decision in decisions_on(values, GateRule(margin, fast(seed))):
            low, high = decision.interval.low, decision.interval.high
            assert low is not None
            assert high is not None
            if decision.outcome != "unchanged":
                drop = -decision.difference
                assert (decision.outcome == "worse") == (high < 0 and drop >= margin)
                assert (decision.outcome == "better") == (low > 0)
                assert (decision.outcome == "no worse") == (claims and -margin < low <= 0 <= high)
                assert (decision.outcome == "negligible") == (claims and -margin < low and high < 0)


@pytest.mark.slow
@pytest.mark.usefixtures("only_outcomes")
def test_of_builds_in_which_nothing_changed_few_claim_that_nothing_got_worse() -> None:
    """A true drop of exactly the margin: at most 5% of builds say of any measure that it is no worse."""
    rng = np.random.default_rng(9)
    claimed = 0
    for seed in range(400):
        decisions = decisions_on(rankings(rng, 40, 4) - 0.1, GateRule(0.1, fast(seed)))
        claimed += any(decision.outcome in NOT_WORSE for decision in decisions)
    assert claimed / 400 <= 0.06 + 4 * (0.06 * 0.94 / 400) ** 0.5


def test_identical_runs_are_unchanged() -> None:
    decision = decisions_on(np.zeros((20, 2)))[0]
    assert decision.outcome == "unchanged"
    assert decision.p == 1
    assert decision.smallest_drop is None
    assert outcome(np.array([0.3 - 0.2 - 0.1] * 20)) == "unchanged"  # but for rounding


def test_a_significant_drop_below_the_margin_does_not_fail() -> None:
    drop = np.random.default_rng(1).normal(-0.02, 0.01, 100)
    assert outcome(drop) == "worse"
    assert outcome(drop, margin=0.05) == "negligible"
    assert outcome(drop, margin=1e-4 - drop.mean()) == "inconclusive"


def test_a_drop_of_exactly_the_margin_fails() -> None:
    assert outcome(np.array([-0.1] * 20), margin=0.1) == "worse"
    assert outcome(np.array([-0.1] * 20), margin=0.1000001) != "worse"


def test_a_large_drop_that_is_not_significant_is_inconclusive() -> None:
    assert outcome(np.array([-1.0, -1.0, 0.5, 0.4])) == "inconclusive"
    assert outcome(np.array([-1.0, -1.0, 0.5, 0.4]), margin=0.1) == "inconclusive"


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_an_improvement_is_better(margin: float) -> None:
    assert outcome(np.random.default_rng(2).normal(0.1, 0.05, 50), margin) == "better"
    assert outcome(np.array([0.1] * 20), margin) == "better"  # equal differences


@pytest.mark.parametrize(("margin", "enough"), [(0.02, 149), (0.05, 59), (0.2, 14)])
def test_no_worse_needs_enough_queries_to_rule_out_rare_total_losses(margin: float, enough: int) -> None:
    """The same numbers as for "equivalent": with fewer, at least 5% of samples miss losses of the margin."""
    rng = np.random.default_rng(3)
    for queries, claim in ((enough, "no worse"), (enough - 1, "inconclusive")):
        changes = rng.normal(0, 0.002, queries)
        changes -= changes.mean()
        (decision,) = decisions_on(changes[:, np.newaxis], GateRule(margin))
        assert decision.interval.low is not None
        assert decision.interval.low > -margin
        assert decision.outcome == claim
        assert decision.overlooks_losses == (claim == "inconclusive")
        assert decision.queries_needed == (None if claim == "no worse" else enough)
        assert decision.unseen is not None
        assert decision.unseen.smallest_margin == pytest.approx(1 - 0.05 ** (1 / queries))


def test_units_count_instead_of_queries_that_share_them() -> None:
    changes = np.tile(np.random.default_rng(3).normal(0, 0.002, 40), 2)[:, np.newaxis]
    assert decisions_on(changes, GateRule(0.05))[0].outcome == "no worse"  # 80 of 59
    (shared,) = decisions_on(changes, GateRule(0.05), [*range(40)] * 2)
    assert shared.outcome == "inconclusive"
    assert shared.queries_needed == 118  # 59 units of two queries


@pytest.mark.parametrize(("mean", "word"), [(0.0, "equivalent"), (0.003, "negligible"), (-0.003, "negligible")])
def test_a_two_sided_gate_and_a_comparison_use_the_same_words(mean: float, word: str) -> None:
    changes = np.random.default_rng(0).normal(0.0, 0.01, 400)
    changes += mean - changes.mean()
    (decision,) = decisions_on(changes[:, np.newaxis], GateRule(0.01, two_sided=True))
    before = np.full(400, 0.5)
    judged = {f"q{number:03}": {"a": 1} for number in range(400)}
    base = replace(evaluate(judged, {query: ["a"] for query in judged}, "AP"), run="base", values=before[:, np.newaxis])
    new = replace(base, run="new", values=(before + changes)[:, np.newaxis])
    compared = compare_evaluation(Evaluation(Qrels.from_dict(judged), (), (base, new)), changes=0)
    assert decision.outcome == compared["new", "AP"].outcome(0.05) == word


def test_one_query_is_never_enough() -> None:
    decision = decisions_on([[-1.0]])[0]
    assert decision.outcome == "inconclusive"
    assert decision.smallest_drop is None
    assert decisions_on(np.zeros((0, 2)))[1].outcome == "inconclusive"


def test_queries_of_one_unit_count_as_one() -> None:
    drop = np.array([-0.2, -0.1, -0.3, -0.2, -0.1, -0.2, -0.3, -0.1])
    assert decisions_on(drop[:, np.newaxis])[0].outcome == "worse"
    shared = decisions_on(drop[:, np.newaxis], units=[1, 1, 1, 1, 2, 2, 2, 2])[0]
    assert shared.outcome == "inconclusive"
    assert (shared.n, shared.units) == (8, 2)


def test_a_query_set_that_cannot_detect_the_margin_says_how_many_queries_could() -> None:
    values = np.random.default_rng(3).normal(0, 0.3, (50, 1))
    decision = decisions_on(values, GateRule(margin=0.02))[0]
    assert decision.queries_needed is not None
    assert decision.queries_needed > 500
    assert decisions_on(values, GateRule(margin=0.5))[0].queries_needed is None
    assert decisions_on(values)[0].queries_needed is None


def test_the_same_numbers_give_the_same_decision() -> None:
    values = np.random.default_rng(7).normal(-0.05, 0.2, (60, 3))
    assert decisions_on(values) == decisions_on(values.copy())


@pytest.mark.parametrize(("name", "value"), [("margin", float("inf")), ("margin", -0.1), ("margin", float("nan"))])
def test_a_rule_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        GateRule(**{name: value})  # type: ignore[arg-type]  # only floats are passed


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_a_confidence_that_leaves_no_room_is_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match="confidence: expected a number between 0 and 1"):
        GateRule(statistics=Statistics(confidence=confidence))


def test_a_gate_tests_for_drops_only() -> None:
    for alternative in ("greater", "less"):
        with pytest.raises(UsageError, match="a gate tests for drops, whatever the alternative is"):
            GateRule(statistics=Statistics(alternative=alternative))


def test_only_a_test_of_signs_is_bounded_by_the_number_of_queries() -> None:
    judged, before = {f"q{n}": {"d": 1} for n in range(4)}, {f"q{n}": ["d"] for n in range(4)}
    now = {"q0": ["x", "d"], "q1": ["x", "y", "d"], "q2": ["x", "d"], "q3": ["x", "y", "d"]}
    by_signs = gate(judged, now, "RR", baseline=before)
    by_t = gate(judged, now, "RR", baseline=before, rule=GateRule(statistics=Statistics(test="t")))
    assert by_signs.verdict == "undecided"
    assert by_signs.compared[0].queries_needed == 5
    assert by_t.failed


def test_a_margin_changes_no_bound() -> None:
    """Also if few queries changed, or none: what a margin asks for does not change what the queries show."""
    values = np.zeros((40, 3))
    values[:4, 0], values[:25, 1] = -0.1, np.linspace(-0.2, 0.2, 25)
    for without, within in zip(decisions_on(values), decisions_on(values, GateRule(0.02)), strict=True):
        assert without.interval == within.interval
