"""Haystack's own objects, asked by rankgauge."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import MultiQueryTextRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from rankgauge.rag import evaluate_retriever_async
from rankgauge.retrieval.asking.retriever_functions import retriever_function
from tests.libraries.asked import error_of, ranking_of

STORE = InMemoryDocumentStore(embedding_similarity_function="dot_product")
STORE.write_documents(
    [
        Document(id=f"d{n}", content="soup " * (20 - n), embedding=[20.0 - n, 1.0], meta={"source_id": f"doc{n // 2}"})
        for n in range(20)
    ]
)
CASES = [{"id": "q", "query": "soup", "relevant_ids": ["d0"]}]
ranking = partial(ranking_of, cases=CASES, k=12)


@component
class Embedder:
    """Every text has the same vector."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": [1.0, 0.0]}


@component
class Keep:
    """Documents pass, with a language that must be given."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], language: str) -> dict[str, list[Document]]:
        return {"documents": documents}


def vector_pipeline(**options: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(STORE, **options))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def ids(count: int) -> list[str]:
    return [f"d{number}" for number in range(count)]


def check_a_component_is_asked_for_k() -> None:
    retriever = InMemoryBM25Retriever(STORE, top_k=3)
    expected = [document.id for document in retriever.run(query="soup", top_k=12)["documents"]]
    assert len(expected) == 12
    assert ranking(retriever) == expected
    assert len(ranking(InMemoryBM25Retriever(STORE, top_k=15))) == 15
    answer = asyncio.run(retriever_function(retriever, prefer_async=True)("soup", 12))
    assert [document.id for document in answer["documents"]] == expected


def check_a_component_that_takes_several_queries_gets_one() -> None:
    found = ranking(MultiQueryTextRetriever(retriever=InMemoryBM25Retriever(STORE, top_k=20)))
    assert len(found) == 20


def check_a_component_that_takes_a_vector_is_an_error_with_a_way_out() -> None:
    message = error_of(InMemoryEmbeddingRetriever(STORE), CASES)
    assert "InMemoryEmbeddingRetriever needs query_embedding, which is not a query" in message
    assert "a Pipeline with a text embedder before it" in message


def check_a_pipeline_is_asked_for_k() -> None:
    assert ranking(vector_pipeline()) == ids(12)
    assert ranking(vector_pipeline(top_k=15)) == ids(15)
    assert ranking(vector_pipeline(), unit="document") == [f"doc{number}" for number in range(6)]
    result = asyncio.run(evaluate_retriever_async(vector_pipeline(), CASES, k=12))
    assert list(result.per_query_metrics[0].retrieved) == ids(12)


def check_the_query_reaches_every_component_and_the_last_documents_count() -> None:
    hybrid = vector_pipeline(top_k=5)
    hybrid.add_component("bm25", InMemoryBM25Retriever(STORE, top_k=5))
    hybrid.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    hybrid.add_component("prompt", PromptBuilder("{{ question }}: {{ documents | length }}", required_variables="*"))
    hybrid.connect("retriever.documents", "joiner.documents")
    hybrid.connect("bm25.documents", "joiner.documents")
    hybrid.connect("joiner.documents", "prompt.documents")
    data = {"embedder": {"text": "soup"}, "bm25": {"query": "soup", "top_k": 12}, "prompt": {"question": "soup"}}
    data["retriever"] = {"top_k": 12}
    expected = hybrid.run(data, include_outputs_from={"joiner"})["joiner"]["documents"]
    assert ranking(hybrid) == [document.id for document in expected]
    # The outputs of all components, from a function of the user's.
    assert ranking(lambda query: hybrid.run(data, include_outputs_from={"joiner"})) == ranking(hybrid)


def check_an_input_that_is_not_a_query_is_an_error_with_a_way_out() -> None:
    pipeline = vector_pipeline()
    pipeline.add_component("keep", Keep())
    pipeline.connect("retriever.documents", "keep.documents")
    message = error_of(pipeline, CASES)
    assert "the pipeline needs keep.language, which is not a query" in message
    assert "pass a function that gives every input: lambda query, k: pipeline.run(" in message

    def search(query: str, k: int) -> Any:
        return pipeline.run({"embedder": {"text": query}, "keep": {"language": "en"}, "retriever": {"top_k": k}})

    assert ranking(search) == ids(12)


def check_two_lists_of_documents_are_an_error() -> None:
    pipeline = vector_pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(STORE))
    assert "returns documents of retriever, bm25, expected those of one component" in error_of(pipeline, CASES)
    prompt = Pipeline()
    prompt.add_component("prompt", PromptBuilder("{{ question }}", required_variables="*"))
    assert "the pipeline returns no documents" in error_of(prompt, CASES)
