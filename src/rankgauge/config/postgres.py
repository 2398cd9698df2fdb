"""The section of a retriever that searches PostgreSQL."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rankgauge.config.sections import ConfigSection, Text

MAX_IDENTIFIER_BYTES = 63  # PostgreSQL shortens longer names without an error
PostgresKind = Literal["lexical", "vector", "vector-hnsw", "hybrid", "hybrid-hnsw"]
PostgresDistance = Literal["cosine", "l2", "inner-product"]


def _check_identifier(name: str) -> str:
    """A name of a table or column as PostgreSQL stores it; it is always quoted, so every other character is valid."""
    if not 0 < len(name.encode("utf-8", "replace")) <= MAX_IDENTIFIER_BYTES or "\0" in name:
        raise PydanticCustomError("identifier", f"a name of 1 to {MAX_IDENTIFIER_BYTES} bytes")
    return name


def _check_table(name: str) -> str:
    parts = name.split(".")
    if len(parts) > 2:
        raise PydanticCustomError("identifier", "TABLE or SCHEMA.TABLE")
    for part in parts:
        _check_identifier(part)
    return name


Column = Annotated[str, AfterValidator(_check_identifier)]
Table = Annotated[str, AfterValidator(_check_table)]


class PostgresSection(ConfigSection):
    """Full-text and vector search in a table of PostgreSQL; the default columns are those of `rankgauge index`."""

    dsn: Text = Field(description="Connection string, usually from the environment: ${DATABASE_URL}.")
    table: Table = Field(description="TABLE or SCHEMA.TABLE.")
    kind: PostgresKind = Field(
        default="lexical",
        description="lexical, vector (compares every row), vector-hnsw (uses the HNSW index), or hybrid and "
        "hybrid-hnsw, which fuse lexical and vector by rank.",
    )
    id_column: Column = Field(default="id", description="The id of a document, of any type.")
    text_column: Column = Field(default="text", description="The text, which is searched without a tsvector_column.")
    tsvector_column: Column | None = Field(
        default="words", description="The tsvector of the text; null computes it from text_column in every query."
    )
    vector_column: Column = Field(default="embedding", description="The vector, of type vector or halfvec.")
    language: Text = Field(default="english", description="The text search configuration (regconfig).")
    match: Literal["all", "any"] = Field(
        default="all",
        description="all reads the query with websearch_to_tsquery: every word must match; any: at least one word.",
    )
    rank_normalization: Annotated[int, Field(ge=0, le=63)] = Field(
        default=0, description="The normalization flags of ts_rank_cd."
    )
    embedder: Text | None = Field(
        default=None,
        description="What embeds queries, and documents in `rankgauge index`. Default: wordllama; none for lexical.",
    )
    distance: PostgresDistance = Field(default="cosine", description="How vectors are compared.")
    ef_search: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="hnsw.ef_search. Default: 40, or the number of results if that is larger."
    )
    rrf_k: Annotated[float, Field(gt=0)] = Field(default=60, description="The constant of reciprocal rank fusion.")
    candidates: Annotated[int, Field(ge=1)] = Field(
        default=100, description="Results of each side that hybrid fuses, at least as many as are requested."
    )
    pool_size: Annotated[int, Field(ge=1)] = Field(default=32, description="Connections at the same time, at most.")
    connect_timeout: Annotated[float, Field(gt=0)] = Field(default=10, description="Seconds to wait for a connection.")
    statement_timeout: Annotated[float, Field(gt=0)] = Field(
        default=30, description="Seconds after which the server cancels a query."
    )

    @property
    def has_vectors(self) -> bool:
        """Whether a search compares vectors."""
        return self.kind != "lexical"

    @property
    def embedder_name(self) -> str | None:
        """The embedder, by default that of the other retrievers; None if nothing is embedded."""
        return self.embedder or ("wordllama" if self.has_vectors else None)
