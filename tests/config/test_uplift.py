"""Targets relative to a baseline: which improvement is reached, and how certain that is."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankgauge import InputError, Statistics, compare, parse_measure
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.config import Bands, Uplift, UpliftResult, load_bands, uplift_of
from rankgauge.render.documents.bands import uplift_lines, with_bands

Command = Callable[..., Any]
RANKS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=5, max_size=40)
T_TEST = Statistics(test="t")


def compared(ranks: list[tuple[int, int]], measure: str = "RR", statistics: Statistics = T_TEST) -> Comparison:
    """The baseline and a system, by the rank of the one relevant document of each query."""
    qrels = {f"q{number}": {"d": 1} for number in range(len(ranks))}
    runs = {
        name: {f"q{number}": [f"x{i}" for i in range(pair[side] - 1)] + ["d"] for number, pair in enumerate(ranks)}
        for side, name in enumerate(("base", "new"))
    }
    return compare(qrels, runs, measure, statistics=statistics)


def result(comparison: Comparison, target: Uplift) -> UpliftResult:
    return uplift_of(comparison, comparison.differences[0], target)


def fieller(system: Any, baseline: Any) -> tuple[float, float] | None:
    """The 95% interval of the ratio of two paired means, in closed form; None if it has no ends."""
    n = len(system)
    covariance = np.cov(system, baseline) / n
    t2 = stats.t.ppf(0.975, n - 1) ** 2
    a = np.mean(baseline) ** 2 - t2 * covariance[1, 1]
    b = np.mean(system) * np.mean(baseline) - t2 * covariance[0, 1]
    c = np.mean(system) ** 2 - t2 * covariance[0, 0]
    if a <= 0 or b * b - a * c < 0:
        return None
    root = math.sqrt(b * b - a * c)
    return float((b - root) / a), float((b + root) / a)


@settings(max_examples=25)
@given(RANKS)
def test_the_interval_of_a_ratio_is_that_of_fieller(ranks: list[tuple[int, int]]) -> None:
    baseline, system = (np.array([1 / pair[side] for pair in ranks]) for side in (0, 1))
    if np.ptp(system) == 0 or np.ptp(baseline) == 0 or np.ptp(system / baseline) == 0:
        return
    found = result(compared(ranks), Uplift(0.1, relative=True))
    assert found.estimate == pytest.approx(np.mean(system) / np.mean(baseline) - 1)
    expected = fieller(system, baseline)
    if expected is None:
        assert (found.low, found.high, found.status) == (None, None, "inconclusive")
    else:
        assert (found.low, found.high) == pytest.approx((expected[0] - 1, expected[1] - 1), abs=1e-6)


@settings(max_examples=25)
@given(RANKS, st.floats(0.001, 0.5), st.booleans())
def test_reached_is_said_only_if_the_whole_interval_reaches_the_target(
    ranks: list[tuple[int, int]], size: float, relative: bool
) -> None:
    found = result(compared(ranks), Uplift(size, relative))
    assert found.estimate is not None
    assert found.estimate_reaches == (found.estimate >= size)
    if found.status == "reached":
        assert found.low is not None
        assert found.low >= size
        assert found.estimate_reaches
    elif found.status == "missed":
        assert found.high is not None
        assert found.high < size
        assert not found.estimate_reaches
    else:
        assert found.status == "inconclusive"


def test_an_absolute_uplift_has_the_interval_of_the_comparison() -> None:
    comparison = compared([(2, 1)] * 10 + [(1, 2)] * 2 + [(3, 1)] * 5, statistics=Statistics())
    row = comparison.differences[0]
    found = result(comparison, Uplift(0.1))
    assert (found.estimate, found.low, found.high) == (row.difference, row.interval.low, row.interval.high)
    assert found.status == "reached"
    assert result(comparison, Uplift(0.35)).status == "inconclusive"
    assert result(comparison, Uplift(0.9)).status == "missed"


def test_an_improvement_of_a_measure_that_should_be_low_is_a_reduction() -> None:
    comparison = compared([(4, 2), (4, 2), (5, 2), (4, 3), (6, 2)], "FirstRel")
    assert result(comparison, Uplift(0.5)).status == "reached"
    found = result(comparison, Uplift(0.2, relative=True))
    assert found.estimate == pytest.approx(1 - 11 / 23)
    assert found.status == "reached"
    worse = compared([(2, 4), (2, 4), (2, 5), (3, 4), (2, 6)], "FirstRel")
    assert result(worse, Uplift(0.3, relative=True)).status == "missed"


def test_more_comparisons_need_more_evidence_for_a_relative_uplift_too() -> None:
    ranks = [(2, 1)] * 10 + [(1, 2)] * 2 + [(3, 1)] * 5
    alone = compared(ranks, "P@10 RR", T_TEST)
    together = compared(ranks, "P@10 RR P@1", Statistics(test="t"))
    narrow, wide = (uplift_of(found, found["new", "RR"], Uplift(0.1, relative=True)) for found in (alone, together))
    assert narrow.estimate == wide.estimate
    assert wide.low < narrow.low  # type: ignore[operator]  # both have ends


def test_a_share_of_nothing_is_undefined() -> None:
    comparison = compare({"q": {"d": 1}, "r": {"d": 1}}, {"base": {"q": ["x"], "r": ["x"]}, "new": {"q": ["d"]}}, "RR")
    assert result(comparison, Uplift(0.1, relative=True)) == UpliftResult(Uplift(0.1, relative=True), "undefined")
    bands = Bands("mine", {}, uplifts={parse_measure("RR"): Uplift(0.1, relative=True)})
    assert uplift_lines(comparison.scores, bands, comparison) == [
        "uplift (mine): new on RR over base, target +10%: undefined, because the baseline's value is not positive"
    ]


def test_files_and_dictionaries_hold_uplifts(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("bands:\n  RR: {good: 0.5, uplift: 7%}\n  P@5: {uplift: 0.02}\n  AP: {uplift: [1%, 2.5%]}\n")
    bands = load_bands(path)
    assert {str(measure): uplift for measure, uplift in bands.uplifts.items()} == {
        "RR": Uplift(0.07, relative=True), "P@5": Uplift(0.02), "AP": Uplift(0.01, relative=True, high=0.025)
    }  # fmt: skip
    assert bands.band_of("P@5", 0.9) is None
    assert "P@5" in bands
    path.write_text(bands.to_yaml())
    assert load_bands(path) == bands == Bands.from_dict(json.loads(json.dumps(bands.to_dict())))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "RR: {uplift: -0.1}",
            "expected a positive number, or a share of the baseline such as 10% in 'bands.RR.uplift'",
        ),
        ("RR: {uplift: 0%}", "found str"),
        ("RR: {uplift: much}", "found str"),
        ("RR: {uplift: true}", "found bool"),
        ("RR: {uplift: .inf}", "found float"),
        ("RR: {uplift: [0.03]}", "expected two ascending ends of a range: [0.03, 0.05] or [3%, 5%]"),
        ("RR: {uplift: [0.05, 0.03]}", "expected two ascending ends"),
        ("RR: {uplift: [0.03, 5%]}", "expected two ascending ends"),
        ("RR: {uplift: [0.03, null]}", "expected two ascending ends"),
        ("NumRet: {uplift: 1}", "no uplift for a measure that is neither better nor worse"),
        ("GMAP: {uplift: 0.1}", "an uplift in percent, because geometric means differ by ratios, found uplift +0.1"),
    ],
)
def test_an_impossible_uplift_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"bands:\n  {text}\n")
    with pytest.raises(InputError) as error:
        load_bands(path)
    assert message in str(error.value)


def test_every_output_has_the_uplifts_and_evaluate_asks_for_a_baseline(tmp_path: Path, command: Command) -> None:
    command("demo", "--copy", tmp_path / "w")
    files = [tmp_path / "w/qrels.trec", tmp_path / "w/runs/lexical.trec", tmp_path / "w/runs/vector.trec"]
    kpi = ("-m", "AP@100", "--set", "kpi=trec-2025")
    sentence = "on AP@100 over lexical, target +0.03 to +0.05: inconclusive, the estimate is below it"
    for form in ("table", "markdown", "latex"):
        assert sentence in command("compare", *files, *kpi, "--format", form).out
    data = json.loads(command("compare", *files, *kpi, "--format", "json").out)
    assert "uplifts" not in data["runs"][0]
    found, target = data["runs"][1]["uplifts"]["AP@100"], {"size": 0.03, "relative": False, "high": 0.05}
    assert (found["target"], found["status"]) == (target, "inconclusive")
    assert found["ci"]["low"] == data["comparison"]["differences"][0]["ci"]["low"]
    assert data["kpi"]["uplifts"] == {"AP@100": target}
    needed = "uplift (trec-2025): AP@100 +0.03 to +0.05: needs a comparison with a baseline (`rankgauge compare`)"
    for form in ("table", "markdown"):
        out = command("evaluate", *files, *kpi, "--format", form).out
        assert "needs a comparison with a baseline" in out
        assert form == "markdown" or needed in out.splitlines()
    data = json.loads(command("evaluate", *files, *kpi, "--format", "json").out)
    assert data["runs"][0]["uplifts"]["AP@100"]["status"] == "needs a baseline"
    assert needed in command("gate", *files[:2], "--require", "AP@100>0", "--set", "kpi=trec-2025").out
    assert command("compare", *files, *kpi, "--html", tmp_path / "page.html").code == 0
    assert sentence in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_measures_without_a_target_add_nothing() -> None:
    comparison = compared([(2, 1)] * 5)
    data: dict[str, Any] = {"runs": [{}, {}]}
    assert uplift_lines(comparison.scores, load_bands("trec-2025"), comparison) == []
    assert with_bands(data, comparison.scores, load_bands("trec-2025"), comparison) is data
