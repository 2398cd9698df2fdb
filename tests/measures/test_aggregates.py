from __future__ import annotations

import numpy as np
import pytest

from rankgauge import InputError, Qrels, evaluate
from rankgauge.measures.aggregates import weighted_mean


def test_a_query_counts_by_its_weight() -> None:
    assert weighted_mean([1.0, 0.0], [3, 1]) == 0.75
    assert weighted_mean([0.2, 0.4, 0.9], [1, 1, 1]) == pytest.approx(0.5)


def test_a_query_without_a_value_does_not_count() -> None:
    assert weighted_mean([1.0, np.nan], [1, 5]) == 1.0


def test_no_weight_at_all_has_no_mean() -> None:
    assert weighted_mean([], []) is None
    assert weighted_mean([1.0], [0]) is None


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, np.nan], [1, np.inf], [1, "x"], [1, -(10**400)], [1, 10**400]])
def test_a_wrong_weight_is_an_error(weights: list[float]) -> None:
    with pytest.raises(InputError, match="weight"):
        weighted_mean([1.0, 0.0], weights)


def test_scores_have_weighted_means_where_their_queries_have_weights() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    qrels = Qrels.from_dict(judged, columns={"weight": {"q1": 3, "q2": 1}})
    scores = evaluate(qrels, {"q1": ["a"], "q2": ["x"]}, "RR NumRel GMAP")
    assert scores.weighted == {
        "RR": 0.75,
        "NumRel": None,
        "GMAP": None,
    }


def test_a_number_that_no_array_holds_is_a_label_or_a_wrong_weight() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": ["a"], "q2": ["x"]}
    qrels = Qrels.from_dict(judged, columns={"kind": {"q1": 10**400, "q2": 2**64}})
    assert [group.label for group in evaluate(qrels, run, "RR").by("kind")] == [str(10**400), str(2**64)]
    with pytest.raises(InputError, match="a weight must be a number of at least 0, found 1000"):
        assert evaluate(Qrels.from_dict(judged, columns={"weight": {"q1": 10**400, "q2": 1}}), run, "RR").weighted
