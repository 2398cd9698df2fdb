"""Three or more systems: who is best, and who cannot be distinguished."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Statistics, compare
from rankgauge.comparison.answer_sentences import headline
from rankgauge.comparison.statistics_options import MOST_SYSTEMS
from rankgauge.comparison.system_ranking import letters_of
from rankgauge.render.documents.comparison import ranked_letters
from tests.render.formats.texts import text_of_comparison

JUDGED = {f"q{n:02}": {"d": 1} for n in range(30)}


def run(seed: int, skill: float) -> dict[str, list[str]]:
    """The relevant document at a rank that is often 1 if the skill is high."""
    rng = np.random.default_rng(seed)
    ranks = np.where(rng.random(30) < skill, 1, rng.integers(2, 9, 30))
    return {query: [f"x{rank}" for rank in range(1, ranks[n])] + ["d"] for n, query in enumerate(JUDGED)}


SYSTEMS = {"poor": run(1, 0.05), "fair": run(2, 0.5), "good": run(3, 0.9), "also good": run(4, 0.85)}


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, set[tuple[int, int]]]:
    """A number of systems, and some of their pairs."""
    count = draw(st.integers(2, 9))
    return count, draw(st.sets(st.sampled_from([*combinations(range(count), 2)])))


@given(cases())
def test_systems_share_a_letter_exactly_if_they_are_not_separate(case: tuple[int, set[tuple[int, int]]]) -> None:
    count, separate = case
    letters = letters_of(count, sorted(separate))
    assert all(letters)
    for pair in combinations(range(count), 2):
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (pair not in separate)


@pytest.mark.parametrize("statistics", [Statistics(), Statistics(test="t"), Statistics("randomization")])
def test_systems_are_ranked_and_all_pairs_are_one_family(statistics: Statistics) -> None:
    compared = compare(JUDGED, SYSTEMS, "RR P@1", statistics=statistics)
    ranking = compared.ranking
    assert ranking is not None
    values = [system.value or 0.0 for system in ranking.systems]
    assert values == sorted(values, reverse=True)
    assert len(ranking.pairs) == 6
    for pair in ranking.pairs:
        row = pair.difference
        assert row.difference is not None
        assert row.difference >= 0
        assert pair.is_significant == row.is_significant(0.05)
        if statistics.is_joint:
            assert row.interval.low is not None
            assert pair.is_significant == (row.interval.low > 0)
    assert ranking.systems[-1].name == "poor"
    assert ranking.best.name in ("good", "also good")
    assert set(ranking.indistinguishable) <= {"good", "also good", "fair"}
    assert compared.answer().startswith(f"Best: {ranking.best.name} (RR 0.9")
    assert f"Not distinguishable from it: {', '.join(ranking.indistinguishable)}. Worse: " in compared.answer()


def test_the_best_of_a_measure_where_lower_is_better_is_the_lowest() -> None:
    ranking = compare(JUDGED, SYSTEMS, "FirstRel").ranking
    assert ranking is not None
    assert ranking.systems[-1].name == "poor"
    assert all((pair.difference.difference or 0) <= 0 for pair in ranking.pairs)


def test_json_and_tables_have_the_ranking() -> None:
    compared = compare(JUDGED, SYSTEMS, "RR")
    ranking = compared.ranking
    assert ranking is not None
    data: dict[str, Any] = compared.to_dict()["ranking"]
    assert [row["system"] for row in data["systems"]] == [system.name for system in ranking.systems]
    assert (data["best"], len(ranking.pairs), len(data["pairs"])) == (ranking.best.name, 6, 3)
    assert all("poor" not in (pair["first"], pair["second"]) for pair in data["pairs"])  # these are differences already
    assert data["pairs"][0]["ci"]["method"] in ("bootstrap max-t", "Bonett–Price")
    assert "same letter: not distinguishable on RR" in text_of_comparison(compared)
    assert {name: text.replace(" ", "") for name, text in ranked_letters(ranking).items()} == {
        system.name: system.letters for system in ranking.systems
    }


def test_two_systems_and_very_many_have_no_ranking() -> None:
    assert compare(JUDGED, {"a": SYSTEMS["poor"], "b": SYSTEMS["good"]}, "RR").ranking is None
    many = {f"s{n}": SYSTEMS["poor"] for n in range(MOST_SYSTEMS)} | {"better": SYSTEMS["good"]}
    found = compare(JUDGED, many, "RR", changes=0, statistics=Statistics(resamples=200))
    assert (found.ranking, found.scope, found.baseline) == (None, "best", "better")
    best, family = headline(found)[:2]
    assert best.startswith("Best: better (RR 0.9")
    assert "Worse than it: s0, s1, " in best
    assert (
        family
        == "On RR, p is corrected over 40 comparisons with the best, better (more than 40 systems: not all pairs)."
    )


@given(st.integers(0, 10_000), st.integers(3, 6))
@settings(max_examples=25)
def test_letters_marks_and_intervals_are_of_one_family(seed: int, count: int) -> None:
    """Systems of about the same skill, which are hardly distinguishable: ▼ exactly if no letter is shared."""
    runs = {f"s{n}": run(seed + n, skill) for n, skill in enumerate(np.linspace(0.3, 0.6, count))}
    found = compare(JUDGED, runs, "RR P@1", statistics=Statistics(resamples=199, seed=seed))
    ranking = found.ranking
    assert ranking is not None
    letters_of_system = {system.name: set(system.letters) for system in ranking.systems}
    assert len(ranking.pairs) == count * (count - 1) // 2
    for row in found.differences:
        if row.measure == ranking.measure:
            is_apart = not letters_of_system[row.system] & letters_of_system[found.baseline]
            assert bool(row.mark(0.05)) == is_apart
    for pair in ranking.pairs:
        row, low = pair.difference, pair.difference.interval.low
        assert low is not None
        assert (low > 0) == pair.is_significant == (not letters_of_system[pair.first] & letters_of_system[pair.second])
        if found.baseline == pair.first:
            other = found[pair.second, ranking.measure].interval
            assert (row.interval.low, row.interval.high) == (-(other.high or 0.0), -(other.low or 0.0))


def test_with_a_chosen_baseline_or_one_side_there_are_no_letters() -> None:
    assert compare(JUDGED, SYSTEMS, "RR", baseline="fair").ranking is None
    found = compare(JUDGED, SYSTEMS, "RR", statistics=Statistics(alternative="greater"))
    assert (found.ranking, found.scope) == (None, "baseline")


def test_a_caveat_is_printed_for_equal_and_for_extremely_skewed_differences() -> None:
    worse = {query: ["x", "d"] for query in JUDGED}
    better = {query: ["d"] for query in JUDGED}
    equal = compare(JUDGED, {"old": worse, "new": better}, "RR")
    assert [note.message for note in equal.notes] == [
        "new on RR: all differences are equal, which says nothing about rare different ones",
        "new has at most 1 document per query, old 2; RR looks at all of them",
    ]
    mixed = {query: (["x", "d"] if n % 2 else ["d"]) for n, query in enumerate(JUDGED)}
    assert [note.code for note in compare(JUDGED, {"old": mixed, "new": better}, "RR").notes] == ["depths-differ"]
