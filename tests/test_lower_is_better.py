"""Measures of which lower is better, in every output: nothing may call a rise of them an improvement.

``Waste`` is 1 − precision, so whatever is said of it must be said of precision with the sign turned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Statistics, compare, evaluate_runs, gate, measure
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import unregister
from tests.conftest import Outcome

Command = Callable[..., Outcome]
QUERIES = [f"q{number:02}" for number in range(40)]
JUDGED = {query: {"a": 1, "b": 1} for query in QUERIES}


def ranking(found: float, seed: int = 0) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    return {query: [*("ab" if rng.random() < found else "xb"), "y", "z"] for query in QUERIES}


GOOD, POOR = ranking(0.9), ranking(0.2)


@pytest.fixture(autouse=True)
def waste() -> Iterator[None]:
    @measure("Waste", at="cutoff", scale=MeasureScale(better="lower"), missing=None)
    def wasted(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
        """The share of the first k that is not relevant."""
        return 1 - hits.top(cutoff).relevant(rel).count / cutoff

    yield
    unregister("Waste")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    Path("labels.json").write_text(json.dumps(JUDGED))
    for name, run in (("good", GOOD), ("poor", POOR)):
        Path(f"{name}.json").write_text(json.dumps(run))
    return tmp_path


def best_lines(text: str, mark: str) -> list[str]:
    return [line for line in text.splitlines() if mark in line and ("good" in line or "poor" in line)]


def test_the_best_in_a_column_is_the_lowest_and_comes_first(folder: Path, command: Command) -> None:
    arguments = ("evaluate", "labels.json", "poor.json", "good.json", "-m", "Waste@2")
    printed = command(*arguments).out.splitlines()
    assert printed[1].startswith("good.json")
    assert printed[1].rstrip().endswith("*")
    assert not printed[2].rstrip().endswith("*")
    for form, mark in (("markdown", "**"), ("latex", "textbf")):
        lines = best_lines(command(*arguments, "--format", form).out, mark)
        assert len(lines) == 1, form
        assert "good" in lines[0], form


def test_compare_calls_a_fall_better_in_every_format(folder: Path, command: Command) -> None:
    arguments = ("compare", "labels.json", "poor.json", "good.json", "-m", "P@2", "-m", "Waste@2")
    told = command(*arguments)
    assert "good.json is better than poor.json: P@2 +" in told.out
    assert re.search(r"Waste@2: better \(−0\.\d+, ", told.out)
    row = next(row for row in json.loads(command(*arguments, "--format", "json").out)["comparison"]["differences"]
               if row["measure"] == "Waste@2")  # fmt: skip
    assert row["difference"] < 0
    assert row["wins"] > row["losses"]
    for form in ("markdown", "latex"):
        out = command(*arguments, "--format", form).out
        assert "better" in out, form
    alone = command("compare", "labels.json", "good.json", "poor.json", "-m", "Waste@2")
    assert "poor.json is worse than good.json: Waste@2 +" in alone.out


def test_the_page_and_the_notebook_follow_the_direction(folder: Path, command: Command) -> None:
    done = command("compare", "labels.json", "poor.json", "good.json", "-m", "Waste@2", "--html", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text()
    assert "below the diagonal, good.json is better" in page
    assert re.search(r'class="[^"]*better[^"]*"', page)
    comparison = compare(JUDGED, {"poor": POOR, "good": GOOD}, "Waste@2")
    assert "good is better than poor" in comparison._repr_html_()
    evaluation = evaluate_runs(JUDGED, [POOR, GOOD], "Waste@2")
    assert "<" in evaluation._repr_html_()


def test_a_rise_fails_the_gate_and_a_fall_passes_it(folder: Path, command: Command) -> None:
    rise = command("gate", "labels.json", "poor.json", "--baseline", "good.json", "-m", "Waste@2")
    assert rise.code == 1
    assert re.search(r"fail: poor\.json is worse than good\.json on Waste@2 \(\+0\.\d+", rise.out)
    fall = command("gate", "labels.json", "good.json", "--baseline", "poor.json", "-m", "Waste@2")
    assert fall.code == 0
    assert "good.json is better than poor.json on Waste@2" in fall.out
    for form in ("junit", "markdown", "json"):
        out = command("gate", "labels.json", "poor.json", "--baseline", "good.json", "-m", "Waste@2", "--format", form)
        assert out.code == 1, form
        assert "Waste@2" in out.out, form
    assert command("gate", "labels.json", "poor.json", "--require", "Waste@2<=0.2").code == 1
    assert command("gate", "labels.json", "good.json", "--require", "Waste@2<=0.2").code == 0


def test_a_check_of_the_history_calls_a_rise_worse(folder: Path, command: Command) -> None:
    for day in range(1, 13):
        Path("run.json").write_text(json.dumps(ranking(0.9 if day < 7 else 0.1, day)))
        saved = command(
            "evaluate", "labels.json", "run.json", "-m", "Waste@2", "--save", "--set", f"history.date=2026-11-{day:02}"
        )
        assert saved.code == 0, saved.err
    checked = command("history", "check", "-m", "Waste@2", "--since", "2026-11-01", "--worse-only")
    assert "Waste@2" in checked.out, checked.err
    assert re.search(r"^Waste@2 of run on labels.json: \+0\.\d+ since 2026-11-07 \(", checked.out)
    assert "\n1 change; 1 series checked" in checked.out
    assert checked.code == 1
    trend = command("history", "trend", "-m", "Waste@2")
    assert "─ change" in trend.out
    page = command("history", "trend", "--html", "history.html")
    assert page.code == 0, page.err
    assert "worse" in Path("history.html").read_text()


def test_measures_of_which_lower_is_better_are_a_family_of_their_own() -> None:
    runs = {"poor": POOR, "good": GOOD}
    with_waste = compare(JUDGED, runs, "AP P@2 RR Waste@2 Waste@3", statistics=Statistics("t"))
    without = compare(JUDGED, runs, "AP P@2 RR", statistics=Statistics("t"))
    assert with_waste.family_sizes == (1, 2, 2)
    assert without.family_sizes == (1, 2)
    assert with_waste.family.endswith("lower is better: Holm over 2 comparisons (1 system × 2 measures)")
    for name in ("P@2", "RR"):
        assert with_waste["good", name].p_corrected == without["good", name].p_corrected
    assert with_waste["good", "Waste@2"].p == with_waste["good", "P@2"].p


def test_in_a_gate_they_cost_the_other_measures_no_power() -> None:
    one = gate(JUDGED, GOOD, "P@2 RR", baseline=POOR)
    both = gate(JUDGED, GOOD, "P@2 RR Waste@2 Waste@3", baseline=POOR)
    assert [row.decision.p for row in one.compared] == [row.decision.p for row in both.compared[:2]]
    assert [row.decision.smallest_drop for row in one.compared] == [
        row.decision.smallest_drop for row in both.compared[:2]
    ]
    assert "; lower is better: " in both.test_description


@pytest.mark.parametrize("count", [4, 5])
def test_what_few_queries_can_decide_does_not_depend_on_the_other_family(count: int) -> None:
    judged = {query: JUDGED[query] for query in QUERIES[:count]}
    before, now = ({query: list(docs) for query in judged} for docs in ("ab", "xy"))
    alone = [gate(judged, now, name, baseline=before).compared[0] for name in ("P@2", "Waste@2")]
    beside = gate(judged, now, "P@2 Waste@2", baseline=before).compared
    assert [row.decision.outcome for row in beside] == ["undecided" if count == 4 else "worse"] * 2
    assert [row.decision for row in beside] == [row.decision for row in alone]
    assert [row.queries_needed for row in beside] == [row.queries_needed for row in alone]


def test_reports_of_a_gate_say_that_they_rose(folder: Path, command: Command) -> None:
    out = command("gate", "labels.json", "poor.json", "--baseline", "good.json", "-m", "Waste@2", "--format", "junit")
    assert "Waste@2 rose: +" in out.out
    assert "dropped" not in out.out


def test_groups_correct_them_by_themselves() -> None:
    queries = {"kind": {query: "even" if number % 2 else "odd" for number, query in enumerate(QUERIES)}}
    from rankgauge.core.qrels import Qrels

    judged = Qrels.from_dict(JUDGED, columns=queries)
    alone = compare(judged, [POOR, GOOD], "P@2", by=["kind"], statistics=Statistics("t"))
    beside = compare(judged, [POOR, GOOD], "P@2 Waste@2", by=["kind"], statistics=Statistics("t"))
    corrected = {(row.label, row.difference.measure): row.difference.p_corrected for row in beside.groups}
    for row in alone.groups:
        assert corrected[row.label, "P@2"] == row.difference.p_corrected
        assert corrected[row.label, "Waste@2"] == row.difference.p_corrected


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_swapping_two_systems_negates_every_difference(one: int, other: int) -> None:
    runs = {"one": ranking(0.6, one), "other": ranking(0.5, other)}
    forward = compare(JUDGED, runs, "nDCG@3 RR FirstRel@4 Waste@2", baseline="one", changes=0)
    backward = compare(JUDGED, runs, "nDCG@3 RR FirstRel@4 Waste@2", baseline="other", changes=0)
    opposite = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
    for row, turned in zip(forward.differences, backward.differences, strict=True):
        assert row.difference == pytest.approx(-(turned.difference or 0.0), abs=1e-15)
        assert (row.effect.wins, row.effect.losses) == (turned.effect.losses, turned.effect.wins)
        assert row.p_corrected == turned.p_corrected
        assert row.outcome(0.05) == opposite.get(turned.outcome(0.05), turned.outcome(0.05))
        turned_ends = (turned.interval.high, turned.interval.low)
        for end, other_end in zip((row.interval.low, row.interval.high), turned_ends, strict=True):
            assert end == (None if other_end is None else pytest.approx(-other_end, abs=1e-12))
