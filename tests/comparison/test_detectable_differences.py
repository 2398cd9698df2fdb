"""What a number of queries can show: detectable differences, and the queries that a target needs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankgauge import Qrels, Statistics, compare
from rankgauge.comparison.answer_sentences import remarks
from rankgauge.stats.effects import detectable_difference, queries_needed
from tests.comparison.collection import GOOD, JUDGED, LUCKY, POOR, QRELS


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_a_target_difference_needs_a_number_of_queries(test: Any) -> None:
    how = Statistics(test, target_difference=0.05)
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", baseline=0, statistics=how)
    row = found["lucky", "AP"]
    _, one, other = found.paired("lucky", "AP")
    sd = float(np.std(np.array(one) - np.array(other), ddof=1))
    assert row.detectable is not None
    assert row.queries_needed == math.ceil(40 * (row.detectable / 0.05) ** 2)  # it shrinks with the root of n
    wanted = queries_needed(0.05, sd).n  # by the noncentral t; a bootstrap of 40 skewed values is more careful
    assert row.queries_needed == pytest.approx(wanted, rel=0.03 if test == "t" else 0.2)
    assert f"AP {row.queries_needed:,}" in remarks(found)[0]


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_the_detectable_difference_is_at_the_level_that_the_correction_leaves(test: Any) -> None:
    """To one of two systems on the primary measure, and on one of two secondary measures."""
    how = Statistics(test, resamples=500, target_difference=0.1)
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY, "good": GOOD}, "AP nDCG@10 P@5", baseline=0, statistics=how)
    for measure, part in (("AP", 2), ("nDCG@10", 4)):
        _, one, other = found.paired("lucky", measure)
        sd = float(np.std(np.array(one) - np.array(other), ddof=1))
        row = found["lucky", measure]
        wanted = detectable_difference(sd, 40, alpha=0.05 / part).difference or 0.0
        assert row.detectable == pytest.approx(wanted)
        assert row.queries_needed == math.ceil(40 * (wanted / 0.1) ** 2)
    assert "at the corrected level" in remarks(found)[0]


def test_few_changed_queries_need_more_changes_at_a_corrected_level() -> None:
    """k one-way changes have p = 2 · 2⁻ᵏ by sign flips: 6 are the first below 5%, 7 the first below 5% / 2."""
    judged = {f"q{number}": {"good": 1} for number in range(40)}
    base = {query: ["bad", "good"] for query in judged}
    new = {query: ["good"] if place < 3 else ranking for place, (query, ranking) in enumerate(base.items())}
    runs = {"base": base, "new": new, "other": {**new, "q9": ["good"]}}
    assert compare(judged, {name: runs[name] for name in ("base", "new")}, "RR")["new", "RR"].changes_needed == 6
    assert compare(judged, runs, "RR", baseline=0)["new", "RR"].changes_needed == 7


def test_what_queries_share_makes_the_set_smaller() -> None:
    units = QRELS.with_columns({"unit": [n // 8 for n in range(40)]})
    double = Qrels.from_dict(
        {f"{query}{copy}": docs for query, docs in JUDGED.items() for copy in "ab"},
        columns={"unit": {f"{query}{copy}": query for query in JUDGED for copy in "ab"}},
    )
    runs = {
        name: {f"{query}{copy}": docs for query, docs in run.items() for copy in "ab"}
        for name, run in (("poor", POOR), ("lucky", LUCKY))
    }
    how = Statistics(target_difference=0.05)
    once = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", baseline=0, statistics=how)["lucky", "AP"]
    twice = compare(double, runs, "AP", statistics=how)["lucky", "AP"]
    assert twice.detectable == pytest.approx(once.detectable)  # every query a second time shows nothing new
    assert twice.queries_needed == pytest.approx(2 * (once.queries_needed or 0), abs=1)
    assert compare(units, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"].detectable != once.detectable


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_a_one_sided_comparison_sees_more_with_as_many_queries(test: Any) -> None:
    how = Statistics(test, target_difference=0.05)
    both, one, other = (
        compare(
            QRELS,
            {"poor": POOR, "lucky": LUCKY},
            "AP",
            statistics=replace(how, alternative=side),
        )
        for side in ("two-sided", "greater", "less")
    )
    rows = [found["lucky", "AP"] for found in (both, one, other)]
    for row in rows[1:]:
        assert (row.detectable or 0) < (rows[0].detectable or 0)
        assert (row.queries_needed or 0) < (rows[0].queries_needed or 0)
    assert test != "t" or rows[1].detectable == rows[2].detectable
    turned = compare(
        QRELS, {"lucky": LUCKY, "poor": POOR}, "AP", baseline=0, statistics=replace(how, alternative="less")
    )
    assert turned["poor", "AP"].detectable == rows[1].detectable  # a skewed sample shows more on one side
