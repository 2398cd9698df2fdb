"""Coroutines are awaited in one event loop, whoever asks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever
from rankgauge.rag import RetrieverCalls
from rankgauge.retrieval.asking.event_loops import run_with_loop
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.fetch import fetch_run
from rankgauge.retrieval.latency import measure_latency
from rankgauge.retrieval.retriever import QueryBatch

QUERIES = QueryBatch.from_dict({f"q{number}": f"text {number}" for number in range(6)})
CASES = [{"query": f"text {number}", "relevant_ids": ["a"]} for number in range(6)]


class Client:
    """Like a connection pool: it belongs to the loop of its first call."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    async def search(self, text: str) -> list[str]:
        self.loop = self.loop or asyncio.get_running_loop()
        if asyncio.get_running_loop() is not self.loop:
            raise RuntimeError("bound to a different event loop")
        await asyncio.sleep(0)
        return ["a"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_client_that_belongs_to_its_loop_works_in_every_path(concurrency: int, tmp_path: Path) -> None:
    client, calls = Client(), RetrieverCalls(concurrency=concurrency)
    retriever = CallableRetriever(client.search, calls=calls)
    assert not fetch_run(retriever, QUERIES, tmp_path / "run").failures
    assert measure_latency(retriever, QUERIES, 3, calls=4).calls == 4
    assert not evaluate_retriever(client.search, CASES, calls=calls).failures
    assert not evaluate_retriever(retriever, CASES).failures


def test_a_coroutine_may_evaluate_another_one() -> None:
    async def inner(text: str) -> list[str]:
        return ["a"]

    async def outer(text: str) -> list[str]:
        evaluate_retriever(inner, CASES[:1])
        return ["a"]

    assert evaluate_retriever(outer, CASES[:2])["RR"] == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_a_coroutine_raises_reaches_the_caller_and_the_loop_goes_on(kind: type[BaseException]) -> None:
    async def interrupted() -> None:
        raise kind

    async def answered() -> Any:
        return 5

    with pytest.raises(kind):
        run_with_loop(interrupted())
    assert run_with_loop(answered()) == 5


def test_an_interrupt_in_a_coroutine_is_not_a_failure() -> None:
    async def interrupted(query: str) -> list[str]:
        raise KeyboardInterrupt

    for concurrency in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            evaluate_retriever(interrupted, CASES, calls=RetrieverCalls(concurrency=concurrency))
