"""Connections to PostgreSQL, a pool of them, and statements for it.

The only file that imports psycopg and psycopg_pool (extra ``postgres``).
"""

from __future__ import annotations

import logging
import re
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.environment_variables import expand
from rankgauge.config.servers import PostgresSection
from rankgauge.errors import InputError, MissingExtraError, UsageError, printable
from rankgauge.secrets import first_line, register_secret

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection as Connection
    from psycopg import sql
    from psycopg.sql import Composed as Composed
    from psycopg_pool import ConnectionPool

APPLICATION_NAME = "rankgauge"
MESSAGE_CHARACTERS = 300
COPY_LINE = re.compile(r"line (\d+)")


class PostgresError(RuntimeError):
    """What the server or a connection to it reported, in one line."""


class VectorParameter:
    """A vector in the binary format of pgvector: the number of dimensions, two unused bytes, big-endian float32."""

    def __init__(self, vector: NDArray[np.float32]) -> None:
        values = vector.astype(">f4")
        self.data = len(values).to_bytes(2, "big") + b"\0\0" + values.tobytes()


def import_psycopg() -> None:
    """Import psycopg, or raise an error that says how to install it."""
    try:
        import psycopg
    except ImportError:
        raise missing_library("psycopg") from None
    assert psycopg


def missing_library(name: str) -> MissingExtraError:
    """The error for a library of the extra that is not installed."""
    return MissingExtraError(f"PostgreSQL needs the library {name}", hint="pip install 'rankgauge[postgres]'")


def connection_string(section: PostgresSection) -> str:
    """The connection string with its variables expanded; an error never shows any of it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        known = conninfo_to_dict(expand(section.dsn))
    except psycopg.ProgrammingError:
        raise UsageError(
            "dsn is not a connection string of PostgreSQL",
            hint="write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or host=… dbname=… user=…",
        ) from None
    register_secret(str(known.get("password") or ""))
    defaults = {"connect_timeout": f"{max(1, round(section.connect_timeout))}", "application_name": APPLICATION_NAME}
    return make_conninfo("", **{**defaults, **known})


@contextmanager
def connected(section: PostgresSection) -> Iterator[Connection[Any]]:
    """One connection, which commits every statement outside a transaction; what fails is an error of the user."""
    import_psycopg()
    import psycopg

    try:
        connection = psycopg.connect(connection_string(section), autocommit=True)
    except psycopg.Error as error:
        raise UsageError(
            f"cannot connect to PostgreSQL: {server_message(error)}", hint="check dsn, and that the server is running"
        ) from None
    configure(connection)
    try:
        yield connection
    except psycopg.Error as error:
        raise InputError(f"table {printable(section.table)}: {server_message(error)}") from None
    finally:
        connection.close()


def compose(template: str, names: Mapping[str, str], **literals: object) -> Composed:
    """SQL with quoted names and, where PostgreSQL takes no parameter, quoted literals; ``table`` may have a schema."""
    from psycopg import sql

    # The client library looks for parameters in the whole statement, quoted names included.
    percent = "%%" if "%" in template else "%"
    parts: dict[str, sql.Composable] = {
        key: sql.Literal(value.replace("%", percent) if isinstance(value, str) else value)
        for key, value in literals.items()
    }
    for key, name in names.items():
        escaped = name.replace("%", percent)
        parts[key] = sql.Identifier(*escaped.split(".")) if key == "table" else sql.Identifier(escaped)
    return sql.SQL(template).format(**parts)


def server_message(error: psycopg.Error) -> str:
    """The first line of what the server or the client library reported; neither repeats the password."""
    text = error.diag.message_primary or first_line(str(error), MESSAGE_CHARACTERS) or type(error).__name__
    return printable(text, MESSAGE_CHARACTERS)


def query_error(error: Exception) -> Exception:
    """What is raised for a query that failed: one line for an error of the server, any other error as it is."""
    import psycopg

    if isinstance(error, psycopg.errors.QueryCanceled):
        return TimeoutError(server_message(error))
    return PostgresError(server_message(error)) if isinstance(error, psycopg.Error) else error


def configure(connection: Connection[Any]) -> None:
    """Let the connection take vectors as parameters, and commit every statement outside a transaction."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class VectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: VectorParameter) -> bytes:
            return obj.data

    connection.adapters.register_dumper(VectorParameter, VectorDumper)
    connection.autocommit = True


def set_local(settings: Mapping[str, object]) -> tuple[Composed, list[str]]:
    """The statement that sets settings until the end of the transaction, and its parameters."""
    from psycopg import sql

    calls = sql.SQL(", ").join([sql.SQL("set_config(%s, %s, true)")] * len(settings))
    return sql.SQL("SELECT {}").format(calls), [str(part) for item in settings.items() for part in item]


def copy_rows(
    connection: Connection[Any], statement: Composed, rows: Sequence[tuple[Any, ...]]
) -> tuple[int | None, str | None]:
    """COPY rows in the binary format; if the server refuses one, its number, if it is known, and the reason."""
    import psycopg

    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
        place = COPY_LINE.search(error.diag.context or "")
        return None if place is None else int(place[1]) - 1, server_message(error)
    return None, None


# A pool of connections.

CHECK_AFTER_SECONDS = 1.0  # a connection is tested before use if no query succeeded for this long


class Database:
    """A pool of connections that opens them when they are needed and replaces those that broke."""

    def __init__(self, section: PostgresSection) -> None:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError:
            raise missing_library("psycopg_pool") from None
        logging.getLogger("psycopg").addHandler(logging.NullHandler())  # failures are raised, not also printed
        self._statement_timeout, self._connect_timeout = section.statement_timeout, section.connect_timeout
        self._last_success = 0.0
        this = weakref.ref(self)  # the pool must not keep alive what closes it

        def check(connection: Connection[Any]) -> None:
            database = this()
            if database is None or time.monotonic() - database._last_success > CHECK_AFTER_SECONDS:
                ConnectionPool.check_connection(connection)

        self._pool: ConnectionPool[Any] = ConnectionPool(
            connection_string(section),
            min_size=1,
            max_size=section.pool_size,
            timeout=section.connect_timeout,
            check=check,
            configure=configure,
            open=True,
        )
        self.close = weakref.finalize(self, self._pool.close)

    def rows(
        self, statement: Composed, parameters: Mapping[str, Any], settings: Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        """The rows of a query, with settings that hold for this query alone, whatever pools connections in between."""
        from psycopg_pool import PoolTimeout

        values = {"statement_timeout": round(1000 * self._statement_timeout), **settings}
        connection: Connection[Any] | None = None
        try:
            with self._pool.connection() as connection, connection.transaction():
                connection.execute(*set_local(values))
                rows: list[tuple[Any, ...]] = connection.execute(statement, parameters).fetchall()
        except PoolTimeout:
            raise TimeoutError(f"no connection to PostgreSQL within {self._connect_timeout:g} s") from None
        except Exception as error:
            if connection is not None and connection.broken:
                self._pool.check()  # the other connections broke with it
            raise query_error(error) from None
        self._last_success = time.monotonic()
        return rows
