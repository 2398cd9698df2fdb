"""Answers are read beside the calls: they delay none of them, wait in bounded numbers, and stay in order."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever
from rankgauge.errors import InputError
from rankgauge.rag import RetrieverCalls, evaluate_retriever_async
from rankgauge.retrieval import CallableRetriever, QueryBatch, fetch_run, measure_latency
from rankgauge.retrieval.asking import calls
from rankgauge.retrieval.asking.answers import AnswerRules

SECONDS = 0.02
CASES = [{"id": f"q{number}", "query": f"text {number}", "relevant_ids": ["d1"]} for number in range(64)]
DOCUMENTS = [{"id": f"d{number}", "score": 1 / (number + 1), "text": "…"} for number in range(1000)]


async def search_async(query: str) -> list[Any]:
    await asyncio.sleep(SECONDS)
    return list(DOCUMENTS)


def search(query: str) -> list[Any]:
    time.sleep(SECONDS)
    return list(DOCUMENTS)


@pytest.fixture
def slow_reading(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Reading an answer keeps the interpreter busy for as long as a call takes; returns the threads that read."""
    threads: list[str] = []
    read = AnswerRules.read

    def slow_read(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        end = time.thread_time() + SECONDS
        while time.thread_time() < end:
            pass
        return read(*arguments)

    monkeypatch.setattr(AnswerRules, "read", slow_read)
    return threads


@pytest.mark.parametrize("retriever", [search_async, search])
def test_reading_answers_delays_no_call(retriever: Any, slow_reading: list[str]) -> None:
    """In the event loop, 16 answers would take 16 times as long to read as a call takes."""
    found = evaluate_retriever(retriever, CASES[:16], calls=RetrieverCalls(concurrency=16)).latency_ms
    assert found is not None
    assert found["p50"] / 1000 < SECONDS * 4
    assert set(slow_reading) == {threading.current_thread().name}


def test_the_asynchronous_form_reads_beside_its_loop(slow_reading: list[str]) -> None:
    seen: list[tuple[int, str]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, threading.current_thread().name))

    calls = RetrieverCalls(concurrency=16)
    found = asyncio.run(evaluate_retriever_async(search_async, CASES[:16], calls=calls, progress=progress)).latency_ms
    assert found is not None
    assert found["p50"] / 1000 < SECONDS * 4
    assert threading.current_thread().name not in slow_reading
    assert seen == [(done, threading.current_thread().name) for done in range(1, 17)]


def test_the_latency_of_a_callable_ends_when_its_answer_arrives(slow_reading: list[str]) -> None:
    latency = measure_latency(CallableRetriever(search), QueryBatch.from_dict({"q": "text"}), 5, calls=3, warm_up=0)
    assert latency.p50 is not None
    assert SECONDS * 0.9 < latency.p50 / 1000 < SECONDS * 1.9
    assert slow_reading


@pytest.mark.parametrize("retriever", [search_async, search])
def test_no_call_begins_while_too_many_results_wait(retriever: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that nobody has read yet are bounded by the limit and by one answer of each call in flight."""
    monkeypatch.setattr(calls, "MAX_WAITING", 1500)
    most = 0
    put = calls.Inbox.put

    def counting_put(self: Any, index: int, item: Any) -> None:
        nonlocal most
        put(self, index, item)
        most = max(most, self.waiting[1])

    monkeypatch.setattr(calls.Inbox, "put", counting_put)
    monkeypatch.setattr(calls, "MIN_PAUSE", 60.0)  # nothing is read while calls are in flight
    found = evaluate_retriever(retriever, CASES, calls=RetrieverCalls(concurrency=4))
    assert found["RR"] == 0.5
    assert most <= 1500 + 4 * 1000


def test_with_one_call_at_a_time_each_answer_is_read_before_the_next_call() -> None:
    events: list[str] = []

    async def nameless(query: str) -> list[Any]:
        events.append(query)
        return [{"id": None}]

    with pytest.raises(InputError, match="is None"):
        evaluate_retriever(nameless, CASES)
    assert events == ["text 0"]


@pytest.mark.parametrize("retriever", [search_async, search])
def test_answers_that_arrived_before_an_error_are_saved(retriever: Any, tmp_path: Path) -> None:
    """They wait while the progress function holds the reader, whose error then ends the fetch."""

    def stop(done: int, total: int, seconds: float) -> None:
        time.sleep(SECONDS * 3)  # the other calls are answered meanwhile
        raise RuntimeError("stop")

    queries = QueryBatch.from_dict({str(case["id"]): str(case["query"]) for case in CASES})
    source = CallableRetriever(retriever, calls=RetrieverCalls(concurrency=8))
    with pytest.raises(RuntimeError, match="stop"):
        fetch_run(source, queries, tmp_path / "run", k=5, progress=stop)
    saved = (tmp_path / "run.journal").read_bytes().count(b"\n") - 1
    assert 8 <= saved <= 24
    assert fetch_run(source, queries, tmp_path / "run", k=5).reused.count == saved


def test_threads_are_reused() -> None:
    threads: set[int] = set()

    def remember(query: str) -> list[str]:
        threads.add(threading.get_ident())
        return ["d1"]

    evaluate_retriever(remember, CASES, calls=RetrieverCalls(concurrency=4))
    assert len(threads) < 32
