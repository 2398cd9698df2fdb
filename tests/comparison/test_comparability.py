"""What is comparable: depths as requested or as found, with the same words in ``compare`` and in the gate."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Qrels, compare, evaluate, gate
from rankgauge.comparison.comparability import (
    Incomparable,
    NamedFacts,
    ResultFacts,
    comparability_notes,
    not_comparable,
    shared_causes,
)
from rankgauge.evaluation.result_depth import common_depth
from rankgauge.measures.names import parse_measure

QUERIES = [f"q{n}" for n in range(12)]
QRELS = {query: {f"{query}-d7": 1, f"{query}-d2": 1, f"{query}-d1": 0} for query in QUERIES}


def results(depth: int | Sequence[int]) -> dict[str, list[str]]:
    depths = [depth] * len(QUERIES) if isinstance(depth, int) else list(depth)
    return {query: [f"{query}-d{n}" for n in range(own)] for query, own in zip(QUERIES, depths, strict=True)}


def depth_by_hand(counts: Sequence[int]) -> int | None:
    """The definition as a plain loop."""
    answered = [count for count in counts if count]
    if not answered:
        return None
    deepest = max(answered)
    at_the_end = 0
    for count in answered:
        at_the_end += count == deepest
    return deepest if at_the_end >= len(answered) / 2 else None


@given(st.lists(st.integers(0, 6), max_size=12))
def test_the_depth_of_a_file_is_the_largest_if_half_of_the_queries_end_there(counts: list[int]) -> None:
    assert common_depth(np.array(counts, dtype=np.int64)) == depth_by_hand(counts)


@given(
    st.one_of(st.none(), st.integers(1, 30)),
    st.one_of(st.none(), st.integers(1, 30)),
    st.sampled_from(["R@10", "nDCG@20", "RR", "AP"]),
)
def test_a_row_is_not_comparable_if_depths_differ_and_the_shallower_is_below_the_cutoff(
    first: int | None, second: int | None, name: str
) -> None:
    measure = parse_measure(name)
    limits = [math.inf if depth is None else depth for depth in (first, second)]
    expected = isinstance(measure.cutoff, int) and limits[0] != limits[1] and min(limits) < measure.cutoff
    sides = NamedFacts("now", ResultFacts(first)), NamedFacts("before", ResultFacts(second))
    reason = not_comparable(measure, *sides)
    assert (reason is not None) == expected
    if reason is not None:
        shallow = "now" if limits[0] < limits[1] else "before"
        documents = "1 document" if min(limits) == 1 else f"{min(limits)} documents"
        assert str(reason) == f"{shallow} has at most {documents} per query, {name} needs {measure.cutoff}"
    codes = {note.code for note in comparability_notes([measure], *sides)}
    assert ("depths-differ" in codes) == (limits[0] != limits[1] and measure.cutoff is None)
    is_cut = isinstance(measure.cutoff, int) and limits[0] == limits[1] < measure.cutoff
    assert ("same-depth" in codes) == is_cut


def test_a_gate_of_shallower_results_has_no_verdict_on_deep_measures() -> None:
    result = gate(QRELS, results(3), ["R@10", "R@3"], baseline=results(10))
    assert (result.verdict, result.exit_code) == ("not comparable", 2)
    reason = "this run has at most 3 documents per query, R@10 needs 10"
    assert result.sentence == f"not comparable: {reason}; this run is unchanged on R@3."
    assert [row.to_dict()["reason"] for row in result.compared] == [reason, None]
    assert result.compared[0].decision.p is None
    assert result.lost is None


def test_measures_that_share_a_reason_are_named_together() -> None:
    result = gate(QRELS, results(3), ["R@10", "R@3", "nDCG@10", "P@4"], baseline=results(10))
    cause = "this run has at most 3 documents per query"
    together = f"{cause}; R@10, nDCG@10, P@4 need more"
    assert result.sentence == f"not comparable: {together}; this run is unchanged on R@3."
    assert str(result.compared[0].reason) == f"{cause}, R@10 needs 10"
    pair = {"k10": results(10), "k3": results(3)}
    named = together.replace("this run", "k3")
    assert f"Not comparable: {named}." in compare(QRELS, pair, ["R@3", "R@10", "nDCG@10", "P@4"]).answer()
    first = compare(QRELS, pair, ["R@10", "nDCG@10", "R@3"]).answer()
    assert first.startswith("k3 and k10 are not comparable on R@10, nDCG@10: k3 has at most 3 documents per query.")
    assert first.count("at most 3 documents") == 1


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["R@5", "P@7", "RR@9"])), max_size=6))
def test_each_cause_is_stated_once_with_all_of_its_measures(pairs: list[tuple[str, str]]) -> None:
    problems = [Incomparable(f"{cause} is short", measure, int(measure[-1])) for cause, measure in pairs]
    sentences = shared_causes(problems)
    assert len(sentences) == len({cause for cause, _ in pairs})
    for cause, measure in pairs:
        (own,) = (text for text in sentences if text.startswith(f"{cause} is short"))
        assert own.count(measure) == 1


def test_a_failed_row_comes_before_one_that_is_not_comparable() -> None:
    swapped = {query: [docs[0], docs[1], "x"] for query, docs in results(3).items()}
    result = gate(QRELS, swapped, ["R@10", "R@3"], baseline=results(10))
    assert (result.verdict, result.exit_code) == ("fail", 1)
    assert result.sentence.endswith("; not comparable: this run has at most 3 documents per query, R@10 needs 10.")


def test_the_same_depth_is_compared_with_a_note() -> None:
    result = gate(QRELS, results(5), "R@10", baseline=results(5))
    assert result.passed
    assert [note.message for note in result.notes] == [
        "both sides have at most 5 documents per query, so R@10 is really @5"
    ]


def test_an_unknown_depth_counts_as_unlimited() -> None:
    uneven = results(range(3, 15))
    assert gate(QRELS, uneven, "R@10", baseline=uneven).passed
    assert gate(QRELS, results(5), "R@10", baseline=uneven).verdict == "not comparable"
    assert gate(QRELS, results(10), "R@10", baseline=uneven).verdict != "not comparable"


def test_a_measure_without_a_cutoff_is_compared_with_a_note() -> None:
    result = gate(QRELS, results(5), "AP", baseline=results(10))
    assert "depths-differ" in [note.code for note in result.notes]
    assert result.verdict == "fail"


def test_with_requirements_alone_depth_is_a_warning() -> None:
    result = gate(QRELS, results(3), require="R@10>=0.2")
    assert result.passed
    assert "shallow-run" in [note.code for note in result.scores.notes]


def test_a_log_that_is_the_baseline_has_a_depth(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [{"query": query, "retrieved": docs, "relevant": [*QRELS[query]][:2]} for query, docs in results(10).items()]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert gate(QRELS, results(10), "R@10", baseline=log).passed
    assert gate(QRELS, results(4), "R@10", baseline=log).verdict == "not comparable"


def test_of_several_runs_the_shallowest_decides() -> None:
    assert gate(QRELS, results(10), "R@10", baseline=[results(10), results(10)]).passed
    for runs in ([results(10), results(4)], [results(4), results(10)]):
        assert gate(QRELS, results(10), "R@10", baseline=runs).verdict == "not comparable"


@pytest.mark.parametrize("is_file", [False, True])
def test_scores_keep_the_depth_of_their_results(tmp_path: Path, command: Callable[..., Any], is_file: bool) -> None:
    scores: Any = evaluate(QRELS, results(10), ["R@10", "R@20"])
    if is_file:
        scores = tmp_path / "scores.json"
        for name, data in (("qrels", QRELS), ("run", results(10))):
            (tmp_path / f"{name}.json").write_text(json.dumps(data))
        files = (tmp_path / "qrels.json", tmp_path / "run.json")
        scores.write_text(command("evaluate", *files, "-m", "R@10", "-m", "R@20", "-q", "--format", "json").out)
    assert gate(QRELS, results(10), "R@10", baseline=scores).passed
    shallow = gate(QRELS, results(4), "R@10", baseline=scores)
    assert (shallow.verdict, shallow.exit_code) == ("not comparable", 2)
    assert "has at most 4 documents per query, R@10 needs 10" in shallow.sentence
    same = gate(QRELS, results(10), "R@20", baseline=scores)
    assert same.passed
    assert "same-depth" in [note.code for note in same.notes]


def test_the_depth_of_a_live_retriever_is_the_k_it_was_asked_for() -> None:
    def search(query: str, k: int) -> list[str]:
        return [f"{query}-d{n}" for n in range(3)]  # the corpus has no more

    cases = [{"id": query, "query": query, "relevant_ids": list(docs)} for query, docs in QRELS.items()]
    result = gate(cases, search, "R@5", baseline=search)
    assert result.passed
    assert result.baseline is not None
    assert (result.baseline.facts.depth, result.baseline.facts.is_requested) == (5, True)


def test_compare_says_the_same_and_tests_only_what_is_comparable() -> None:
    found = compare(QRELS, {"full": results(10), "k3": results(3)}, ["R@10", "R@3"])
    reason = "k3 has at most 3 documents per query, R@10 needs 10"
    row, other = found["k3", "R@10"], found["k3", "R@3"]
    assert (row.outcome(found.alpha), row.p, row.difference, row.reason) == ("not comparable", None, None, reason)
    assert found.answer().startswith(f"k3 and full are not comparable on R@10: {reason}.")
    assert other.outcome(found.alpha) == "unchanged"
    assert found.changes == {}


def test_of_three_systems_none_is_the_best_if_some_cannot_be_compared() -> None:
    found = compare(QRELS, {"full": results(10), "same": results(10), "k3": results(3)}, ["R@10"])
    assert found.ranking is None
    assert found.answer() == (
        "Not all systems can be compared on R@10. k3 and full are not comparable on R@10: "
        "k3 has at most 3 documents per query, R@10 needs 10."
    )


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_no_test_is_of_what_is_not_comparable(test: Any) -> None:
    from rankgauge import Statistics

    found = compare(
        QRELS,
        {"full": results(10), "same": results(10), "k3": results(3)},
        ["R@10", "RR"],
        statistics=Statistics(test=test, resamples=200),
    )
    assert found["k3", "R@10"].p_corrected is None
    assert found["k3", "RR"].p_corrected is not None


def test_groups_of_queries_have_no_values_on_a_measure_that_is_not_comparable() -> None:
    kinds = {query: "a" if number % 2 else "b" for number, query in enumerate(QRELS)}
    qrels = Qrels.from_dict(QRELS, columns={"kind": kinds})
    found = compare(qrels, {"full": results(10), "k3": results(3)}, ["R@10", "R@3"], by=("kind",))
    assert {row.difference.measure for row in found.groups} == {"R@3"}
