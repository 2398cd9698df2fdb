from __future__ import annotations

import numpy as np
import pytest

from rankgauge import InputError, Qrels, Run, evaluate
from rankgauge.core.hits_builder import join
from rankgauge.core.run import Status
from rankgauge.errors import InputTypeError

JUDGED = {"q2": {"b": 1, "a": 2}, "q1": {"c": 0}, "q3": {}}


def test_queries_are_sorted_by_bytes_and_keep_queries_without_any() -> None:
    qrels = Qrels.from_dict(JUDGED)
    assert list(qrels.queries) == [b"q1", b"q2", b"q3"]
    assert list(qrels.docs) == [b"c", b"b", b"a"]
    assert qrels.grades.tolist() == [0, 1, 2]
    assert qrels.offsets.tolist() == [0, 1, 3, 3]
    assert qrels.max_grade == 2


def test_the_content_hash_does_not_depend_on_the_order_of_rows() -> None:
    one = Qrels.from_columns(["q", "q", "p"], ["a", "b", "c"], [1, 0, 2])
    other = Qrels.from_columns(["p", "q", "q"], ["c", "b", "a"], [2, 0, 1], name="other")
    assert one.sha256 == other.sha256
    assert one.sha256 != Qrels.from_columns(["p", "q", "q"], ["c", "b", "a"], [2, 0, 2]).sha256
    runs = [Run.from_dict({"q": {"a": score}}) for score in (1.0, 1.0, 2.0)]
    assert runs[0].sha256 == runs[1].sha256 != runs[2].sha256


def test_lists_of_relevant_ids_are_grade_1_and_repeats_count_once() -> None:
    qrels = Qrels.from_lists({"q": ["a", "a", "b"], "p": "x"})
    assert list(qrels.docs) == [b"x", b"a", b"b"]
    assert qrels.grades.tolist() == [1, 1, 1]


def test_subtopics_are_part_of_the_key_and_collapse_to_the_largest_grade() -> None:
    qrels = Qrels.from_columns(["q", "q", "q"], ["a", "a", "b"], [1, 3, 2], iters=["1", "2", "1"], by_subtopic=True)
    assert len(qrels) == 3
    assert qrels.judgments == "subtopics"
    assert (list(qrels.docs), qrels.grades.tolist()) == ([b"a", b"b"], [3, 2])
    assert evaluate(qrels, {"q": ["a", "b"]}, "NumRel nDCG")["NumRel"] == 2
    with pytest.raises(InputError, match="judged twice"):
        Qrels.from_columns(["q", "q"], ["a", "a"], [1, 3], iters=["1", "1"], by_subtopic=True)
    with pytest.raises(InputError, match="need a subtopic"):
        Qrels.from_columns(["q"], ["a"], [1], by_subtopic=True)


def test_query_columns_follow_their_queries() -> None:
    qrels = Qrels.from_dict(
        JUDGED, columns={"category": {"q2": "x"}, "k": [1, 2, 3], "unit": {"q1": 7, "q2": 7, "q3": 8}}
    )
    assert qrels.columns["category"].tolist() == [None, "x", None]
    assert qrels.columns["k"].dtype == np.int64
    assert qrels.select(np.array([1])).columns["unit"].tolist() == [7]
    with pytest.raises(ValueError, match="2 values for 3 queries"):
        qrels.with_columns({"bad": [1, 2]})


