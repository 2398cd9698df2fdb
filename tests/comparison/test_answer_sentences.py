from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rankgauge import Conventions
from rankgauge.comparison.answer_sentences import best_challenger, headline
from rankgauge.comparison.compare import compare
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.stats.results import Alternative, PairedTest
from tests.render.formats.texts import text_of_comparison

Lists = dict[str, list[str]]

QUERIES = [f"q{number:02}" for number in range(30)]
JUDGED = {query: {"good": 1, "bad": 0} for query in QUERIES}
GOOD = {query: ["good", "bad"] for query in QUERIES}
BAD = {query: ["bad", "good"] for query in QUERIES}
MIXED = {query: (GOOD if place % 2 else BAD)[query] for place, query in enumerate(QUERIES)}


def made(**runs: dict[str, list[str]]) -> Comparison:
    return compare(JUDGED, runs, ["RR", "P@1"], statistics=Statistics(resamples=1000))


def test_a_system_is_named_once_for_all_its_measures() -> None:
    runs = {"base": MIXED, "better": GOOD, "worse": BAD}
    won = headline(compare(JUDGED, runs, ["RR", "P@1", "R@1"], statistics=Statistics(resamples=1000)))
    assert "better on P@1 (+0.500) and R@1 (+0.500), worse on P@1 (−0.500) and R@1 (−0.500)." in won[2]


def test_a_winner_and_a_loser_are_named_with_by_how_much() -> None:
    won = headline(made(base=MIXED, better=GOOD, worse=BAD))
    assert won[0] == "Best: better (RR 1.000). Worse: base (p = 0.003), worse (p < 0.001)."
    assert won[1] == "On RR, p is corrected over all 3 pairs of 3 systems."
    assert won[2] == "Significant on further measures, vs. base: better on P@1 (+0.500), worse on P@1 (−0.500)."
    assert won[3].startswith("Minimum detectable difference with 30 queries: 0.1")
    assert won[3].endswith(" (80% power).")
    assert len(won) == 4


def test_systems_are_compared_with_a_baseline_that_was_chosen_and_no_others() -> None:
    runs = {"base": MIXED, "better": GOOD, "worse": BAD, "same": dict(MIXED)}
    found = compare(JUDGED, runs, "RR", baseline="base", statistics=Statistics(resamples=1000))
    assert (found.scope, found.ranking, found.family_sizes) == ("baseline", None, (3, 0))
    best, family, *_ = headline(found)
    assert best == (
        "Best: better (RR 1.000). Better than base: better. Worse than base: worse. "
        "Not distinguishable from base: same."
    )
    assert family == "On RR, p is corrected over 3 comparisons with base."
    assert "letter" not in text_of_comparison(found)
    two = headline(made(base=MIXED, better=GOOD))
    assert two[0].startswith("better is better than base: RR +0.250 (95% CI +0.1")
    assert two[0].endswith(", p < 0.001).")
    assert two[1].startswith("P@1: better (+0.500, +0.3")
    assert len(two) == 2


def test_the_same_values_and_an_inconclusive_difference_are_different_answers() -> None:
    few = {query: (GOOD if place < 16 else BAD)[query] for place, query in enumerate(QUERIES)}
    found = headline(made(base=MIXED, same=dict(MIXED), few=few))
    assert found[0] == "Best: few (RR 0.767). Not distinguishable from it: base, same."
    assert headline(made(base=MIXED, few=few))[0].startswith("few vs. base is inconclusive: RR +0.017 (95% CI −")


def test_as_many_wins_as_losses_are_not_the_same() -> None:
    found = made(base=MIXED, turned={query: (BAD if place % 2 else GOOD)[query] for place, query in enumerate(QUERIES)})
    assert found["turned", "RR"].difference == 0
    assert found.answer().startswith("turned vs. base is inconclusive: RR +0.000 (95% CI −")
    assert headline(found)[1].startswith("P@1: inconclusive (+0.000, −")
    same = made(base=MIXED, same=dict(MIXED))
    assert same.answer() == "same and base have the same value for every query on every measure."


def test_a_detectable_ratio_is_shown_as_one_with_the_queries_it_is_of() -> None:
    half = {query: GOOD[query] for query in QUERIES[:22]}
    runs, how = {"base": MIXED, "whole": GOOD, "half": half}, Statistics(resamples=1000)
    found = compare(JUDGED, runs, "GMAP", statistics=how, conventions=Conventions(query_set="both"))
    assert (found["whole", "GMAP"].n, found["half", "GMAP"].n) == (30, 22)
    assert (found["half", "GMAP"].detectable or 0.0) > (found["whole", "GMAP"].detectable or 0.0) > 0
    ratio = math.exp(found["half", "GMAP"].detectable or 0.0)
    smaller = math.exp(found["whole", "GMAP"].detectable or 0.0)
    sentence = f"Minimum detectable difference with 22 to 30 queries: ×{smaller:.3f} to ×{ratio:.3f} (80% power)."
    assert headline(found)[-1] == sentence


