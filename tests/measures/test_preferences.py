"""Measures of preferences against a direct count of pairs."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, MeasureError
from rankgauge.io.pipeline.dict_lookup import dict_hits
from rankgauge.measures.names import parse_measure
from rankgauge.measures.trec_names import PREFERENCE_FAMILIES
from tests.needs import require

Row = tuple[str, str, str, float]
MEASURES = {family.name: parse_measure(family.name) for family in PREFERENCE_FAMILIES}


def preferences(rows: list[Row], query: str = "q") -> Qrels:
    groups, subgroups, docs, levels = zip(*rows, strict=True)
    return Qrels.from_groups([query] * len(rows), groups, docs, levels, subgroup=subgroups)


def ranked(ranking: list[str], query: str = "q") -> Run:
    return Run.from_dict({query: {doc: float(-rank) for rank, doc in enumerate(ranking)}})


def values(rows: list[Row], ranking: list[str], depth: int | None = None) -> dict[str, float]:
    hits = join(preferences(rows), ranked(ranking)).top(depth)
    return {name: float(measure(hits)[0]) for name, measure in MEASURES.items()}


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
    shares = [name for name in MEASURES if "num" not in name]
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


@given(judgments, rankings, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_every_share_is_between_0_and_1_and_a_dict_gives_the_same_join(
    rows: list[Row], ranking: list[str], scores: list[int]
) -> None:
    qrels, results = preferences(rows), {"q": dict(zip(ranking, map(float, scores), strict=False))}
    hits, same = join(qrels, Run.from_dict(results)), dict_hits(qrels, results)
    require("compiler", same is not None)
    assert same is not None
    for measure in MEASURES.values():
        value = float(measure(hits)[0])
        assert measure.definition.range[0] <= value <= measure.definition.range[1]
        assert value == float(measure(same)[0])


@pytest.mark.slow
@given(st.lists(st.tuples(judgments, rankings), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_parts_equal_the_whole(queries: list[tuple[list[Row], list[str]]], rng: random.Random) -> None:
    columns = [(f"q{n}", *row) for n, (rows, _) in enumerate(queries) for row in rows]
    rng.shuffle(columns)
    query, group, subgroup, doc, level = zip(*columns, strict=True)
    qrels = Qrels.from_groups(query, group, doc, level, subgroup=subgroup)
    run = Run.from_lists({f"q{n}": ranking for n, (_, ranking) in enumerate(queries)})
    whole = join(qrels, run)
    parts = [join(qrels.select(np.array([number])), run) for number in range(len(queries))]
    alone = [values(rows, ranking) for rows, ranking in queries]
    for name, measure in MEASURES.items():
        expected = measure(whole)
        assert [float(measure(part)[0]) for part in parts] == expected.tolist(), name
        assert [float(measure(whole.select(np.array([n])))[0]) for n in range(len(queries))] == expected.tolist()
        assert [of_query[name] for of_query in alone] == expected.tolist()
    added = join(qrels.with_queries([b"added"]), run)
    assert MEASURES["prefs_simp"](added).tolist() == [0.0, *MEASURES["prefs_simp"](whole).tolist()]


def group_hits() -> Hits:
    qrels = Qrels.from_groups(
        ["q", "q", "q", "q", "r"], ["a", "a", "b", "b", "a"], ["d1", "d2", "d1", "d3", "d1"], [1, 0, 0, 1, 1]
    )
    return join(qrels, Run.from_lists({"q": ["d3", "x", "d1"], "r": ["x", "d1"]}))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GroupAP", [(1 / 3 + 1) / 2, 1 / 2]),
        ("GroupP@1", [0.5, 0.0]),
        ("GroupP@3", [1 / 3, 1 / 3]),
        ("GroupRprec", [0.5, 0.0]),
        ("GroupRprec(mult=3)", [1 / 3, 1 / 3]),
        ("GroupAP(judged_only=True)", [1.0, 1.0]),
        ("GroupAP@2", [0.5, 0.5]),
    ],
)
def test_a_mean_over_groups_is_the_mean_of_the_values_with_the_judgments_of_each(
    name: str, expected: list[float]
) -> None:
    hits = group_hits()
    assert parse_measure(name)(hits).tolist() == pytest.approx(expected)
    parts = [hits.select(np.array([number])) for number in range(2)]
    assert [float(parse_measure(name)(part)[0]) for part in parts] == parse_measure(name)(hits).tolist()


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_the_groups_of_a_query_are_separate_judgments(seed: int) -> None:
    rng = random.Random(seed)
    docs = [f"d{number}" for number in range(6)]
    grades = {group: {doc: rng.randint(-1, 2) for doc in rng.sample(docs, rng.randint(1, 6))} for group in "abc"}
    rows = [(group, doc, grade) for group, judged in grades.items() for doc, grade in judged.items()]
    group, doc, grade = zip(*rows, strict=True)
    run = Run.from_dict({"q": {doc: rng.randint(0, 3) for doc in docs}})
    hits = join(Qrels.from_groups(["q"] * len(rows), group, doc, grade), run)
    for name, plain in {
        "GroupAP": "AP",
        "GroupP@3": "P@3",
        "GroupRprec": "Rprec",
        "GroupAP(rel=2)": "AP(rel=2)",
    }.items():
        each = [parse_measure(plain)(join(Qrels.from_dict({"q": judged}), run))[0] for judged in grades.values()]
        assert float(parse_measure(name)(hits)[0]) == pytest.approx(sum(each) / 3)


def test_a_measure_needs_its_own_kind_of_judgments() -> None:
    plain = join(Qrels.from_dict({"q": {"d1": 1}}), ranked(["d1"]))
    ordered = join(preferences([("a", "s", "d1", 1), ("a", "s", "d2", 0)]), ranked(["d1"]))
    for name, hits, hint in [
        ("PrefShare", plain, "--qrels-format qrels_prefs"),
        ("GroupAP", plain, "--qrels-format qrels_jg"),
        ("nDCG@10", ordered, "PrefShare"),
        ("GroupAP", ordered, "PrefShare"),
        ("AP", group_hits(), "GroupAP"),
        ("PrefShare", group_hits(), "--qrels-format qrels_prefs"),
    ]:
        with pytest.raises(MeasureError, match="needs") as error:
            parse_measure(name)(hits)
        assert hint in (error.value.hint or "")
    assert parse_measure("NumQ")(ordered).tolist() == [1.0]


def test_a_group_that_contradicts_itself_is_an_error_that_names_query_document_and_group() -> None:
    rows: list[Row] = [("a", "s", "d1", 1), ("a", "s", "d2", 2), ("a", "t", "d1", 2), ("a", "t", "d2", 1)]
    with pytest.raises(InputError, match="query 'q', document 'd1', judgment group 'a'"):
        values(rows, ["d1"])


def test_the_hash_depends_on_groups_and_not_on_the_order_of_rows() -> None:
    rows: list[Row] = [("a", "s", "d1", 1), ("b", "s", "d2", 2), ("b", "t", "d1", 2)]
    first = preferences(rows).sha256
    assert preferences(rows[::-1]).sha256 == first
    changed: list[list[Row]] = [
        [("b", *rows[0][1:]), *rows[1:]],
        [("a", "t", "d1", 1), *rows[1:]],
        [("a", "s", "d1", 2), *rows[1:]],
    ]
    assert len({first, *(preferences(other).sha256 for other in changed)}) == 4


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="differ in length"):
        Qrels.from_groups(["q"], ["a"], ["d1", "d2"], [1])
