"""Names of other tools: each has its own answer, and never a suggestion of a different measure."""

from __future__ import annotations

import pytest

from rankgauge import MeasureError, parse_measure
from rankgauge.measures import registry
from rankgauge.measures.foreign_names import EQUIVALENTS, NOT_IMPLEMENTED, equivalent
from rankgauge.measures.trec_names import FAMILY_BY_NAME
from tests.needs import working_library


def refusal(name: str) -> str:
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    return str(error.value)


def answer(name: str) -> str:
    """The canonical name, or the error."""
    try:
        return str(parse_measure(name))
    except MeasureError as error:
        return str(error)


@pytest.mark.parametrize("name", NOT_IMPLEMENTED)
@pytest.mark.parametrize("suffix", ["", "@20"])
def test_a_measure_that_only_other_tools_have_is_not_implemented(name: str, suffix: str) -> None:
    message = refusal(name + suffix)
    assert message.startswith(f"unsupported measure '{name}': not implemented; {NOT_IMPLEMENTED[name]}\n")
    assert "did you mean" not in message


@pytest.mark.parametrize("name", EQUIVALENTS)
@pytest.mark.parametrize("at", [None, "7"])
def test_a_measure_with_another_name_elsewhere_has_an_equivalent_here(name: str, at: str | None) -> None:
    answer = equivalent(name, at)
    assert answer is not None
    assert str(parse_measure(answer)) == answer
    assert refusal(name if at is None else f"{name}@{at}") == f"unknown measure '{name}'\nhint: here, it is {answer}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDCG_IA@20", "unsupported measure 'nDCG_IA': not implemented; of the measures over subtopics"),
        ("nDCG-IA@20", "unsupported measure 'nDCG-IA': not implemented; of the measures over subtopics"),
        ("Alpha-nDCG@20", "here, it is alpha_nDCG@20"),
        ("BPM(T=1)@20", "unsupported measure 'BPM': not implemented"),
        ("ILD", "unsupported measure 'ILD': not implemented; it needs features"),
        ("ContextualRecallMetric", "R@10 is the nearest for ids"),
        ("hr@5", "here, it is Success@5"),
        ("HitRatio@5", "here, it is Success@5"),
    ],
)
def test_the_spelling_does_not_matter(name: str, message: str) -> None:
    assert message in refusal(name)


@pytest.mark.parametrize("name", ["ILDX", "rundi", "relstrin"])
def test_a_text_is_never_suggested_as_a_measure(name: str) -> None:
    hint = refusal(name)
    assert not any(family.name in hint for family in FAMILY_BY_NAME.values() if family.kind == "text")


def test_no_name_of_this_package_is_called_foreign() -> None:
    names = {name.casefold() for name in (*registry.MEASURE_NAMES, *FAMILY_BY_NAME)}
    assert not names & {name.casefold() for name in (*NOT_IMPLEMENTED, *EQUIVALENTS)}


def test_every_measure_of_ir_measures_is_here_or_has_an_answer() -> None:
    ir_measures = working_library("ir_measures", lambda library: library.measures.registry)
    for name in map(str, ir_measures.measures.registry):
        assert "unknown measure" not in answer(name), name
