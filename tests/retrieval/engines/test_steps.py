"""Hybrid and reranker: what they do, and what the reranker records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, UsageError
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.retrieval.embedders.hashed import HashedWords
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import (
    CallableReranker,
    DocumentTexts,
    RerankedRetriever,
    SentenceReranker,
    make_reranker,
)
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.fusion import fuse
from rankgauge.retrieval.open_retriever import make_retriever
from rankgauge.retrieval.retriever import Decisions, QueryBatch, Retriever, retrieve_run
from tests.retrieval.corpora import KITCHEN, QUERIES


def documents_by_query(run: Run) -> dict[str, list[str]]:
    docs = run.docs.to_text()
    return {query: docs[run.offsets[at] : run.offsets[at + 1]] for at, query in enumerate(run.queries.to_text())}


EVERY = CallableRetriever(lambda text: ["soup", "cake", "bread", "tea"] if text else [], name="every")


def test_a_hybrid_is_the_fusion_of_its_parts() -> None:
    parts: list[Retriever] = [EVERY, Vector(KITCHEN, HashedWords())]
    runs = [retrieve_run(part, QUERIES, 100) for part in parts]
    made = Hybrid(parts, method="weighted", weights=[0.3, 0.7], normalization="z-score").retrieve(QUERIES, 3)
    assert documents_by_query(made) == documents_by_query(
        fuse(runs, "weighted", weights=[0.3, 0.7], normalization="z-score", k=3)
    )
    with pytest.raises(UsageError, match="at least two retrievers"):
        Hybrid([EVERY])


def test_by_default_retrievers_are_fused_as_runs_are() -> None:
    pytest.importorskip("bm25s")
    parts: list[Retriever] = [Lexical(KITCHEN), Vector(KITCHEN, HashedWords())]
    runs = [retrieve_run(part, QUERIES, 100) for part in parts]
    made = Hybrid(parts)
    assert documents_by_query(made.retrieve(QUERIES, 3)) == documents_by_query(fuse(runs, k=3))
    settings = make_retriever(RetrieverSettings(mode="hybrid", embedder="hashed"), KITCHEN).identity()
    assert settings == made.identity()


class Newest:
    """Returns documents by their time."""

    name = "newest"

    def identity(self) -> dict[str, Any]:
        return {"mode": "newest"}

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        return Run.from_dict({query: {"a": 1700000002, "b": 1700000001} for query in queries.ids.to_text()})


def test_a_hybrid_keeps_the_order_of_scores_that_float32_merges() -> None:
    made = Hybrid([Newest(), Newest()], method="combmax", normalization="none").retrieve(QUERIES, 2)
    assert set(map(tuple, documents_by_query(made.ranked()).values())) == {("a", "b")}


FUSIONS = [("rrf", "none"), ("weighted", "min-max"), ("weighted", "z-score"), ("weighted", "rank")]
RARE_WORDS = [f"rareword{number}" for number in range(15)]
ONE_HIT_CORPUS = InMemoryCorpus(
    {f"hit{n:02}": {"title": "", "text": f"{word} filler"} for n, word in enumerate(RARE_WORDS)}
    | {f"other{n:03}": {"title": "", "text": "common" + " filler" * n} for n in range(150)}
)


class BlindEmbedder(HashedWords):
    """Every query is about a common word: by vectors, the document with the rare word is not among the results."""

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        return super().embed(ids, ["common"] * len(texts) if side == "query" else texts, side)


@pytest.mark.parametrize("weights", [None, (0.8, 0.2), (0.5, 0.5)])
@pytest.mark.parametrize(("method", "normalization"), FUSIONS)
def test_the_only_lexical_result_stays_among_the_first_two_of_a_hybrid(
    method: str, normalization: str, weights: tuple[float, float] | None
) -> None:
    pytest.importorskip("bm25s")
    parts: list[Retriever] = [Lexical(ONE_HIT_CORPUS), Vector(ONE_HIT_CORPUS, BlindEmbedder())]
    queries = QueryBatch.from_dict({f"q{number:02}": word for number, word in enumerate(RARE_WORDS)})
    hybrid = Hybrid(parts, method=method, normalization=normalization, weights=weights)
    for number, docs in enumerate(documents_by_query(hybrid.retrieve(queries, 10)).values()):
        assert f"hit{number:02}" in docs[:2]  # it may tie with the first result by vectors
    words, vectors = (documents_by_query(retrieve_run(part, queries, 100)) for part in parts)
    assert list(words.values()) == [[f"hit{number:02}"] for number in range(15)]
    assert not any("hit" in doc for docs in vectors.values() for doc in docs)


def test_reranking_changes_the_first_and_leaves_the_rest_behind_them() -> None:
    decisions = Decisions()
    by = CallableReranker(lambda query, texts: [float(len(text)) for text in texts], "longest")
    made = RerankedRetriever(EVERY, by, DocumentTexts(KITCHEN), top=3, decisions=decisions).retrieve(QUERIES, 4)
    assert documents_by_query(made)["q1"] == ["bread", "soup", "cake", "tea"]
    assert documents_by_query(made)["q3"] == []
    assert decisions.pop(b"q1") == {
        "retrieved_ids": ["soup", "cake", "bread", "tea"],
        "reranked_ids": ["bread", "soup", "cake", "tea"],
    }


def test_the_built_in_reranker_goes_by_the_best_sentence() -> None:
    corpus = InMemoryCorpus(
        {"a": "Nothing here. Boil the soup! More of nothing.", "b": "Boil some other things and the soup.", "c": ""}
    )
    both = CallableRetriever(lambda text: ["b", "c", "a"], name="both")
    made = RerankedRetriever(both, SentenceReranker(HashedWords()), DocumentTexts(corpus)).retrieve(
        QueryBatch.from_dict({"q": "boil soup"}), 3
    )
    assert documents_by_query(made)["q"] == ["a", "b", "c"]
    assert made.scores[0] == 1.0


def test_a_reranker_that_returns_nonsense_is_named() -> None:
    for result, message in (([1.0], "4 finite numbers"), ([float("nan")] * 4, "finite"), ("x", "must return numbers")):
        by = CallableReranker(lambda query, texts, result=result: result, "mine")
        with pytest.raises(InputError, match=message):
            RerankedRetriever(EVERY, by, DocumentTexts(KITCHEN)).retrieve(QUERIES, 4)
    with pytest.raises(UsageError, match="unknown reranker 'sentence'"):
        make_reranker("sentence", HashedWords)


def test_a_document_that_the_corpus_does_not_have_is_named() -> None:
    unknown = CallableRetriever(lambda text: ["stranger"], name="s")
    with pytest.raises(InputError, match="'stranger' is not in the corpus"):
        RerankedRetriever(unknown, SentenceReranker(HashedWords()), DocumentTexts(KITCHEN)).retrieve(QUERIES, 4)


def test_texts_are_found_by_id_and_the_first_of_a_name_counts() -> None:
    texts = DocumentTexts(KITCHEN, InMemoryCorpus({"bread": "another bread", "new": "fresh"}))
    assert texts.of(Ids.from_text(["new", "bread"])) == [
        "fresh",
        "Bread Knead the dough, let it rise, bake the bread in a hot oven.",
    ]


def test_a_query_that_failed_in_one_retriever_has_failed_in_every_step_around_it() -> None:
    failing = CallableRetriever(lambda text: None if text == "soup" else ["soup", "cake"], name="failing")
    queries = QueryBatch.from_dict({"q1": "soup", "q2": "cake"})
    texts = DocumentTexts(KITCHEN)
    steps: list[Retriever] = [
        Hybrid([EVERY, failing]),
        RerankedRetriever(failing, CallableReranker(lambda query, texts: [1.0] * len(texts), "same"), texts),
    ]
    for step in steps:
        run = retrieve_run(step, queries, 5)
        assert run.status.tolist() == [Status.FAILED, Status.ANSWERED], step
        assert run.offsets[1] == 0
