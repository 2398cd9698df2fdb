"""A baseline of several runs of one system: each query has the mean of the runs that have it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Conventions, InputError, UsageError, compare, evaluate, evaluate_runs, gate
from rankgauge.comparison import Baseline, GateRule
from rankgauge.render.documents.gate import document
from rankgauge.render.formats.terminal import as_text

Ranked = Callable[..., dict[str, dict[str, float]]]
MEASURES = ["RR", "nDCG@10"]


@pytest.fixture
def runs(ranked: Ranked) -> list[Any]:
    """Three runs of a system that does not repeat itself: the second is worse on many queries."""
    return [ranked(bad=[1, 2]), ranked(bad=range(12)), ranked(bad=[2, 3, 4])]


def without(run: Any, *queries: str) -> Any:
    """A run that some queries are not in."""
    return {query: docs for query, docs in run.items() if query not in queries}


def test_the_mean_of_the_runs_is_the_baseline(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    found = gate(judged, ranked(), MEASURES, baseline=runs).baseline
    assert found is not None
    singles = [evaluate(judged, run, MEASURES) for run in runs]
    assert [scores.values.tolist() for scores in found.runs] == [single.values.tolist() for single in singles]
    np.testing.assert_allclose(found.values, np.mean([single.values for single in singles], axis=0), atol=1e-15)
    for row, measure in enumerate(MEASURES):
        mean = sum(single[measure] or 0.0 for single in singles) / len(singles)
        assert found.values[:, row].mean() == pytest.approx(mean, abs=1e-15)


def test_runs_and_an_evaluation_of_them_agree(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    by_list = gate(judged, ranked(bad=range(20)), MEASURES, baseline=runs)
    expected = Baseline.of(evaluate_runs(judged, runs, MEASURES), 0, 1, 2)
    assert by_list.baseline is not None
    assert len(by_list.baseline.runs) == 3
    np.testing.assert_array_equal(by_list.baseline.values, expected.values)
    assert by_list.baseline.retrieved == expected.retrieved
    assert by_list.baseline.facts == expected.facts
    assert np.array_equal(by_list.page_evaluation().scores[-1].values, by_list.scores.values)  # after the baseline's


def test_files_of_runs_and_runs_in_memory_agree(judged: Any, runs: list[Any], ranked: Ranked, tmp_path: Path) -> None:
    files = []
    for number, run in enumerate(runs):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(run))
    now = ranked(bad=range(20), rename=[25])
    by_list, by_file = (gate(judged, now, MEASURES, baseline=several) for several in (runs, files))
    assert by_file.compared == by_list.compared
    assert by_file.lost == by_list.lost
    assert by_list.lost is not None
    assert by_list.lost.documents == ["d25", "e25"]


def test_rankings_and_their_scores_are_the_same_baseline(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    """Scores that were made with the same labels, in the same way, are compared as what was scored here."""
    now = ranked(bad=range(20))
    by_run = gate(judged, now, MEASURES, baseline=runs)
    scored = [evaluate(judged, run, MEASURES) for run in runs]
    result = gate(judged, now, MEASURES, baseline=scored)
    assert result.compared == by_run.compared
    assert (result.verdict, result.exit_code) == (by_run.verdict, by_run.exit_code) == ("fail", 1)


def test_repeats_of_a_baseline_are_of_one_kind(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    scored = [evaluate(judged, run, MEASURES) for run in runs]
    for several in ([runs[0], *scored[1:]], [scored[0], *runs[1:]]):
        with pytest.raises(UsageError, match="'run' has scores, and another --baseline has rankings") as raised:
            gate(judged, ranked(), MEASURES, baseline=several)
        assert raised.value.hint == "name the log or the run that the scores were made of"


def test_a_comparison_with_each_run_averages_to_that_with_their_mean(
    judged: Any, runs: list[Any], ranked: Ranked
) -> None:
    now = ranked(bad=range(20))
    changes = [[row.difference or 0.0 for row in compare(judged, [run, now], MEASURES).differences] for run in runs]
    expected = gate(judged, now, MEASURES, baseline=runs).compared
    assert np.mean(changes, axis=0).tolist() == pytest.approx([row.change for row in expected])


def test_several_runs_that_are_the_same_change_nothing_but_what_is_known(judged: Any, ranked: Ranked) -> None:
    """A deterministic retriever: everything is as with one run, to the last bit."""
    now = ranked(bad=range(14))
    results = [gate(judged, now, MEASURES, baseline=[ranked(bad=[1])] * count) for count in (1, 3)]
    one, three = (result.to_dict() for result in results)
    assert (one["baseline"].pop("runs"), three["baseline"].pop("runs")) == (1, 3)
    (spread,) = [note for note in three["notes"] if note["code"] == "repeats"]
    value = results[0].compared[1].before
    assert spread["message"] == (
        f"the baseline is the mean of 3 runs: RR 0.9750 to 0.9750, nDCG@10 {value:.4f} to {value:.4f}"
    )
    three["notes"].remove(spread)
    assert json.dumps(one) == json.dumps(three)
    texts = [as_text(document(replace(result, notes=()))) for result in results]
    assert texts[0] == texts[1]


def test_the_spread_of_the_runs_is_said(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    result = gate(judged, ranked(), "RR", baseline=runs)
    means = [evaluate(judged, run, "RR")["RR"] for run in runs]
    assert means == pytest.approx([1 - bad * 0.75 / 30 for bad in (2, 12, 3)])
    assert [note.message for note in result.notes if note.code == "repeats"] == [
        "the baseline is the mean of 3 runs: RR 0.7000 to 0.9500"
    ]
    assert not [note for note in gate(judged, ranked(), "RR", baseline=runs[:1]).notes if note.code == "repeats"]


def test_only_documents_that_every_run_retrieved_can_be_lost(judged: Any, ranked: Ranked) -> None:
    def without(docs: set[str]) -> dict[str, dict[str, float]]:
        return {query: {doc: s for doc, s in ranked.items() if doc not in docs} for query, ranked in full.items()}

    full = ranked()
    runs = [full, without({"d1"}), without({"d1", "d2"})]
    now = without({f"d{n}" for n in range(25)} | {f"e{n}" for n in range(25)})
    result = gate(judged, now, "RR", baseline=runs)
    assert result.lost is not None
    assert {"d0", "d3", "e1"} <= set(result.lost.documents)
    assert not {"d1", "d2"} & set(result.lost.documents)


def test_a_list_has_runs(judged: Any, ranked: Ranked) -> None:
    with pytest.raises(UsageError, match="a baseline needs at least one run"):
        gate(judged, ranked(), baseline=[])


# -- runs that have not the same queries ---------------------------------------------------------------------------

BOTH = Conventions(query_set="both")


def test_a_query_has_the_mean_of_the_runs_that_have_it(judged: Any, runs: list[Any], ranked: Ranked) -> None:
    fewer = [runs[0], without(runs[1], "q04"), without(runs[2], "q04", "q05")]
    result = gate(judged, ranked(), "RR", baseline=fewer, conventions=BOTH)
    assert result.compared[0].decision.n == 30
    assert "unpaired" not in [note.code for note in result.notes]
    assert result.baseline is not None
    values = {query: result.baseline.values[row, 0] for query, row in result.baseline.row_of.items()}
    single = [evaluate(judged, run, "RR").per_query("RR") for run in runs]
    assert values["q04"] == single[0]["q04"] == 1
    assert values["q05"] == pytest.approx((1 + 1 / 4) / 2)
    assert [one["q05"] for one in single[:2]] == [1, 1 / 4]
    assert values["q06"] == pytest.approx(sum(one["q06"] or 0 for one in single) / 3)


def test_a_query_that_no_run_has_is_not_compared(judged: Any, ranked: Ranked) -> None:
    runs = [without(ranked(), "q04"), without(ranked(), "q04", "q05")]
    result = gate(judged, ranked(), "RR", baseline=runs, conventions=BOTH)
    assert result.compared[0].decision.n == 29
    assert "unpaired" in [note.code for note in result.notes]
    assert (result.lost_queries, result.passed) == ((), True)


def test_a_query_that_any_run_has_is_lost_without_it(judged: Any, ranked: Ranked) -> None:
    runs = [without(ranked(), "q04"), ranked()]
    now = without(ranked(), "q04")
    result = gate(judged, now, "RR", baseline=runs, conventions=BOTH)
    assert (result.verdict, result.lost_queries) == ("fail", ("q04",))
    assert result.sentence.startswith("fail: 1 query of the baseline has no value now (q04)")
    allowed = gate(judged, now, "RR", baseline=runs, conventions=BOTH, rule=GateRule(max_failures=1))
    assert allowed.passed
    assert allowed.sentence.endswith("1 query of the baseline has no value now (q04), which is allowed.")


# -- scores ---------------------------------------------------------------------------------------------------------


def test_a_query_whose_labels_changed_since_it_was_scored_is_left_out(judged: Any, ranked: Ranked) -> None:
    before = evaluate(judged, ranked(), "RR")
    judged["q03"]["d3"] = 1
    result = gate(judged, ranked(), "RR", baseline=before)
    assert (result.verdict, result.compared[0].decision.n) == ("pass", 29)
    (note,) = [note.message for note in result.notes if note.code == "labels-changed"]
    assert note == "1 query has other labels than in 'run': left out ('q03')"
    assert gate(judged, ranked(), "RR", baseline=ranked()).compared[0].decision.n == 30  # a run is scored again


def test_scores_that_were_made_in_another_way_are_no_baseline(judged: Any, ranked: Ranked) -> None:
    before = evaluate(judged, ranked(), "RR(rel=2)", conventions=BOTH)
    with pytest.raises(InputError, match=r"'run' may have been scored in another way: .*; here it is: "):
        gate(judged, ranked(), "RR(rel=2)", baseline=before)
    accepted = gate(judged, ranked(), "RR(rel=2)", baseline=before, rule=GateRule(scored_elsewhere="accept"))
    assert (accepted.verdict, accepted.compared[0].decision.n) == ("pass", 30)
    assert "scored-elsewhere" in [note.code for note in accepted.notes]
    assert gate(judged, ranked(), "RR(rel=2)", baseline=before, conventions=BOTH).passed


def test_scores_of_other_measures_are_no_baseline(judged: Any, ranked: Ranked, runs: list[Any]) -> None:
    before = evaluate(judged, ranked(), "P@5")
    for baseline in (before, [evaluate(judged, runs[0], MEASURES), before]):
        with pytest.raises(InputError, match="'run' has no values of RR; it has 'P@5'"):
            gate(judged, ranked(), MEASURES, baseline=baseline)


def test_scores_name_no_documents_so_none_is_known_to_be_lost(judged: Any, ranked: Ranked) -> None:
    now = ranked(rename=range(12))
    by_run = gate(judged, now, "RR", baseline=ranked())
    by_scores = gate(judged, now, "RR", baseline=evaluate(judged, ranked(), "RR"))
    assert by_scores.compared == by_run.compared
    assert (by_scores.verdict, by_scores.lost) == ("fail", None)
    assert by_run.lost is not None
    assert len(by_run.lost.documents) == 24


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,RR\nq05,1\nq06,1\nq05,1\n", r":4: query 'q05' of 'before.csv' is there twice, first at line 2"),
        ("query,RR\nq05,2\n", r":2: RR: expected a number from 0 to 1, found '2'"),
        ("query,P@5\nq05,1\n", "'before.csv' has no values of RR; it has 'P@5'"),
        ("query,RR\nq05,1\n", "'before.csv' may have been scored in another way: it does not say how"),
        ("system,query,RR\na,q05,1\nb,q05,1\n", "expected one run in each source"),
    ],
)
def test_malformed_scores_are_reported_with_the_place_of_the_fault(
    judged: Any, ranked: Ranked, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "before.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        gate(judged, ranked(), "RR", baseline=path)
