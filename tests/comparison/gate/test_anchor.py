"""A gate with an anchor beside its baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankgauge import evaluate_runs, gate
from rankgauge.comparison import Baseline
from rankgauge.comparison.gate.decision import decide
from rankgauge.comparison.significance import PairedColumns
from rankgauge.render.documents.gate import document
from rankgauge.render.formats.ci import as_junit
from rankgauge.render.formats.terminal import as_text

Ranked = Callable[..., dict[str, dict[str, float]]]


def columns(differences: Any) -> PairedColumns:
    values = np.asarray(differences, dtype=float).reshape(len(differences), -1)
    return PairedColumns(values, np.zeros_like(values), ((-1.0, 1.0),) * values.shape[1])


def anchored(judged: Any, recent: Any, anchor: Any) -> Baseline:
    evaluation = evaluate_runs(judged, [recent, anchor], ["RR", "nDCG@10"])
    return replace(Baseline.of(evaluation, 0), anchor=Baseline.of(evaluation, 1))


def test_a_slow_decline_fails_against_the_anchor(judged: Any, ranked: Ranked) -> None:
    run, recent = ranked(bad=range(12)), ranked(bad=range(10))
    assert not gate(judged, run, "RR", baseline=recent).failed
    result = gate(judged, run, ["RR", "nDCG@10"], baseline=anchored(judged, recent, ranked()))
    assert result.failed
    assert [row.decision.outcome for row in result.compared] == ["inconclusive", "inconclusive"]
    assert [row.decision.outcome for row in result.anchored] == ["worse", "worse"]
    assert "is worse than the anchor" in result.sentence
    assert "max-t over 4 comparisons (2 measures × 2 baselines)" in result.test_description
    assert result.blame is not None
    text, junit = as_text(document(result)), as_junit(document(result))
    assert "anchor" in text.split("\n\n")[2]
    assert junit.count("<failure") == 2
    assert len(result.to_dict()["anchored"]) == 2


def test_baseline_and_anchor_are_corrected_together(judged: Any, ranked: Ranked) -> None:
    """Rows of which few queries changed have Bonferroni's correction, and twice as many of them twice the p."""
    run, recent = ranked(bad=range(9)), ranked(bad=range(2))
    alone = gate(judged, run, ["RR", "nDCG@10"], baseline=recent)
    twice = gate(judged, run, ["RR", "nDCG@10"], baseline=anchored(judged, recent, recent))
    both = gate(judged, run, ["RR", "nDCG@10"], baseline=anchored(judged, recent, ranked(bad=range(20, 28))))
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
    result = gate(judged, ranked(bad=range(20, 28)), "RR", baseline=replace(recent, anchor=anchor))
    assert (result.compared[0].decision.n, result.anchored[0].decision.n) == (30, 20)
    assert (result.compared[0].decision.outcome, result.anchored[0].decision.outcome) == ("worse", "unchanged")
