"""Where the documents are in what a retriever returned, in plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, RetrievalEvaluator
from rankgauge.retrieval.asking.answers import AnswerRules, RankedResults, answer_of
from rankgauge.retrieval.asking.failures import NoAnswer

ROWS = st.lists(
    st.tuples(st.text("abc", min_size=1, max_size=2), st.floats(-4, 4, width=16).map(lambda x: x + 0.0)),
    max_size=6,
    unique_by=lambda row: row[0],
)


class Points:
    """As an object of pydantic: iterating over it gives its fields."""

    def __init__(self, points: list[Any]) -> None:
        self.points = points

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield "points", self.points


class Response(NamedTuple):
    answer: str
    hits: list[Any]


def ranked(result: Any, rules: AnswerRules | None = None) -> RankedResults:
    return (rules or AnswerRules()).rank(answer_of(result), "q")


def dicts(rows: list[tuple[str, float]], field: str = "score") -> list[dict[str, Any]]:
    return [{"id": name, field: value} for name, value in rows]


SHAPES: dict[str, Callable[[list[tuple[str, float]]], Any]] = {
    "dicts": dicts,
    "pairs of documents": lambda rows: [({"id": name}, value) for name, value in rows],
    "a chain": lambda rows: {"input": "q", "context": dicts(rows), "answer": "…"},
    "the outputs of a pipeline": lambda rows: {"llm": {"replies": ["…"]}, "retriever": {"documents": dicts(rows)}},
    "an iterable object": lambda rows: Points([SimpleNamespace(**row) for row in dicts(rows)]),
    "a named tuple": lambda rows: Response("…", dicts(rows)),
    "columns": lambda rows: {"ids": [name for name, _ in rows], "scores": [value for _, value in rows]},
    "columns of one query": lambda rows: {
        "ids": [[name for name, _ in rows]],
        "documents": [["a text"] * len(rows)],
        "metadatas": None,
        "scores": ([value for _, value in rows],),
    },
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@given(rows=ROWS)
def test_the_same_ranking_is_read_from_every_shape(
    shape: Callable[[list[tuple[str, float]]], Any], rows: list[tuple[str, float]]
) -> None:
    expected = ranked(rows)
    assert expected.ids == tuple(name for name, _ in rows)
    assert ranked(shape(rows)) == expected


@given(rows=ROWS)
def test_distances_are_scores_with_the_sign_reversed(rows: list[tuple[str, float]]) -> None:
    nearest = sorted(rows, key=lambda row: row[1])
    columns = {"ids": [[name for name, _ in nearest]], "distances": [[value for _, value in nearest]]}
    for result in (columns, dicts(nearest, "distance"), [SimpleNamespace(**row) for row in dicts(nearest, "distance")]):
        found = ranked(result)
        assert found.fault is None
        assert found == ranked(nearest, AnswerRules(scores="distance"))
        assert found == ranked(result, AnswerRules(scores="distance"))
    assert ranked(dicts(rows, "distance"), AnswerRules(scores="distance")) == ranked(
        rows, AnswerRules(scores="distance")
    )


def test_a_score_counts_before_a_distance_and_an_option_before_both() -> None:
    both = [{"id": "a", "score": 0.9, "distance": 0.1}, {"id": "b", "score": 0.5, "distance": 0.5}]
    assert ranked(both).scores == (0.9, 0.5)
    some = [{"id": "a", "score": 0.9, "distance": 0.1}, {"id": "b", "distance": 0.5}]
    assert (ranked(some).scores, ranked(some).fault) == (None, "incomplete")
    near = dicts([("a", 0.1), ("b", 0.5)], "distance")
    assert ranked(near, AnswerRules(scores="similarity")).ids == ("b", "a")
    assert ranked(near, AnswerRules(scores="ignore")).scores is None
    assert ranked(dicts([("a", 0.5), ("b", 0.1)], "distance")).fault == "ascending"


def test_metadata_of_columns_identify_documents() -> None:
    columns = {"ids": [["a1", "a2", "b1"]], "metadatas": [[{"source": "a"}, {"source": "a"}, {"source": "b"}]]}
    assert ranked(columns).ids == ("a1", "a2", "b1")
    assert ranked(columns, AnswerRules(id="metadata.source")).ids == ("a", "b")
    assert ranked(columns, AnswerRules(unit="document")).ids == ("a", "b")


@pytest.mark.parametrize("place", ["metadata", "meta", "payload"])
def test_the_document_of_a_chunk_is_found_in_metadata_of_any_name(place: str) -> None:
    chunks = [{"id": "a1", place: {"source_id": "a"}}, {"id": "b1", place: {"source_id": "b"}}]
    assert ranked(chunks, AnswerRules(unit="document")).ids == ("a", "b")
    with pytest.raises(InputError, match=f"for example id='{place}.source_id'"):
        ranked([{"id": None, place: {"source_id": "a"}}])


def test_columns_of_no_results_are_an_empty_answer() -> None:
    results: list[dict[str, Any]] = [{"ids": []}, {"ids": [[]], "distances": [[]]}, {"ids": [], "documents": []}]
    assert [answer_of(result).documents for result in results] == [[], [], []]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"ids": [["a"], ["b"]]}, "ids of the result has 2 rankings, expected that of one query"),
        ({"ids": ["a", "b"], "distances": [0.1]}, "different lengths: 2 ids, 1 distances"),
        ({"context": ["a text", "another"]}, "context of the result holds texts, expected documents with ids"),
        ({"x": {"documents": []}, "y": {"documents": ["a"]}}, "x, y of the result hold documents, expected one list"),
    ],
)
def test_an_answer_that_cannot_be_read_ends_the_evaluation(result: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        answer_of(result)


@pytest.mark.parametrize("result", [{"context": "a text"}, {"retriever": {"replies": ["a"]}}, SimpleNamespace(hits=3)])
def test_a_result_without_documents_is_not_an_answer(result: Any) -> None:
    with pytest.raises(NoAnswer, match="expected a list of documents"):
        answer_of(result)


def test_the_evaluator_reads_an_answer_that_has_an_order() -> None:
    columns = {"ids": [["b", "a"]], "distances": [[0.1, 0.2]]}
    assert RetrievalEvaluator().evaluate_single(columns, ["a"], 2).mrr == 0.5
    with pytest.raises(InputError, match="must be a list of documents, found dict"):
        RetrievalEvaluator().evaluate_single({"a": 1.0, "b": 2.0}, ["a"], 2)
