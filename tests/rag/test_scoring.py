"""Relevant ids and grades have the same meaning here as for lists."""

from __future__ import annotations

import pytest

from rankgauge.core.run import Run
from rankgauge.lists.list_join import join_lists
from rankgauge.rag.scoring import QueryJudgments, evaluate_cases
from tests.measures.variants import ALL

RELEVANT = ["a", "b", "d"]
RANKING = ["x", "b", "c", "a", "n", "e"]


@pytest.mark.parametrize("grades", [{}, {"a": 2.0, "c": 0.3, "e": 0.0, "n": -1.0}, {"a": 3.0, "b": 1.0, "e": 2.0}])
def test_every_measure_has_the_value_that_it_has_for_lists(grades: dict[str, float]) -> None:
    run = Run.from_lists({"1": RANKING}, name="lists")
    scores = evaluate_cases(run, {"1": QueryJudgments(RELEVANT, grades)}, ALL).scores[0]
    joined = join_lists([RELEVANT], [RANKING], [grades])
    for column, measure in enumerate(scores.measures):
        assert scores.values[0, column] == pytest.approx(float(joined(measure)[0]), nan_ok=True), measure
