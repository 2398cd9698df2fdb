"""Chroma's own objects, asked by rankgauge."""

from __future__ import annotations

from functools import partial
from typing import Any

import chromadb
import numpy as np
from chromadb.api.models.AsyncCollection import AsyncCollection
from chromadb.config import Settings

from rankgauge import RetrievalEvaluator, evaluate_retriever
from rankgauge.retrieval import CallableRetriever, QueryBatch, retrieve_run
from rankgauge.retrieval.asking.retriever_functions import retriever_function
from tests.libraries.asked import error_of, ranking_of


class Lengths(chromadb.EmbeddingFunction[Any]):
    """The vector of a text is its length."""

    def __init__(self) -> None:
        pass

    def __call__(self, input: Any) -> Any:
        return [np.array([len(text), 1.0], dtype=np.float32) for text in input]

    @staticmethod
    def name() -> str:
        return "lengths"

    @staticmethod
    def build_from_config(config: Any) -> Lengths:
        return Lengths()

    def get_config(self) -> dict[str, Any]:
        return {}


CLIENT = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
COLLECTION = CLIENT.create_collection("lengths", embedding_function=Lengths())
COLLECTION.add(
    ids=[f"d{n}" for n in range(20)],
    documents=["a" * (n + 1) for n in range(20)],
    metadatas=[{"source": f"s{n // 2}"} for n in range(20)],
)
CASES = [{"id": "q", "query": "a", "relevant_ids": ["d0"]}]
ranking = partial(ranking_of, cases=CASES, k=12)


def check_a_collection_embeds_the_query_and_is_asked_for_k() -> None:
    assert ranking(COLLECTION) == [f"d{number}" for number in range(12)]
    assert ranking(COLLECTION, id="metadata.source", unit="document") == [f"s{number}" for number in range(6)]
    assert ranking(COLLECTION, unit="document") == [f"s{number}" for number in range(6)]
    assert not evaluate_retriever(COLLECTION, CASES, k=12).answer_notes


def check_distances_become_scores_of_the_same_order() -> None:
    run = retrieve_run(CallableRetriever(COLLECTION), QueryBatch.from_dict({"q": "a"}), 3)
    assert run.docs.to_text() == ["d0", "d1", "d2"]
    distances = COLLECTION.query(query_texts=["a"], n_results=3)["distances"]
    assert distances is not None
    assert run.scores.tolist() == [-distance for distance in distances[0]]


def check_the_columns_of_an_answer_may_be_few() -> None:
    assert ranking(lambda query, k: COLLECTION.query(query_texts=query, n_results=k, include=[])) == ranking(COLLECTION)
    assert ranking(lambda query: COLLECTION.get(ids=["d3", "d1"])) == COLLECTION.get(ids=["d3", "d1"])["ids"]
    answer = COLLECTION.query(query_texts=["a"], n_results=3)
    assert RetrievalEvaluator().evaluate_single(answer, ["d0"], 3).mrr == 1.0


def check_an_answer_to_two_queries_is_an_error() -> None:
    message = error_of(lambda query: COLLECTION.query(query_texts=[query, query], n_results=3), CASES)
    assert "ids of the result has 2 rankings, expected that of one query" in message


def check_an_asynchronous_collection_is_awaited() -> None:
    collection = object.__new__(AsyncCollection)  # a real one needs a server
    assert retriever_function(collection).is_async
