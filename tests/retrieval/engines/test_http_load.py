"""Many queries, 32 in flight, against a server in a process of its own that is killed and started again meanwhile.

``RANKGAUGE_LOAD=10000`` sends that many queries instead of 1,500.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankgauge import evaluate_retriever
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.io.read import read_run
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.http import HttpEngine
from rankgauge.retrieval.fetch import fetch_run
from rankgauge.retrieval.retriever import QueryBatch
from tests.retrieval.engines.search_server import hits

pytest.importorskip("httpx")

COUNT = int(os.environ.get("RANKGAUGE_LOAD", "1500"))
IN_FLIGHT, K = 32, 10
CALLS = RetrieverCalls(concurrency=IN_FLIGHT, retries=8, timeout=20)
QUERIES = {f"q{number:05}": f"text {number}" for number in range(COUNT)}
MAX_BYTES_PER_ANSWER = 6_000  # an answer holds ten ids and scores, and nothing else may grow
MAX_BYTES_BESIDES = 16_000_000


class Server:
    """The server, its log of queries, and a pause of half a second between its two lives."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = folder / "asked.log"
        self.restarts: list[threading.Thread] = []
        self.start()

    def start(self) -> None:
        script = Path(__file__).with_name("search_server.py")
        self.process = subprocess.Popen([sys.executable, str(script), str(self.port), str(self.log), "20"])
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        pytest.fail("the server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        """Kill it now, and start it again later."""
        self.stop()

        def start_later() -> None:
            time.sleep(0.5)
            self.start()

        self.restarts.append(threading.Thread(target=start_later))
        self.restarts[-1].start()

    def asked(self) -> Counter[str]:
        """How often each query arrived."""
        return Counter(self.log.read_text(encoding="utf-8").splitlines())

    def engine(self) -> HttpEngine:
        paths = {"results": "hits.hits", "id": "_id", "score": "_score", "require": {"timed_out": False}}
        body = {"query": "{query}", "k": "{k}"}
        return HttpEngine({"url": f"http://127.0.0.1:{self.port}/", "body": body, **paths}, timeout=10)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    for thread in server.restarts:
        thread.join()
    server.stop()


def resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("this system does not tell how much memory a process has")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def progress_with(kill: Callable[[], None], memory: list[int]) -> Callable[[int, int], None]:
    """Measure memory after a tenth of the queries and at the end, and kill the server after a third."""

    def progress(answered: int, total: int) -> None:
        if answered in (total // 10, total):
            memory.append(resident_bytes())
        if answered == total // 3:
            kill()

    return progress


def check_asked_once(server: Server) -> None:
    asked = server.asked()
    assert set(asked) == set(QUERIES.values())
    assert sum(asked.values()) - len(asked) <= IN_FLIGHT  # only what was in flight when the server was killed


def check_memory(memory: list[int]) -> None:
    begin, end = memory
    assert end - begin < MAX_BYTES_BESIDES + MAX_BYTES_PER_ANSWER * COUNT


@pytest.mark.slow
def test_a_fetch_survives_a_server_that_is_killed_and_loses_nothing(server: Server, tmp_path: Path) -> None:
    memory: list[int] = []
    progress = progress_with(server.restart, memory)
    retriever = CallableRetriever(server.engine(), name="http", calls=CALLS)
    result = fetch_run(
        retriever,
        QueryBatch.from_dict(QUERIES),
        tmp_path / "run.trec",
        k=K,
        progress=lambda answered, total, seconds: progress(answered, total),
    )
    assert not result.failures
    assert server.restarts
    run = read_run(tmp_path / "run.trec")
    assert run.queries.to_text() == list(QUERIES)
    assert run.docs.to_text() == [name for text in QUERIES.values() for name in hits(text, K)]
    check_asked_once(server)
    check_memory(memory)


@pytest.mark.slow
def test_a_live_evaluation_survives_a_server_that_is_killed_and_loses_nothing(server: Server) -> None:
    memory: list[int] = []
    cases = [{"id": name, "query": text, "relevant_ids": hits(text, 1)} for name, text in QUERIES.items()]
    result = evaluate_retriever(server.engine(), cases, K, calls=CALLS, progress=progress_with(server.restart, memory))
    assert server.restarts
    assert (result["RR"], len(result), result.failures) == (1.0, COUNT, {})
    assert any((row.attempts or 0) > 1 for row in result.per_query_metrics)
    check_asked_once(server)
    check_memory(memory)


@pytest.mark.slow
def test_a_fetch_that_is_stopped_asks_only_what_was_in_flight_again(server: Server, tmp_path: Path) -> None:
    """Without retries, the death of the server ends the fetch; the next one resumes from the journal."""
    calls = RetrieverCalls(concurrency=IN_FLIGHT, timeout=20)
    queries = QueryBatch.from_dict(dict(list(QUERIES.items())[:600]))

    def kill(answered: int, total: int, seconds: float) -> None:
        if answered == 300:
            server.stop()

    with pytest.raises(Exception, match="failed, at most 0 may fail"):
        fetch_run(CallableRetriever(server.engine(), calls=calls), queries, tmp_path / "run", k=K, progress=kill)
    server.start()
    result = fetch_run(CallableRetriever(server.engine(), calls=calls), queries, tmp_path / "run", k=K)
    # Besides those in flight, as many answers as calls may wait for the reader when the server stops.
    assert 300 <= result.reused.count <= 300 + 2 * IN_FLIGHT
    asked = server.asked()
    assert len(asked) == 600
    assert sum(asked.values()) - 600 <= IN_FLIGHT
