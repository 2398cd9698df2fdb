"""Full-text and vector search in PostgreSQL with pgvector, described by a section of a configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.request_templates import Placeholder, RequestTemplate, case_values, parse_text
from rankgauge.config.servers import PostgresSection
from rankgauge.errors import InputError, UsageError, nearest, other_version, printable, shown, warn_user
from rankgauge.io.stored_json import Maybe, first_misfit
from rankgauge.io.text_checks import replace_lone_surrogates
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import identity_of, unhashed_note
from rankgauge.retrieval.engines.postgres_client import Database, VectorParameter, compose, connected
from rankgauge.retrieval.engines.vector import embed_texts
from rankgauge.retrieval.retriever import Identity
from rankgauge.secrets import mask_secrets

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Composed, Connection

DEFAULT_EF_SEARCH = 40  # pgvector's own
MAX_EF_SEARCH = 1000
OPERATING_KEYS = {"dsn", "pool_size", "connect_timeout", "statement_timeout"}  # they do not determine the answers


class PostgresEngine:
    """Search a table of PostgreSQL.

    The table and the connection are checked here, before any query is sent. Calls may come from several threads.
    """

    def __init__(self, section: PostgresSection, *, name: str | None = None) -> None:
        self.name, self._section = name or f"postgres-{section.kind}", section
        with connected(section) as connection:
            self._table = inspect_table(connection, section)
        self._embedder = embedder(section.embedder_name or "") if section.has_vectors else None
        self._table.check_search(section, None if self._embedder is None else identity_of(self._embedder))
        self._statement = search_statement(section, self._table.vector_type)
        self._database = Database(section)

    def identity(self) -> dict[str, Any]:
        """What determines the answers: the section without its operating values, the embedder, and the content."""
        settings = self._section.model_dump(exclude=OPERATING_KEYS)
        return {
            "engine": "postgres",
            **settings,
            "dsn": mask_secrets(self._section.dsn),
            "embedder": None if self._embedder is None else identity_of(self._embedder),
            "versions": self._table.versions,
            "content": self._table.content,
        }

    @property
    def case_fields(self) -> frozenset[str]:
        """The fields of test cases that the condition names."""
        return RequestTemplate(self._section.where or "").case_fields

    def search(self, query: str, k: int, case: Mapping[str, Any] | None = None) -> list[tuple[str, float]]:
        """The ids and scores of the best documents; a query without words gets none.

        ``case`` has the fields of a test case that the condition names, as in {case.tenant}.
        """
        text = clean_text(query)
        vector = self._embed(text)
        if not text.strip() or (vector is None and self._section.kind.startswith("vector")):
            return []
        depth = max(k, self._section.candidates) if self._section.kind.startswith("hybrid") else k
        parameters = {
            "query": text,
            "vector": None if vector is None else VectorParameter(vector),
            "depth": depth,
            "k": k,
            "rrf_k": self._section.rrf_k,
            **{name: _parameter(value) for name, value in case_values(case or {}).items()},
        }
        rows = self._database.rows(self._statement, parameters, self._settings(depth))
        return [(str(document), float(score)) for document, score in rows]

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def _embed(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a query; None if it has none."""
        if self._embedder is None:
            return None
        vector = embed_texts(self._embedder, [b"query"], [text], "query")[0]
        if self._table.dimensions not in (None, len(vector)):
            raise InputError(
                f"query vectors have {len(vector)} dimensions, column {self._section.vector_column} has "
                f"{self._table.dimensions}",
                hint="name the embedder that made the column: embedder",
            )
        return vector if vector.any() else None

    def _settings(self, depth: int) -> dict[str, object]:
        """Settings of the server for one query; a plan must not depend on how many queries came before."""
        settings: dict[str, object] = {"plan_cache_mode": "force_custom_plan"}
        if self._section.kind.endswith("-hnsw"):
            default = min(max(DEFAULT_EF_SEARCH, depth), MAX_EF_SEARCH)
            settings |= {"hnsw.ef_search": self._section.ef_search or default, "enable_seqscan": "off"}
        return settings


def _parameter(value: Any) -> Any:
    """A field of a test case as a parameter: texts, numbers and lists as they are, an object as JSON."""
    return json.dumps(value) if isinstance(value, Mapping) else clean_text(value) if isinstance(value, str) else value


def clean_text(text: str) -> str:
    """A text that PostgreSQL can store: a NUL character, which it cannot hold, becomes a space."""
    return replace_lone_surrogates(text).encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


# The SQL of a search in PostgreSQL: one statement per kind.
#
# Scores are single precision and ties are broken by the bytes of the id, descending, as
# :mod:`rankgauge.core.ranking` orders them: the list of results and a run written from it have the same order.

