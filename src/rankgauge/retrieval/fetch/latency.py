"""Latency: single queries timed one at a time, after a warm-up, never derived from a batch; and its percentiles.

Latency is the time of one attempt: the one that was answered, until the answer arrives. What a query waits for besides
it, such as failed attempts and pauses, is part of its response time; reading the answer is part of neither.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankgauge.core.formatting import milliseconds, plural
from rankgauge.core.run import Status
from rankgauge.errors import RetrieverError, UsageError
from rankgauge.retrieval.asking.failures import recorded_answers
from rankgauge.retrieval.base import QueryBatch, Retriever, retrieve_run

WARM_UP_CALLS = 5
LATENCY_PERCENTILES = (50, 95, 99)


def latency_percentiles(times: Sequence[float]) -> dict[str, float]:
    """``p50``, ``p95``, ``p99`` and ``max`` of at least one time.

    Each is a time that was measured: the smallest that at least p percent of the times do not exceed (nearest rank).
    """
    ordered = sorted(times)
    ranks = {f"p{percent}": max(1, -(-percent * len(ordered) // 100)) for percent in LATENCY_PERCENTILES}
    return {name: ordered[rank - 1] for name, rank in {**ranks, "max": len(ordered)}.items()}


@dataclass(frozen=True)
class Latency:
    """Milliseconds of single calls; None if no calls were timed."""

    calls: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"unit": "ms", **asdict(self)}

    def __str__(self) -> str:
        if self.p50 is None:
            return "latency was not measured"
        return (
            f"latency p50 {milliseconds(self.p50)}, p95 {milliseconds(self.p95)}, p99 {milliseconds(self.p99)}, "
            f"max {milliseconds(self.max)} over {plural(self.calls, 'call')}"
        )


def measure_latency(
    retriever: Retriever, queries: QueryBatch, k: int, calls: int, warm_up: int = WARM_UP_CALLS
) -> Latency:
    """Time ``calls`` calls with one query each, cycling through the queries, after ``warm_up`` untimed calls.

    A call that fails has no latency, and is not counted.
    """
    if calls < 1 or not len(queries):
        raise UsageError("latency needs at least one call and one query")
    single_queries = [queries.take(np.array([call % len(queries)])) for call in range(max(calls, warm_up))]
    for query in single_queries[:warm_up]:
        retrieve_run(retriever, query, k)
    milliseconds = []
    for query in single_queries[:calls]:
        with recorded_answers() as facts:
            start = time.perf_counter()
            run = retrieve_run(retriever, query, k)
            seconds = time.perf_counter() - start
        if not (run.status == Status.FAILED).any():
            milliseconds.append((seconds - sum(answer.overhead for answer in facts.values())) * 1000)
    if not milliseconds:
        raise RetrieverError(f"none of {plural(calls, 'call')} was answered")
    return Latency(len(milliseconds), **latency_percentiles(milliseconds))
