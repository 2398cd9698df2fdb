"""Values that were computed already, in memory (RETRIEVAL-METRICS-001, §8.2)."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.errors import MeasureError, UsageError
from rankgauge.lists.batches import ListBatch
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure

MAX_ENTRIES = 10_000


@dataclass(frozen=True)
class CacheInfo:
    """The number of hits, misses and entries."""

    hits: int
    misses: int
    entries: int


class MetricsCache:
    """A cache in memory, from which the least recently used entries are evicted.

    A value of a query is found by its names, whatever it was computed from; the values of a batch by its content.
    """

    def __init__(self, *, max_entries: int = MAX_ENTRIES) -> None:
        if max_entries < 1:
            raise UsageError(f"max_entries must be at least 1, found {max_entries}")
        self._max_entries = max_entries
        self._entries: OrderedDict[Hashable, float | Floats] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    def get_cached_metric(self, query_id: str, metric: str, k: int) -> float | None:
        """The value of a metric for a query, if it was cached."""
        value = self._get((query_id, _metric_name(metric, k)))
        return value if isinstance(value, float) else None

    def cache_metric(self, query_id: str, metric: str, k: int, value: float) -> None:
        """Store the value of a metric for a query."""
        self._put((query_id, _metric_name(metric, k)), float(value))

    def batch_values(
        self, batch: ListBatch, measures: Mapping[str, Measure], compute: Callable[[], dict[str, Floats]]
    ) -> dict[str, Floats]:
        """The values of each query of a batch, computed only if those of a measure are not cached yet."""
        # repr writes lists, strings and numbers without ambiguity, and much faster than one value at a time.
        content = hashlib.sha256(repr(batch).encode("utf-8", "surrogatepass")).digest()
        found = {name: self._get((content, measure.name)) for name, measure in measures.items()}
        cached = {name: values for name, values in found.items() if isinstance(values, np.ndarray)}
        if len(cached) == len(measures):
            return cached
        computed = compute()
        for name, measure in measures.items():
            self._put((content, measure.name), computed[name])
        return computed

    def clear(self) -> None:
        """Delete all entries."""
        with self._lock:
            self._entries.clear()

    def info(self) -> CacheInfo:
        """Hits and misses since the cache was created, and the number of entries."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, len(self._entries))

    def _get(self, key: Hashable) -> float | Floats | None:
        with self._lock:
            value = self._entries.get(key)
            self._hits, self._misses = self._hits + (value is not None), self._misses + (value is None)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def _put(self, key: Hashable, value: float | Floats) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


def _metric_name(metric: str, k: int) -> str:
    """The canonical name of a measure at a cutoff; any other metric has the name that it was given."""
    try:
        return parse_measure(f"{metric}@{k}").name
    except MeasureError:
        return f"{metric}@{k}"
