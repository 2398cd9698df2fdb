"""Measures of preferences against a direct count of pairs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.adapters.trec_eval.families import PREFERENCE_FAMILIES
from rankgauge.adapters.trec_eval.judge_groups import JudgeRows, mean_over_groups
from rankgauge.adapters.trec_eval.preferences import VALUES, preferences_of
from rankgauge.core.arrays import Floats
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError
from rankgauge.measures.names import parse_measure

Row = tuple[str, str, str, float]


def judge_rows(rows: Sequence[tuple[str, ...]], levels: list[float]) -> JudgeRows:
    """Rows of a query, a group, perhaps a subgroup, and a document."""
    query, group, *subgroup, doc = (Ids.from_text(list(column), "id") for column in zip(*rows, strict=True))
    return JudgeRows.of(query, group, doc, np.array(levels, dtype=float), subgroup[0] if subgroup else None, "judges")


def preferences(rows: list[Row], query: str = "q") -> JudgeRows:
    return judge_rows([(query, *row[:3]) for row in rows], [row[3] for row in rows])


def ranked(ranking: list[str], query: str = "q") -> Run:
    return Run.from_dict({query: {doc: float(-rank) for rank, doc in enumerate(ranking)}})


def values_of(judgments: JudgeRows, hits: Hits, query: int) -> dict[str, float]:
    found = preferences_of(hits, judgments, query)
    return {name: float(value(found)) for name, value in VALUES.items()}


def values(rows: list[Row], ranking: list[str], depth: int | None = None) -> dict[str, float]:
    judgments = preferences(rows)
    return values_of(judgments, join(judgments.judged, ranked(ranking)).top(depth), 0)


def test_every_family_of_preferences_has_values() -> None:
    assert list(VALUES) == [family.name for family in PREFERENCE_FAMILIES]


def closed(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    while added := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | added
    return pairs


@pytest.mark.parametrize("seed", range(30))
def test_shares_are_those_of_a_direct_count(seed: int) -> None:
    rng = random.Random(seed)
    docs = [f"d{number}" for number in range(7)]
    worth = {doc: rng.randint(0, 3) for doc in docs}
    rows = [
        (group, f"s{subgroup}", doc, float(worth[doc]))
        for group in ("a", "b")
        for subgroup in range(rng.randint(1, 3))
        for doc in rng.sample(docs, rng.randint(1, 5))
    ]
    ranking = rng.sample([*docs, "x", "y"], rng.randint(1, 8))
    place = {doc: rank for rank, doc in enumerate(ranking)}
    fulfilled = possible = both_fulfilled = both_possible = 0
    for group in ("a", "b"):
        subgroups = itertools.groupby(sorted(row for row in rows if row[0] == group), key=lambda row: row[1])
        pairs = {(a[2], b[2]) for _, part in subgroups for a, b in itertools.permutations(part, 2) if a[3] > b[3]}
        for better, worse in closed(pairs):
            is_fulfilled = better in place and place[better] < place.get(worse, len(ranking))
            fulfilled, possible = fulfilled + is_fulfilled, possible + 1
            if better in place and worse in place:
                both_fulfilled, both_possible = both_fulfilled + is_fulfilled, both_possible + 1
    measured = values(rows, ranking)
    assert measured["prefs_num_prefs_poss"] == possible
    assert measured["prefs_num_prefs_ful"] == fulfilled
    assert measured["prefs_num_prefs_ful_ret"] == both_fulfilled
    assert measured["prefs_simp"] == pytest.approx(fulfilled / possible if possible else 0)
    assert measured["prefs_simp_ret"] == pytest.approx(both_fulfilled / both_possible if both_possible else 0)


def test_a_perfect_ranking_fulfills_everything_and_its_reverse_nothing() -> None:
    rows: list[Row] = [("a", "s", "d1", 2), ("a", "s", "d2", 1), ("a", "s", "d3", 0)]
    shares = [name for name in VALUES if "num" not in name]
    assert {values(rows, ["d1", "d2", "d3"])[name] for name in shares} == {1.0}
    worst = values(rows, ["d3", "d2", "d1"])
    assert {worst[name] for name in shares if "Rnonrel" not in name} == {0.0}


def test_groups_have_equal_weight_in_the_mean_over_groups() -> None:
    rows: list[Row] = [("a", "s", f"d{number}", float(number)) for number in range(5)]
    rows += [("b", "s", "d0", 1), ("b", "s", "d1", 0)]
    measured = values(rows, ["d0", "d1", "d2", "d3", "d4"])
    assert measured["prefs_avgjg"] == pytest.approx((0 + 1) / 2)
    assert measured["prefs_simp"] == pytest.approx(1 / 11)
    assert measured["prefs_pair"] == pytest.approx(0.5 / 10)


def test_documents_below_the_depth_are_not_retrieved() -> None:
    rows: list[Row] = [("a", "s", "d1", 2), ("a", "s", "d2", 1)]
    assert values(rows, ["x", "d2", "d1"], depth=2)["prefs_simp"] == 0.0
    assert values(rows, ["x", "d1", "d2"], depth=2)["prefs_simp"] == 1.0
    assert values(rows, ["x", "d1", "d2"], depth=2)["prefs_num_prefs_ful_ret"] == 0


judgments = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("st"), st.sampled_from(["d1", "d2", "d3", "d4"]), st.just(0.0)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:3],
).map(lambda rows: [(group, subgroup, doc, float(len(doc) + int(doc[1]))) for group, subgroup, doc, _ in rows])
rankings = st.permutations(["d1", "d2", "d3", "d4", "x"]).flatmap(
    lambda docs: st.integers(0, 5).map(lambda size: docs[:size])
)


@given(judgments, rankings)
def test_every_share_is_between_0_and_1(rows: list[Row], ranking: list[str]) -> None:
    measured = values(rows, ranking)
    assert all(0 <= value <= 1 or "num" in name for name, value in measured.items())


@pytest.mark.slow
@given(st.lists(st.tuples(judgments, rankings), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_parts_equal_the_whole(queries: list[tuple[list[Row], list[str]]], rng: random.Random) -> None:
    columns = [(f"q{n}", *row) for n, (rows, _) in enumerate(queries) for row in rows]
    rng.shuffle(columns)
    whole = judge_rows([row[:-1] for row in columns], [row[-1] for row in columns])
    hits = join(whole.judged, Run.from_lists({f"q{n}": ranking for n, (_, ranking) in enumerate(queries)}))
    for number, (rows, ranking) in enumerate(queries):
        assert values_of(whole, hits, number) == values(rows, ranking)


GRADED = [("q", "a", "d1"), ("q", "a", "d2"), ("q", "b", "d1"), ("q", "b", "d3"), ("r", "a", "d1")]
MEANS = {
    "AP": [(1 / 3 + 1) / 2, 1 / 2],
    "P@1": [0.5, 0.0],
    "P@3": [1 / 3, 1 / 3],
    "Rprec": [0.5, 0.0],
    "Rprec(mult=3)": [1 / 3, 1 / 3],
    "AP@2": [0.5, 0.5],
}


def group_means(name: str, judgments: JudgeRows, run: Run) -> Floats:
    hits = join(judgments.judged, run)
    return mean_over_groups(hits, judgments, lambda layer: parse_measure(name)(layer)[:, np.newaxis])[:, 0]


@pytest.mark.parametrize(("name", "expected"), MEANS.items())
def test_a_mean_over_groups_is_the_mean_of_the_values_with_the_judgments_of_each(
    name: str, expected: list[float]
) -> None:
    judgments = judge_rows(GRADED, [1, 0, 0, 1, 1])
    run = Run.from_lists({"q": ["d3", "x", "d1"], "r": ["x", "d1"]})
    assert group_means(name, judgments, run).tolist() == pytest.approx(expected)


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_the_groups_of_a_query_are_separate_judgments(seed: int) -> None:
    rng = random.Random(seed)
    docs = [f"d{number}" for number in range(6)]
    grades = {group: {doc: rng.randint(-1, 2) for doc in rng.sample(docs, rng.randint(1, 6))} for group in "abc"}
    rows = [("q", group, doc) for group, judged in grades.items() for doc in judged]
    judgments = judge_rows(rows, [grade for judged in grades.values() for grade in judged.values()])
    run = Run.from_dict({"q": {doc: rng.randint(0, 3) for doc in docs}})
    for name in ("AP", "P@3", "Rprec", "AP(rel=2)"):
        each = [parse_measure(name)(join(Qrels.from_dict({"q": judged}), run))[0] for judged in grades.values()]
        assert float(group_means(name, judgments, run)[0]) == pytest.approx(sum(each) / 3)


def test_a_group_that_contradicts_itself_is_an_error_that_names_query_document_and_group() -> None:
    rows: list[Row] = [("a", "s", "d1", 1), ("a", "s", "d2", 2), ("a", "t", "d1", 2), ("a", "t", "d2", 1)]
    with pytest.raises(InputError, match="query 'q', document 'd1', judgment group 'a'"):
        values(rows, ["d1"])


def test_a_document_that_a_group_grades_twice_is_an_error() -> None:
    with pytest.raises(InputError, match="document 'd1' is judged twice by group 'a' for query 'q'"):
        judge_rows([("q", "a", "d1"), ("q", "a", "d1")], [1, 0])
