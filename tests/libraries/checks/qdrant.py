"""Qdrant's own objects, in its client's local mode, asked by rankgauge."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from qdrant_client import AsyncQdrantClient, QdrantClient, models

from rankgauge import evaluate_retriever
from rankgauge.rag import evaluate_retriever_async
from tests.libraries.asked import error_of, ranking_of

POINTS = [
    models.PointStruct(id=n, vector=[float(n), 1.0], payload={"name": f"d{n}", "document_id": f"doc{n // 2}"})
    for n in range(20)
]
CLIENT = QdrantClient(":memory:")
for distance in (models.Distance.EUCLID, models.Distance.DOT):
    CLIENT.create_collection(distance.value, vectors_config=models.VectorParams(size=2, distance=distance))
    CLIENT.upsert(distance.value, POINTS)
CASES = [{"id": "q", "query": "0", "relevant_ids": ["0"]}]
ranking = partial(ranking_of, cases=CASES, k=12)


def nearest(query: str, k: int) -> Any:
    return CLIENT.query_points("Euclid", query=[float(query), 1.0], limit=k)


def check_the_points_of_an_answer_are_the_ranking() -> None:
    assert ranking(nearest) == [str(number) for number in range(12)]
    assert ranking(nearest, id="payload.name") == [f"d{number}" for number in range(12)]
    assert ranking(nearest, unit="document") == [f"doc{number}" for number in range(6)]
    assert ranking(lambda query, k: nearest(query, k).points) == ranking(nearest)


def check_distances_are_reported_and_similarities_are_not() -> None:
    assert "scores ascend in 1 of 1 query, as distances do" in str(evaluate_retriever(nearest, CASES, k=12))
    assert not evaluate_retriever(nearest, CASES, k=12, scores="distance").answer_notes

    def similar(query: str, k: int) -> Any:
        return CLIENT.query_points("Dot", query=[1.0, 0.0], limit=k)

    assert not evaluate_retriever(similar, CASES, k=12).answer_notes
    assert ranking(similar)[0] == "19"


def check_a_client_is_not_a_retriever_and_the_error_says_what_is() -> None:
    message = error_of(CLIENT, CASES)
    assert "a QdrantClient needs a collection and a vector with each query" in message
    assert "client.query_points(COLLECTION, query=embed(query), limit=k)" in message


def check_an_asynchronous_client_is_awaited() -> None:
    async def evaluate() -> list[str]:
        client = AsyncQdrantClient(":memory:")
        vectors = models.VectorParams(size=2, distance=models.Distance.EUCLID)
        await client.create_collection("help", vectors_config=vectors)
        await client.upsert("help", POINTS)

        async def search(query: str, k: int) -> Any:
            return await client.query_points("help", query=[float(query), 1.0], limit=k)

        result = await evaluate_retriever_async(search, CASES, k=12)
        await client.close()
        return list(result.per_query_metrics[0].retrieved)

    assert asyncio.run(evaluate()) == [str(number) for number in range(12)]
