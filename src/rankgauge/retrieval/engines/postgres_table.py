"""What a table of PostgreSQL holds, and whether a section can search it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.config.postgres import PostgresSection
from rankgauge.errors import InputError, UsageError, nearest, other_version, printable, shown, warn_user
from rankgauge.io.shapes import Maybe, first_misfit
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.base import unhashed_note
from rankgauge.retrieval.engines.postgres_client import compose

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Connection

INDEX_SCHEMA = "rankgauge.index/1"
RECORD_SHAPE = {
    "language": str,
    "embedder": Maybe(dict),
    "dimensions": Maybe(int),
    "corpus": Maybe(str),
    "documents": Maybe(int),
}
VECTOR_TYPE = re.compile(r"(?:.*\.)?(vector|halfvec)(?:\((\d+)\))?")
OPERATOR_CLASSES = {"cosine": "cosine_ops", "l2": "l2_ops", "inner-product": "ip_ops"}
COLUMNS = """
    SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
HNSW_INDEXES = """
    SELECT attname, opcname FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    JOIN pg_opclass ON pg_opclass.oid = indclass[0]
    JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
    WHERE indrelid = %s AND amname = 'hnsw' AND indisvalid"""


@dataclass(frozen=True)
class TableFacts:
    """A table: its columns with their types, its HNSW indexes, and what `rankgauge index` recorded in its comment."""

    columns: Mapping[str, str]
    hnsw: frozenset[tuple[str, str]]  # column and operator class
    record: Mapping[str, Any] | None
    versions: Mapping[str, str | None]
    vector_type: str | None = None
    dimensions: int | None = None

    @property
    def content(self) -> str | None:
        """The hash of the corpus that the table holds, if `rankgauge index` made it."""
        return None if self.record is None else self.record["corpus"]

    def check_search(self, section: PostgresSection, embedder: Identity | None) -> None:
        """Raise unless the section can search the table."""
        if self.record is not None and self.content is None:
            raise UsageError(
                f"table {printable(section.table)} is incomplete: loading it was interrupted",
                hint="run `rankgauge index` again",
            )
        self._check_column(section, section.id_column)
        if not section.kind.startswith("vector"):
            self._check_words(section)
        if section.has_vectors:
            self._check_vectors(section, embedder)

    def _check_column(self, section: PostgresSection, column: str) -> str:
        """The type of a column; an error if the table has no such column."""
        if column not in self.columns:
            close = nearest(column, list(self.columns))
            names = ", ".join(printable(name) for name in self.columns)
            raise UsageError(
                f"table {printable(section.table)} has no column {shown(column)}: it has {names}",
                hint=f"did you mean {printable(close)}?" if close else None,
            )
        return self.columns[column]

    def _check_words(self, section: PostgresSection) -> None:
        if section.tsvector_column is None:
            self._check_column(section, section.text_column)
        elif self._check_column(section, section.tsvector_column) != "tsvector":
            raise UsageError(
                f"column {shown(section.tsvector_column)} is of type {self.columns[section.tsvector_column]}, expected "
                "tsvector",
                hint="for a column of plain text: tsvector_column: null, text_column: NAME",
            )

    def _check_vectors(self, section: PostgresSection, embedder: Identity | None) -> None:
        column = section.vector_column
        found = self._check_column(section, column)
        if self.vector_type is None:
            raise UsageError(f"column {shown(column)} is of type {found}, expected vector or halfvec")
        stored = None if self.record is None else self.record["embedder"]
        if stored is not None and stored != json.loads(json.dumps(embedder)):
            raise UsageError(
                f"table {printable(section.table)} holds vectors of another embedder: {stored.get('embedder', '?')}",
                hint="name the embedder that the table was indexed with, or index it again",
            )
        problem = unhashed_note(stored)
        if problem is not None:
            warn_user(f"table {printable(section.table)}: its vectors may be those of an older model: {problem}")
        operators = f"{self.vector_type}_{OPERATOR_CLASSES[section.distance]}"
        if section.kind.endswith("-hnsw") and (column, operators) not in self.hnsw:
            raise UsageError(
                f"table {printable(section.table)} has no HNSW index on {printable(column)} with {operators}",
                hint=f"use kind {section.kind.removesuffix('-hnsw')}, or create the index",
            )


def inspect_table(connection: Connection[Any], section: PostgresSection) -> TableFacts:
    """Look up a table; an error if there is none, or if the server does not know the language."""
    check_language(connection, section.language)
    table = find_table(connection, section)
    if table is None:
        raise UsageError(
            f"table {shown(section.table)} not found in the database", hint="load a corpus into it: rankgauge index"
        )
    columns = dict(connection.execute(COLUMNS, [table]).fetchall())
    match = VECTOR_TYPE.fullmatch(columns.get(section.vector_column, ""))
    return TableFacts(
        columns,
        frozenset(connection.execute(HNSW_INDEXES, [table]).fetchall()),
        table_record(connection, section, table),
        server_versions(connection),
        None if match is None else match[1],
        None if match is None or match[2] is None else int(match[2]),
    )


def find_table(connection: Connection[Any], section: PostgresSection) -> int | None:
    """The number under which the server knows a table; None if there is none."""
    name = compose("{table}", {"table": section.table}).as_string(connection)
    row = connection.execute("SELECT to_regclass(%s)::oid", [name]).fetchone()
    return None if row is None else row[0]


def table_record(connection: Connection[Any], section: PostgresSection, table: int) -> dict[str, Any] | None:
    """What `rankgauge index` recorded in the comment of a table that it created; None for any other table."""
    row = connection.execute("SELECT obj_description(%s, 'pg_class')", [table]).fetchone()
    try:
        record = json.loads((row or [None])[0] or "null")
    except (ValueError, RecursionError):
        return None
    name, _, version = INDEX_SCHEMA.partition("/")
    found_name, _, found_version = str(record.get("schema") if isinstance(record, dict) else None).partition("/")
    if found_name != name:
        return None
    if found_version != version:
        action = "drop the table and index again, or name another one"
        raise other_version(f"table {section.table}", "an index", found_version, version, action)
    misfit = first_misfit(record, RECORD_SHAPE)
    if misfit is not None:
        raise InputError(
            f"table {printable(section.table)}: its comment is not a complete record of rankgauge index: "
            f"expected {misfit.expected} as {misfit.path}, found {misfit.found}",
            hint="the table is not changed: drop it and index again, or name another one",
        )
    return dict(record)


def check_language(connection: Connection[Any], language: str) -> None:
    """Raise unless the server has a text search configuration of this name."""
    known = [row[0] for row in connection.execute("SELECT cfgname FROM pg_ts_config ORDER BY cfgname").fetchall()]
    if language.rpartition(".")[2] not in known:
        close = nearest(language, known)
        raise UsageError(
            f"PostgreSQL has no text search configuration {shown(language)}"
            + (f"; did you mean {close}?" if close else ""),
            hint=f"choose one of {', '.join(map(printable, known))}",
        )


def server_versions(connection: Connection[Any]) -> dict[str, str | None]:
    """The versions of PostgreSQL and pgvector."""
    row = connection.execute(
        "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
    ).fetchone()
    assert row is not None
    return {"postgresql": row[0], "pgvector": row[1]}
