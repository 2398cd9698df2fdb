"""Hybrid, reranker, gate and router: what they do, and what they write down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, InputTypeError, UsageError
from rankgauge.retrieval.base import Questions, Retriever, answer
from rankgauge.retrieval.corpus.documents import Held
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.embedders.bow import BagOfWords
from rankgauge.retrieval.engines.callables import Called
from rankgauge.retrieval.engines.gate import Gated, rule
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.rerank import CalledReranker, MaxSentence, Reranked, reranker
from rankgauge.retrieval.engines.router import Centroids, Routed
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.texts import Texts
from tests.retrieval.corpora import ASKED, KITCHEN


def listed(run: Run) -> dict[str, list[str]]:
    docs = run.docs.to_text()
    return {query: docs[run.offsets[at] : run.offsets[at + 1]] for at, query in enumerate(run.queries.to_text())}


EVERY = Called(lambda text: ["soup", "cake", "bread", "tea"] if text else [], name="every")


def test_a_hybrid_is_the_fusion_of_its_parts() -> None:
    parts: list[Retriever] = [EVERY, Vector(KITCHEN, BagOfWords())]
    runs = [answer(part, ASKED, 100) for part in parts]
    made = Hybrid(parts, method="weighted", weights=[0.3, 0.7], normalise="z-score").retrieve(ASKED, 3)
    assert listed(made) == listed(fuse(runs, "weighted", weights=[0.3, 0.7], normalise="z-score", k=3))
    with pytest.raises(UsageError, match="two retrievers or more"):
        Hybrid([EVERY])


def test_reranking_changes_the_first_and_leaves_the_rest_behind_them() -> None:
    decisions = Decisions()
    by = CalledReranker(lambda query, texts: [float(len(text)) for text in texts], "longest")
    made = Reranked(EVERY, by, Texts(KITCHEN), top=3, decisions=decisions).retrieve(ASKED, 4)
    assert listed(made)["q1"] == ["bread", "soup", "cake", "tea"]
    assert listed(made)["q3"] == []
    assert decisions.take(b"q1") == {
        "retrieved_ids": ["soup", "cake", "bread", "tea"],
        "reranked_ids": ["bread", "soup", "cake", "tea"],
    }


def test_the_built_in_reranker_goes_by_the_best_sentence() -> None:
    corpus = Held(
        {"a": "Nothing here. Boil the soup! More of nothing.", "b": "Boil some other things and the soup.", "c": ""}
    )
    both = Called(lambda text: ["b", "c", "a"], name="both")
    made = Reranked(both, MaxSentence(BagOfWords()), Texts(corpus)).retrieve(Questions.of({"q": "boil soup"}), 3)
    assert listed(made)["q"] == ["a", "b", "c"]
    assert made.scores[0] == 1.0


def test_a_reranker_that_returns_nonsense_is_named() -> None:
    for result, message in (([1.0], "4 finite numbers"), ([float("nan")] * 4, "finite"), ("x", "must return numbers")):
        by = CalledReranker(lambda query, texts, result=result: result, "mine")
        with pytest.raises(InputError, match=message):
            Reranked(EVERY, by, Texts(KITCHEN)).retrieve(ASKED, 4)
    with pytest.raises(UsageError, match="no reranker 'sentence'"):
        reranker("sentence", BagOfWords)


def test_a_document_that_the_corpus_does_not_have_is_named() -> None:
    stranger = Called(lambda text: ["stranger"], name="s")
    with pytest.raises(InputError, match="'stranger' is not in the corpus"):
        Reranked(stranger, MaxSentence(BagOfWords()), Texts(KITCHEN)).retrieve(ASKED, 4)


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("words>=3", [False, True, False, False, True]),
        ("words<2", [False, False, True, True, False]),
        ("words = 2", [True, False, False, False, False]),
        ("matches:SOUP", [False, True, False, False, False]),
        ("not:^(baking|zepp)", [False, True, True, False, True]),
    ],
)
def test_a_rule_says_which_queries_pass(text: str, passed: list[bool]) -> None:
    assert [rule(text)(query) for query in ASKED.texts] == passed


def test_a_gate_answers_what_passes_and_writes_down_what_it_skipped() -> None:
    decisions = Decisions()
    made = Gated(EVERY, "words>=3", decisions=decisions).retrieve(ASKED, 2)
    assert listed(made) == {"q1": [], "q2": ["soup", "cake"], "q3": [], "q4": [], "q5": ["soup", "cake"]}
    assert made.status.tolist()[:2] == [Status.EMPTY, Status.ANSWERED]
    assert decisions.take(b"q1") == {"skipped": True}
    assert decisions.take(b"q2") == {"skipped": False}


def test_a_shadow_run_says_what_the_skipped_query_would_have_had() -> None:
    decisions = Decisions()
    made = Gated(EVERY, lambda text: text != "baking bread", decisions=decisions, shadow=True).retrieve(ASKED, 2)
    assert listed(made)["q1"] == []
    assert decisions.take(b"q1") == {"skipped": True, "retrieved_ids": ["soup", "cake"]}


def test_a_shadow_run_leaves_what_the_reranker_noted() -> None:
    decisions = Decisions()
    by = CalledReranker(lambda query, texts: [float(len(text)) for text in texts], "longest")
    reranked = Reranked(EVERY, by, Texts(KITCHEN), top=3, decisions=decisions)
    Gated(reranked, "words>=1", decisions=decisions, shadow=True).retrieve(ASKED, 4)
    noted = decisions.take(b"q1")
    assert noted["retrieved_ids"] == ["soup", "cake", "bread", "tea"]
    assert noted["reranked_ids"] == ["bread", "soup", "cake", "tea"]
    assert noted["skipped"] is False


def test_a_gate_must_say_true_or_false() -> None:
    with pytest.raises(InputTypeError, match="must return True or False"):
        Gated(EVERY, lambda text: 1).retrieve(ASKED, 2)  # type: ignore[arg-type,return-value]  # what is tested
    for text in ("words", "matches:(", "nothing"):
        with pytest.raises(UsageError, match="gate"):
            rule(text)


BAKERY = Held({"bread": "bake bread dough oven", "cake": "bake cake sugar oven"})
KITCHENETTE = Held({"soup": "boil soup onions", "tea": "boil water tea leaves"})


def test_a_query_goes_to_the_expert_whose_centre_is_nearest() -> None:
    decisions = Decisions()
    experts = {"baker": BAKERY, "cook": KITCHENETTE}
    parts: dict[str, Any] = {name: Vector(corpus, BagOfWords()) for name, corpus in experts.items()}
    routed = Routed(parts, Centroids(experts, BagOfWords()), decisions=decisions)
    asked = Questions.of({"q1": "boil tea", "q2": "bake bread", "q3": "onions soup"})
    made = routed.retrieve(asked, 1)
    assert listed(made) == {"q1": ["tea"], "q2": ["bread"], "q3": ["soup"]}
    noted = decisions.take(b"q1")
    assert noted["expert"] == "cook"
    assert set(noted["expert_scores"]) == {"baker", "cook"}
    assert np.isfinite(list(noted["expert_scores"].values())).all()


def test_a_router_can_be_any_function_and_must_name_an_expert() -> None:
    parts: dict[str, Any] = {"a": Called(lambda t: ["x"], name="a"), "b": Called(lambda t: ["y"], name="b")}
    made = Routed(parts, lambda text: "b" if "soup" in text else "a").retrieve(ASKED, 1)
    assert listed(made) == {"q1": ["x"], "q2": ["y"], "q3": ["x"], "q4": ["x"], "q5": ["x"]}
    with pytest.raises(InputTypeError, match="chose 'c' for query 'q1'; the experts are a, b"):
        Routed(parts, lambda text: "c").retrieve(ASKED, 1)
    with pytest.raises(UsageError, match="two experts or more"):
        Routed({"a": parts["a"]}, lambda text: "a")


def test_texts_are_found_by_id_and_the_first_of_a_name_counts() -> None:
    texts = Texts(KITCHEN, Held({"bread": "another bread", "new": "fresh"}))
    assert texts.of(Ids.from_text(["new", "bread"])) == [
        "fresh",
        "Bread Knead the dough, let it rise, bake the bread in a hot oven.",
    ]
