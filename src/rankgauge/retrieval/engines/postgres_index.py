"""A corpus in a table of PostgreSQL: loaded with COPY, embedded in batches, and updated where it changed.

Each batch is one transaction, and the comment of the table records what it holds: a run that was interrupted goes on
where it stopped, and a table whose comment is not ours is never changed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rankgauge.config.servers import PostgresSection
from rankgauge.core.progress import phase
from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import Embedder, identity_of, unhashed_note
from rankgauge.retrieval.engines.postgres import (
    INDEX_SCHEMA,
    OPERATOR_CLASSES,
    check_language,
    clean_text,
    column_names,
    find_table,
    table_record,
)
from rankgauge.retrieval.engines.postgres_client import VectorParameter, compose, connected, copy_rows
from rankgauge.retrieval.engines.vector import EMBEDDING_BATCH_SIZE, embed_texts
from rankgauge.retrieval.index_files import batches

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Composed, Connection

DEFAULT_INDEX_BATCH_SIZE = 1000  # documents per transaction
DIMENSION_PROBE = "text"
IndexProgress = Callable[[int, int, float], None]  # documents done, documents in total, seconds since the start


@dataclass(frozen=True)
class IndexResult:
    """What loading a corpus changed in a table."""

    table: str
    documents: int
    added: int
    updated: int
    deleted: int
    seconds: float

    @property
    def is_unchanged(self) -> bool:
        """Whether the table already held exactly this corpus."""
        return not (self.added or self.updated or self.deleted)


def index_corpus(
    corpus: Corpus,
    section: PostgresSection,
    *,
    rebuild: bool = False,
    batch_size: int = DEFAULT_INDEX_BATCH_SIZE,
    progress: IndexProgress | None = None,
) -> IndexResult:
    """Make a table of PostgreSQL hold exactly a corpus, with a full-text index and, with an embedder, an HNSW index.

    Documents whose text did not change are not embedded or written again. ``rebuild`` drops a table that this
    function created before.
    """
    if batch_size < 1:
        raise UsageError(f"the batch size must be at least 1, found {batch_size}")
    check_columns(section)
    model = None if section.embedder_name is None else embedder(section.embedder_name)
    with connected(section) as connection:
        check_language(connection, section.language)
        with table_lock(connection, section):
            return _Loader(connection, section, model).load(corpus, rebuild, batch_size, progress)


class _Loader:
    """One load into one table."""

    def __init__(self, connection: Connection[Any], section: PostgresSection, model: Embedder | None) -> None:
        self.connection, self.section, self.model = connection, section, model
        self.added = self.updated = self.deleted = 0
        self.start = time.monotonic()

    def load(self, corpus: Corpus, rebuild: bool, batch_size: int, progress: IndexProgress | None) -> IndexResult:
        layout = self._layout()
        if not rebuild and self._holds(corpus, layout):
            return self._result(self._count())
        ids = _document_ids(corpus)
        with self.connection.transaction():
            prepare(self.connection, self.section, layout, rebuild)
        done = 0
        with phase("indexing", "document", len(ids)) as indexing:
            for batch in batches(corpus, batch_size):
                with self.connection.transaction():
                    self._load_batch(batch, corpus.source)
                done += len(batch)
                indexing.report(done)
                if progress is not None:
                    progress(done, len(ids), time.monotonic() - self.start)
        with self.connection.transaction():
            self.deleted = delete_others(self.connection, self.section, ids, self._count())
            create_indexes(self.connection, self.section, layout["dimensions"])
            write_record(self.connection, self.section, {**layout, "corpus": corpus.sha256, "documents": len(ids)})
        return self._result(len(ids))

    def _layout(self) -> dict[str, Any]:
        """What a table is made with; the documents of one table have all been made alike."""
        dimensions = None
        if self.model is not None:
            dimensions = embed_texts(self.model, [b"probe"], [DIMENSION_PROBE], "document").shape[1]
        identity = None if self.model is None else json.loads(json.dumps(identity_of(self.model)))
        return {
            "schema": INDEX_SCHEMA,
            "language": self.section.language,
            "embedder": identity,
            "dimensions": dimensions,
        }

    def _holds(self, corpus: Corpus, layout: dict[str, Any]) -> bool:
        """Whether the table was completely loaded from this corpus, and has as many rows as it had then."""
        table = find_table(self.connection, self.section)
        record = None if table is None else table_record(self.connection, self.section, table)
        if record is None or record["corpus"] is None or unhashed_note(layout) is not None:
            return False
        expected = {**layout, "corpus": corpus.sha256, "documents": record["documents"]}
        return record == expected and self._count() == record["documents"]

    def _count(self) -> int:
        return count_rows(self.connection, self.section)

    def _load_batch(self, batch: Sequence[CorpusDocument], source: str) -> None:
        """Write the documents that the table does not hold with this text."""
        texts = [clean_text(document.full_text) for document in batch]
        ids = [document.id.decode("utf-8") for document in batch]
        hashes = [hashlib.sha256(text.encode("utf-8")).digest() for text in texts]
        stored = stored_hashes(self.connection, self.section, ids)
        rows = [row for row, name in enumerate(ids) if stored.get(name) != hashes[row]]
        if not rows:
            return
        outdated = [ids[row] for row in rows if ids[row] in stored]
        delete_rows(self.connection, self.section, outdated)
        vectors = self._embed([batch[row].id for row in rows], [texts[row] for row in rows])
        records = [(ids[row], texts[row], hashes[row], *vector) for row, vector in zip(rows, vectors, strict=True)]
        statement = copy_statement(self.section, has_vectors=self.model is not None)
        failed, reason = copy_rows(self.connection, statement, records)
        if reason is not None:
            document = batch[rows[failed]] if failed is not None else None
            label = "" if document is None else f"document {shown(document.id)}: "
            raise InputError.at(source, document.line or None if document else None, f"{label}{reason}")
        self.updated += len(outdated)
        self.added += len(rows) - len(outdated)

    def _embed(self, ids: list[bytes], texts: list[str]) -> list[tuple[VectorParameter | None, ...]]:
        """The values of the vector column: none without an embedder, NULL for a text without a vector."""
        if self.model is None:
            return [()] * len(ids)
        out: list[tuple[VectorParameter | None, ...]] = []
        for begin in range(0, len(ids), EMBEDDING_BATCH_SIZE):
            end = begin + EMBEDDING_BATCH_SIZE
            vectors = embed_texts(self.model, ids[begin:end], texts[begin:end], "document")
            out += [(VectorParameter(vector) if vector.any() else None,) for vector in vectors]
        return out

    def _result(self, documents: int) -> IndexResult:
        seconds = time.monotonic() - self.start
        return IndexResult(self.section.table, documents, self.added, self.updated, self.deleted, seconds)


def _document_ids(corpus: Corpus) -> list[str]:
    """The ids of all documents; an error if one appears twice or is not text."""
    names = corpus.ids.to_text()
    for row, name in enumerate(names):
        if not name.isascii() and any("\udc80" <= character <= "\udcff" for character in name):
            line = next(islice(corpus, row, None)).line
            raise InputError.at(
                corpus.source, line or None, f"document id {shown(name)} is not UTF-8, which PostgreSQL cannot store"
            )
    return names


# The table that `rankgauge index` makes: its columns, its indexes, and its record.

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