def test_nothing_can_be_written_to() -> None:
    qrels, run = Qrels.from_dict(JUDGED), Run.from_dict({"q1": {"c": 1.0}})
    for array in (qrels.grades, qrels.offsets, run.scores, run.offsets, run.status):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_callers_array_is_neither_frozen_nor_shared() -> None:
    scores = np.array([1.0, 2.0])
    run = Run.from_columns(["q", "q"], ["a", "b"], scores)
    scores[0] = 9.0
    assert run.scores.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        ({"q": {"a": "yes"}}, "'a' for query 'q' must be a number"),
        ({"q": {"a": None}}, "found NoneType"),
        ({"q": {"a": float("nan")}}, "is nan"),
        ({"q": {"a": 2e9}}, "from -127 to 127"),
        ({"q": 3}, "must map documents to grades"),
        ({1: {"a": 1}}, "query id must be a string, found int"),
        ({"q": {7: 1}}, "document id must be a string, found int"),
    ],
)
def test_judgments_that_are_wrong_are_named(judged: dict[str, dict[str, float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Qrels.from_dict(judged)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"q": {"a": None}}, "'a' for query 'q' must be a number"),
        ({"q": {"a": "1"}}, "found str"),
        ({"q": {"a": float("nan")}}, "is NaN"),
        ({1: {"a": 1.0}}, "query id must be a string, found int"),
        ({"q": {7: 1.0}}, "document id of query 'q' must be a string"),
    ],
)
def test_results_that_are_wrong_are_named(results: dict[str, dict[str, float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Run.from_dict(results)


def test_wrong_types_are_type_errors_too() -> None:
    with pytest.raises(TypeError):
        Run.from_dict({"q": {"a": None}})  # type: ignore[dict-item]  # refused at run time
    with pytest.raises(InputTypeError, match="map documents to scores"):
        Run.from_dict({"q": 3})  # type: ignore[dict-item]  # refused at run time
    with pytest.raises(InputTypeError, match="ids or"):
        Run.from_lists({"q": [3]})
    with pytest.raises(InputTypeError, match="a path, a dict or Run"):
        evaluate({"q": {"a": 1}}, 3)
    with pytest.raises(InputTypeError, match="a path, a dict or Qrels"):
        evaluate(3, {"q": ["a"]})


def test_numpy_and_bool_numbers_are_numbers() -> None:
    assert Qrels.from_dict({"q": {"a": True, "b": np.float32(2)}}).grades.tolist() == [1, 2]
    assert Run.from_dict({"q": {"a": np.int64(3)}}).scores.tolist() == [3]


def test_a_document_twice_is_an_error_or_kept_once() -> None:
    rows = {"q": [("a", 3.0), ("b", 2.0), ("a", 1.0)]}
    with pytest.raises(InputError, match="'a' appears twice in the results of query 'q'"):
        Run.from_lists(rows)
    assert list(Run.from_lists(rows, on_duplicate="first").docs) == [b"a", b"b"]
    with pytest.raises(InputError, match="appears twice"):
        Run.from_columns(["q", "q"], ["a", "a"], [1.0, 2.0])


def test_columns_of_different_length_are_an_error() -> None:
    with pytest.raises(InputError, match="2 queries, 1 documents"):
        Run.from_columns(["q", "q"], ["a"], [1.0])
    with pytest.raises(InputError, match="1 queries, 1 documents, 2 grades"):
        Qrels.from_columns(["q"], ["a"], [1, 2])


def test_empty_and_failed_queries_keep_their_status() -> None:
    run = Run.from_dict({"q1": {"a": 1.0}, "q2": {}}, failed=["q3"])
    hits = join(Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}), run)
    assert hits.status.tolist() == [Status.ANSWERED, Status.EMPTY, Status.FAILED, Status.MISSING]


def test_interleaved_rows_are_grouped_by_query() -> None:
    run = Run.from_columns(["a", "b", "a"], ["x", "y", "z"], [1.0, 2.0, 3.0])
    assert list(run.queries) == [b"a", b"b"]
    assert list(run.docs) == [b"x", b"z", b"y"]


def test_top_keeps_the_best_in_rank_order() -> None:
    run = Run.from_dict({"q": {"a": 1.0, "b": 3.0, "c": 3.0, "d": 2.0}, "p": {"z": 1.0}}).top(2)
    assert list(run.docs) == [b"c", b"b", b"z"]
    assert run.offsets.tolist() == [0, 2, 3]
