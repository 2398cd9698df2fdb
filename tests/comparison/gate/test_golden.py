"""Golden sets: what every query must reach, misses that are known or allowed, and groups of queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, UsageError, evaluate, gate
from rankgauge.comparison import GateRule
from rankgauge.render.documents.gate import document
from rankgauge.render.formats.terminal import as_text

QUERIES = [f"q{n:02}" for n in range(46)]
CASES = [{"id": query, "query": f"text of {query}", "relevant_ids": [f"d-{query}"]} for query in QUERIES]
LABELS = {query: {f"d-{query}": 1} for query in QUERIES}


def results(*missing: int) -> dict[str, list[str]]:
    return {query: ["x", "y" if n in missing else f"d-{query}"] for n, query in enumerate(QUERIES)}


def test_every_query_that_misses_fails_and_is_listed() -> None:
    result = gate(CASES, results(5, 17, 37), require_each="Success@5>=1")
    assert (result.verdict, result.exit_code) == ("fail", 1)
    assert result.sentence == "fail: 3 of 46 queries miss Success@5 >= 1: q05, q17 and q37."
    (misses,) = result.query_lists
    assert [(query.query, query.now) for query in misses.queries] == [("q05", 0.0), ("q17", 0.0), ("q37", 0.0)]
    assert misses.queries[0].documents == (("d-q05", 1.0, None, None),)
    assert result.texts["q05"] == "text of q05"
    assert gate(CASES, results(), require_each="Success@5>=1").sentence == (
        "pass: every one of 46 queries meets Success@5 >= 1."
    )


def test_a_case_that_requires_more_than_its_live_retriever_was_asked_for_is_refused() -> None:
    def search(query: str, k: int) -> list[str]:
        return [*(f"x{n}" for n in range(7)), f"d-{query.split()[-1]}"][:k]

    deeper = [{**CASES[0], "require": "R@8>=1"}, *CASES[1:]]
    with pytest.raises(InputError, match=r"a test case requires R@8, but 'search' was asked for 5 documents"):
        gate(deeper, search, require="Success@5>=0")
    assert gate(deeper, search, require="Success@8>=1").passed


def test_a_miss_of_the_baseline_is_known_and_named_again_once_it_hits() -> None:
    before = results(5, 17)
    for baseline in (before, evaluate(LABELS, before, "Success@5"), [before, before]):
        result = gate(LABELS, results(5), require_each="Success@5>=1", baseline=baseline)
        assert result.passed
        assert result.held is not None
        assert [(miss.query, miss.state) for miss in result.held.misses] == [("q05", "known")]
        assert result.held.recovered == ("q17",)
        messages = {note.code: note.message for note in result.notes}
        assert messages["known-miss"] == "known miss, as in the baseline: 'q05'"
        assert messages["miss-recovered"].startswith("'q17' hits now, and missed before")
        worse = gate(LABELS, results(5, 6), require_each="Success@5>=1", baseline=baseline)
        assert worse.failed
        assert worse.sentence.startswith("fail: 1 of 46 queries misses Success@5 >= 1: q06;")


def test_scores_without_the_measure_say_so() -> None:
    with pytest.raises(InputError, match="'run' has no values of Success@5; it has 'RR'"):
        gate(LABELS, results(), require_each="Success@5>=1", baseline=evaluate(LABELS, results(), "RR"))


def test_a_case_has_its_own_requirement_in_place_of_the_general_one() -> None:
    own = [{**case, "require": "R@1>=1"} if case["id"] == "q03" else case for case in CASES]
    result = gate(own, results(), require_each="Success@5>=1")
    assert result.sentence == "fail: 1 of 46 queries misses R@1 >= 1: q03."
    alone = gate(own, results(9), measures=None)
    assert alone.held is not None
    assert alone.held.queries == 1
    assert alone.failed
    wrong = Qrels.from_dict(LABELS, columns={"require": {"q07": "R@1=1"}})
    with pytest.raises(InputError, match=r"require of query 'q07': a requirement must be a measure, one of >="):
        gate(wrong, results(), require_each="Success@5>=1")


def test_allowed_misses_have_a_reason_and_are_named(tmp_path: Path) -> None:
    path = tmp_path / "allowed.txt"
    path.write_text("# known gaps\nq05 # the synonym is not indexed\n\ntext of q17 # a typo\nq06 # hits\nq99 # gone\n")
    result = gate(CASES, results(5, 17), require_each="Success@5>=1", rule=GateRule(allow=path))
    assert result.passed
    assert result.sentence == "pass: 44 of 46 queries meet Success@5 >= 1; 2 are known to miss."
    messages = {note.code: note.message for note in result.notes}
    assert messages["allowed-miss"] == "allowed miss: 'q05' (the synonym is not indexed), 'q17' (a typo)"
    assert messages["miss-recovered"].startswith("'q06' hits now")
    assert messages["allowed-unknown"] == "not among the queries: 'q99'"
    assert gate(CASES, results(5), require_each="Success@5>=1", rule=GateRule(allow={"q05": "a reason"})).passed
    path.write_text("q05 # a reason\nq06\n")
    with pytest.raises(InputError, match=r"allowed.txt:2: an allowed miss needs a reason: found 'q06'"):
        gate(CASES, results(5), require_each="Success@5>=1", rule=GateRule(allow=path))
    with pytest.raises(UsageError, match="has no reason"):
        gate(CASES, results(5), require_each="Success@5>=1", rule=GateRule(allow={"q05": ""}))
    with pytest.raises(UsageError, match="allowed misses need a requirement of every query"):
        gate(CASES, results(5), require="Success@5>=0.5", rule=GateRule(allow={"q05": "a reason"}))


def test_queries_that_have_no_relevant_document_are_not_held() -> None:
    labels = {**LABELS, "q90": {"z": 0}}
    result = gate(labels, {**results(), "q90": ["x"]}, require_each="Success@5>=1")
    assert result.passed
    assert result.held is not None
    assert result.held.queries == 46


@settings(max_examples=20)
@given(st.sets(st.integers(0, 45), max_size=8), st.sets(st.integers(0, 45), max_size=8))
def test_new_misses_fail_and_known_ones_do_not(before: set[int], now: set[int]) -> None:
    result = gate(LABELS, results(*now), require_each="Success@5>=1", baseline=results(*before))
    assert result.held is not None
    assert {miss.query for miss in result.held.in_state("missed")} == {QUERIES[n] for n in now - before}
    assert {miss.query for miss in result.held.in_state("known")} == {QUERIES[n] for n in now & before}
    assert set(result.held.recovered) == {QUERIES[n] for n in before - now}
    assert result.failed == bool(now - before or result.compared[0].decision.outcome == "worse")


# -- a pass is not silent ------------------------------------------------------------------------------------------


def test_a_pass_names_the_queries_that_got_worse() -> None:
    result = gate(LABELS, results(5, 17, 37, 40), "Success@5", baseline=results())
    assert result.passed
    assert result.second_line(str) == (
        "4 of 46 queries got worse on Success@5, fewer than the 5 this test needs: q05, q17, q37, …"
    )
    assert gate(LABELS, results(5, 6, 7, 8, 9), "Success@5", baseline=results()).failed
    assert gate(LABELS, results(), "Success@5", baseline=results(5)).second_line(str) is None


# -- undecided -----------------------------------------------------------------------------------------------------


def small(n: int, *fallen: int) -> tuple[dict[str, Any], dict[str, Any]]:
    labels = {query: LABELS[query] for query in QUERIES[:n]}
    return labels, {query: ["x", "y"] if row in fallen else [f"d-{query}", "x"] for row, query in enumerate(labels)}


def test_a_query_that_misses_its_requirement_is_named_once_and_not_undecided_as_well() -> None:
    labels, before = small(3)
    result = gate(labels, small(3, 0)[1], require_each="Success@1>=1", baseline=before)
    assert result.sentence == "fail: 1 of 3 queries misses Success@1 >= 1: q00."
    assert result.compared[0].decision.outcome == "undecided"
    text = as_text(document(result))
    assert text.count("  q00") == 1
    assert "got worse" not in text.partition("detectable")[0]
    other = gate(labels, small(3, 0)[1], ["RR"], require_each="P@2>=0", baseline=before)
    assert other.sentence.startswith("undecided: 1 of 3 queries got worse on RR, too few to decide")
    assert as_text(document(other)).count("  q00") == 1


def test_what_to_do_about_a_query_that_hits_again_depends_on_why_it_might_miss() -> None:
    labels, hits = small(3)
    for baseline, note in (
        (small(3, 0)[1], "'q00' hits now, and missed before: keep this run as the next baseline"),
        (None, "'q00' hits now, and may miss: remove what need not be allowed"),
    ):
        rule = GateRule(allow={"q00": "a reason"})
        result = gate(labels, hits, require_each="Success@1>=1", baseline=baseline, rule=rule)
        assert [one.message for one in result.notes if one.code == "miss-recovered"] == [note]
        assert result.held is not None
        assert result.held.to_dict()["recovered"] == ["q00"]


def test_the_sentence_names_the_requirement_that_was_missed_and_begins_with_what_failed() -> None:
    own = [{**case, "require": "R@3>=1"} if case["id"] == "q03" else case for case in CASES]
    some = gate(own, results(5, 17), require_each="Success@5>=1")
    assert some.sentence == f"fail: 2 of {len(CASES)} queries miss Success@5 >= 1: q05 and q17."
    both = gate(own, results(3, 17), require_each="Success@5>=1")
    assert both.sentence == f"fail: 2 of {len(CASES)} queries miss their requirements: q03 and q17."
    mean = gate(own, results(5), require="Success@5>=1")
    assert mean.sentence.startswith("fail: missed Success@5 >= 1 (")
    assert mean.sentence.endswith("; 1 query meets R@3 >= 1.")


def test_empty_answers_have_a_hint_of_their_own() -> None:
    result = gate(CASES, {case["id"]: [] for case in CASES}, require="Success@5<=0")
    assert result.exit_code == 2
    assert "hint: every answer is empty: check that the search reaches its index" in as_text(document(result))


def at_ranks(ranks: Sequence[int]) -> dict[str, list[str]]:
    """A run in which the relevant document of each query has a rank."""
    return {f"q{n}": [*(f"x{other}" for other in range(1, rank)), f"d{n}"] for n, rank in enumerate(ranks)}


@settings(max_examples=10)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_a_rank_has_no_worst_value_so_that_the_ranks_before_do_not_matter(ranks: list[int]) -> None:
    """A fall by the same amount for every query, however large, has p = 2 ** −n: five queries are enough."""
    labels = {f"q{n}": {f"d{n}": 1} for n in range(len(ranks))}
    result = gate(labels, at_ranks([ranks[0] + 1, *ranks[1:]]), "FirstRel", baseline=at_ranks(ranks))
    assert result.verdict == ("undecided" if len(ranks) < 5 else "pass")
    if len(ranks) < 5:
        assert result.compared[0].queries_needed == 5


def test_a_rank_within_a_cutoff_cannot_fall_below_the_cutoff() -> None:
    labels, before = {f"q{n}": {f"d{n}": 1} for n in range(5)}, [9, 10, 10, 10, 10]
    results = [
        gate(labels, at_ranks([10, *before[1:]]), measure, baseline=at_ranks(before))
        for measure in ("FirstRel", "FirstRel@10")
    ]
    assert [result.verdict for result in results] == ["pass", "undecided"]


@pytest.mark.parametrize("n", range(2, 9))
def test_one_loss_is_undecided_exactly_if_all_losses_would_not_be_significant(n: int) -> None:
    labels, before = small(n)
    one = gate(labels, small(n, 0)[1], "Success@1", baseline=before)
    every = gate(labels, {query: ["x", "y"] for query in labels} | {"z": ["x"]}, "Success@1", baseline=before)
    can_fail = any(row.decision.outcome == "worse" for row in every.compared)
    assert (one.verdict == "undecided") == (not can_fail) == (n < 5)
    assert gate(labels, before, "Success@1", baseline=before).passed
    if n < 5:
        assert one.compared[0].queries_needed == 5
        assert gate(labels, small(n, 0)[1], "Success@1", baseline=before, rule=GateRule(undecided="fail")).failed


def test_a_run_in_which_no_query_got_worse_passes_whatever_n_is() -> None:
    labels, before = small(2, 0, 1)
    before["q00"] = ["x", "d-q00"]
    assert gate(labels, {"q00": ["d-q00"], "q01": ["x"]}, "RR", baseline=before).passed


# -- nothing to judge ----------------------------------------------------------------------------------------------


def test_ids_that_match_on_neither_side_are_not_a_pass() -> None:
    strange = {query: ["KB/1", "KB/2"] for query in QUERIES}
    for baseline in (strange, [strange, strange]):
        result = gate(LABELS, strange, "Success@5", baseline=baseline)
        assert (result.verdict, result.exit_code) == ("nothing to judge", 2)
        assert result.sentence == (
            "nothing to judge: none of the retrieved documents is judged: 'run' has 'KB/1', 'KB/2', the labels have "
            "'d-q00', 'd-q01', 'd-q02'."
        )
    assert gate(LABELS, strange, require="Success@5<=0").exit_code == 2


def test_no_judged_result_beside_a_baseline_with_judged_ones_fails_whatever_n_is() -> None:
    labels, before = small(2)
    for baseline in (before, [before, before]):
        result = gate(labels, {query: ["KB/1"] for query in labels}, "Success@1", baseline=baseline)
        assert (result.verdict, result.exit_code) == ("fail", 1)
        assert "none of the retrieved documents is judged, and the baseline retrieved judged ones" in result.sentence


def test_a_search_that_returns_nothing_is_not_a_pass() -> None:
    empty: dict[str, Any] = {query: [] for query in QUERIES}
    for options in ({"require": "Success@5<=0"}, {"baseline": results(), "measures": "Success@5"}):
        result = gate(LABELS, empty, **options)
        assert (result.verdict, result.exit_code) == ("nothing to judge", 2)
        assert result.sentence == "nothing to judge: 'run' has no results for any query."


@pytest.mark.parametrize(
    ("before", "now"),
    [("strange", "strange"), ("good", "strange"), ("good", "empty"), ("strange", "empty"), ("empty", "empty")],
)
def test_nothing_to_judge_is_the_same_beside_scores(before: str, now: str) -> None:
    labels, good = small(2)
    runs = {"good": good, "strange": {query: ["KB/1"] for query in labels}, "empty": {query: [] for query in labels}}
    scores = evaluate(labels, runs[before], "Success@1")
    expected, found = (gate(labels, runs[now], "Success@1", baseline=baseline) for baseline in (runs[before], scores))
    assert (found.verdict, found.exit_code) == (expected.verdict, expected.exit_code)
    assert found.sentence == expected.sentence
    assert not found.passed


# -- groups --------------------------------------------------------------------------------------------------------


def grouped() -> Qrels:
    kinds = {query: ("billing", "login", "rare")[min(n // 20, 2)] for n, query in enumerate(QUERIES)}
    return Qrels.from_dict(LABELS, columns={"kind": kinds})


def test_every_group_is_held_to_the_requirements() -> None:
    result = gate(grouped(), results(40, 41, 42), require="Success@5>=0.9", rule=GateRule(by="kind"))
    assert [(row.title, row.met) for row in result.required] == [
        ("Success@5 >= 0.9", True),
        ("Success@5 >= 0.9 [kind=billing]", True),
        ("Success@5 >= 0.9 [kind=login]", True),
        ("Success@5 >= 0.9 [kind=rare]", False),
    ]
    assert result.sentence == "fail: missed Success@5 >= 0.9 [kind=rare] (0.5000)."
    own = gate(
        grouped(),
        results(40, 41, 42),
        require="Success@5>=0.9",
        rule=GateRule(requirements={"rare": "Success@5>=0.4"}, by="kind"),
    )
    assert own.passed
    with pytest.raises(UsageError, match="no group is called 'rar'; there are 'billing', 'login', 'rare'"):
        gate(grouped(), results(), rule=GateRule(requirements={"rar": "Success@5>=0.4"}, by="kind"))
    with pytest.raises(UsageError, match="need a column to group by"):
        gate(grouped(), results(), rule=GateRule(requirements={"rare": "Success@5>=0.4"}))
    with pytest.raises(UsageError, match="the queries have no column 'kinds'"):
        gate(grouped(), results(), require="Success@5>=0.4", rule=GateRule(by="kinds"))


def test_drops_of_groups_are_one_family_and_small_groups_are_undecided() -> None:
    result = gate(grouped(), results(*range(20, 32), 40), "Success@5", baseline=results(), rule=GateRule(by="kind"))
    outcomes = {str(row.group): row.decision.outcome for row in result.grouped}
    assert outcomes == {"kind=billing": "unchanged", "kind=login": "worse", "kind=rare": "undecided"}
    assert result.failed
    assert "Success@5 [kind=login] (−0.6000" in result.sentence
    assert "1 of 6 queries in kind=rare got worse on Success@5, too few to decide" in result.sentence
    assert "max-t over 4 comparisons (1 measure × 4 query sets)" in result.test_description
    alone = gate(grouped(), results(*range(20, 32), 40), "Success@5", baseline=results())
    assert result.compared[0].decision.p is not None
    assert alone.compared[0].decision.p is not None
    assert result.compared[0].decision.p >= alone.compared[0].decision.p


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(1, 4)), min_size=2, max_size=12),
    st.dictionaries(st.sampled_from("xyz"), st.sampled_from([0.25, 0.5, 0.75, 1.0]), max_size=2),
    st.sampled_from([0.25, 0.5, 0.9]),
)
def test_requirements_of_groups_are_a_plain_loop(
    queries: list[tuple[str, int]], own: dict[str, float], usual: float
) -> None:
    """Each query has a group and the rank of its relevant document; each group has its bound or the usual."""
    own = {label: bound for label, bound in own.items() if label in {group for group, _ in queries}}
    labels = [
        {"id": f"q{n}", "query": f"q{n}", "kind": group, "relevant": ["a"]} for n, (group, _) in enumerate(queries)
    ]
    run = {f"q{n}": [*"bcd"[: rank - 1], "a"] for n, (_, rank) in enumerate(queries)}
    rule = GateRule(requirements={label: f"RR>={bound}" for label, bound in own.items()}, by="kind")
    missed = set()
    for label in {group for group, _ in queries}:
        ranks = [rank for group, rank in queries if group == label]
        if sum(1 / rank for rank in ranks) / len(ranks) < own.get(label, usual) - 1e-9:
            missed.add(label)
    overall = sum(1 / rank for _, rank in queries) / len(queries) < usual - 1e-9
    found = gate(labels, run, require=f"RR>={usual}", rule=rule)
    assert found.exit_code == int(bool(missed) or overall)
