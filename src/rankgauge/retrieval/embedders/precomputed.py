"""Precomputed vectors: one .npy table for the documents and one for the queries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.store import read_array


class PrecomputedEmbedder:
    """Row i of a table is the vector of the i-th id. Tables are memory-mapped."""

    name = "precomputed"
    reads_texts = False

    def __init__(
        self,
        documents: str | Path,
        document_ids: Iterable[bytes],
        queries: str | Path,
        query_ids: Iterable[bytes],
    ) -> None:
        self._tables = {"document": _load_table(documents, document_ids), "query": _load_table(queries, query_ids)}
        self._sha256 = {"documents": sha256_of_file(documents), "queries": sha256_of_file(queries)}

    def identity(self) -> Identity:
        """The hashes of both files."""
        return {"embedder": self.name, "sha256": self._sha256}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """The rows of the ids."""
        rows, table = self._tables[side]
        missing_id = next((name for name in ids if name not in rows), None)
        if missing_id is not None:
            raise InputError(f"no vector for {side} {shown(missing_id)}")
        return table[[rows[name] for name in ids]]


def _load_table(path: str | Path, ids: Iterable[bytes]) -> tuple[dict[bytes, int], NDArray[Any]]:
    table = read_array(path)
    rows = {name: row for row, name in enumerate(ids)}
    if table.ndim != 2 or len(table) != len(rows) or table.dtype.kind not in "fiu":
        raise InputError.at(
            path,
            None,
            f"expected a table of numbers with {len(rows)} rows, found {table.dtype} of shape {table.shape}",
            hint="rows must be in the order of the corpus or of the query file",
        )
    return rows, table
