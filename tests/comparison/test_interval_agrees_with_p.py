"""By default, an interval excludes 0 exactly if its row is significant; swapping two systems mirrors everything."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, Qrels, Statistics, compare
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.differences import Difference
from rankgauge.stats.results import Alternative

ALL = "RR P@1 AP@5 Success@3 FirstRel GMAP NumRelRet@3"  # graded, 0/1, unbounded and missing, ratios and sums
MEASURES = ("RR AP@5", "P@1", "P@1 Success@3", ALL)
MIRRORED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
Rankings = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """Judgments, perhaps with units, and runs that may tie and lack queries."""

    judged: dict[str, dict[str, int]]
    units: list[int] | None
    runs: dict[str, Rankings]
    measures: str
    query_set: Any

    @property
    def qrels(self) -> Qrels:
        columns: dict[str, Any] = {"half": [number % 2 for number in range(len(self.judged))]}
        return Qrels.from_dict(self.judged, columns=columns | ({} if self.units is None else {"unit": self.units}))

    def compare(self, runs: Any, statistics: Statistics, **options: Any) -> Comparison:
        conventions = Conventions(query_set=self.query_set)
        return compare(self.qrels, runs, self.measures, statistics=statistics, conventions=conventions, **options)


@st.composite
def cases(draw: st.DrawFn, systems: int = 3) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, docs = draw(st.one_of(st.integers(1, 12), st.integers(25, 45))), [f"d{number}" for number in range(6)]
    queries = [f"q{number:02}" for number in range(n)]
    judged = {query: {doc: int(rng.integers(0, 2)) for doc in docs[:4]} for query in queries}
    runs: dict[str, Rankings] = {}
    base: Rankings = {}
    for index in range(systems):
        skill, decimals = draw(st.sampled_from([0.0, 0.4, 0.8, -0.5])), draw(st.sampled_from([0, 3]))
        changed, missing = draw(st.sampled_from([0.0, 0.1, 1.0, 1.0])), draw(st.sampled_from([0.0, 0.0, 0.3]))
        fresh = {
            query: {doc: round(skill * judged[query].get(doc, 0) + rng.normal(), decimals) for doc in docs}
            for query in queries
        }
        run = {query: fresh[query] if not base or rng.random() < changed else base[query] for query in queries}
        base = base or run
        kept = {query: ranking for query, ranking in run.items() if rng.random() >= missing}
        runs[f"s{index}"] = kept or run
    units = rng.integers(0, max(1, n // 2), n).tolist() if draw(st.booleans()) else None
    return Case(judged, units, runs, draw(st.sampled_from(MEASURES)), draw(st.sampled_from(["qrels", "both"])))


def check_agreement(rows: Iterable[Difference], alpha: float) -> None:
    for row in rows:
        low, high = row.interval.low, row.interval.high
        if row.p_corrected is None or low is None or high is None:
            assert row.interval.reason
            assert not row.is_significant(alpha)
            continue
        assert row.is_significant(alpha) == (not low <= 0 <= high), row
        assert low < high
        if row.p is not None:
            assert row.p_corrected >= row.p


@given(cases(), st.sampled_from(list(MIRRORED)), st.sampled_from([0.8, 0.95]), st.sampled_from([39, 400]))
@settings(max_examples=100)
def test_an_interval_excludes_0_exactly_if_its_row_is_significant(
    case: Case, alternative: Alternative, confidence: float, resamples: int
) -> None:
    how = Statistics(alternative=alternative, confidence=confidence, resamples=resamples)
    found = case.compare(case.runs, how, by=["half"], changes=0)
    check_agreement(found.differences, found.alpha)
    check_agreement([row.difference for row in found.groups], found.alpha)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("systems", [1, 3])
def test_it_does_so_if_only_few_queries_changed(confidence: float, systems: int) -> None:
    """All one-way changes, from none to so many that the row joins the draws: each step at which p may cross alpha."""
    judged = {f"q{number:02}": {"good": 1} for number in range(40)}
    base = {query: ["bad", "good"] for query in judged}
    outcomes = set()
    for changed in range(13):
        new = {query: ["good"] if place < changed else ranking for place, (query, ranking) in enumerate(base.items())}
        runs = {"base": base} | {f"new {number}": new for number in range(systems)}
        found = compare(judged, runs, "RR P@1", statistics=Statistics(confidence=confidence, resamples=199))
        check_agreement(found.differences, found.alpha)
        outcomes |= {row.outcome(found.alpha) for row in found.differences}
    assert outcomes == {"unchanged", "inconclusive", "better"}


def test_it_does_so_near_the_critical_value() -> None:
    """As many resamples as make p of exactly alpha likely, and differences that tie with their draws."""
    significant = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        judged = {f"q{number:02}": {"good": 1} for number in range(24)}
        base, new, other = (
            {query: ["good", "bad"] if rng.random() < share else ["bad", "good"] for query in judged}
            for share in (0.3, 0.55, 0.5)
        )
        how = Statistics(confidence=0.8, resamples=19, seed=seed)
        found = compare(judged, {"base": base, "new": new, "other": other}, "P@1 RR", statistics=how, changes=0)
        check_agreement(found.differences, found.alpha)
        significant += sum(row.is_significant(found.alpha) for row in found.differences)
    assert 60 < significant < 180  # of 240


@given(cases(systems=2), st.sampled_from(list(MIRRORED)), st.integers(0, 3))
@settings(max_examples=30)
def test_swapping_system_and_baseline_mirrors_difference_interval_and_p(
    case: Case, alternative: Alternative, seed: int
) -> None:
    how = Statistics(alternative=alternative, resamples=199, seed=seed)
    found = case.compare(case.runs, how, baseline="s0", changes=0)
    mirror = case.compare(case.runs, replace(how, alternative=MIRRORED[alternative]), baseline="s1", changes=0)
    for row, other in zip(found.differences, mirror.differences, strict=True):
        assert (row.system, row.measure, other.system) == ("s1", other.measure, "s0")
        assert (row.value, row.baseline, row.n) == (other.baseline, other.value, other.n)
        assert row.difference == (None if other.difference is None else -other.difference)
        assert (row.p, row.p_corrected) == (other.p, other.p_corrected)
        assert (row.effect.wins, row.effect.losses) == (other.effect.losses, other.effect.wins)
        assert (row.detectable, row.changes_needed) == (other.detectable, other.changes_needed)
        for end, opposite in ((row.interval.low, other.interval.high), (row.interval.high, other.interval.low)):
            assert (end is None) == (opposite is None)
            assert end is None or opposite is None or math.isclose(end, -opposite, rel_tol=1e-12, abs_tol=1e-15)
        outcome = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
        assert outcome.get(row.outcome(0.05), row.outcome(0.05)) == other.outcome(0.05)


@given(cases())
@settings(max_examples=8)
def test_files_give_the_same_as_dicts(case: Case) -> None:
    assume(all(run.keys() >= case.judged.keys() for run in case.runs.values()))  # a TREC file has no empty results
    how = Statistics(resamples=199)
    case = replace(case, units=None)  # a qrels file has none
    with TemporaryDirectory() as folder:
        qrels = Path(folder) / "qrels.trec"
        lines = [f"{q} 0 {doc} {grade}\n" for q, grades in case.judged.items() for doc, grade in grades.items()]
        qrels.write_text("".join(lines))
        files = {}
        for name, run in case.runs.items():
            files[name] = Path(folder) / f"{name}.trec"
            lines = [f"{q} Q0 {doc} 0 {score} {name}\n" for q, scores in run.items() for doc, score in scores.items()]
            files[name].write_text("".join(lines))
        conventions = Conventions(query_set=case.query_set)
        found = compare(qrels, files, case.measures, statistics=how, conventions=conventions)
    assert found.differences == case.compare(case.runs, how).differences
    check_agreement(found.differences, found.alpha)


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign"])
def test_other_tests_are_mirrored_too(test: Any) -> None:
    rng = np.random.default_rng(4)
    judged = {f"q{number}": {f"d{doc}": int(rng.integers(0, 2)) for doc in range(5)} for number in range(25)}
    runs = {
        name: {query: {doc: float(rng.normal()) for doc in docs} for query, docs in judged.items()} for name in "ab"
    }
    how = Statistics(test, resamples=500)
    for measure in ("RR", "P@1", "AP"):
        row = compare(judged, runs, measure, statistics=how)["b", measure]
        other = compare(judged, runs, measure, statistics=how, baseline="b")["a", measure]
        assert row.difference == -(other.difference or 0.0)
        assert row.p == other.p
        assert row.interval.low == pytest.approx(-(other.interval.high or 0.0))
        assert row.interval.high == pytest.approx(-(other.interval.low or 0.0))
