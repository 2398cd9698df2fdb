"""A pool of connections to PostgreSQL. The only file that imports psycopg_pool (extra ``postgres``)."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankgauge.config.postgres import PostgresSection
from rankgauge.retrieval.engines.postgres_client import (
    configure,
    connection_string,
    missing_library,
    query_error,
    set_local,
)

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from rankgauge.retrieval.engines.postgres_client import Composed, Connection

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
