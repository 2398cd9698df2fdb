"""Measures of preferences against a direct count of pairs."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from rankgauge.core.preferences import Preferences

from rankgauge.core.ids import Ids
from rankgauge.core.preference_join import join_preferences
from rankgauge.core.run import Run
from rankgauge.measures.families.preferences import PREFERENCE_MEASURES

Row = tuple[str, str, str, float]
MEASURES = {measure.name: measure for measure in PREFERENCE_MEASURES}


def values(rows: list[Row], ranking: list[str], depth: int | None = None) -> dict[str, float]:
    groups, subgroups, docs, levels = zip(*rows, strict=True)
    preferences = Preferences.build(
        Ids.from_text(["q"] * len(rows)),
        Ids.from_text(groups),
        Ids.from_text(subgroups),
        Ids.from_text(docs),
        np.array(levels, dtype=np.float64),
        name="preferences",
    )
    run = Run.from_dict({"q": {doc: float(-rank) for rank, doc in enumerate(ranking)}})
    counts = join_preferences(preferences, run, depth=depth).query(0)
    return {name: measure.value(counts) for name, measure in MEASURES.items()}


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
