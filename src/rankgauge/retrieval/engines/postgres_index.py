"""A corpus in a table of PostgreSQL: loaded with COPY, embedded in batches, and updated where it changed.

Each batch is one transaction, and the comment of the table records what it holds: a run that was interrupted goes on
where it stopped, and a table whose comment is not ours is never changed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from rankgauge.config.postgres import PostgresSection
from rankgauge.core.progress import phase
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.retrieval.batches import batches
from rankgauge.retrieval.embedders.base import Embedder, identity_of, unhashed_note
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines import postgres_schema as schema
from rankgauge.retrieval.engines.postgres import clean_text
from rankgauge.retrieval.engines.postgres_client import VectorParameter, connected, copy_rows
from rankgauge.retrieval.engines.postgres_table import INDEX_SCHEMA, check_language, find_table, table_record
from rankgauge.retrieval.engines.vector import EMBEDDING_BATCH_SIZE, embed_texts

if TYPE_CHECKING:
    from rankgauge.retrieval.engines.postgres_client import Connection

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
    schema.check_columns(section)
    model = None if section.embedder_name is None else embedder(section.embedder_name)
    with connected(section) as connection:
        check_language(connection, section.language)
        with schema.table_lock(connection, section):
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
            schema.prepare(self.connection, self.section, layout, rebuild)
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
            self.deleted = schema.delete_others(self.connection, self.section, ids, self._count())
            schema.create_indexes(self.connection, self.section, layout["dimensions"])
            schema.write_record(
                self.connection, self.section, {**layout, "corpus": corpus.sha256, "documents": len(ids)}
            )
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
        return schema.count_rows(self.connection, self.section)

    def _load_batch(self, batch: Sequence[CorpusDocument], source: str) -> None:
        """Write the documents that the table does not hold with this text."""
        texts = [clean_text(document.full_text) for document in batch]
        ids = [document.id.decode("utf-8") for document in batch]
        hashes = [hashlib.sha256(text.encode("utf-8")).digest() for text in texts]
        stored = schema.stored_hashes(self.connection, self.section, ids)
        rows = [row for row, name in enumerate(ids) if stored.get(name) != hashes[row]]
        if not rows:
            return
        outdated = [ids[row] for row in rows if ids[row] in stored]
        schema.delete_rows(self.connection, self.section, outdated)
        vectors = self._embed([batch[row].id for row in rows], [texts[row] for row in rows])
        records = [(ids[row], texts[row], hashes[row], *vector) for row, vector in zip(rows, vectors, strict=True)]
        statement = schema.copy_statement(self.section, has_vectors=self.model is not None)
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
