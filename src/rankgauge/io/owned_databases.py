"""SQLite files of our own that several processes may share: opened, created and written in one way.

A file of another program is never touched, a file of another version is refused, and a damaged one gives one error that
says what to do. Writers wait for each other; each transaction is written completely or not at all.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.errors import (
    WRITABLE_HINT,
    InputError,
    RankgaugeError,
    other_version,
    printable,
    shown,
    write_error,
    write_errors,
)

SQLITE_MAGIC = b"SQLite format 3\x00"
LOCK_TIMEOUT = 60.0  # seconds for which another process may hold the file
STORAGE_ERRORS = {"database or disk is full": errno.ENOSPC, "disk I/O error": errno.EIO}
UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
DAMAGED = (sqlite3.Error, UnicodeDecodeError)  # the text of an error can quote a damaged schema


@dataclass(frozen=True)
class DatabaseKind:
    """What a file is for, and its tables."""

    name: str  # with its article: "a cache"
    application_id: int  # in the header of the file
    version: int  # of its tables, in the header too
    tables: tuple[str, ...]  # the statements that create them
    hint: str  # what to do with a damaged file
    other_version: str  # what to do with a file of another version
    durable: bool = False  # whether a write-ahead log is used, so that readers and a writer do not wait for each other


class OwnedDatabase:
    """A connection that is opened on first use, in each process anew: one that a fork inherits must not be used."""

    _connection: sqlite3.Connection | None = None

    def __init__(self, path: Path, kind: DatabaseKind) -> None:
        self.path, self.kind = path, kind
        self._process = os.getpid()

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        try:
            return self._open().execute(statement, values).fetchall()
        except DAMAGED as error:
            raise self.broken(error) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed if the block succeeds; other writers wait."""
        try:
            connection = self._open()
            with _immediate(connection):
                yield connection
        except DAMAGED as error:
            raise self.broken(error) from error

    def compact(self) -> None:
        """Give the space of deleted rows back, unless another process is using the file."""
        with suppress(sqlite3.OperationalError):
            self._open().execute("VACUUM")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def broken(self, error: Exception | str) -> RankgaugeError:
        """The error for a file that cannot be used."""
        self.close()
        name = printable(str(self.path), None)
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            message = f"{name} is in use: another process has been writing for {LOCK_TIMEOUT:g} seconds"
            return InputError(message, hint="try again when it has finished")
        if isinstance(error, sqlite3.OperationalError) and str(error) in STORAGE_ERRORS:
            return write_error(self.path, OSError(STORAGE_ERRORS[str(error)], str(error)))
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in UNWRITABLE:
            return self._unwritable(str(error))
        return InputError(f"cannot use {name} as {self.kind.name}: {error}", hint=self.kind.hint)

    def check_writable(self) -> None:
        """Raise, before the work, if this process cannot write to the file."""
        if not _is_writable(self.path):
            raise self._unwritable("")

    def _unwritable(self, reason: str) -> InputError:
        reason = reason if _is_writable(self.path) else "the file or its folder is read-only"
        return InputError.at(self.path, None, f"cannot write: {reason}", hint=WRITABLE_HINT)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():
            with write_errors(self.path.parent):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                _location(self.path), uri=True, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._connection.text_factory = bytes  # a damaged entry may be text that is not UTF-8
            self._process = os.getpid()
            try:
                self._prepare(self._connection)
            except InputError:
                self.close()
                raise
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the tables of a new file; refuse a file of another program or of another version."""
        if self._owner(connection) != self.kind.application_id:
            with _immediate(connection):
                self._create(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != self.kind.version:
            raise other_version(self.path, self.kind.name, version, self.kind.version, self.kind.other_version)
        self._check_schema(connection)
        if self.kind.durable:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            with suppress(sqlite3.OperationalError):  # another process is opening it too, or the disk cannot
                connection.execute("PRAGMA journal_mode = WAL")

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        """Refuse a file with anything that we did not create: a trigger or a view would change what is stored."""
        expected, found = _schema_of_tables(self.kind.tables), _schema(connection)
        for name in sorted({*expected, *found}):
            if name not in expected:
                raise self.broken(f"it has the {found[name].kind} {shown(name)}, which rankgauge did not create")
            if name not in found:
                raise self.broken(f"it lacks the {expected[name].kind} {shown(name)}")
            if found[name] != expected[name]:
                raise self.broken(f"its {found[name].kind} {shown(name)} is not the one that rankgauge creates")

    def _create(self, connection: sqlite3.Connection) -> None:
        owner = self._owner(connection)
        if owner == self.kind.application_id:
            return  # another process has created them meanwhile
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if owner or tables:
            raise InputError(
                f"{printable(str(self.path), None)} is a database of another program, not {self.kind.name} of "
                "rankgauge",
                hint="name another file",
            )
        for statement in self.kind.tables:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {self.kind.application_id}")
        connection.execute(f"PRAGMA user_version = {self.kind.version}")

    @staticmethod
    def _owner(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])

    def __del__(self) -> None:
        self.close()


class _SchemaPart(NamedTuple):
    """A table, an index, a trigger or a view, and the statement that creates it."""

    kind: str
    table: str
    statement: str


def _schema(connection: sqlite3.Connection) -> dict[str, _SchemaPart]:
    """What a file contains, by name."""
    rows = connection.execute("SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall()
    texts = ([str(value, "utf-8", "replace") for value in row] for row in rows)
    return {name: _SchemaPart(kind, table, " ".join(statement.split())) for name, kind, table, statement in texts}


@cache
def _schema_of_tables(statements: tuple[str, ...]) -> dict[str, _SchemaPart]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = bytes
        for statement in statements:
            connection.execute(statement)
        return _schema(connection)


def _location(path: Path) -> str:
    """The URI of a file; of one that this process cannot write to, as a file that does not change.

    To read a write-ahead log, SQLite writes beside it. If there is such a log, only SQLite knows whether it can.
    """
    location = path.absolute().as_uri()
    is_there, has_log = (os.access(file, os.F_OK) for file in (path, path.with_name(f"{path.name}-wal")))
    return f"{location}?mode=ro&immutable=1" if is_there and not has_log and not _is_writable(path) else location


def _is_writable(path: Path) -> bool:
    """Whether this process can write to a file, or create it with the folders above it."""
    folder = next(folder for folder in path.absolute().parents if os.access(folder, os.F_OK))
    return os.access(folder, os.W_OK | os.X_OK) and (not os.access(path, os.F_OK) or os.access(path, os.W_OK))


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that locks at once: one that reads before it writes can be refused without waiting."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a connection that was closed, or will be, rolls back by itself
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise
