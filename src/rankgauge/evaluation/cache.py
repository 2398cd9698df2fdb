"""Values that were computed before, found again by the content of what they were computed from.

A key is a hash of content: of judgments, of a run, of a measure's canonical name, of the conventions. A query id, a
file's name or its time of change say nothing about content, and a cache that goes by them serves old numbers.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge._version import __version__
from rankgauge.errors import InputError, UsageError

FORMAT = "rankgauge cache 1"
WAIT = 60.0  # seconds for which another process may hold the file
IN_MEMORY = 10_000
APPLICATION = 0x726B6763  # "rkgc", in the header of the file

_SCHEMA = "CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


@dataclass(frozen=True)
class CacheInfo:
    """How often something was found, how often it was not, and how many entries there are."""

    hits: int
    misses: int
    entries: int


class MetricsCache:
    """A cache in memory and, with a path, in an SQLite file that several processes may share.

    In memory the entries that were not used for longest make room for new ones. The file only grows, until
    :meth:`clear`. Another version of rankgauge finds nothing that this one wrote.
    """

    _connection: sqlite3.Connection | None = None

    def __init__(self, path: str | Path | None = None, *, in_memory: int = IN_MEMORY) -> None:
        if in_memory < 1:
            raise UsageError(f"in_memory must be at least 1, found {in_memory}")
        self.path = None if path is None else Path(path)
        self._in_memory = in_memory
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._hits = self._misses = 0

    # -- what a caller with content uses ---------------------------------------------------------------------

    def get(self, key: str) -> bytes | None:
        """What was put under a key, if anything."""
        with self._lock:
            found = self._memory.get(key)
            if found is None and self.path is not None:
                found = self._read(key)
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
                self._remember(key, found)
            return found

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep some entries. Where another process was first its entry stays: the same key has the same value."""
        with self._lock:
            for key, value in entries.items():
                self._remember(key, value)
            if self.path is not None and entries:
                self._write("INSERT OR IGNORE INTO entries VALUES (?, ?)", list(entries.items()))

    def clear(self) -> None:
        """Forget everything, in the file too."""
        with self._lock:
            self._memory.clear()
            if self.path is not None:
                self._write("DELETE FROM entries", [()])

    def info(self) -> CacheInfo:
        """The counts of this object since it was made; the entries are those of the file where there is one."""
        with self._lock:
            entries = len(self._memory)
            if self.path is not None:
                entries = self._ask("SELECT count(*) FROM entries", ())[0]
            return CacheInfo(self._hits, self._misses, entries)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            self._let_go()

    # -- the names of RETRIEVAL-METRICS-001, §8.2 ------------------------------------------------------------

    def get_cached_metric(self, query_id: str, metric: str, k: int, *, content: str | None = None) -> float | None:
        """The value of a metric for a query, if it was cached for this content.

        ``content`` is a hash of what the value was computed from (:func:`content_key` makes one). Left out, nothing
        is known of the content: such values live as long as this object, and never go to its file.
        """
        key = _metric_key(query_id, metric, k, content)
        found = self.get(key) if content is not None else self._bare(key)
        return None if found is None else float(struct.unpack("<d", found)[0])

    def cache_metric(self, query_id: str, metric: str, k: int, value: float, *, content: str | None = None) -> None:
        """Keep the value of a metric for a query, for this content."""
        entry = {_metric_key(query_id, metric, k, content): struct.pack("<d", value)}
        if content is not None:
            self.put(entry)
        else:
            with self._lock:
                for key, packed in entry.items():
                    self._remember(key, packed)

    def _bare(self, key: str) -> bytes | None:
        with self._lock:
            found = self._memory.get(key)
            self._hits, self._misses = self._hits + (found is not None), self._misses + (found is None)
            return found

    # -- the two stores --------------------------------------------------------------------------------------

    def _remember(self, key: str, value: bytes) -> None:
        self._memory[key] = value
        self._memory.move_to_end(key)
        while len(self._memory) > self._in_memory:
            self._memory.popitem(last=False)

    def _read(self, key: str) -> bytes | None:
        row = self._ask("SELECT value FROM entries WHERE key = ?", (key,))
        return None if row is None else bytes(row[0])

    def _ask(self, query: str, values: tuple[str, ...]) -> Any:
        try:
            return self._open().execute(query, values).fetchone()
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _write(self, statement: str, rows: list[tuple[str, bytes]] | list[tuple[()]]) -> None:
        try:
            connection = self._open()
            # At once: a transaction that reads first and then wants to write can be refused without a wait.
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(statement, rows)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _open(self) -> sqlite3.Connection:
        """The connection of this process: one that came through a fork must not be used."""
        if self._connection is None or self._process != os.getpid():
            assert self.path is not None
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot make {self.path.parent}: {error.strerror}") from error
            self._connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            self._process = os.getpid()
            self._prepare(self._connection)
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the table in a new file; refuse a database that is somebody else's."""
        connection.execute("BEGIN IMMEDIATE")
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if owner != APPLICATION and (owner or tables):
            connection.execute("ROLLBACK")
            self._let_go()
            raise InputError(f"{self.path} is a database, but no cache of rankgauge", hint="name another file")
        if not tables:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(_SCHEMA)
        connection.execute("COMMIT")

    def _let_go(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def _broken(self, error: sqlite3.Error) -> InputError:
        self._let_go()
        return InputError(
            f"cannot use {self.path} as a cache: {error}",
            hint="delete the file: what it held is computed anew, nothing is lost",
        )

    def __enter__(self) -> MetricsCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._let_go()


def content_key(*parts: object) -> str:
    """A hash of strings, numbers, None, and lists, sets and mappings of them.

    What it is made of cannot be mistaken for something else: every part is written with its kind and its length.
    """
    digest = hashlib.sha256(f"{FORMAT} {__version__}\n".encode())
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
