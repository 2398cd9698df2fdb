"""Full-text and vector search in PostgreSQL with pgvector, described by a section of a configuration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.postgres import PostgresSection
from rankgauge.errors import InputError
from rankgauge.io.text import replace_lone_surrogates
from rankgauge.retrieval.embedders.base import identity_of
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.postgres_client import VectorParameter, connected
from rankgauge.retrieval.engines.postgres_pool import Database
from rankgauge.retrieval.engines.postgres_statements import search_statement
from rankgauge.retrieval.engines.postgres_table import inspect_table
from rankgauge.retrieval.engines.vector import embed_texts
from rankgauge.secrets import mask_secrets

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

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The ids and scores of the best documents; a query without words gets none."""
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


def clean_text(text: str) -> str:
    """A text that PostgreSQL can store: a NUL character, which it cannot hold, becomes a space."""
    return replace_lone_surrogates(text).encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
