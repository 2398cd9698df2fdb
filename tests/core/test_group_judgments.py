"""Preferences and judgments by group in evaluate, compare and gate: trec_eval's values, through the ordinary flow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, MetricsCache, Qrels, Reading, compare, evaluate
from rankgauge.comparison.document_changes import explain
from rankgauge.core.ranking import Compat
from rankgauge.errors import InputError, MeasureError
from rankgauge.evaluation import audit_ties, audit_unjudged, evaluate_cached
from rankgauge.evaluation.evaluate import evaluate_runs
from rankgauge.evaluation.mean_intervals import interval_of
from rankgauge.measures import trec_names as trec
from tests.adapters.trec_eval.test_groups import GROUP_VALUES, GROUPS, PREFERENCE_VALUES, PREFERENCES, RUN

Command = Callable[..., Any]
COMPATS: dict[str, Compat] = {"9.0.8": "trec_eval-9", "10.0": "trec_eval-10"}
NIST = {  # format → judgments, run, set of measures
    "prefs": ("prefs.test", "prefs.results.test", "all_prefs"),
    "qrels_prefs": ("qrels.test", "results.test", "all_prefs"),
    "qrels_jg": ("qrels.123", "results.test", "qrels_jg"),
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"prefs": PREFERENCES, "groups": GROUPS, "run": RUN}.items():
        (tmp_path / name).write_text(text)
    swapped = [line.split() for line in RUN.splitlines()]
    lines = (f"{query} Q0 {doc} 1 {-float(score)} swapped\n" for query, _, doc, _, score, _ in swapped)
    (tmp_path / "swapped").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize("version", COMPATS)
@pytest.mark.parametrize("name", NIST)
def test_values_are_nists_to_every_printed_digit(collections: Path, version: str, name: str) -> None:
    folder = collections / f"nist-trec_eval-{version}"
    judgments, run, measures = NIST[name]
    compat = COMPATS[version]
    conventions = Conventions(compat=compat, query_set="both")
    scores = evaluate(
        folder / judgments, folder / run, measures, conventions=conventions, reading=Reading(qrels_format=name)
    )
    checked = 0
    names = {
        request.label: (request.measure, request.family.whole)
        for family in (trec.FAMILY_BY_NAME[member] for member in trec.nickname(measures, compat) or ())
        for request in trec.expand(family, None, compat)
        if request.measure is not None
    }
    for line in (folder / f"out.test.{name}").read_text().splitlines():
        label, query, printed = line.split("\t")
        if label.strip() == "runid":
            continue
        measure, whole = names[label.strip()]
        value = scores[measure] if query == "all" else scores.per_query(measure)[query]
        assert value is not None
        assert (f"{value:.0f}" if whole else f"{value:.4f}") == printed, line
        checked += 1
    assert checked > 50


def test_the_format_of_preferences_is_detected_and_names_of_trec_eval_are_understood(files: Path) -> None:
    scores = evaluate(files / "prefs", files / "run", "all_prefs")
    for name, text in PREFERENCE_VALUES.items():
        whole = trec.FAMILY_BY_NAME[name].whole
        printed = [*scores.per_query(name).values(), scores[name]]
        assert [f"{value:.0f}" if whole else f"{value:.4f}" for value in printed] == text.split(), name


@pytest.mark.parametrize("as_run", [str, lambda path: read_dict(path)], ids=["file", "dict"])
def test_means_over_groups_are_trec_evals(files: Path, as_run: Callable[[Path], Any]) -> None:
    reading = Reading(qrels_format="qrels_jg")
    scores = evaluate(files / "groups", as_run(files / "run"), list(GROUP_VALUES), reading=reading)
    for name, text in GROUP_VALUES.items():
        printed = [*scores.per_query(name).values(), scores[name]]
        assert [f"{value:.4f}" for value in printed] == text.split(), name


def read_dict(path: Path) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        query, _, doc, _, score, _ = line.split()
        rows.setdefault(query, {})[doc] = float(score)
    return rows


def test_evaluate_prints_each_query_and_sums_counts(files: Path, command: Command) -> None:
    outcome = command(
        "evaluate", files / "prefs", files / "run", "-m", "PrefShare NumPref", "-q", "--ci", "--format", "json"
    )
    assert outcome.code == 0, outcome.err
    run = json.loads(outcome.out)["runs"][0]
    assert {query: values["NumPref"] for query, values in run["per_query"].items()} == {"1": 6, "2": 3}
    assert run["measures"]["NumPref"]["value"] == 9
    assert run["measures"]["NumPref"]["ci"]["low"] is None
    interval = run["measures"]["PrefShare"]["ci"]
    assert 0 < interval["low"] < 0.75 < interval["high"] < 1


def test_the_interval_of_a_share_stays_within_0_and_1(files: Path) -> None:
    scores = evaluate(files / "prefs", files / "run", "all_prefs")
    checked = 0
    for column, measure in enumerate(scores.measures):
        interval = interval_of(scores.values[:, column], measure, confidence=0.99)
        if interval.low is not None and interval.high is not None:
            assert 0 <= interval.low <= interval.high <= 1
            checked += 1
    assert checked > 5


def test_compare_pairs_preferences_by_query_and_names_the_documents(files: Path, command: Command) -> None:
    result = compare(files / "prefs", {"old": files / "run", "new": files / "swapped"}, "PrefShare")
    old, new = (evaluate(files / "prefs", files / name, "PrefShare")["PrefShare"] for name in ("run", "swapped"))
    assert old is not None
    assert new is not None
    (row,) = result.differences
    assert row.difference == pytest.approx(new - old)
    outcome = command("compare", files / "prefs", files / "run", files / "swapped", "-m", "PrefShare")
    assert outcome.code == 0, outcome.err
    assert "Largest changes in PrefShare" in outcome.out
    groups = command(
        "compare", files / "groups", files / "run", files / "swapped", "-m", "GroupAP", "--qrels-format", "qrels_jg"
    )
    assert groups.code == 0, groups.err


def test_the_shares_of_documents_add_up_to_the_difference_of_their_query(files: Path) -> None:
    for name, format, measure in (("prefs", "prefs", "PrefPairMean"), ("groups", "qrels_jg", "GroupAP")):
        reading = Reading(qrels_format=format)
        runs = evaluate_runs(files / name, [files / "run", files / "swapped"], measure, reading=reading)
        before, after = (joined.hits for joined in runs.joined)
        old, new = (scores.values[:, 0] for scores in runs.scores)
        for query in range(len(before)):
            change = explain(runs.scores[0].measures[0], runs.qrels, before, after, query)
            assert change.difference == pytest.approx(new[query] - old[query])
            assert change.unexplained == 0
            assert sum(row.share for row in change.documents) == pytest.approx(new[query] - old[query])


def test_reports_and_cached_scores_have_preferences(files: Path, command: Command) -> None:
    page = files / "page.html"
    outcome = command("compare", files / "prefs", files / "run", files / "swapped", "-m", "PrefShare", "--html", page)
    assert outcome.code == 0, outcome.err
    assert "PrefShare" in page.read_text(encoding="utf-8")
    assert command("runs", "validate", files / "run", "--labels", files / "prefs").code in (0, 1)
    cache = MetricsCache(files / "cache")
    plain = evaluate(files / "prefs", files / "run", "PrefShare")
    for _ in range(2):
        assert evaluate_cached(files / "prefs", files / "run", "PrefShare", cache=cache).values.tolist() == (
            plain.values.tolist()
        )


def test_a_gate_reads_preferences(files: Path, command: Command) -> None:
    outcome = command("gate", files / "prefs", files / "run", "--require", "PrefShare>=0.7")
    assert outcome.code == 0, outcome.err + outcome.out
    assert command("gate", files / "prefs", files / "run", "--require", "PrefShare>=0.8").code == 1
    assert command("gate", files / "prefs", files / "run", "--baseline", files / "swapped", "-m", "PrefShare").code == 0


def test_the_wrong_kind_of_judgments_is_one_error_that_says_what_to_do(files: Path, command: Command) -> None:
    outcome = command("evaluate", files / "prefs", files / "run")
    assert outcome.code == 64
    assert "nDCG@10 needs one grade per document, but these judgments are preferences" in outcome.err
    assert "PrefShare" in outcome.err
    plain = files / "plain"
    plain.write_text("1 0 d1 1\n2 0 d1 1\n")
    outcome = command("evaluate", plain, files / "run", "-m", "PrefShare")
    assert "--qrels-format qrels_prefs reads grades as preferences" in outcome.err
    assert command("evaluate", plain, files / "run", "-m", "PrefShare", "--qrels-format", "qrels_prefs").code == 0
    with pytest.raises(MeasureError, match="grades of several judges"):
        evaluate(files / "groups", files / "run", "AP", reading=Reading(qrels_format="qrels_jg"))


def test_the_grade_of_relevance_applies_to_groups(files: Path) -> None:
    reading = Reading(qrels_format="qrels_jg")
    scores = evaluate(files / "groups", files / "run", "GroupAP", conventions=Conventions(rel=2), reading=reading)
    assert [measure.name for measure in scores.measures] == ["GroupAP(rel=2)"]
    assert scores["GroupAP(rel=2)"] == 0.0


def test_only_queries_of_the_run_count_if_asked(files: Path) -> None:
    reading = Reading(qrels_format="qrels_jg")
    both = evaluate(
        files / "groups", files / "run", "GroupAP", conventions=Conventions(query_set="both"), reading=reading
    )
    assert both["GroupAP"] == pytest.approx(0.5)
    assert both.per_query("GroupAP").keys() == {"1", "2"}


def test_a_large_run_is_scanned_with_the_same_result_as_one_in_memory(files: Path) -> None:
    scanned = evaluate(files / "prefs", files / "run", "all_prefs")
    kept = evaluate_runs(files / "prefs", [files / "run"], "all_prefs", reading=Reading(keep_rankings=True)).scores[0]
    assert scanned.values.tolist() == kept.values.tolist()


def test_ties_are_audited_and_unjudged_documents_are_not(files: Path) -> None:
    audit = audit_ties(files / "prefs", files / "run", "PrefShare")
    (row,) = audit
    # d1 and d2 of query 1 are tied, and only group a prefers d1 to d2.
    assert row.worst.values.tolist() == pytest.approx([4 / 6, 2 / 3])
    assert row.best.values.tolist() == pytest.approx([5 / 6, 2 / 3])
    with pytest.raises(InputError, match="needs one grade per document"):
        audit_unjudged(files / "prefs", files / "run", "PrefShare")


def test_binary_judgments_have_two_levels(files: Path) -> None:
    qrels = Qrels.from_groups(["q"] * 3, ["a"] * 3, ["d1", "d2", "d3"], [2, 1, 0], subgroup=["s"] * 3)
    run = {"q": {"d2": 3.0, "d1": 2.0, "d3": 1.0}}
    assert evaluate(qrels, run, "NumPref")["NumPref"] == 3
    assert evaluate(qrels, run, "NumPref", conventions=Conventions(graded=False))["NumPref"] == 2
