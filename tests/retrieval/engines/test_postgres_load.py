"""Many queries at once against a real PostgreSQL that is restarted in between.

RANKGAUGE_LOAD sets the number of queries: 10000 takes about a minute.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.config.servers import PostgresSection
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.postgres import PostgresEngine
from rankgauge.retrieval.engines.postgres_index import index_corpus
from rankgauge.retrieval.fetch import fetch_run
from rankgauge.retrieval.retriever import QueryBatch
from tests.postgres_server import PostgresServer
from tests.retrieval.corpora import made_up, made_up_queries
from tests.retrieval.engines.small_vectors import NAME

QUERY_COUNT = int(os.environ.get("RANKGAUGE_LOAD", "640"))
IN_FLIGHT = 32
MAX_GROWTH_KB = 24 * 1024  # of the process from a quarter of the queries on; the answers themselves are part of it


class CountingEngine:
    """The engine, with a record of what was asked; it restarts the server when half of the queries were asked."""

    def __init__(self, engine: PostgresEngine, server: PostgresServer) -> None:
        self.engine, self.server = engine, server
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.memory: dict[int, int] = {}
        self._lock = threading.Lock()
        self._restart = threading.Thread(target=self._restart_server)

    def _restart_server(self) -> None:
        self.server.stop()
        self.server.start()

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        with self._lock:
            self.asked[query] += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            if len(self.asked) == QUERY_COUNT // 2 and not self._restart.ident:
                self._restart.start()
            if len(self.asked) in (QUERY_COUNT // 4, QUERY_COUNT):
                self.memory[len(self.asked)] = resident_kb()
        try:
            return self.engine.search(query, k)
        except Exception:
            with self._lock:
                self.failed[query] += 1
            raise
        finally:
            with self._lock:
                self.in_flight -= 1

    def wait(self) -> None:
        self._restart.join()


def resident_kb() -> int:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.slow
def test_every_query_is_answered_and_only_those_in_flight_are_asked_again(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    corpus = made_up(300)
    section = PostgresSection(
        dsn=postgres_server.new_database(), table="documents", kind="hybrid", embedder=NAME, pool_size=IN_FLIGHT
    )
    index_corpus(corpus, section)
    texts = made_up_queries(corpus, 40).texts
    engine = PostgresEngine(section)
    # A number that no document has makes every query a different text with the same answer.
    queries = {f"q{number}": f"{texts[number % len(texts)]} or {number}" for number in range(QUERY_COUNT)}
    counting = CountingEngine(engine, postgres_server)
    retriever = CallableRetriever(counting, calls=RetrieverCalls(concurrency=IN_FLIGHT, retries=12))
    result = fetch_run(retriever, QueryBatch.from_dict(queries), tmp_path / "run", k=10)
    counting.wait()
    assert not result.failures
    assert len(result.answers) == QUERY_COUNT
    assert set(counting.asked) == set(queries.values())
    assert counting.asked == Counter(queries.values()) + counting.failed  # nothing was asked twice without a failure
    assert 0 < len(counting.failed) <= IN_FLIGHT
    assert counting.most_in_flight <= IN_FLIGHT
    connections = postgres_server.rows(
        section.dsn, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'client%'"
    )
    assert connections[0][0] <= IN_FLIGHT + 1
    growth = counting.memory[QUERY_COUNT] - counting.memory[QUERY_COUNT // 4]
    assert growth < MAX_GROWTH_KB, f"{growth} KB"
    sample = result.answers[:: max(1, QUERY_COUNT // 50)]
    assert [answer.docs for answer in sample] == [
        [name for name, _ in engine.search(queries[answer.query], 10)] for answer in sample
    ]
    engine.close()
    print(f"{QUERY_COUNT} queries, {result.seconds:.1f} s, {len(counting.failed)} asked again, growth {growth} KB")  # noqa: T201 - shown with -s
