from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Statistics, compare, evaluate
from rankgauge.render.formats.terminal import Layout
from rankgauge.render.formats.text_chart import (
    BAR,
    BETWEEN,
    HIGH,
    LEVELS,
    LOW,
    MEAN,
    TIE,
    WHISKER,
    of_comparison,
    of_scores,
)

RNG = np.random.default_rng(11)
QUERIES = [f"q{n}" for n in range(90)]
JUDGED = {query: {f"d{n}": int(RNG.integers(0, 3)) for n in range(8)} for query in QUERIES}


def ranked(noise: float) -> dict[str, dict[str, float]]:
    return {
        query: {doc: grade + float(RNG.normal(0, noise)) for doc, grade in docs.items()}
        for query, docs in JUDGED.items()
    }


COMPARISON = compare(JUDGED, {"noisy": ranked(3), "good": ranked(0.5), "same": ranked(3)}, "nDCG@5 RR")


@given(st.lists(st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]), min_size=2, max_size=30), st.integers(50, 120))
def test_a_bar_is_as_long_as_its_value_and_its_interval_lies_around_the_mean(values: list[float], width: int) -> None:
    ranks = {0.0: 99, 0.2: 5, 1 / 3: 3, 0.5: 2, 1.0: 1}
    rankings = {f"q{n}": [f"x{k}" for k in range(1, ranks[value])] + ["a"] for n, value in enumerate(values)}
    scores = evaluate({query: {"a": 1} for query in rankings}, rankings, "RR@10")
    mean, interval = scores["RR@10"], scores.interval("RR@10")
    assert mean is not None
    line = of_scores([scores], 0.95, Layout(width)).splitlines()[-1]
    assert len(line) <= width
    drawn = line[len("run  ") :].split("  ")[0].rstrip()
    at = drawn.index(MEAN)
    assert set(drawn) <= {BAR, LOW, WHISKER, MEAN, HIGH}
    assert re.fullmatch(f"{BAR}*{LOW}?{WHISKER}*{MEAN}{WHISKER}*{HIGH}?", drawn)
    if interval.high is not None and interval.low is not None and interval.low >= 0 and mean:
        room = len(drawn) - 1  # the largest value is at the end
        assert at == pytest.approx(mean / max(mean, interval.high) * room, abs=0.51)
        assert drawn.count(BAR) == pytest.approx(interval.low / max(mean, interval.high) * room, abs=1.01)


def test_a_longer_bar_is_a_larger_value() -> None:
    _, first, _ = of_scores(COMPARISON.scores, 0.95, Layout(100)).split("\n\n")
    drawn = {line.split()[0]: line.index(MEAN) for line in first.splitlines()[1:]}
    assert drawn["good"] > drawn["noisy"]


def strips(text: str) -> list[tuple[str, int, str, int, int]]:
    shape = rf"(\w+) +(\d+) up ([{LEVELS}{TIE}{BETWEEN}]*) (\d+) down, (\d+) tied"
    return [(name, int(up), strip, int(down), int(tied)) for name, up, strip, down, tied in re.findall(shape, text)]


def test_a_strip_has_a_character_for_every_query_gains_first() -> None:
    comparison = compare(JUDGED, {"noisy": ranked(3), "good": ranked(0.5)}, "nDCG@5", changes=0)
    _, up, strip, down, tied = strips(of_comparison(comparison, Layout(400)))[0]
    effect = comparison["good", "nDCG@5"].effect
    assert (up, tied, down) == (effect.wins, effect.ties, effect.losses)
    gains, ties, losses = strip.split(BETWEEN)
    each = 2  # ninety queries in at most sixty characters
    assert [len(part) for part in (gains, ties, losses)] == [-(-count // each) for count in (up, tied, down)]
    assert gains == "".join(sorted(gains, reverse=True))
    assert losses == "".join(sorted(losses))
    assert set(ties) <= {TIE}


@pytest.mark.parametrize("rank", [3, 14, 30])  # 1 − 1/14 five times, over five, is more than itself in floats
def test_if_all_queries_gain_alike_all_characters_are_as_tall(rank: int) -> None:
    judged = {f"p{n}": {"a": 1} for n in range(300)}
    late = {query: [*(f"x{n}" for n in range(1, rank)), "a"] for query in judged}
    first = {query: ["a"] for query in judged}
    for old, new, strip in ((late, first, "300 up {}││ 0 down"), (first, late, "0 up ││{} 300 down")):
        comparison = compare(judged, {"old": old, "new": new}, "RR", statistics=Statistics(test="t"), changes=0)
        assert strip.format(LEVELS[-1] * 60) in of_comparison(comparison, Layout(400))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_charts_fit_and_are_ascii_if_nothing_else_can_be_shown(width: int) -> None:
    text = of_comparison(COMPARISON, Layout(width))
    assert max(map(len, text.splitlines())) <= width
    assert len(strips(text)) == 4
    plain = of_comparison(COMPARISON, Layout(width, ascii=True))
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in text.splitlines()]


def test_a_value_without_an_interval_has_a_bar_and_no_value_has_none() -> None:
    judged = {"q1": {"a": 1}}
    text = of_scores(
        [
            evaluate(judged, {"q1": ["a", "b"]}, "NumRet RR"),
        ],
        0.95,
        Layout(70),
    )
    assert re.search(rf"NumRet, from 0 to 2\nrun  {BAR}+{MEAN} +2 +–", text)
    assert re.search(rf"RR, from 0 to 1\nrun  {BAR}+{MEAN} +1.0000 +–", text)
    nothing = of_scores([evaluate({"q1": {"a": 1}}, {"q1": ["b"]}, "FirstRel")], 0.95, Layout(70))
    assert nothing.splitlines()[-1].split() == ["run", "–", "–"]
