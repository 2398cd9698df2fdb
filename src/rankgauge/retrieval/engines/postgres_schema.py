"""The table that `rankgauge index` makes: its columns, its indexes, and its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankgauge.config.postgres import PostgresSection
from rankgauge.errors import UsageError, printable, shown
from rankgauge.retrieval.embedders.base import unhashed_note
from rankgauge.retrieval.engines.postgres_client import compose, copy_rows
from rankgauge.retrieval.engines.postgres_statements import column_names
from rankgauge.retrieval.engines.postgres_table import OPERATOR_CLASSES, find_table, table_record

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Composed, Connection

MAX_HNSW_DIMENSIONS = 2000  # of the type vector in pgvector
HASH_COLUMN = "text_sha256"
REBUILD_HINT = "name another table, or load it again: --rebuild, rebuild=True"
LAYOUT_KEYS = ("language", "embedder", "dimensions")
CREATE_TABLE = """
    CREATE TABLE {table} (
        {id} text PRIMARY KEY,
        {text} text NOT NULL,
        {hash} bytea NOT NULL,
        {words} tsvector GENERATED ALWAYS AS (to_tsvector({language}::regconfig, {text})) STORED
    )"""
INDEX_METHODS = """
    SELECT amname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    WHERE indrelid = %s AND indisvalid"""


def check_columns(section: PostgresSection) -> None:
    """Raise unless the section names a different column for everything that the table holds."""
    names = [name for key, name in column_names(section).items() if key != "table"] + [HASH_COLUMN]
    if section.tsvector_column is None or len(set(names)) < len(names):
        raise UsageError(
            "a table can be loaded only with four columns of different names: id_column, text_column, "
            "tsvector_column and vector_column",
            hint="leave them out: the defaults are id, text, words and embedding",
        )


@contextmanager
def table_lock(connection: Connection[Any], section: PostgresSection) -> Iterator[None]:
    """Hold a lock of the server for one table; another load of the same table is an error."""
    lock = "hashtextextended('rankgauge index ' || %s, 0)"
    row = connection.execute(f"SELECT pg_try_advisory_lock({lock})", [section.table]).fetchone()
    if row is None or not row[0]:
        raise UsageError(f"another process is loading table {printable(section.table)}", hint="wait until it ends")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute(f"SELECT pg_advisory_unlock({lock})", [section.table])


def prepare(connection: Connection[Any], section: PostgresSection, layout: Mapping[str, Any], rebuild: bool) -> None:
    """Create the table unless it is there; one that was not made here, or was made differently, is an error."""
    table = find_table(connection, section)
    if table is not None:
        record = table_record(connection, section, table)
        name = printable(section.table)
        if record is None:
            raise UsageError(
                f"table {name} was not created by rankgauge index, and is not changed", hint="name another table"
            )
        different = next((key for key in LAYOUT_KEYS if record[key] != layout[key]), None)
        if rebuild:
            connection.execute(compose("DROP TABLE {table}", {"table": section.table}))
            table = None
        elif different is not None:
            raise UsageError(
                f"table {name} was indexed with another {different}: {_value(record[different])}, "
                f"now {_value(layout[different])}",
                hint=REBUILD_HINT,
            )
        elif (problem := unhashed_note(layout)) is not None:
            raise UsageError(f"the vectors of table {name} cannot be used again: {problem}", hint=REBUILD_HINT)
    if table is None:
        _create(connection, section, layout)
    write_record(connection, section, {**layout, "corpus": None, "documents": None})


def _value(value: Any) -> str:
    if not isinstance(value, dict):
        return "none" if value is None else shown(str(value))
    digest = value.get("sha256")
    return shown(str(value.get("embedder", value))) + (f" (sha256 {digest[:12]})" if isinstance(digest, str) else "")


def _create(connection: Connection[Any], section: PostgresSection, layout: Mapping[str, Any]) -> None:
    names = column_names(section)
    connection.execute(compose(CREATE_TABLE, {**names, "hash": HASH_COLUMN}, language=layout["language"]))
    if layout["dimensions"] is not None:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        statement = "ALTER TABLE {table} ADD COLUMN {vector} vector({dimensions})"
        connection.execute(compose(statement, names, dimensions=layout["dimensions"]))


def write_record(connection: Connection[Any], section: PostgresSection, record: Mapping[str, Any]) -> None:
    """Record in the comment of the table what it holds; ``corpus`` is None until it is complete."""
    text = json.dumps(record, sort_keys=True)
    connection.execute(compose("COMMENT ON TABLE {table} IS {text}", {"table": section.table}, text=text))


def create_indexes(connection: Connection[Any], section: PostgresSection, dimensions: int | None) -> None:
    """Create the indexes that are missing, and collect the statistics of the planner."""
    names = column_names(section)
    methods = {row[0] for row in connection.execute(INDEX_METHODS, [find_table(connection, section)]).fetchall()}
    if "gin" not in methods:
        connection.execute(compose("CREATE INDEX ON {table} USING gin ({words})", names))
    if dimensions is not None and dimensions <= MAX_HNSW_DIMENSIONS and "hnsw" not in methods:
        operators = f"vector_{OPERATOR_CLASSES[section.distance]}"
        statement = "CREATE INDEX ON {table} USING hnsw ({vector} {operators})"
        connection.execute(compose(statement, {**names, "operators": operators}))
    connection.execute(compose("ANALYZE {table}", {"table": section.table}))


def count_rows(connection: Connection[Any], section: PostgresSection) -> int:
    """The number of documents in the table."""
    row = connection.execute(compose("SELECT count(*) FROM {table}", {"table": section.table})).fetchone()
    return 0 if row is None else int(row[0])


def stored_hashes(connection: Connection[Any], section: PostgresSection, ids: list[str]) -> dict[str, bytes]:
    """The hash of the stored text of each id that the table has."""
    names = {"table": section.table, "id": section.id_column, "hash": HASH_COLUMN}
    return dict(connection.execute(compose("SELECT {id}, {hash} FROM {table} WHERE {id} = ANY(%s)", names), [ids]))


def delete_rows(connection: Connection[Any], section: PostgresSection, ids: list[str]) -> None:
    """Delete documents by id."""
    if ids:
        names = {"table": section.table, "id": section.id_column}
        connection.execute(compose("DELETE FROM {table} WHERE {id} = ANY(%s)", names), [ids])


def delete_others(connection: Connection[Any], section: PostgresSection, ids: list[str], count: int) -> int:
    """Delete the documents whose ids are not in the corpus, all of which the table has; return how many there were."""
    if count == len(ids):
        return 0
    connection.execute("CREATE TEMPORARY TABLE rankgauge_corpus_ids (id text NOT NULL) ON COMMIT DROP")
    copy = compose("COPY pg_temp.rankgauge_corpus_ids (id) FROM STDIN (FORMAT BINARY)", {})
    copy_rows(connection, copy, [(name,) for name in ids])
    statement = """
        DELETE FROM {table} AS documents
        WHERE NOT EXISTS (SELECT FROM pg_temp.rankgauge_corpus_ids AS kept WHERE kept.id = documents.{id})"""
    return connection.execute(compose(statement, {"table": section.table, "id": section.id_column})).rowcount


def copy_statement(section: PostgresSection, *, has_vectors: bool) -> Composed:
    """The COPY that takes id, text, hash and, with an embedder, the vector."""
    columns = "{id}, {text}, {hash}" + (", {vector}" if has_vectors else "")
    names = {**column_names(section), "hash": HASH_COLUMN}
    return compose(f"COPY {{table}} ({columns}) FROM STDIN (FORMAT BINARY)", names)
