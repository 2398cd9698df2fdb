"""What the list API costs: microseconds a call, or a query, best of several rounds.

    python -m benchmarks.lists

Prints one line for ``MetricsCalculator.calculate_all`` (SPEC-003 wants less than 1000 a query), one for each function
of ``rankgauge.lists.functions`` on one query, and what a query costs in a batch of 10,000: at once, streamed, and found
again in a cache. A query has 10 retrieved ids and 4 relevant ones, three of them found.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

from rankgauge.lists import functions
from rankgauge.lists.batches import batch_evaluate_metrics, evaluate_retrieval_batch
from rankgauge.lists.calculator import MetricsCalculator
from rankgauge.lists.suite import RetrievalMetricsSuite

RETRIEVED = [f"document-{number}" for number in range(10)]
RELEVANT = ["document-0", "document-2", "document-5", "document-99"]
ONE = (
    functions.hit_at_k,
    functions.ndcg_at_k,
    functions.precision_at_k,
    functions.recall_at_k,
    functions.f1_at_k,
    functions.average_precision_at_k,
    functions.reciprocal_rank,
    functions.first_relevant_position,
    functions.count_hits,
)
QUERIES = 10_000
CALLS, ROUNDS = 200, 5


def microseconds(call: Callable[[], object], calls: int = CALLS, each: int = 1) -> float:
    """The best round's time of one call, or of each thing in it."""
    call()  # the first call looks names up
    return min(timeit.repeat(call, number=calls, repeat=ROUNDS)) / calls / each * 1e6


def main() -> None:
    """Measure and print."""
    rows = [("calculate_all", microseconds(lambda: MetricsCalculator.calculate_all(RETRIEVED, RELEVANT)))]
    for function in ONE:
        rows.append((function.__name__, microseconds(lambda function=function: function(RELEVANT, RETRIEVED))))  # type: ignore[misc]  # a lambda's default has no type
    queries = [{"relevant_docs": RELEVANT} for _ in range(QUERIES)]
    results = [[{"id": doc} for doc in RETRIEVED] for _ in range(QUERIES)]
    suite = RetrievalMetricsSuite({"performance": {"caching_enabled": True}})
    batches: list[tuple[str, Callable[[], object]]] = [
        ("a query of evaluate_retrieval_batch", lambda: evaluate_retrieval_batch(queries, results)),
        ("a query of batch_evaluate_metrics", lambda: batch_evaluate_metrics(queries, retrieval_results=results)),
        ("a query of a suite, cached", lambda: suite.evaluate_batch(queries, results)),
    ]
    rows += [(name, microseconds(call, calls=1, each=QUERIES)) for name, call in batches]
    width = max(len(name) for name, _ in rows)
    for name, time in rows:
        print(f"{name:<{width}}  {time:8.1f} µs")


if __name__ == "__main__":
    main()