BEST_FIRST = "ORDER BY score DESC, id DESC"
TSQUERIES = {
    "all": "websearch_to_tsquery({language}::regconfig, %(query)s)",
    # Words of a query are joined with & only, so that this joins them with | instead.
    "any": "replace(plainto_tsquery({language}::regconfig, %(query)s)::text, ' & ', ' | ')::tsquery",
}
WORDS = "documents.{words}"
COMPUTED_WORDS = "to_tsvector({language}::regconfig, documents.{text})"  # an index on this expression is used
LEXICAL = f"""
    SELECT documents.{{id}}::text COLLATE "C" AS id, ts_rank_cd(WORDS, parsed.query, {{normalization}}) AS score
    FROM {{table}} AS documents, (SELECT TSQUERY AS query) AS parsed
    WHERE WORDS @@ parsed.query AND CONDITION
    {BEST_FIRST} LIMIT %(depth)s"""
OPERATORS = {"cosine": "<=>", "l2": "<->", "inner-product": "<#>"}
SCORES = {"cosine": "1 - (DISTANCE)", "l2": "-(DISTANCE)", "inner-product": "-(DISTANCE)"}
# An index serves ORDER BY distance only, so that ordering by a score that is computed from it compares every row.
# The distance to a vector of zeros is not a number, which would be the largest.
EXACT = """
    SELECT documents.{id}::text COLLATE "C" AS id, nullif((SCORE)::real, 'NaN') AS score
    FROM {table} AS documents WHERE CONDITION
    ORDER BY score DESC NULLS LAST, id DESC LIMIT %(depth)s"""
NEAREST = """
    SELECT id, nullif((SCORE)::real, 'NaN') AS score
    FROM (
        SELECT documents.{id}::text COLLATE "C" AS id, DISTANCE AS distance
        FROM {table} AS documents WHERE CONDITION ORDER BY DISTANCE LIMIT %(depth)s
    ) AS nearest"""
RANKED = f"SELECT id, row_number() OVER ({BEST_FIRST}) AS rank FROM (RESULTS) AS results WHERE score IS NOT NULL"
HYBRID = f"""
    SELECT id, (
        coalesce(1 / (%(rrf_k)s::float8 + lexical.rank), 0) + coalesce(1 / (%(rrf_k)s::float8 + vector.rank), 0)
    )::real AS score
    FROM ({RANKED.replace("RESULTS", "LEXICAL")}) AS lexical
    FULL JOIN ({RANKED.replace("RESULTS", "VECTOR")}) AS vector USING (id)"""


def search_statement(section: PostgresSection, vector_type: str | None) -> Composed:
    """The query of a section; its parameters are query, vector, depth, k and rrf_k."""
    lexical = LEXICAL.replace("TSQUERY", TSQUERIES[section.match])
    lexical = lexical.replace("WORDS", COMPUTED_WORDS if section.tsvector_column is None else WORDS)
    vector = _vector_template(section, vector_type)
    template = {"lexical": lexical, "vector": vector}.get(
        section.kind.removesuffix("-hnsw"), HYBRID.replace("LEXICAL", lexical).replace("VECTOR", vector)
    )
    template = template.replace("CONDITION", _condition(section.where))
    template = f"SELECT id, score FROM ({template}) AS results WHERE score IS NOT NULL {BEST_FIRST} LIMIT %(k)s"
    # Constants: an index on an expression serves a query only if the expression has the same constant.
    return compose(template, column_names(section), language=section.language, normalization=section.rank_normalization)


def _condition(where: str | None) -> str:
    """A condition of SQL in which fields of test cases are parameters; braces and % of its text are escaped."""
    if where is None:
        return "true"
    parts = [
        f"%({part.name})s" if isinstance(part, Placeholder) else re.sub(r"[{}%]", r"\g<0>\g<0>", part)
        for part in parse_text(where)
    ]
    return f"({''.join(parts)})"


def column_names(section: PostgresSection) -> dict[str, str]:
    """The names that are quoted in a statement."""
    words = {} if section.tsvector_column is None else {"words": section.tsvector_column}
    return {
        "table": section.table,
        "id": section.id_column,
        "text": section.text_column,
        "vector": section.vector_column,
        **words,
    }


def _vector_template(section: PostgresSection, vector_type: str | None) -> str:
    parameter = "%(vector)s::vector" + ("::halfvec" if vector_type == "halfvec" else "")
    distance = f"documents.{{vector}} {OPERATORS[section.distance]} {parameter}"
    score = SCORES[section.distance]
    if section.kind.endswith("-hnsw"):
        return NEAREST.replace("SCORE", score.replace("DISTANCE", "distance")).replace("DISTANCE", distance)
    return EXACT.replace("SCORE", score.replace("DISTANCE", distance))


# What a table of PostgreSQL holds, and whether a section can search it.

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
