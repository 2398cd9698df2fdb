from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rankgauge import Conventions
from rankgauge.comparison.compare import Statistics, compare
from rankgauge.comparison.headline import challenger, headline
from rankgauge.comparison.result import Comparison
from rankgauge.render.text.comparison import as_table
from rankgauge.stats.results import Alternative

Lists = dict[str, list[str]]

QUERIES = [f"q{number:02}" for number in range(30)]
JUDGED = {query: {"good": 1, "bad": 0} for query in QUERIES}
GOOD = {query: ["good", "bad"] for query in QUERIES}
BAD = {query: ["bad", "good"] for query in QUERIES}
MIXED = {query: (GOOD if place % 2 else BAD)[query] for place, query in enumerate(QUERIES)}


def made(**runs: dict[str, list[str]]) -> Comparison:
    return compare(JUDGED, runs, ["RR", "P@1"], statistics=Statistics(resamples=1000))


def test_a_winner_and_a_loser_are_named_with_by_how_much() -> None:
    won = headline(made(base=MIXED, better=GOOD, worse=BAD))
    assert won[0].startswith("better beats base on RR by 0.250 (95 % 0.1")
    assert won[1].startswith("worse loses to base on RR by 0.250 (95 % 0.1")
    assert all("after Holm" in line for line in won[:2])
    assert won[2].startswith("More than luck elsewhere, against base: better on P@1 (+0.500), worse on P@1 (−0.500)")
    assert won[3].startswith("30 queries could have shown a difference of 0.1")


def test_the_same_and_the_unknown_are_told_apart() -> None:
    few = {query: (GOOD if place < 16 else BAD)[query] for place, query in enumerate(QUERIES)}
    found = headline(made(base=MIXED, same=dict(MIXED), few=few))
    assert found[0] == "same and base are the same on RR."
    assert found[1].startswith("few against base on RR: nobody can tell (+0.017, −")


def test_as_many_wins_as_losses_are_not_the_same() -> None:
    found = made(base=MIXED, turned={query: (BAD if place % 2 else GOOD)[query] for place, query in enumerate(QUERIES)})
    assert found["turned", "RR"].difference == 0
    assert found.answer().startswith("turned against base: nobody can tell on RR, P@1 (RR +0.000, ")
    assert headline(found)[0].startswith("turned against base on RR: nobody can tell (+0.000, ")
    same = made(base=MIXED, same=dict(MIXED))
    assert same.answer() == "same and base are the same on every measure."


def test_a_ratio_that_could_have_been_seen_is_told_as_one_with_the_queries_it_is_of() -> None:
    half = {query: GOOD[query] for query in QUERIES[:10]}
    runs, how = {"base": MIXED, "whole": GOOD, "half": half}, Statistics(resamples=1000)
    found = compare(JUDGED, runs, "GMAP", statistics=how, conventions=Conventions(queries="both"))
    assert (found["whole", "GMAP"].n, found["half", "GMAP"].n) == (30, 10)
    seen = found["half", "GMAP"].detectable or 0.0
    said = f"10 queries could have shown a difference of ×{math.exp(seen):.3f} or more on GMAP (80 % power)."
    assert headline(found)[-1] == said


@pytest.mark.parametrize(("alternative", "base", "new"), [("greater", MIXED, GOOD), ("less", GOOD, MIXED)])
def test_a_one_sided_interval_has_one_end(alternative: Alternative, base: Lists, new: Lists) -> None:
    runs, how = {"base": base, "new": new}, Statistics(alternative=alternative, resamples=1000)
    found = compare(JUDGED, runs, "RR", statistics=how)
    row = found["new", "RR"]
    end = row.interval.low if alternative == "greater" else row.interval.high
    least = f"{abs(end or 0.0):.3f}"
    assert f"(95 % {'at least +' if alternative == 'greater' else 'at most −'}{least})" in found.answer()
    assert f"by 0.250 (95 % at least {least})" in headline(found)[0]
    assert "inf" not in as_table(found, colour=False)


def test_one_comparison_is_not_said_to_be_corrected() -> None:
    found = compare(JUDGED, {"a": MIXED, "b": GOOD}, "RR", statistics=Statistics(resamples=1000))
    assert "after" not in headline(found)[0]


@pytest.mark.parametrize("baseline", ["a", "b"])
def test_the_challenger_is_the_best_of_the_others(baseline: str) -> None:
    found = compare(JUDGED, {"a": MIXED, "b": GOOD, "c": BAD}, "RR", baseline=baseline)
    assert challenger(found) == ("b" if baseline == "a" else "a")
    assert challenger(replace(found, baseline="c")) == "b"


def test_so_few_queries_that_no_p_is_small_enough_are_said_to_be_too_few() -> None:
    queries = [f"q{number}" for number in range(5)]
    judged = {query: {"good": 1} for query in queries}
    runs = {
        "a": {query: [f"x{n}" for n in range(place + 1)] + ["good"] for place, query in enumerate(queries)},
        "b": {query: ["good"] for query in queries},
    }
    found = compare(judged, runs, "RR")
    row = found["b", "RR"]
    assert (row.effect.wins, row.p) == (5, 2 / 2**5)  # all that five queries can give
    assert row.too_few
    assert row.detectable is None
    assert headline(found)[-1] == "5 queries are too few for the randomization test, whatever they show."
    assert "too few" in found.answer()
    assert not compare(judged, runs, "RR", statistics=Statistics(confidence=0.9))["b", "RR"].too_few
