from __future__ import annotations

import inspect

import rankgauge

NAMES = """
Conventions Hits InputError InputTypeError Measure MeasureError MissingExtraError Qrels RankgaugeError
RankgaugeWarning Run Scores UsageError evaluate evaluate_all join measure parse_measure parse_measures read_qrels
read_run
"""


def test_the_public_names_are_exactly_the_intended_ones() -> None:
    assert rankgauge.__all__ == sorted(NAMES.split())
    assert set(dir(rankgauge)) == {*rankgauge.__all__, "__version__"}


def test_every_public_name_can_be_used_and_is_documented() -> None:
    for name in rankgauge.__all__:
        assert inspect.getdoc(getattr(rankgauge, name)), name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(rankgauge, "nonsense")


def test_a_function_is_not_hidden_by_a_module_of_its_name() -> None:
    import rankgauge.evaluation

    assert callable(rankgauge.evaluate)
