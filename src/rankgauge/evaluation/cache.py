"""A cache of computed values, keyed by the content they were computed from.

A key is a hash of content: judgments, run, canonical name of the measure, conventions. A query id, a file name or a
modification time say nothing about content, and a cache keyed by them would serve stale numbers.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rankgauge._version import __version__
from rankgauge.errors import UsageError
from rankgauge.io.databases import DatabaseKind, OwnedDatabase

CACHE_FORMAT = "rankgauge cache 2"
SEAL_BYTES = 16  # before each value in a file: a hash of its key and itself
MAX_ENTRIES_IN_MEMORY = 10_000
CACHE_KIND = DatabaseKind(
    "a cache",
    0x726B6763,  # "rkgc"
    version=1,
    tables=("CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",),
    hint="delete the file: its values are computed again, and nothing is lost",
    other_version="delete the file, since its values are computed again, or name another one",
)


@dataclass(frozen=True)
class CacheInfo:
    """The number of hits, misses and entries."""

    hits: int
    misses: int
    entries: int


class MetricsCache:
    """A cache in memory and, with a path, in an SQLite file that several processes may share.

    In memory the least recently used entries are evicted. The file only grows, until :meth:`clear`. Another version
    of rankgauge does not use what this one wrote.
    """

    def __init__(self, path: str | Path | None = None, *, in_memory: int = MAX_ENTRIES_IN_MEMORY) -> None:
        if in_memory < 1:
            raise UsageError(f"in_memory must be at least 1, found {in_memory}")
        self.path = None if path is None else Path(path)
        self._database = None if path is None else OwnedDatabase(Path(path), CACHE_KIND)
        self._in_memory = in_memory
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    # -- by content ------------------------------------------------------------------------------------------

    def get(self, key: str) -> bytes | None:
        """The value of a key; None if there is none."""
        with self._lock:
            value = self._memory.get(key)
            if value is None and self._database is not None:
                value = self._read(self._database, key)
            if value is None:
                self._misses += 1
            else:
                self._hits += 1
                self._remember(key, value)
            return value

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Store entries, replacing any of the same key: it has the same value, unless it is damaged."""
        with self._lock:
            for key, value in entries.items():
                self._remember(key, value)
            if self._database is not None and entries:
                with self._database.transaction() as connection:
                    connection.executemany(
                        "INSERT OR REPLACE INTO entries VALUES (?, ?)",
                        [(key, _seal(key, value) + value) for key, value in entries.items()],
                    )

    def clear(self) -> None:
        """Delete all entries, in the file too."""
        with self._lock:
            self._memory.clear()
            if self._database is not None:
                with self._database.transaction() as connection:
                    connection.execute("DELETE FROM entries")

    def info(self) -> CacheInfo:
        """Hits and misses of this object since it was created; the entries are those of the file if there is one."""
        with self._lock:
            entries = len(self._memory)
            if self._database is not None:
                entries = self._database.query("SELECT count(*) FROM entries")[0][0]
            return CacheInfo(self._hits, self._misses, entries)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()

    # -- the names of RETRIEVAL-METRICS-001, §8.2 ------------------------------------------------------------

    def get_cached_metric(self, query_id: str, metric: str, k: int, *, content: str | None = None) -> float | None:
        """The value of a metric for a query, if it was cached for this content.

        ``content`` is a hash of what the value was computed from (:func:`content_key` makes one). Without it the
        content is unknown: such a value lives as long as this object and is never written to its file.
        """
        key = _metric_key(query_id, metric, k, content)
        value = self.get(key) if content is not None else self._get_from_memory(key)
        return None if value is None or len(value) != struct.calcsize("<d") else float(struct.unpack("<d", value)[0])

    def cache_metric(self, query_id: str, metric: str, k: int, value: float, *, content: str | None = None) -> None:
        """Store the value of a metric for a query, for this content."""
        entry = {_metric_key(query_id, metric, k, content): struct.pack("<d", value)}
        if content is not None:
            self.put(entry)
        else:
            with self._lock:
                for key, packed in entry.items():
                    self._remember(key, packed)

    def _get_from_memory(self, key: str) -> bytes | None:
        with self._lock:
            value = self._memory.get(key)
            self._hits, self._misses = self._hits + (value is not None), self._misses + (value is None)
            return value

    # -- the two stores --------------------------------------------------------------------------------------

    def _remember(self, key: str, value: bytes) -> None:
        self._memory[key] = value
        self._memory.move_to_end(key)
        while len(self._memory) > self._in_memory:
            self._memory.popitem(last=False)

    @staticmethod
    def _read(database: OwnedDatabase, key: str) -> bytes | None:
        """The entry in the file; None if it is damaged, or the entry of another key."""
        rows = database.query("SELECT value FROM entries WHERE key = ?", (key,))
        if not rows or not isinstance(rows[0][0], bytes):  # SQLite stores any type in any column
            return None
        seal, value = rows[0][0][:SEAL_BYTES], rows[0][0][SEAL_BYTES:]
        return value if seal == _seal(key, value) else None

    def __enter__(self) -> MetricsCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _seal(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass") + b"\n" + value).digest()[:SEAL_BYTES]


def content_key(*parts: object) -> str:
    """A hash of strings, numbers, None, and lists, sets and mappings of them.

    It is unambiguous: every part is hashed with its type and its length.
    """
    digest = hashlib.sha256(f"{CACHE_FORMAT} {__version__}\n".encode())
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()


def _feed(digest: hashlib._Hash, part: object) -> None:
    match part:
        case None | bool() | int() | float():
            text = repr(part).encode()
        case str():
            text = part.encode("utf-8", "surrogatepass")
        case bytes():
            text = part
        case Mapping():
            digest.update(f"map {len(part)}\n".encode())
            for key, value in part.items():
                _feed(digest, key)
                _feed(digest, value)
            return
        case list() | tuple():
            digest.update(f"list {len(part)}\n".encode())
            for value in part:
                _feed(digest, value)
            return
        case set() | frozenset():
            digest.update(f"set {len(part)}\n".encode())
            for inner in sorted(content_key(value) for value in part):
                digest.update(inner.encode())
            return
        case _:
            raise UsageError(f"cannot make a content key of {type(part).__name__}")
    digest.update(f"{type(part).__name__} {len(text)}\n".encode())
    digest.update(text)


def _metric_key(query_id: str, metric: str, k: int, content: str | None) -> str:
    from rankgauge.measures.parse import parse_measure

    return content_key("metric", content, query_id, parse_measure(f"{metric}@{k}").name)
