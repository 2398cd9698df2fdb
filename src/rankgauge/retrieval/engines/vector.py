"""Retrieval by embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import DEFAULT_SETTINGS
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, UsageError, printable, warn_user
from rankgauge.io.corpus.corpus import Corpus, unique_ids
from rankgauge.retrieval import store
from rankgauge.retrieval.base import Identity, QueryBatch
from rankgauge.retrieval.batches import reported_batches
from rankgauge.retrieval.embedders.base import Embedder, code_note, identity_of, unhashed_note
from rankgauge.retrieval.engines.exact import Exact, VectorIndex
from rankgauge.retrieval.engines.vectors import UnitVectors, to_unit
from rankgauge.retrieval.scores import cut_run

EMBEDDING_BATCH_SIZE = 256  # texts given to an embedder at once
DOCUMENTS_PER_BLOCK = 4096  # centered at once
_saved_here: set[Path] = set()  # folders of vectors that this process computed
DEFAULT_CENTER = DEFAULT_SETTINGS.center


class Vector:
    """Rank documents by the cosine of their vectors with the query's.

    ``center`` is the share of the corpus's mean vector that is first subtracted from documents and queries: vectors of
    static embedders have a common component that does not distinguish texts. By default nothing is subtracted.
    With ``index``, the vectors are kept in that folder and rebuilt only if the corpus or the embedder changed; those of
    an embedder that cannot be hashed are rebuilt every time.
    """

    def __init__(
        self,
        documents: Corpus,
        embedder: Embedder,
        *,
        index: str | Path | None = None,
        search: Any = Exact,
        batch_size: int = EMBEDDING_BATCH_SIZE,
        center: float = DEFAULT_CENTER,
        name: str = "vector",
    ) -> None:
        self.name, self.embedder, self._documents, self._batch_size = name, embedder, documents, batch_size
        self._index_description = describe_index(search)
        self.center = float(center)
        if not 0 <= self.center <= 1:
            raise UsageError(f"center must be from 0 (subtract nothing) to 1 (the whole mean), found {self.center:g}")
        stored = None if index is None else self._stored_arrays(Path(index))
        self.rebuilt = stored is None
        if stored is None:
            self.ids, self.vectors = self._embed_documents()
            self._shift = mean_vector(self.vectors) * self.center
            subtract(self.vectors, self._shift)
        else:
            self.ids, self.vectors = store.ids_from_arrays(stored), stored["vectors"]
            self._shift = np.asarray(stored["shift"])
        if index is not None and self.rebuilt:
            arrays = {**store.ids_to_arrays(self.ids), "vectors": self.vectors, "shift": self._shift}
            store.save_arrays(Path(index), self._header(), arrays)
            _saved_here.add(Path(index).resolve())
        self._index: VectorIndex = search(self.vectors, self.ids)

    def identity(self) -> Identity:
        """The embedder, the search and the corpus."""
        return {
            "mode": "vector",
            "embedder": identity_of(self.embedder),
            "center": self.center,
            "index": self._index_description,
            "corpus": self._documents.sha256,
        }

    def _header(self) -> Identity:
        """The identity without the search, which does not change the vectors."""
        return {key: value for key, value in self.identity().items() if key != "index"}

    def _stored_arrays(self, folder: Path) -> dict[str, NDArray[Any]] | None:
        """The arrays of an index that were made with the same embedder from the same corpus; None if there are none."""
        identity, name = identity_of(self.embedder), printable(str(folder), None)
        problem = unhashed_note(identity)
        if problem is not None:
            if store.holds_index(folder):
                warn_user(f"{name}: the vectors are computed again: {problem}")
            return None
        stored = store.load_arrays(folder, self._header, _are_valid)
        caveat = code_note(identity)
        if stored is not None and caveat is not None and folder.resolve() not in _saved_here:
            warn_user(f"{name}: stored vectors are used again: {caveat}")
        return stored

    def embed_queries(self, queries: QueryBatch) -> UnitVectors:
        """The vectors of queries; an empty query has a zero vector."""
        names = list(queries.ids)
        parts = [
            embed_texts(self.embedder, names[begin:end], queries.texts[begin:end], "query")
            for begin, end in pairwise([*range(0, len(queries), self._batch_size), len(queries)])
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.vectors.shape[1]), dtype=np.float32)

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        vectors = self.embed_queries(queries)
        if vectors.shape[1] != self.vectors.shape[1]:
            raise InputError(
                f"query vectors have {vectors.shape[1]} dimensions, document vectors {self.vectors.shape[1]}",
                hint="use the same model for both",
            )
        subtract(vectors, self._shift)
        offsets, rows, scores = self._index.search(vectors, k)
        return cut_run(self.name, queries.ids, offsets, self.ids.take(rows), scores, k)

    def _embed_documents(self) -> tuple[Ids, UnitVectors]:
        names: list[bytes] = []
        lines: list[int] = []
        parts: list[NDArray[np.float32]] = []
        for batch in reported_batches("embedding", self._documents, self._batch_size):
            names += [document.id for document in batch]
            lines += [document.line for document in batch]
            texts = [document.full_text for document in batch]
            parts.append(embed_texts(self.embedder, [document.id for document in batch], texts, "document"))
        return unique_ids(self._documents.source, names, lines), _join_parts(parts, len(names))


def _are_valid(arrays: store.Arrays) -> bool:
    """Whether stored arrays fit each other."""
    vectors, shift = arrays["vectors"], arrays["shift"]
    have_forms = store.has_form(vectors, np.float32, 2) and store.has_form(shift, np.float64, 1)
    return have_forms and store.valid_ids(arrays) and vectors.shape == (len(arrays["ids.length"]), len(shift))


def mean_vector(vectors: UnitVectors) -> Floats:
    """The mean of the vectors that are not zero; the sum is exact, so neither order nor block size matters."""
    total, count = np.zeros(vectors.shape[1]), 0
    for begin in range(0, len(vectors), DOCUMENTS_PER_BLOCK):
        block = vectors[begin : begin + DOCUMENTS_PER_BLOCK]
        total += block.sum(axis=0, dtype=np.float64)
        count += int(block.any(axis=1).sum())
    return total / max(count, 1)


def subtract(vectors: UnitVectors, shift: Floats) -> None:
    """Subtract a vector from unit vectors, in place, and rescale them to length 1; zero vectors stay zero."""
    if not shift.any():
        return
    for begin in range(0, len(vectors), DOCUMENTS_PER_BLOCK):
        block = vectors[begin : begin + DOCUMENTS_PER_BLOCK]
        moved = block - shift
        moved[~np.asarray(block.any(axis=1))] = 0
        block[:] = to_unit(moved)


def describe_index(search: Any) -> str:
    """The name of an index type, with the arguments that ``functools.partial`` bound to it."""
    index_type = getattr(search, "func", search)
    arguments = getattr(search, "keywords", {})
    return str(index_type.__name__).lower() + "".join(f" {key}={value}" for key, value in sorted(arguments.items()))


def embed_texts(embedder: Embedder, ids: list[bytes], texts: Sequence[str], side: str) -> UnitVectors:
    """Unit vectors of texts; a text of only white space has a zero vector, whatever the embedder returns for it."""
    vectors = to_unit(embedder.embed(ids, list(texts), side), f"vectors of {embedder.name}")
    if len(vectors) != len(texts):
        raise InputError(f"embedder {embedder.name} returned {len(vectors)} vectors for {len(texts)} texts")
    if embedder.reads_texts:
        vectors[[not text.strip() for text in texts]] = 0
    return vectors


def _join_parts(parts: list[UnitVectors], count: int) -> UnitVectors:
    """One table of all parts, each of which is released as soon as it is copied."""
    out = np.empty((count, parts[0].shape[1] if parts else 0), dtype=np.float32)
    end = count
    while parts:
        part = parts.pop()
        if part.shape[1] != out.shape[1]:
            raise InputError(f"an embedder must return vectors of one size, found {part.shape[1]} and {out.shape[1]}")
        out[end - len(part) : end] = part
        end -= len(part)
    return out