@pytest.mark.parametrize(("alternative", "base", "new"), [("greater", MIXED, GOOD), ("less", GOOD, MIXED)])
def test_a_one_sided_interval_has_one_end(alternative: Alternative, base: Lists, new: Lists) -> None:
    runs, how = {"base": base, "new": new}, Statistics(alternative=alternative, resamples=1000)
    found = compare(JUDGED, runs, "RR", statistics=how)
    row = found["new", "RR"]
    end = row.interval.low if alternative == "greater" else row.interval.high
    bound = f"{'at least +' if alternative == 'greater' else 'at most −'}{abs(end or 0.0):.3f}"
    assert f"{'+' if alternative == 'greater' else '−'}0.250 (95% CI {bound}, p" in headline(found)[0]
    assert "inf" not in text_of_comparison(found)


def test_one_comparison_is_not_corrected() -> None:
    runs = {"a": MIXED, "b": GOOD}
    for statistics, p in (
        (Statistics("bootstrap", resamples=1000), "p < 0.001)."),
        (Statistics("randomization", resamples=1000), "p < 0.001)."),
    ):
        found = compare(JUDGED, runs, "RR", statistics=statistics)
        assert headline(found)[0].endswith(p)
        assert found["b", "RR"].p_corrected == pytest.approx(found["b", "RR"].p, abs=0.001)
        assert found.correction_label is None


@pytest.mark.parametrize("baseline", ["a", "b"])
def test_the_challenger_is_the_best_of_the_others(baseline: str) -> None:
    found = compare(JUDGED, {"a": MIXED, "b": GOOD, "c": BAD}, "RR", baseline=baseline)
    assert best_challenger(found) == ("b" if baseline == "a" else "a")
    assert best_challenger(replace(found, baseline="c")) == "b"


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_queries_are_too_few_if_no_p_can_be_small_enough(test: PairedTest) -> None:
    queries = [f"q{number}" for number in range(5)]
    judged = {query: {"good": 1} for query in queries}
    runs = {
        "a": {query: [f"x{n}" for n in range(place + 1)] + ["good"] for place, query in enumerate(queries)},
        "b": {query: ["good"] for query in queries},
    }
    how = Statistics(test)
    found = compare(judged, runs, "RR", statistics=how)
    row = found["b", "RR"]
    assert row.effect.wins == 5
    assert row.p is not None
    assert row.p >= 2 / 2**5  # five queries cannot give less
    assert test != "randomization" or row.p == 2 / 2**5
    assert row.too_few_queries
    assert row.detectable is None
    sentence = f"5 queries are too few for the {test} test to be significant at all"
    assert found.answer().count(sentence) == 1
    assert found.answer().startswith("b vs. a is undecided: RR ")  # as a gate calls it
    assert row.outcome(0.05) == "undecided"
    assert "one-way changes" not in found.answer()
    at_10 = compare(judged, runs, "RR", statistics=replace(how, confidence=0.9))["b", "RR"]
    assert not at_10.too_few_queries


def test_few_changed_queries_say_how_many_changes_would_be_significant() -> None:
    """Sign flips: k one-way changes have p = 2 · 2⁻ᵏ, so 6 are the first below 5%."""
    judged = {f"q{number}": {"good": 1} for number in range(40)}
    base = {query: ["bad", "good"] for query in judged}

    def answer(changed: int) -> str:
        new = {query: ["good"] if place < changed else ranking for place, (query, ranking) in enumerate(base.items())}
        return compare(judged, {"base": base, "new": new}, "RR").answer()

    assert "1 query changed; at least 6 one-way changes would be significant" in answer(1)
    assert "5 queries changed; at least 6 one-way changes would be significant" in answer(5)
    assert answer(9).startswith("new is better than base: RR +0.113 (95% CI +")


def test_many_measures_are_summarized_by_outcome_and_many_systems_are_counted() -> None:
    measures = ["RR", *(f"P@{cutoff}" for cutoff in range(1, 9))]
    how = Statistics("t")
    lines = headline(compare(JUDGED, {"base": MIXED, "new": GOOD}, measures, statistics=how, changes=0))
    assert len(lines) == 3
    assert lines[1].startswith("Better: P@1 (+0.500)")
    assert lines[2].startswith("Unchanged: P@2 (+0.000), P@3")
    runs = {f"system{number:02}": GOOD for number in range(12)}
    many = headline(compare(JUDGED, {"base": MIXED, **runs}, "RR", statistics=how, changes=0))
    assert many[0].startswith("Best: system00 (RR 1.000). Not distinguishable from it: system01, system02,")
    assert "system08 and 3 more. Worse: base (p " in many[0]
