"""What calling a retriever through rankgauge adds to its latency, and what reading its answers costs.

    .venv/bin/python -m benchmarks.live [--rounds 5] [--seconds 0.005]

Latency: the p50 that ``evaluate_retriever`` reports next to that of a bare loop over the same retriever, in one process
and in turns: an event loop that awaits it, or runs it in a pool of threads. Reading: the CPU time from an answer to its
ranking, next to a loop that builds the list of (id, score). Each ratio is the median of all rounds. Overhead: the CPU
time per query of a retriever that does nothing, from the test cases to the scores, next to a bare loop.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankgauge import evaluate, evaluate_retriever
from rankgauge.rag import RetrieverCalls
from rankgauge.retrieval.asking.answers import AnswerRules, ReadAnswer, answer_of

DEPTHS = (10, 100, 1000)
IN_FLIGHT = (1, 8, 64)
CALLS_EACH = 12  # calls of each worker in a round
MAX_LATENCY_RATIO, MAX_READING_RATIO = 1.1, 3.0
Pairs = list[tuple[str, float]]


@dataclass
class Hit:
    """A result as an object."""

    id: str
    score: float


def from_pairs(answer: list[tuple[str, float]]) -> Pairs:
    found = []
    for name, score in answer:
        found.append((name, score))
    return found


def from_dicts(answer: list[dict[str, Any]]) -> Pairs:
    found = []
    for hit in answer:
        found.append((hit["id"], hit["score"]))
    return found


def from_objects(answer: list[Hit]) -> Pairs:
    found = []
    for hit in answer:
        found.append((hit.id, hit.score))
    return found


SHAPES: dict[str, tuple[Callable[[str, float], Any], Callable[[Any], Pairs]]] = {
    "pairs": (lambda name, score: (name, score), from_pairs),
    "dicts": (lambda name, score: {"id": name, "score": score, "text": "a passage"}, from_dicts),
    "objects": (Hit, from_objects),
}


def answer_of_depth(k: int, shape: str = "dicts") -> list[Any]:
    """An answer of k results."""
    return [SHAPES[shape][0](f"document-{number}", 1.0 / (number + 1)) for number in range(k)]


def median_latency(times: list[float]) -> float:
    return sorted(times)[(len(times) - 1) // 2]


def bare_latency(call: Callable[[], Awaitable[float]], in_flight: int, total: int) -> float:
    """The p50 of calls that an event loop makes, and nothing else."""
    times: list[float] = []
    waiting = iter(range(total))

    async def work() -> None:
        for _ in waiting:
            times.append(await call())

    async def main() -> None:
        await asyncio.gather(*(work() for _ in range(in_flight)))

    asyncio.run(main())
    return median_latency(times)


def latencies(kind: str, k: int, in_flight: int, seconds: float) -> tuple[float, float]:
    """The p50 of a bare loop, and that of ``evaluate_retriever``."""
    answer, total = answer_of_depth(k), in_flight * CALLS_EACH if in_flight > 1 else 40

    async def search_async(query: str) -> list[Any]:
        await asyncio.sleep(seconds)
        return list(answer)

    def search(query: str) -> list[Any]:
        time.sleep(seconds)
        return list(answer)

    async def timed_async() -> float:
        begin = time.perf_counter()
        await search_async("")
        return time.perf_counter() - begin

    def timed() -> float:
        begin = time.perf_counter()
        search("")
        return time.perf_counter() - begin

    with ThreadPoolExecutor(in_flight) as pool:

        async def timed_in_thread() -> float:
            return await asyncio.get_running_loop().run_in_executor(pool, timed)

        bare = bare_latency(timed_async if kind == "async" else timed_in_thread, in_flight, total)
    cases = [{"id": str(number), "query": "text", "relevant_ids": ["document-3"]} for number in range(total)]
    calls = RetrieverCalls(concurrency=in_flight)
    found = evaluate_retriever(search_async if kind == "async" else search, cases, k, calls=calls).latency_ms
    assert found is not None
    return bare, found["p50"] / 1000


def reading_times(shape: str, k: int) -> tuple[float, float, float]:
    """CPU seconds of a loop that builds the list of (id, score), of ranking the answer, and of that with its texts."""
    answer, loop, rules = answer_of_depth(k, shape), SHAPES[shape][1], AnswerRules()

    def read() -> ReadAnswer:
        return rules.read(answer_of(answer), "q")

    return cpu_seconds(partial(loop, answer), k), cpu_seconds(read, k), cpu_seconds(lambda: read().columns.texts(), k)


def cpu_seconds(function: Callable[[], object], k: int) -> float:
    repeats = max(1, 20_000 // k)
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        for _ in range(repeats):
            function()
        best = min(best, (time.process_time() - begin) / repeats)
    return best


NOOP_QUERIES = 10_000
NOOP_RESULTS = 10


def noop_overheads() -> dict[str, float]:
    """CPU seconds per query of a retriever that does nothing: of a bare loop, and of evaluations."""
    answer = [f"document-{number}" for number in range(NOOP_RESULTS)]
    cases = [
        {"id": str(number), "query": f"query {number}", "relevant_ids": ["document-3"]}
        for number in range(NOOP_QUERIES)
    ]

    def search(query: str) -> list[str]:
        return answer

    async def search_async(query: str) -> list[str]:
        return answer

    def bare() -> None:
        for case in cases:
            search(str(case["query"]))

    many = RetrieverCalls(concurrency=64)
    ways: dict[str, Callable[[], object]] = {
        "a bare loop": bare,
        "`evaluate(cases, search)`": partial(evaluate, cases, search, f"RR@{NOOP_RESULTS}"),
        "`evaluate_retriever`, one in flight": partial(evaluate_retriever, search, cases, NOOP_RESULTS),
        "`evaluate_retriever`, 64 threads": partial(evaluate_retriever, search, cases, NOOP_RESULTS, calls=many),
        "`evaluate_retriever`, 64 async": partial(evaluate_retriever, search_async, cases, NOOP_RESULTS, calls=many),
    }
    return {name: cpu_seconds_once(way) / NOOP_QUERIES for name, way in ways.items()}


def cpu_seconds_once(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.005, help="how long a call takes")
    options = parser.parse_args()
    overheads = [noop_overheads() for _ in range(options.rounds)]
    print(f"| {NOOP_QUERIES:,} queries, {NOOP_RESULTS} results each | CPU µs per query |\n|---|---|")
    for name in overheads[0]:
        print(f"| {name} | {min(round[name] for round in overheads) * 1e6:.2f} |", flush=True)
    print()
    is_missed = False  # by the latencies, and by reading 1,000 results
    print("| calls | k | in flight | bare p50 ms | rankgauge p50 ms | × |\n|---|---|---|---|---|---|")
    for kind in ("async", "threads"):
        for k in DEPTHS:
            for in_flight in IN_FLIGHT:
                rounds = [latencies(kind, k, in_flight, options.seconds) for _ in range(options.rounds)]
                ratio = statistics.median(own / bare for bare, own in rounds)
                bare, own = (statistics.median(values) * 1000 for values in zip(*rounds, strict=True))
                is_missed |= ratio > MAX_LATENCY_RATIO
                print(f"| {kind} | {k:,} | {in_flight} | {bare:.2f} | {own:.2f} | {ratio:.2f} |", flush=True)
    print("\n| results | k | loop µs | ranking µs | × | with texts µs |\n|---|---|---|---|---|---|")
    for shape in SHAPES:
        for k in DEPTHS:
            times = [reading_times(shape, k) for _ in range(options.rounds)]
            ratio = statistics.median(own / bare for bare, own, _ in times)
            bare, own, texts = (min(values) * 1e6 for values in zip(*times, strict=True))
            is_missed |= k == max(DEPTHS) and ratio > MAX_READING_RATIO
            print(f"| {shape} | {k:,} | {bare:.1f} | {own:.1f} | {ratio:.2f} | {texts:.1f} |", flush=True)
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
