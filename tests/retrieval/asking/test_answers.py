"""What a retriever returned, as ids and scores in the order of the ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, RetrievalEvaluator, evaluate_retriever
from rankgauge.core.run import ScoreMeaning
from rankgauge.retrieval import CallableRetriever, QueryBatch, RetrieverCalls, fetch_run
from rankgauge.retrieval.asking.answers import AnswerFacts, AnswerRules, RankedResults, answer_notes, answer_of
from rankgauge.retrieval.asking.failures import NoAnswer
from tests.rag.shapes import LangChainDocument, NodeWithScore, TextNode


class Hit(NamedTuple):
    id: str
    score: float


def generated() -> Iterator[str]:
    yield "a"


@pytest.mark.parametrize(
    ("result", "ids", "scores"),
    [
        (["a"], "a", None),
        (("a", "b"), "ab", None),
        (generated(), "a", None),
        ({"a": 1, "b": 2}.keys(), "ab", None),
        ({"documents": ["a"]}, "a", None),
        (SimpleNamespace(source_nodes=["a"]), "a", None),
        (SimpleNamespace(matches=[]), "", None),
        ({"results": [{"id": "b", "score": 0.5}, {"id": "a", "score": 0.25}]}, "ba", (0.5, 0.25)),
        ({}, "", None),
        ({"a": 1, "b": 2.5}, "ba", (2.5, 1.0)),
        ({"a": 1, "b": 1}, "ba", (1.0, 1.0)),  # ties of a mapping follow the order rule
        ({("a", 1.0), ("b", 2.0)}, "ba", (2.0, 1.0)),
        ([["a", 3.0], ["b", 2.0]], "ab", (3.0, 2.0)),
        ([Hit("a", 3.0), Hit("b", 2.0)], "ab", (3.0, 2.0)),
        ([(LangChainDocument("…", id="a"), 3.0)], "a", (3.0,)),
        ([NodeWithScore(TextNode("a"), 0.9), NodeWithScore(TextNode("b"), 0.1)], "ab", (0.9, 0.1)),
        ([NodeWithScore(TextNode("a")), NodeWithScore(TextNode("b"))], "ab", None),
        ([("a", float("nan")), ("b", 1.0)], "ab", None),
        (["b", "a", "b", "c", "a"], "bac", None),
    ],
)
def test_ids_and_scores_are_found_in_every_usual_shape(result: Any, ids: str, scores: Any) -> None:
    ranked = AnswerRules().rank(answer_of(result), "q")
    assert ("".join(ranked.ids), ranked.scores) == (ids, scores)


@pytest.mark.parametrize("result", [None, "a", b"a", 3, {"answer": "a"}, {"documents": "a"}, {"a": True}, object()])
def test_a_result_without_a_list_is_not_an_answer(result: Any) -> None:
    with pytest.raises(NoAnswer, match=r"returned \w+, expected a list of documents"):
        answer_of(result)


def test_a_repeated_id_counts_at_its_first_rank_with_its_first_score() -> None:
    ranked = AnswerRules().rank(answer_of([("b", 3), ("a", 2), ("b", 1)]), "q")
    assert (ranked.ids, ranked.scores, ranked.repeated) == (("b", "a"), (3.0, 2.0), 1)


def test_chunks_collapse_after_they_are_sorted() -> None:
    chunks = [({"id": f"c{n}", "document_id": f"d{n % 2}"}, distance) for n, distance in enumerate([0.4, 0.3, 0.1])]
    rules = AnswerRules(unit="document", scores="distance")
    ranked = rules.rank(answer_of(chunks), "q")
    assert (ranked.ids, ranked.scores) == (("d0", "d1"), (-0.1, -0.3))
    assert (rules.facts(ranked).collapsed, rules.facts(ranked).repeated) == (1, 0)


@pytest.mark.parametrize("scores", ["similarity", "distance"])
@pytest.mark.parametrize("result", [["a", "b"], [("a", 1.0), ("b", None)], {"a": float("nan"), "b": 1.0}])
def test_results_without_scores_cannot_be_sorted(result: Any, scores: ScoreMeaning) -> None:
    with pytest.raises(InputError, match=r"results of query 'q' cannot be ordered by score: (no|some)"):
        AnswerRules(scores=scores).rank(answer_of(result), "q")


@pytest.mark.parametrize("result", [[("a", "a text")], [{"id": "a", "score": "high"}]])
def test_a_score_that_is_not_a_number_is_an_error_with_a_way_out(result: Any) -> None:
    with pytest.raises(InputError, match="must be a number, found str") as caught:
        AnswerRules().rank(answer_of(result), "q")
    assert "--set reading.scores=ignore" in str(caught.value)
    assert AnswerRules(scores="ignore").rank(answer_of(result), "q").ids == ("a",)


# Where the documents are in what a retriever returned, in plain data.

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


# Results shorter than k, reported with what to set.

CASES = [{"id": name, "query": name, "relevant_ids": ["d1"]} for name in ("q1", "q2")]
QUERIES = QueryBatch.from_dict({"q1": "q1", "q2": "q2"})
SHORT = "the retriever returned at most 4 results of the 10 requested: it does not take k, so set its own number"


def four(query: str) -> list[str]:
    return [f"d{n}" for n in range(4)]


def test_a_retriever_that_does_not_take_k_and_returns_fewer_is_reported_in_every_path(tmp_path: Path) -> None:
    live = evaluate_retriever(four, CASES, k=10)
    (note,) = fetch_run(CallableRetriever(four), QUERIES, tmp_path / "run", k=10).notes
    assert note.code == "results-short"
    assert note.message.startswith(SHORT)
    assert "LangChain: search_kwargs={'k': 10}, LlamaIndex: similarity_top_k=10" in note.message
    assert note.message in live.remarks
    assert not evaluate_retriever(four, CASES, k=4).answer_notes


def test_a_retriever_that_took_k_has_no_more() -> None:
    def search(query: str, k: int) -> list[str]:
        return four(query)[:k]

    assert not evaluate_retriever(search, CASES, k=10).answer_notes


def test_one_query_with_enough_results_is_enough() -> None:
    def search(query: str) -> list[str]:
        return four(query) if query == "q1" else []

    assert not evaluate_retriever(search, CASES, k=4).answer_notes
    assert [note.code for note in evaluate_retriever(search, CASES, k=5).answer_notes] == ["results-short"]
    assert not evaluate_retriever(lambda query: [], CASES, k=5).answer_notes


def test_chunks_that_collapse_need_more_of_them(tmp_path: Path) -> None:
    def search(query: str, k: int) -> list[dict[str, str]]:
        return [{"id": f"c{n}", "document_id": f"d{n // 2}"} for n in range(k)]

    live = evaluate_retriever(search, CASES, k=10, unit="document")
    message = "at most 5 documents of the 10 requested: chunks collapsed into documents, so fetch more of them"
    assert f"the retriever returned {message}: RetrieverCalls(fetch=50), --set retriever.fetch=50" in live.remarks
    fetched = fetch_run(CallableRetriever(search, unit="document"), QUERIES, tmp_path / "run", k=10)
    assert set(fetched.notes) == set(live.answer_notes)
    enough = evaluate_retriever(search, CASES, k=10, unit="document", calls=RetrieverCalls(fetch=20))
    assert [note.code for note in enough.answer_notes] == ["chunks-collapsed"]


@pytest.mark.parametrize("sizes", [[3], [0], []])
def test_nothing_is_said_of_answers_that_are_long_enough_or_all_empty(sizes: list[int]) -> None:
    assert answer_notes([AnswerFacts(short_of=3)] * len(sizes), sizes) == ()
