"""LlamaIndex's own objects, asked by rankgauge."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from rankgauge import evaluate_retriever
from rankgauge.rag import evaluate_retriever_async
from rankgauge.retrieval.asking.retriever_functions import retriever_function
from tests.libraries.asked import error_of, ranking_of


class CountingEmbedding(MockEmbedding):
    """The angle of a vector is the number at the end of the text."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return [1.0, int(query.split()[-1]) / 20]

    _get_text_embedding = _get_query_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def node(number: int) -> TextNode:
    relations = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc{number // 2}")}
    return TextNode(id_=f"n{number}", text=f"text {number}", relationships=relations)


EMBEDDING = CountingEmbedding(embed_dim=2)
INDEX = VectorStoreIndex([node(number) for number in range(20)], embed_model=EMBEDDING)
ORDER = [found.node_id for found in INDEX.as_retriever(similarity_top_k=20).retrieve("text 0")]
CASES = [{"id": "q", "query": "text 0", "relevant_ids": ["n0"]}]
ranking = partial(ranking_of, cases=CASES, k=10)


def check_k_is_raised_in_a_copy() -> None:
    retriever = INDEX.as_retriever()
    assert len(retriever.retrieve("text 0")) == 2
    assert ranking(retriever) == ORDER[:10] == [f"n{number}" for number in range(10)]
    assert retriever.similarity_top_k == 2
    assert ranking(INDEX.as_retriever(similarity_top_k=12)) == ORDER[:12]
    assert len(asyncio.run(retriever_function(retriever, prefer_async=True)("text 0", 10))) == 10


def check_nodes_collapse_into_their_documents() -> None:
    assert ranking(INDEX.as_retriever(), unit="document") == [f"doc{number}" for number in range(5)]
    result = evaluate_retriever(INDEX.as_retriever(), CASES, k=10, unit="document")
    assert "chunks collapsed into documents, so fetch more of them: RetrieverCalls(fetch=50)" in str(result)


def check_a_retriever_without_a_number_is_reported() -> None:
    class Fixed(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return INDEX.as_retriever(similarity_top_k=3).retrieve(query_bundle)

    result = evaluate_retriever(Fixed(), CASES, k=10)
    assert list(result.per_query_metrics[0].retrieved) == ORDER[:3]
    assert "LlamaIndex: similarity_top_k=10" in str(result)


def check_a_query_engine_retrieves_without_its_language_model() -> None:
    class NoModel(MockLLM):
        def complete(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError("the language model was called")

        chat = complete

    engine = INDEX.as_query_engine(llm=NoModel())
    assert ranking(engine) == ORDER[:10]
    assert len(engine.retrieve(QueryBundle("text 0"))) == 2
    assert len(asyncio.run(retriever_function(engine, prefer_async=True)("text 0", 10))) == 10


def check_the_postprocessors_of_an_engine_run() -> None:
    cutoff = (INDEX.as_retriever(similarity_top_k=5).retrieve("text 0")[4].score or 0.0) - 1e-9
    postprocessor = SimilarityPostprocessor(similarity_cutoff=cutoff)
    engine = INDEX.as_query_engine(llm=MockLLM(), node_postprocessors=[postprocessor])
    assert ranking(engine) == ORDER[:5]

    class Reversed(RetrieverQueryEngine):
        def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return super().retrieve(query_bundle)[::-1]

    own = Reversed(INDEX.as_retriever(similarity_top_k=3), response_synthesizer=engine._response_synthesizer)
    assert ranking(own) == ORDER[:3][::-1]  # a class of the user's stays what it is


def check_an_engine_that_cannot_retrieve_is_asked_for_its_response() -> None:
    tools = [QueryEngineTool.from_defaults(INDEX.as_query_engine(llm=MockLLM(), similarity_top_k=7), description="all")]

    class First(LLMSingleSelector):
        def _select(self, choices: Any, query: QueryBundle) -> Any:
            from llama_index.core.selectors import MultiSelection, SingleSelection

            return MultiSelection(selections=[SingleSelection(index=0, reason="the only one")])

        async def _aselect(self, choices: Any, query: QueryBundle) -> Any:
            return self._select(choices, query)

    selector = First.from_defaults(llm=MockLLM())
    router = RouterQueryEngine(selector=selector, query_engine_tools=tools, llm=MockLLM())
    assert ranking(router) == ORDER[:7]
    result = asyncio.run(evaluate_retriever_async(router, CASES, k=7))
    assert list(result.per_query_metrics[0].retrieved) == ORDER[:7]


def check_an_index_is_not_a_retriever_and_the_error_says_what_is() -> None:
    message = error_of(INDEX, CASES)
    assert "pass its retriever: .as_retriever()" in message
