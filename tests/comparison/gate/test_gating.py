from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, InputError, Qrels, Run, Statistics, UsageError, evaluate, gate
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.gate import document
from rankgauge.render.formats.terminal import Layout, as_text

Ranked = Callable[..., dict[str, dict[str, float]]]


def write_table(path: Path, measures: list[str], rows: dict[str, Any]) -> None:
    """Scores as any program may write them."""
    lines = [
        ",".join(["query", *measures]),
        *(",".join([query, *map(repr, map(float, row))]) for query, row in rows.items()),
    ]
    path.write_text("\n".join(lines) + "\n")


def outcomes(result: Any) -> dict[str, str]:
    return {row.measure: row.decision.outcome for row in result.compared}


def test_a_required_value_is_met_or_missed(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(bad=range(10)), require=["RR>=0.5", "nDCG@10>0.99"])
    assert result.failed
    assert [row.met for row in result.required] == [True, False]
    assert result.sentence.startswith("fail: missed nDCG@10 > 0.99 (0.8")
    assert result.required[0].low is not None
    passed = gate(judged, ranked(), require="RR>=1")
    assert passed.passed
    assert str(passed) == "pass: 1 requirement is met."


def test_the_grade_of_relevance_applies_to_names_that_do_not_say_their_own() -> None:
    judged = {"1": {"a": 1, "b": 2}, "2": {"c": 1}}
    run = {"1": ["a", "b"], "2": ["c"]}
    strict = Conventions(rel=2)
    required = gate(judged, run, require=["RR>=0.2", "RR(rel=1)>=1"], conventions=strict).required
    assert [(str(row.requirement), row.value) for row in required] == [("RR(rel=2) >= 0.2", 0.25), ("RR >= 1", 1.0)]
    names = ["RR", "AP(rel=1)"]
    for baseline in (run, evaluate(judged, run, names, conventions=strict)):
        compared = gate(judged, run, names, conventions=strict, baseline=baseline).compared
        assert [(row.measure, row.now) for row in compared] == [("RR(rel=2)", 0.25), ("AP", 1.0)]


def test_identical_runs_are_unchanged(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(), baseline=ranked(), measures=["RR", "nDCG@10"])
    assert outcomes(result) == {"RR": "unchanged", "nDCG@10": "unchanged"}
    assert result.sentence == "pass: this run has the same values as the baseline."


def test_a_real_drop_fails_and_names_the_measures(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(bad=range(12)), baseline=ranked(), measures=["RR", "R@10"])
    assert outcomes(result) == {"RR": "worse", "R@10": "unchanged"}
    assert result.sentence.startswith("fail: this run is worse than the baseline on RR (−0.3000, p < 0.001)")
    row = result.compared[0]
    assert row.before == 1
    assert row.now == pytest.approx(0.7)
    assert row.interval.low is not None
    assert row.interval.low < row.change < 0


