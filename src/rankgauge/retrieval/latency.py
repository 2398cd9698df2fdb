"""Latency and cost: single queries timed one at a time, after a warm-up, never derived from a batch; percentiles.

Latency is the time of one attempt: the one that was answered, until the answer arrives. What a query waits for besides
it, such as failed attempts and pauses, is part of its response time; reading the answer is part of neither.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.formatting import milliseconds, plural
from rankgauge.core.run import LATENCY_PERCENTILES, RunExtras, Status, latency_percentiles
from rankgauge.errors import RetrieverError, UsageError
from rankgauge.io.stored_json import AtMost, Between, Maybe

if TYPE_CHECKING:
    from rankgauge.retrieval.retriever import QueryBatch, Retriever

WARM_UP_CALLS = 5
PERCENTILE_NAMES = tuple(f"p{percent}" for percent in LATENCY_PERCENTILES)  # each is a field of Latency and of Cost


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
        times = ", ".join(f"{name} {milliseconds(getattr(self, name))}" for name in (*PERCENTILE_NAMES, "max"))
        return f"latency {times} over {plural(self.calls, 'call')}"


@dataclass(frozen=True)
class Cost:
    """What a system costs. None if it was not measured."""

    calls: int = 0  # the number of single-query calls behind the latency
    p50: float | None = None  # milliseconds
    p95: float | None = None
    p99: float | None = None
    index_bytes: int | None = None
    index_seconds: float | None = None
    max: float | None = None  # milliseconds
    mean_tokens: float | None = None  # per query
    total_tokens: float | None = None
    mean_cost: float | None = None  # per query, in the user's currency
    total_cost: float | None = None

    @property
    def percentiles(self) -> dict[str, float | None]:
        """The milliseconds of each percentile, by its name, such as p95."""
        return {name: getattr(self, name) for name in PERCENTILE_NAMES}


def cost_of(extras: RunExtras) -> Cost:
    """The latency of the calls that were answered, and their tokens and money, as far as these are known."""
    found: dict[str, Any] = {name.removesuffix("_latency"): value for name, value in extras.figures().items()}
    return Cost(calls=len(extras.latency_ms), **found)


_COUNT = AtMost(2**53)
MAX_FIGURE = 1e15  # of a total in any currency
_SHAPES = {"int": _COUNT, "int | None": Maybe(_COUNT), "float | None": Maybe(Between(0, MAX_FIGURE))}  # by annotation
COST_SHAPE = {field.name: _SHAPES[str(field.type)] for field in fields(Cost)}  # in a file


def measure_latency(
    retriever: Retriever, queries: QueryBatch, k: int, calls: int, warm_up: int = WARM_UP_CALLS
) -> Latency:
    """Time ``calls`` calls with one query each, cycling through the queries, after ``warm_up`` untimed calls.

    A call that fails has no latency, and is not counted.
    """
    from rankgauge.retrieval.asking.answers import recorded_answers  # with asyncio, which a stored cost does not need
    from rankgauge.retrieval.retriever import retrieve_run

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
