"""A gate whose errors are controlled over a sequence of builds, and one with an anchor beside its baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, Statistics, UsageError, evaluate_runs, gate
from rankgauge.comparison import Baseline
from rankgauge.comparison.gate.decide import Rule, decide
from rankgauge.comparison.gate.online import OnlineBuild, at_level
from rankgauge.comparison.testing import PairedColumns, family_tests
from rankgauge.render.text.gate import as_text
from rankgauge.render.text.gate_ci import as_junit
from rankgauge.stats import RunNoise, maxt, sign_flip_e_value

Ranked = Callable[..., dict[str, dict[str, float]]]
BUILD = OnlineBuild("main", "c", 1, 1, 200, 0.05, "any", 0.00025, 0)


class Sequence:
    """A sequence in memory, with one level for all builds."""

    def __init__(self, build: OnlineBuild = BUILD) -> None:
        self.build, self.keys, self.outcomes = build, [], []  # type: ignore[var-annotated]  # of a test

    def claim(self, key: str, alpha: float) -> OnlineBuild:
        assert alpha == 0.05
        self.keys.append(key)
        return replace(self.build, key=key)

    def record(self, build: OnlineBuild, *, failed: bool) -> None:
        assert build.key == self.keys[-1]
        self.outcomes.append(failed)


def columns(differences: Any, noise: Any = ()) -> PairedColumns:
    values = np.asarray(differences, dtype=float).reshape(len(differences), -1)
    return PairedColumns(values, np.zeros_like(values), ((-1.0, 1.0),) * values.shape[1], noise=noise)


def test_a_drop_that_fails_alone_passes_at_the_level_of_a_sequence(judged: Any, ranked: Ranked) -> None:
    sequence = Sequence()
    plain = gate(judged, ranked(bad=range(6)), "RR", against=ranked())
    online = gate(judged, ranked(bad=range(6)), "RR", against=ranked(), online=sequence)
    assert (plain.failed, online.failed) == (True, False)
    worse = gate(judged, ranked(bad=range(20)), "RR", against=ranked(), online=sequence)
    assert worse.failed
    assert sequence.outcomes == [False, True]
    assert worse.to_dict()["online"]["level"] == 0.00025
    assert "online: build 1 of 200: P(any false alarm within 200 builds) is at most 5%; level 0.00025" in as_text(worse)


def test_the_same_test_has_the_same_key_and_any_other_a_different_one(judged: Any, ranked: Ranked) -> None:
    sequence = Sequence()
    run, other = ranked(bad=[1, 2]), ranked(bad=[3])
    for against, options in (
        (ranked(), {}),
        (ranked(), {}),
        (other, {}),
        (ranked(), {"margin": 0.1}),
        (ranked(), {"statistics": Statistics(seed=1)}),
    ):
        gate(judged, run, "RR", against=against, online=sequence, **options)
    gate(judged, other, "RR", against=ranked(), online=sequence)
    assert sequence.keys[0] == sequence.keys[1]
    assert len(set(sequence.keys)) == 5


def test_a_drop_must_be_significant_by_the_draws_and_by_sign_flips() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(-0.06, 0.1, (40, 2))
    rule = Rule().at_build(BUILD)
    assert rule.statistics.resamples == 40_000
    flips = maxt(differences, alternative="less", resampling=replace_resamples(40_000))
    for decision, p in zip(decide(columns(differences), rule), flips.p, strict=True):
        assert p is not None
        assert decision.p is not None
        assert decision.p >= p
        assert (decision.outcome == "worse") == (decision.p <= 0.00025)
        assert (decision.interval.high is not None and decision.interval.high < 0) == (decision.outcome == "worse")


def test_eleven_losses_cannot_show_what_the_level_asks_for() -> None:
    """Random signs make eleven differences all negative with the probability 2⁻¹¹; the bootstrap alone is sure."""
    differences = np.zeros((60, 1))
    differences[:11, 0] = np.linspace(-0.5, -0.4, 11)
    statistics = replace(at_level(Statistics(), BUILD.level), alternative="less")
    assert (family_tests(columns(differences), statistics)[0].p_corrected or 1.0) <= BUILD.level
    (decision,) = decide(columns(differences), Rule().at_build(BUILD))
    assert decision.p == pytest.approx(2**-11, rel=0.3)
    assert decision.outcome == "inconclusive"
    assert decision.interval.high == 0


def replace_resamples(count: int) -> Any:
    from rankgauge.stats import Resampling

    return Resampling(count)


def test_e_values_decide_under_any_dependence() -> None:
    rng = np.random.default_rng(2)
    differences = np.column_stack([rng.normal(-0.1, 0.1, 50), rng.normal(0, 0.1, 50)])
    build = replace(BUILD, control="e-lond", level=0.0005, alarms=1)
    first, second = decide(columns(differences), Rule().at_build(build))
    value = sign_flip_e_value(differences[:, 0], level=0.05 / 200 / 2)
    assert first.p == pytest.approx(2 / value)
    assert (first.outcome, second.outcome) == ("worse", "inconclusive")
    noise = (RunNoise(3, 0.01, 0.001), None)
    with pytest.raises(InputError, match="differ as a whole"):
        decide(columns(differences, noise), Rule().at_build(build))


def test_too_few_draws_for_a_level_are_refused(judged: Any, ranked: Ranked) -> None:
    with pytest.raises(UsageError, match=r"999 draws cannot show a p of 0\.00025"):
        gate(judged, ranked(), "RR", against=ranked(), statistics=Statistics(resamples=999), online=Sequence())
    gate(judged, ranked(), "RR", against=ranked(), statistics=Statistics(resamples=4000), online=Sequence())
    gate(judged, ranked(), "RR", against=ranked(), statistics=Statistics(test="t"), online=Sequence())


def anchored(judged: Any, recent: Any, anchor: Any) -> Baseline:
    evaluation = evaluate_runs(judged, [recent, anchor], ["RR", "nDCG@10"])
    return replace(Baseline.of(evaluation, 0), anchor=Baseline.of(evaluation, 1))


def test_a_slow_decline_fails_against_the_anchor(judged: Any, ranked: Ranked) -> None:
    run, recent = ranked(bad=range(12)), ranked(bad=range(10))
    assert not gate(judged, run, "RR", against=recent).failed
    result = gate(judged, run, ["RR", "nDCG@10"], against=anchored(judged, recent, ranked()))
    assert result.failed
    assert [row.decision.outcome for row in result.compared] == ["inconclusive", "inconclusive"]
    assert [row.decision.outcome for row in result.anchored] == ["worse", "worse"]
    assert "is worse than the anchor" in result.sentence
    assert "max-t over 4 comparisons (2 measures × 2 baselines)" in result.test_description
    assert result.blame is not None
    text, junit = as_text(result), as_junit(result)
    assert "anchor" in text.split("\n\n")[2]
    assert junit.count("<failure") == 2
    assert len(result.to_dict()["anchored"]) == 2


def test_baseline_and_anchor_are_corrected_together(judged: Any, ranked: Ranked) -> None:
    """Rows of which few queries changed have Bonferroni's correction, and twice as many of them twice the p."""
    run, recent = ranked(bad=range(9)), ranked(bad=range(2))
    alone = gate(judged, run, ["RR", "nDCG@10"], against=recent)
    twice = gate(judged, run, ["RR", "nDCG@10"], against=anchored(judged, recent, recent))
    both = gate(judged, run, ["RR", "nDCG@10"], against=anchored(judged, recent, ranked(bad=range(20, 28))))
    for one, same, other in zip(alone.compared, twice.compared, both.compared, strict=True):
        assert one.decision.p is not None
        assert same.decision.p == other.decision.p == pytest.approx(2 * one.decision.p)


def test_columns_of_several_baselines_are_drawn_together() -> None:
    """The same column twice has the p of one: no correction is needed for what is the same."""
    differences = np.random.default_rng(3).normal(-0.03, 0.1, 60)
    once, twice = decide(columns(differences)), decide(columns(np.column_stack([differences, differences])))
    assert twice[0].p == twice[1].p == once[0].p


def test_an_anchor_may_have_other_queries(judged: Any, ranked: Ranked) -> None:
    fewer = {query: grades for query, grades in judged.items() if query < "q20"}
    recent = Baseline.of(evaluate_runs(judged, [ranked()], ["RR"]), 0)
    anchor = Baseline.of(evaluate_runs(fewer, [ranked()], ["RR"]), 0)
    result = gate(judged, ranked(bad=range(20, 28)), "RR", against=replace(recent, anchor=anchor))
    assert (result.compared[0].decision.n, result.anchored[0].decision.n) == (30, 20)
    assert (result.compared[0].decision.outcome, result.anchored[0].decision.outcome) == ("worse", "unchanged")
