"""Exact vector search: vectors of length 1 on a fixed grid, so that their cosine is the same on every machine.

Components are rounded to multiples of 2^-24, which float32 holds exactly. A product of two is then a multiple of
2^-48, and no sum of such products over two vectors of length 1 exceeds 1 in size: float64 holds every partial sum
exactly. So the cosine is the same number whatever the processor, the BLAS library, the order of summation or the
block size. The error of the grid, about 1e-8, is far below the six digits that a score keeps.

A cosine in float32 costs a fraction of that and is only near: :func:`float32_error` bounds its error, so that it can
propose which documents to compute exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import DEFAULT_SETTINGS
from rankgauge.core.arrays import Floats, group_of, offsets_of
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run
from rankgauge.errors import InputError, UsageError, printable, warn_user
from rankgauge.io.corpus.corpus import Corpus, unique_ids
from rankgauge.retrieval import index_files
from rankgauge.retrieval.embedders.embedder import Embedder, code_note, identity_of, unhashed_note
from rankgauge.retrieval.index_files import reported_batches
from rankgauge.retrieval.ranked_scores import cut_run, lower_bound, round_scores, top_k
from rankgauge.retrieval.retriever import Identity, QueryBatch

GRID = float(1 << 24)
FLOAT32_ROUNDING = 2.0**-24  # the largest relative error of one operation
NUMBERS_PER_BLOCK = 1 << 20  # converted to float64 at once: 8 MB
UnitVectors = NDArray[np.float32]


def to_unit(vectors: NDArray[Any], what: str = "vectors") -> UnitVectors:
    """Scale each row to length 1, on the grid; a row of zeros has no direction and stays zero."""
    rows: Floats = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2:
        raise InputError(f"{what} must be a table with one row per text, found {rows.ndim} dimensions")
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise InputError(f"{what} must be finite, found NaN or infinity in row {row + 1}")
    if rows.shape[1]:
        # cumsum adds one by one on every machine; the order of sum depends on the width of the registers.
        length = np.sqrt(np.cumsum(rows * rows, axis=1)[:, -1])
        rows = rows / np.where(length > 0, length, 1.0)[:, None]
    return (np.rint(rows * GRID) / GRID).astype(np.float32)


def cosines(queries: UnitVectors, documents: UnitVectors) -> Floats:
    """The cosine of each query with each document, exact."""
    return queries.astype(np.float64) @ documents.astype(np.float64).T


def row_cosines(queries: UnitVectors, query_row: Ints, documents: UnitVectors, document_row: Ints) -> Floats:
    """The cosine of each given pair of a query and a document, exact."""
    out = np.empty(len(query_row))
    step = max(1, NUMBERS_PER_BLOCK // max(1, queries.shape[1]))
    for begin in range(0, len(out), step):
        part = slice(begin, begin + step)
        pair = queries[query_row[part]].astype(np.float64), documents[document_row[part]].astype(np.float64)
        out[part] = np.einsum("ij,ij->i", *pair)
    return out


def float32_error(width: int) -> float:
    """An upper bound on the error of a cosine of two such vectors that is computed in float32, in any order of adding.

    The error of a sum of n products is at most n u / (1 - n u) times the sum of their sizes, where u is the largest
    relative error of one operation (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). By the
    inequality of Cauchy and Schwarz the sum of sizes is at most the product of the lengths: 1 each, up to the grid.
    Nothing underflows, since a product is 0 or at least 2^-48. A fused operation rounds once less.
    """
    rounding = width * FLOAT32_ROUNDING
    if rounding >= 0.5:
        return 2.0  # more than 8 million dimensions: nothing is known
    length = 1 + math.sqrt(width) / (2 * GRID)
    return rounding / (1 - rounding) * length * length


# Retrieval by embeddings: exact search of the vectors of a corpus.

# Exact nearest neighbors: every document is compared with every query, one block at a time.
#
# Cosines in float32 propose the documents that may be among the top k: all whose cosine, give or take the bound on
# its error, reaches the k-th. Only theirs are then computed exactly, so scores and order are those of an exact
# search.

SCORES_PER_BLOCK = 1 << 20  # held in memory at once: 4 MB
QUERIES_PER_BLOCK = 256
BELOW_ALL = -4.0  # less than any cosine, whatever its error


class Neighbors(NamedTuple):
    """The documents nearest to each query, best first."""

    offsets: Ints  # of the queries
    rows: Ints  # of the documents
    scores: Floats  # rounded cosines


class Exact:
    """Exhaustive search. It holds the vectors, which may be memory-mapped, and one block of scores in memory."""

    def __init__(
        self,
        vectors: UnitVectors,
        ids: Ids,
        *,
        scores_per_block: int = SCORES_PER_BLOCK,
        query_block: int = QUERIES_PER_BLOCK,
    ) -> None:
        self.vectors, self.ids, self.scores_per_block, self.query_block = vectors, ids, scores_per_block, query_block
        self._error = float32_error(vectors.shape[1])

    @cached_property
    def _zero_rows(self) -> Ints:
        """The documents without a direction, which are never found."""
        step = max(1, self.scores_per_block // max(1, self.vectors.shape[1]))
        begins = range(0, len(self.vectors), step)
        zero = [np.flatnonzero(~self.vectors[begin : begin + step].any(axis=1)) + begin for begin in begins]
        return np.concatenate([np.zeros(0, dtype=np.int64), *zero])

    def search(self, queries: UnitVectors, k: int) -> Neighbors:
        """The k documents nearest to each query; zero vectors of documents and queries are left out."""
        begins = range(0, len(queries), self.query_block)
        parts = [self._search_block(queries[begin : begin + self.query_block], k) for begin in begins]
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.offsets) for part in parts)])
        return Neighbors(
            np.cumsum(sizes),
            np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in parts)]),
            np.concatenate([np.zeros(0), *(part.scores for part in parts)]),
        )

    def _search_block(self, queries: UnitVectors, k: int) -> Neighbors:
        searched = np.flatnonzero(queries.any(axis=1))
        directions = queries[searched]
        group, rows, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        threshold = np.full(len(queries), BELOW_ALL)  # the score that a further document must reach, by query
        step = max(1, self.scores_per_block // max(1, len(searched)))
        for begin in range(0, len(self.vectors) if len(searched) else 0, step):
            near = directions @ np.asarray(self.vectors[begin : begin + step]).T
            zero_rows = self._zero_rows
            in_block = np.searchsorted(zero_rows, [begin, begin + step])
            near[:, zero_rows[in_block[0] : in_block[1]] - begin] = -np.inf
            query_row, column = self._candidates(near, threshold[searched], k)
            # New rows join the best so far; the top k of both are the top k of all documents seen.
            group = np.concatenate([group, searched[query_row]])
            rows = np.concatenate([rows, begin + column])
            exact = row_cosines(directions, query_row, self.vectors, begin + column)
            scores = np.concatenate([scores, round_scores(exact)])
            order = np.argsort(group, kind="stable")
            group, rows, scores = group[order], rows[order], scores[order]
            kept, offsets = top_k(offsets_of(group, len(queries)), self.ids.take(rows), scores, k)
            group, rows, scores = group_of(offsets), rows[kept], scores[kept]
            full = np.flatnonzero(np.diff(offsets) == k)
            threshold[full] = scores[offsets[full + 1] - 1]
        return Neighbors(offsets_of(group, len(queries)), rows, scores)

    def _candidates(self, near: UnitVectors, threshold: Floats, k: int) -> tuple[Ints, Ints]:
        """Query row and document column of the documents that may be among the top k, by float32 cosines.

        ``threshold`` is the rounded score of the k-th document so far. If there are more than twice k candidates, the
        k-th of this block is used too: k documents have an exact cosine of at least its value less the error.
        """
        bounds = np.array([lower_bound(value) for value in threshold.tolist()]) - self._error
        candidates = near >= _round_down(bounds)[:, None]
        crowded = np.flatnonzero(np.count_nonzero(candidates, axis=1) > 2 * k)
        if len(crowded):
            place = near.shape[1] - k
            kth = np.partition(near[crowded], place, axis=1)[:, place].astype(np.float64)
            bounds[crowded] = [lower_bound(value - self._error) - self._error for value in kth.tolist()]
            candidates[crowded] &= near[crowded] >= _round_down(bounds[crowded])[:, None]
        query_row, column = np.nonzero(candidates)
        return query_row, column


def _round_down(bounds: Floats) -> UnitVectors:
    """The bounds in float32, in which they are compared, and never above what they were."""
    return np.nextafter(bounds.astype(np.float32), np.float32(-np.inf))


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
        batch_size: int = EMBEDDING_BATCH_SIZE,
        center: float = DEFAULT_CENTER,
        name: str = "vector",
    ) -> None:
        self.name, self.embedder, self._documents, self._batch_size = name, embedder, documents, batch_size
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
            self.ids, self.vectors = index_files.ids_from_arrays(stored), stored["vectors"]
            self._shift = np.asarray(stored["shift"])
        if index is not None and self.rebuilt:
            arrays = {**index_files.ids_to_arrays(self.ids), "vectors": self.vectors, "shift": self._shift}
            index_files.save_arrays(Path(index), self.identity(), arrays)
            _saved_here.add(Path(index).resolve())
        self._index = Exact(self.vectors, self.ids)

    def identity(self) -> Identity:
        """The embedder, its center and the corpus."""
        return {
            "mode": "vector",
            "embedder": identity_of(self.embedder),
            "center": self.center,
            "corpus": self._documents.sha256,
        }

    def _stored_arrays(self, folder: Path) -> dict[str, NDArray[Any]] | None:
        """The arrays of an index that were made with the same embedder from the same corpus; None if there are none."""
        identity, name = identity_of(self.embedder), printable(str(folder), None)
        problem = unhashed_note(identity)
        if problem is not None:
            if index_files.holds_index(folder):
                warn_user(f"{name}: the vectors are computed again: {problem}")
            return None
        stored = index_files.load_arrays(folder, self.identity, _are_valid)
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


def _are_valid(arrays: index_files.Arrays) -> bool:
    """Whether stored arrays fit each other."""
    vectors, shift = arrays["vectors"], arrays["shift"]
    have_forms = index_files.has_form(vectors, np.float32, 2) and index_files.has_form(shift, np.float64, 1)
    return have_forms and index_files.valid_ids(arrays) and vectors.shape == (len(arrays["ids.length"]), len(shift))


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
