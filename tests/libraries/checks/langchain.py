"""LangChain's own objects, asked by rankgauge."""

from __future__ import annotations

import asyncio
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from rankgauge import evaluate_retriever
from rankgauge.rag import evaluate_retriever_async
from rankgauge.retrieval import CallableRetriever, QueryBatch, RetrieverCalls, fetch_run
from rankgauge.retrieval.asking.retriever_functions import retriever_function
from tests.libraries.asked import error_of, ranking_of

STORE = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
STORE.add_documents([Document(f"text {n}", id=f"d{n}", metadata={"source": f"s{n // 2}"}) for n in range(20)])
ORDER = [document.id for document in STORE.similarity_search("text 3", k=20)]
CASES = [{"id": "q", "query": "text 3", "relevant_ids": ["d3", ORDER[9]]}]
ranking = partial(ranking_of, cases=CASES, k=10)


def check_k_reaches_the_store_through_every_wrapper() -> None:
    retriever = STORE.as_retriever()
    assert len(retriever.invoke("text 3")) == 4  # what a user would get without being asked
    for wrapped in (
        retriever,
        retriever.with_retry(),
        retriever.with_config(tags=["x"]),
        retriever.bind(k=3).with_retry(),
        retriever.configurable_fields(search_kwargs=ConfigurableField(id="search_kwargs")),
        STORE.as_retriever(search_kwargs={"k": 6}),
        STORE.as_retriever(search_type="mmr", search_kwargs={"fetch_k": 20, "lambda_mult": 1.0}),
    ):
        assert ranking(wrapped) == ORDER[:10], wrapped
        assert len(asyncio.run(retriever_function(wrapped, prefer_async=True)("text 3", 10))) == 10
    assert ranking(STORE.as_retriever(search_kwargs={"k": 15})) == ORDER[:15]  # a higher number stays
    assert retriever.search_kwargs == {}


def check_recall_at_10_is_that_of_ten_results() -> None:
    live = evaluate_retriever(STORE.as_retriever(), CASES, k=10)
    assert live["R@10"] == 1.0
    assert not live.answer_notes
    fetched = fetch_run(
        CallableRetriever(STORE.as_retriever()), QueryBatch.from_dict({"q": "text 3"}), Path("run"), k=10
    )
    assert fetched.answers[0].docs == ORDER[:10]
    assert [note.code for note in fetched.notes] == ["texts-dropped"]  # by a TREC run


def check_a_field_k_of_a_retriever_is_raised_in_a_copy() -> None:
    class Own(BaseRetriever):
        k: int = 4

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return STORE.similarity_search(query, k=self.k)

    own = Own()
    assert ranking(own) == ORDER[:10]
    assert ranking(Own(k=12)) == ORDER[:12]
    assert own.k == 4


def check_a_retriever_that_takes_no_k_is_reported() -> None:
    class Fixed(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return STORE.similarity_search(query, k=4)

    result = evaluate_retriever(Fixed(), CASES, k=10)
    assert "the retriever returned at most 4 results of the 10 requested" in str(result)
    assert "LangChain: search_kwargs={'k': 10}" in str(result)


def check_a_store_gives_its_scores_with_and_without_a_sign() -> None:
    pairs = STORE.similarity_search_with_score("text 3", k=10)
    assert ranking(STORE) == ORDER[:10]
    assert asyncio.run(retriever_function(STORE, prefer_async=True)("text 3", 10)) == pairs

    class Distances(InMemoryVectorStore):
        def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> Any:
            found = super().similarity_search_with_score(query, k, **kwargs)
            return [(document, 1.0 - score) for document, score in found]

    distances = Distances(DeterministicFakeEmbedding(size=16))
    distances.store = STORE.store
    result = evaluate_retriever(distances, CASES, k=10)
    assert list(result.per_query_metrics[0].retrieved) == ORDER[:10]
    assert "scores ascend in 1 of 1 query" in str(result)
    assert not evaluate_retriever(distances, CASES, k=10, scores="distance").answer_notes


def check_a_store_without_scores_is_searched_without() -> None:
    class Plain(VectorStore):
        def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
            return STORE.similarity_search(query, k)

        @classmethod
        def from_texts(cls, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    assert ranking(Plain()) == ORDER[:10]


def check_chains_take_the_query_where_their_schema_says() -> None:
    retriever = STORE.as_retriever(search_kwargs={"k": 10})
    from_input = RunnableLambda(lambda values: values["input"]) | retriever
    for chain in (
        RunnableParallel(context=retriever, question=RunnablePassthrough()),
        RunnablePassthrough.assign(context=RunnableLambda(itemgetter("question")) | retriever),
        RunnablePassthrough.assign(context=from_input).assign(answer=lambda values: "…"),
        RunnablePassthrough.assign(documents=RunnableLambda(itemgetter("topic")) | retriever),
        RunnableLambda(lambda query: {"result": "…", "source_documents": retriever.invoke(query)}),
        retriever | (lambda documents: documents),
    ):
        assert ranking(chain) == ORDER[:10], chain
        answer = asyncio.run(retriever_function(chain, prefer_async=True)("text 3", 10))
        assert answer


def check_a_chain_with_another_input_says_what_to_write() -> None:
    chain = ChatPromptTemplate.from_template("{topic} {language}") | (lambda prompt: [])
    message = error_of(chain, CASES)
    assert "takes a dict of language, topic, and none of these is input, query, question" in message
    assert 'lambda query: chain.invoke({"language": query, …})' in message


def check_asynchronous_methods_are_awaited_in_the_loop_of_the_caller() -> None:
    class OnlyAsync(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            raise AssertionError("called synchronously")

        async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return await STORE.asimilarity_search(query, k=10)

    result = asyncio.run(evaluate_retriever_async(OnlyAsync(), CASES, k=10, calls=RetrieverCalls(concurrency=2)))
    assert list(result.per_query_metrics[0].retrieved) == ORDER[:10]
    assert not result.failures
