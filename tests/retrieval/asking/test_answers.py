"""What a retriever returned, as ids and scores in the order of the ranking."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from rankgauge import InputError
from rankgauge.config.retriever_settings import ScoreMeaning
from rankgauge.retrieval.asking.answers import AnswerRules, answer_of
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
    assert "--scores ignore" in str(caught.value)
    assert AnswerRules(scores="ignore").rank(answer_of(result), "q").ids == ("a",)
