from __future__ import annotations

from dataclasses import replace

import pytest

from rankgauge.comparison.compare import Statistics, compare
from rankgauge.comparison.headline import challenger, headline
from rankgauge.comparison.result import Comparison

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


def test_one_comparison_is_not_said_to_be_corrected() -> None:
    found = compare(JUDGED, {"a": MIXED, "b": GOOD}, "RR", statistics=Statistics(resamples=1000))
    assert "after" not in headline(found)[0]


@pytest.mark.parametrize("baseline", ["a", "b"])
def test_the_challenger_is_the_best_of_the_others(baseline: str) -> None:
    found = compare(JUDGED, {"a": MIXED, "b": GOOD, "c": BAD}, "RR", baseline=baseline)
    assert challenger(found) == ("b" if baseline == "a" else "a")
    assert challenger(replace(found, baseline="c")) == "b"