def test_scores_and_their_run_give_the_same_verdict(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    measures = ["RR", "nDCG@10"]
    before = evaluate(judged, ranked(), measures)
    write_table(tmp_path / "run.csv", measures, {query: before.values[row] for row, query in enumerate(before.queries)})
    accept = GateRule(scored_elsewhere="accept")  # the table does not say how its values were made
    for bad in ((), [1, 2], range(12)):
        run = gate(judged, ranked(bad=bad), measures, baseline=ranked())
        for baseline, rule in ((before, GateRule()), (tmp_path / "run.csv", accept)):
            scores = gate(judged, ranked(bad=bad), measures, baseline=baseline, rule=rule)
            assert scores.compared == run.compared
            assert scores.verdict == run.verdict
            if isinstance(baseline, Path):  # which has another name than the run
                assert scores.sentence == run.sentence.replace("this run", "run").replace("the baseline", "run.csv")


def test_scores_of_the_same_name_are_called_the_baseline(judged: Any, ranked: Ranked) -> None:
    before = evaluate(judged, ranked(), "RR")
    for bad in ((), range(12)):
        run, scores = (gate(judged, ranked(bad=bad), "RR", baseline=baseline) for baseline in (ranked(), before))
        assert scores.sentence == run.sentence


def test_a_drop_in_few_queries_is_inconclusive_and_passes(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(bad=[1, 2]), baseline=ranked(), measures="RR")
    assert result.passed
    assert result.sentence == "pass: no significant drop."
    assert result.compared[0].decision.smallest_drop is None  # too few queries changed to know
    assert result.compared[0].decision.changes_needed == 5  # one-sided: 2⁻⁵ is below 5%
    margin = gate(judged, ranked(bad=[1, 2]), baseline=ranked(), measures=["RR", "R@10"], rule=GateRule(0.2))
    held = "this run is no worse than the baseline by the margin of 0.2 on RR"
    assert margin.sentence == f"pass: {held}; unchanged on R@10."
    drop = gate(judged, ranked(bad=[1, 2]), baseline=ranked(), measures="RR", rule=GateRule(0.01))
    assert drop.sentence == "pass: no significant drop of at least 0.01."
    some = gate(judged, ranked(bad=[1, 2]), baseline=ranked(), measures=["RR", "R@10"])
    assert some.sentence == "pass: this run is unchanged on R@10; inconclusive on RR."


def test_a_gate_says_which_losses_its_queries_cannot_rule_out(judged: Any, ranked: Ranked) -> None:
    few = gate(judged, ranked(bad=[1]), baseline=ranked(bad=[2]), measures="RR", rule=GateRule(0.09))
    (row,) = few.compared
    assert row.decision.outcome == "inconclusive"
    (note,) = [note.message for note in few.notes if note.code == "unseen-losses"]
    share = 1 - 0.05 ** (1 / row.decision.n)
    assert note.startswith("RR: no drop of 0.09 or more observed; total losses on up to ")
    assert f"{share:.1%} of queries cannot be ruled out (0 of {row.decision.n} observed)" in note
    assert note.endswith(f"the smallest margin that {row.decision.n} queries support is {share:.2g}")
    assert few.to_dict()["compared"][0]["smallest_margin"] == pytest.approx(share)
    enough = gate(judged, ranked(bad=[1]), baseline=ranked(bad=[2]), measures="RR", rule=GateRule(0.2))
    assert not [note for note in enough.notes if note.code == "unseen-losses"]


def test_a_measure_for_which_lower_is_better_is_worse_if_it_rises(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(bad=range(12)), baseline=ranked(), measures="FirstRel")
    row = result.compared[0]
    assert row.decision.outcome == "worse"
    assert row.change > 0
    assert row.interval.low is not None
    assert row.interval.high is not None
    assert row.interval.low < row.change < row.interval.high
    assert gate(judged, ranked(), baseline=ranked(bad=range(12)), measures="FirstRel").passed


def test_the_gated_measures_are_those_named_else_required_else_scored_else_usual(judged: Any, ranked: Ranked) -> None:
    def gated(**options: Any) -> list[str]:
        return list(outcomes(gate(judged, ranked(), **options)))

    scores = evaluate(judged, ranked(), ["RR", "AP", "P@5"])
    for baseline in (ranked(), scores):
        assert gated(baseline=baseline, measures="P@5", require="AP>0") == ["P@5"]
        assert gated(baseline=baseline, require="AP>0") == ["AP"]
    assert gated(baseline=ranked()) == list(DEFAULT_MEASURES)
    assert gated(baseline=scores) == ["RR", "AP", "P@5"]


def test_a_measure_of_scores_that_cannot_be_compared_is_left_out_if_none_is_named(judged: Any, ranked: Ranked) -> None:
    scores = evaluate(judged, ranked(), ["RR", "NumRelRet", "P@5"])
    assert list(outcomes(gate(judged, ranked(), baseline=scores))) == ["RR", "P@5"]


@pytest.mark.parametrize("measure", ["NumRelRet", "GMAP", "Judged@10"])
def test_what_is_not_a_mean_or_has_no_direction_cannot_be_compared(judged: Any, ranked: Ranked, measure: str) -> None:
    with pytest.raises(UsageError, match=f"{measure} cannot be compared with a baseline"):
        gate(judged, ranked(), baseline=ranked(), measures=measure)
    assert gate(judged, ranked(), require=f"{measure}>=0").passed


def test_a_gate_without_a_requirement_or_a_baseline_is_a_usage_error(judged: Any, ranked: Ranked) -> None:
    with pytest.raises(UsageError, match="a gate needs a requirement or a baseline, and neither is given"):
        gate(judged, ranked())
    with pytest.raises(UsageError, match="margin"):
        gate(judged, ranked(), require="RR>0.5", rule=GateRule(-1))
    with pytest.raises(UsageError, match="confidence"):
        gate(judged, ranked(), require="RR>0.5", rule=GateRule(statistics=Statistics(confidence=-1)))


def test_without_a_relevant_document_there_is_nothing_to_judge(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    nothing = {query: dict.fromkeys(docs, 0) for query, docs in judged.items()}
    for qrels in (nothing, {}, tmp_path / "empty"):
        (tmp_path / "empty").write_text("\n")
        result = gate(qrels, ranked(), require="RR>=0", baseline=ranked())
        assert (result.verdict, result.exit_code) == ("nothing to judge", 2)
        assert not result.passed
        assert not result.failed
        assert "has a relevant document, so nothing can be tested" in result.sentence
        assert (result.compared, result.required, result.lost) == ((), (), None)


def test_a_missing_query_is_left_out_of_both_sides_with_a_note(judged: Any, ranked: Ranked) -> None:
    run = {query: docs for query, docs in ranked().items() if query != "q04"}
    rule = GateRule(max_failures=1)
    result = gate(judged, run, baseline=ranked(), conventions=Conventions(query_set="both"), rule=rule)
    assert [note.code for note in result.notes] == ["same-depth", "unpaired"]
    assert "1 query has a value on one side only and cannot be compared: 'q04'" in result.notes[1].message
    assert result.compared[0].decision.n == 29
    assert result.passed
    more = gate(judged, ranked(), baseline=run, conventions=Conventions(query_set="both"))
    assert (more.passed, more.compared[0].decision.n, more.lost_queries) == (True, 29, ())


@pytest.mark.parametrize("is_scored", [False, True])
def test_a_query_that_lost_its_value_fails_unless_that_is_allowed(judged: Any, ranked: Ranked, is_scored: bool) -> None:
    run = {query: docs for query, docs in ranked().items() if query not in ("q04", "q07")}
    both = Conventions(query_set="both")
    baseline = evaluate(judged, ranked(), "RR", conventions=both) if is_scored else ranked()

    def gated(allowed: int | None) -> Any:
        return gate(judged, run, "RR", baseline=baseline, conventions=both, rule=GateRule(max_failures=allowed))

    for allowed in (0, 1):
        result = gated(allowed)
        assert (result.verdict, result.exit_code, result.lost_queries) == ("fail", 1, ("q04", "q07"))
        assert result.sentence.startswith("fail: 2 queries of the baseline have no value now (q04 and q07); ")
        assert result.to_dict()["lost_queries"] == ["q04", "q07"]
    for enough in (2, None):
        result = gated(enough)
        assert (result.verdict, result.exit_code, result.lost_queries) == ("pass", 0, ("q04", "q07"))
        assert result.sentence.endswith(
            "; 2 queries of the baseline have no value now (q04 and q07), which is allowed."
        )


def test_no_common_query_is_bad_input(judged: Any, ranked: Ranked) -> None:
    first = {"q01": ranked()["q01"]}
    with pytest.raises(InputError, match="no query has values both in 'run' and in the baseline 'run'"):
        gate(judged, first, baseline={"q02": ranked()["q02"]}, conventions=Conventions(query_set="both"))


def test_queries_that_all_got_worse_and_are_too_few_are_undecided() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    result = gate(qrels, {"1": ["x", "a"], "2": ["y", "b"]}, baseline={"1": ["a"], "2": ["b"]}, measures="RR")
    assert (result.verdict, result.exit_code) == ("undecided", 0)
    assert result.sentence == "undecided: 2 of 2 queries got worse on RR, too few to decide: at least 5 are needed."
    assert not result.passed
    strict = gate(
        qrels,
        {"1": ["x", "a"], "2": ["y", "b"]},
        baseline={"1": ["a"], "2": ["b"]},
        measures="RR",
        rule=GateRule(undecided="fail"),
    )
    assert (strict.verdict, strict.exit_code) == ("fail", 1)


def test_a_margin_too_small_for_the_query_set_gets_a_note(judged: Any, ranked: Ranked) -> None:
    result = gate(judged, ranked(bad=[1, 2]), baseline=ranked(bad=[3, 4]), measures=["RR", "R@10"], rule=GateRule(0.01))
    assert [note.code for note in result.notes] == ["same-depth", "small-query-set"]
    assert (
        "a drop of exactly the margin, 0.01, fails half the time with any number of queries" in result.notes[1].message
    )
    assert not gate(judged, ranked(bad=[1, 2]), baseline=ranked(bad=[3, 4]), measures="RR", rule=GateRule(0.5)).notes


def test_queries_of_one_unit_count_as_one(judged: Any, ranked: Ranked) -> None:
    units = {"unit": {query: f"session {int(query[1:]) // 15}" for query in judged}}
    qrels = Qrels.from_dict(judged, columns=units)
    result = gate(qrels, ranked(bad=range(30)), baseline=ranked(), measures="RR", require="RR>=0")
    assert result.verdict == "undecided"
    assert result.compared[0].decision.units == 2


# -- the retriever or the ids --------------------------------------------------------------------------------------


def test_a_drop_without_lost_documents_is_one_of_the_ranking(judged: Any, ranked: Ranked) -> None:
    lost = gate(judged, ranked(bad=range(12)), baseline=ranked(), measures="RR").lost
    assert lost is not None
    assert (dict(lost.of_query), lost.documents, lost.unknown, lost.is_checked) == ({}, [], (), False)


def test_what_is_lost_is_asked_only_of_a_drop(judged: Any, ranked: Ranked) -> None:
    run = ranked(rename=[0, 1])
    assert gate(judged, run, baseline=ranked(), measures="RR").lost is None  # two queries are no significant drop
    assert gate(judged, run, require="RR>=0.99").lost is None  # without a baseline, nothing is known to be lost


def test_renamed_documents_are_distinguished_from_a_worse_retriever(judged: Any, ranked: Ranked) -> None:
    run = ranked(rename=range(8))
    new = [doc for docs in run.values() for doc in docs]
    old = [doc for docs in ranked().values() for doc in docs]
    expected = {f"q{n:02}": [f"d{n}", f"e{n}"] for n in range(8)}
    renamed_ids = sorted(f"new-{kind}{n}" for kind in "de" for n in range(8))
    for corpus, unknown in ((None, []), (new, []), (old, renamed_ids)):
        lost = gate(judged, run, baseline=ranked(), measures="RR", corpus=corpus).lost
        assert lost is not None
        assert {query: sorted(docs) for query, docs in lost.of_query.items()} == expected
        assert lost.documents == sorted(doc for docs in expected.values() for doc in docs)
        assert (list(lost.unknown), lost.is_checked) == (unknown, corpus is not None)


def test_documents_that_the_corpus_still_has_are_not_gone(judged: Any, ranked: Ranked) -> None:
    run = {query: {"s": 1.0} if query < "q08" else docs for query, docs in ranked().items()}
    corpus = [doc for docs in ranked().values() for doc in docs]
    lost = gate(judged, run, baseline=ranked(), measures="RR", corpus=corpus).lost
    assert lost is not None
    assert (lost.documents, lost.unknown, lost.is_checked) == ([], (), True)
    unchecked = gate(judged, run, baseline=ranked(), measures="RR").lost
    assert unchecked is not None
    assert len(unchecked.documents) == 16


def test_of_a_drop_that_has_both_causes_only_the_lost_documents_are_named(judged: Any, ranked: Ranked) -> None:
    run = ranked(rename=range(8), bad=range(8, 20))
    corpus = [doc for docs in run.values() for doc in docs]
    for known in (corpus, None):
        result = gate(judged, run, baseline=ranked(), measures=["RR", "nDCG@10"], corpus=known)
        assert outcomes(result) == {"RR": "worse", "nDCG@10": "worse"}
        assert result.lost is not None
        assert sorted(result.lost.of_query) == [f"q{n:02}" for n in range(8)]
        assert result.lost.to_dict() == {
            "queries": {query: list(docs) for query, docs in result.lost.of_query.items()},
            "not_in_corpus": [],
            "corpus": known is not None,
        }


def test_a_document_that_was_not_relevant_is_not_missed(judged: Any, ranked: Ranked) -> None:
    run = {query: {doc: s for doc, s in docs.items() if doc[0] != "x"} for query, docs in ranked(bad=range(12)).items()}
    lost = gate(judged, run, baseline=ranked(), measures="RR").lost
    assert lost is not None
    assert lost.documents == []


def test_a_document_that_moved_to_another_query_is_not_gone(judged: Any, ranked: Ranked) -> None:
    run = ranked(rename=range(8))
    run["q29"] |= {f"{kind}{n}": 0.0 for n in range(8) for kind in "de"}
    lost = gate(judged, run, baseline=ranked(), measures="RR").lost
    assert lost is not None
    assert (lost.documents, dict(lost.of_query)) == ([], {})


def test_a_corpus_may_be_a_file_and_runs_may_be_files(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    run = ranked(rename=range(8))
    corpus = tmp_path / "corpus.jsonl"
    ids = sorted({doc for docs in run.values() for doc in docs})
    corpus.write_text("".join(json.dumps({"_id": doc, "text": ""}) + "\n" for doc in ids))
    for name, given in (("now", run), ("then", ranked())):
        rows = [f"{q} Q0 {d} 1 {s} {name}\n" for q, docs in given.items() for d, s in docs.items()]
        (tmp_path / name).write_text("".join(rows))
    result = gate(judged, tmp_path / "now", baseline=tmp_path / "then", measures="RR", corpus=corpus)
    assert result.sentence.startswith("fail: now is worse than then on RR")
    assert result.lost is not None
    assert (len(result.lost.documents), result.lost.unknown, result.lost.is_checked) == (16, (), True)


def test_a_run_object_is_not_changed(judged: Any, ranked: Ranked) -> None:
    run = Run.from_dict(ranked(bad=range(12)))
    first, second = (gate(judged, run, baseline=ranked(), require="RR>0.9") for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_the_text_lists_documents_that_the_corpus_does_not_have(judged: Any, ranked: Ranked) -> None:
    corpus = [doc for docs in ranked().values() for doc in docs]
    result = gate(judged, ranked(rename=range(8)), baseline=ranked(), measures="RR", corpus=corpus)
    text = as_text(document(result), Layout(color=True))
    assert text.startswith("\x1b[31mfail\x1b[0m: this run is worse than the baseline on RR")
    assert "16 relevant documents that the baseline retrieved are nowhere in this run\n" in text
    assert "16 documents of this run are not in the corpus: 'new-d0', 'new-d1', 'new-d2', …" in text
    assert [f"\n'q{n:02}': 'd{n}', 'e{n}'\n" in text for n in range(9)] == [*[True] * 8, False]
    assert "gate.corpus" not in text
    many = as_text(document(gate(judged, ranked(rename=range(19)), baseline=ranked(), measures="RR")))
    assert "38 relevant documents that the baseline retrieved are nowhere in this run\n" in many
    assert "\n'q14': 'd14', 'e14'\n4 queries more: --format json\n" in many
    assert "whether they were removed or renamed: --set gate.corpus=FILE" in many


def test_a_baseline_without_anything_comparable_says_so(judged: Any, ranked: Ranked) -> None:
    for baseline in (ranked(), evaluate(judged, ranked(), "NumRelRet")):
        with pytest.raises(UsageError, match="no required measure can be compared"):
            gate(judged, ranked(), require="NumRelRet>=0", baseline=baseline)
    with pytest.raises(InputError, match="'run' has no values of RR; it has 'NumRelRet'"):
        gate(judged, ranked(), "RR", baseline=evaluate(judged, ranked(), "NumRelRet"))
