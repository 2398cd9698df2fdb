"""How long one query takes: measured one at a time, warm, never divided out of a batch."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Questions, Retriever, answer

WARM = 5  # calls that do not count


@dataclass(frozen=True)
class Latency:
    """Milliseconds of single calls; None where none were made."""

    calls: int = 0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"unit": "ms", **asdict(self)}

    def __str__(self) -> str:
        if self.p50 is None:
            return "latency was not measured"
        return f"latency p50 {self.p50:.2f} ms, p95 {self.p95:.2f} ms, p99 {self.p99:.2f} ms over {self.calls} calls"


def measure_latency(retriever: Retriever, queries: Questions, k: int, calls: int, warm: int = WARM) -> Latency:
    """Time ``calls`` calls with one query each, going round the queries, after some that do not count."""
    if calls < 1 or not len(queries):
        raise UsageError("latency needs at least one call and one query")
    one = [queries.take(np.array([place % len(queries)])) for place in range(max(calls, warm))]
    for query in one[:warm]:
        answer(retriever, query, k)
    taken = []
    for query in one[:calls]:
        begin = time.perf_counter()
        answer(retriever, query, k)
        taken.append((time.perf_counter() - begin) * 1000)
    p50, p95, p99 = (float(value) for value in np.percentile(taken, [50, 95, 99]))
    return Latency(calls, p50, p95, p99)
