from __future__ import annotations

import pytest

from rankgauge.comparison.gate.requirements import parse_requirement, parse_requirements
from rankgauge.errors import MeasureError, UsageError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RR>0.6", "RR > 0.6"),
        ("nDCG@10>=0.35", "nDCG@10 >= 0.35"),
        ("P(rel=2)@5 > 0.2", "P(rel=2)@5 > 0.2"),
        ("ndcg_cut.10 >= .35", "nDCG@10 >= 0.35"),
        ("mrr ≥ 1e-1", "RR >= 0.1"),
        (" hit@5>=1 ", "Success@5 >= 1"),
        ("FirstRel<=3", "FirstRel <= 3"),
        ("RBPResidual(p=0.8) < 0.5", "RBPResidual(p=0.8) < 0.5"),
        ("NumRelRet>=120", "NumRelRet >= 120"),
    ],
)
def test_a_requirement_takes_any_notation_and_prints_the_canonical_one(text: str, said: str) -> None:
    assert str(parse_requirement(text)) == said


def test_greater_is_strictly_greater_and_rounding_is_not_a_difference() -> None:
    strict, at_least = parse_requirement("RR>0.7"), parse_requirement("RR>=0.7")
    noise = 0.7 - 1e-16 - 1e-16
    assert noise < 0.7
    assert not strict.is_met(0.7)
    assert not strict.is_met(0.7 + 1e-15)
    assert strict.is_met(0.700001)
    assert at_least.is_met(0.7)
    assert at_least.is_met(noise)
    assert not at_least.is_met(0.699999)
    assert parse_requirement("FirstRel<=3").is_met(3.0)
    assert not parse_requirement("FirstRel<3").is_met(3.0)


def test_no_value_meets_nothing() -> None:
    assert not parse_requirement("RR>=0").is_met(None)
    assert not parse_requirement("FirstRel<=3").is_met(None)


def test_a_misspelt_measure_gets_a_suggestion() -> None:
    with pytest.raises(MeasureError, match="did you mean nDCG@10"):
        parse_requirement("nDGC@10>=0.35")


@pytest.mark.parametrize("text", ["RR", "RR=0.6", "RR 0.6", ">0.6", "RR>", "0.6<RR<0.7", "RR=>0.6", ""])
def test_what_is_not_a_requirement_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_requirement(text)


@pytest.mark.parametrize("text", ["RR>high", "RR>nan", "RR>inf", "RR>60%"])
def test_a_bound_is_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="must be a number"):
        parse_requirement(text)


@pytest.mark.parametrize(
    ("text", "how"),
    [("RR>60", "never"), ("RR>1", "never"), ("RR>=-1", "always"), ("RR<0", "never"), ("RR<=2", "always")],
)
def test_a_bound_beyond_the_range_is_refused(text: str, how: str) -> None:
    with pytest.raises(UsageError, match=f"is {how} met: RR lies between 0 and 1"):
        parse_requirement(text)


def test_a_percentage_gets_a_hint() -> None:
    with pytest.raises(UsageError, match=r"0\.6 for 60%"):
        parse_requirement("RR>60")


def test_one_text_or_several_give_each_requirement_once() -> None:
    assert [str(one) for one in parse_requirements("RR>0.6")] == ["RR > 0.6"]
    assert len(parse_requirements(["RR>0.6", "mrr > .6", "RR>=0.6"])) == 2
    with pytest.raises(UsageError, match="must be a text, found int"):
        parse_requirements([3])  # type: ignore[list-item]  # refused at run time
