"""One vector query at a time over many passages: the exact search beside float32 in plain NumPy, in turns.

NumPy's answer is the top k by float32 cosines, ties and near-ties in any order; ours is the exact order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.retrieval.engines.vector import Exact, to_unit

WIDTH = 256  # of WordLlama's vectors
QUERIES = 60


def timed(documents: int, k: int) -> dict[str, float]:
    """The median milliseconds of each way, and the largest share of documents by which their answers differ."""
    chance = np.random.default_rng(20)
    vectors = to_unit(chance.normal(size=(documents, WIDTH)))
    index = Exact(vectors, Ids.from_text([f"d{number}" for number in range(documents)]))
    queries = to_unit(chance.normal(size=(QUERIES, WIDTH)))

    def numpy_alone(query: int) -> set[int]:
        scores = vectors @ queries[query]
        top = np.argpartition(scores, -k)[-k:]
        return set(top[np.argsort(-scores[top])].tolist())

    def ours(query: int) -> set[int]:
        return set(index.search(queries[query : query + 1], k)[1].tolist())

    ways: dict[str, Callable[[int], set[int]]] = {"numpy": numpy_alone, "exact": ours}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    missing = 0
    for query in range(QUERIES):
        found = []
        for name, way in ways.items():
            start = time.perf_counter()
            found.append(way(query))
            seconds[name].append(time.perf_counter() - start)
        missing = max(missing, len(found[0] ^ found[1]))
    return {**{name: 1000 * median(values) for name, values in seconds.items()}, "different": missing / k}


def show(documents: int, k: int) -> None:
    """Print one line: both times and their ratio."""
    found = timed(documents, k)
    print(
        f"\none vector query, {documents:,} passages of {WIDTH} dimensions, top {k}: exact {found['exact']:.1f} ms, "
        f"NumPy float32 {found['numpy']:.1f} ms (×{found['exact'] / found['numpy']:.2f}); "
        f"documents that differ: at most {found['different']:.0%}"
    )
