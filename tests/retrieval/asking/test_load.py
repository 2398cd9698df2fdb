"""Calls at once, the two times of a query (of its attempt, and from its first attempt), and journals."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from rankgauge import InputError, UsageError, evaluate_retriever
from rankgauge.rag import RetrieverCalls, evaluate_retriever_async
from rankgauge.retrieval import CallableRetriever, QueryBatch, measure_latency
from tests.retrieval.journals import make_older

CASES = [{"id": f"q{number}", "query": f"text {number}", "relevant_ids": ["a"]} for number in range(12)]
SLOW = 0.05


class Server:
    """A function that counts the calls that run at the same time."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.now, self.most = seconds, 0, 0
        self._lock = threading.Lock()

    def search(self, query: str) -> list[str]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self._lock:
            self.now -= 1
        return ["a"]


def test_a_load_keeps_to_its_number_of_calls() -> None:
    server = Server(SLOW / 5)
    found = evaluate_retriever(server, CASES, calls=RetrieverCalls(concurrency=3))
    assert 1 < server.most <= 3
    assert found.calls is not None
    assert found.calls.load == "3 calls at once"


def test_retries_and_pauses_are_part_of_the_response_and_not_of_the_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.retrieval.asking.failures.FIRST_PAUSE", 2 * SLOW)  # a pause is at least half of it
    attempts: dict[str, int] = {}

    def shaky(query: str) -> list[str]:
        attempts[query] = attempts.get(query, 0) + 1
        if attempts[query] == 1:
            raise ConnectionError("down")
        return ["a"]

    found = evaluate_retriever(shaky, CASES[:2], calls=RetrieverCalls(retries=1))
    for row in found.per_query_metrics:
        assert row.attempts == 2
        assert row.latency is not None
        assert row.response is not None
        assert row.response - row.latency >= SLOW
    attempts.clear()
    retriever = CallableRetriever(shaky, calls=RetrieverCalls(retries=1))
    measured = measure_latency(retriever, QueryBatch.from_dict({"q": "text"}), 5, calls=1, warm_up=0)
    assert measured.max is not None
    assert measured.max < SLOW * 1000


def test_the_asynchronous_function_has_the_same_load() -> None:
    async def search(query: str) -> list[str]:
        await asyncio.sleep(0)
        return ["a"]

    found = asyncio.run(evaluate_retriever_async(search, CASES, calls=RetrieverCalls(concurrency=3)))
    assert found.response_ms is not None
    assert found["RR"] == 1


@pytest.mark.parametrize("wrong", [0, -1, float("inf")])
def test_wrong_loads_are_usage_errors(wrong: float) -> None:
    with pytest.raises(UsageError, match="expected a"):
        RetrieverCalls(concurrency=wrong)  # type: ignore[arg-type]  # that is what is tested


def test_a_journal_asks_only_the_rest(tmp_path: Path) -> None:
    asked: list[str] = []
    calls = RetrieverCalls(journal=tmp_path / "asked.journal")

    def search(query: str) -> list[tuple[str, float]]:
        asked.append(query)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return [("b", 3.0), ("a", 3.0), ("c", 1.0)]

    with pytest.raises(KeyboardInterrupt):
        evaluate_retriever(search, CASES, calls=calls)
    found = evaluate_retriever(search, CASES, calls=calls)
    assert len(asked) == 13
    assert "4 answers reused from the journal, the oldest less than a minute old" in str(found)
    assert not (tmp_path / "asked.journal").exists()
    whole = evaluate_retriever(search, CASES)
    assert found.run.docs.to_text() == whole.run.docs.to_text()
    assert found.run.scores.tolist() == whole.run.scores.tolist()
    assert found.scores.values.tolist() == whole.scores.values.tolist()


def test_a_journal_with_answers_older_than_a_day_needs_a_decision(tmp_path: Path) -> None:
    asked: list[str] = []
    journal = tmp_path / "asked.journal"

    def search(query: str) -> list[str]:
        asked.append(query)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return ["a", "b"]

    def interrupt() -> None:
        asked.clear()
        with pytest.raises(KeyboardInterrupt):
            evaluate_retriever(search, CASES, calls=RetrieverCalls(journal=journal, resume=False))
        make_older(journal, hours=25)

    interrupt()
    before = journal.read_bytes()
    with pytest.raises(InputError, match="holds 4 answers of an interrupted run, and the oldest is 1 day old"):
        evaluate_retriever(search, CASES, calls=RetrieverCalls(journal=journal))
    assert len(asked) == 5
    assert journal.read_bytes() == before
    found = evaluate_retriever(search, CASES, calls=RetrieverCalls(journal=journal, resume=True))
    assert len(asked) == 13
    assert "4 answers reused from the journal, the oldest 1 day old" in str(found)
    interrupt()
    fresh = evaluate_retriever(search, CASES, calls=RetrieverCalls(journal=journal, resume=False))
    assert len(asked) == 17
    assert "reused" not in str(fresh)
    with pytest.raises(UsageError, match="resume: expected true or false, found 'always'"):
        RetrieverCalls(resume="always")  # type: ignore[arg-type]  # that is what is tested


def test_a_journal_of_another_evaluation_is_refused(tmp_path: Path) -> None:
    calls = RetrieverCalls(journal=tmp_path / "asked.journal")

    def search(query: str) -> None:
        return None

    with pytest.raises(Exception, match="12 of 12 queries failed"):
        evaluate_retriever(search, CASES, calls=calls)
    with pytest.raises(InputError, match="belongs to another fetch: k was '5', is now '7'"):
        evaluate_retriever(search, CASES, 7, calls=calls)


def test_a_retriever_itself_has_no_journal() -> None:
    with pytest.raises(UsageError, match="a journal is kept by"):
        CallableRetriever(lambda query: [], calls=RetrieverCalls(journal="x"))
