"""Retrieval by meaning: an embedder, and every document compared with every query, a block at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.errors import InputError, UsageError
from rankgauge.retrieval import store
from rankgauge.retrieval.base import Identity, Questions
from rankgauge.retrieval.batches import batches
from rankgauge.retrieval.corpus.documents import Documents, ids_of
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.engines.vectors import Unit, cosines, unit
from rankgauge.retrieval.scores import SLACK, contenders, cut_run, first, rounded

BLOCK = 4096  # documents compared at once
TOGETHER = 256  # queries compared at once
EMBEDDED = 256  # texts given to an embedder at once


class Index(Protocol):
    """Finds the documents nearest to query vectors."""

    def search(self, queries: Unit, k: int) -> tuple[Ints, Ints, Floats]:
        """Where each query's results begin, the documents' places, and their rounded cosines, best first."""


class Exact:
    """Every document is looked at. Memory is the vectors, which may be mapped from disk, and one block of scores."""

    def __init__(self, vectors: Unit, ids: Ids, *, block: int = BLOCK, together: int = TOGETHER) -> None:
        self.vectors, self.ids, self.block, self.together = vectors, ids, block, together

    def search(self, queries: Unit, k: int) -> tuple[Ints, Ints, Floats]:
        """The k nearest of each query; documents and queries without a direction are left out."""
        parts = [self._search(queries[at : at + self.together], k) for at in range(0, len(queries), self.together)]
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(offsets) for offsets, _, _ in parts)])
        return (
            np.cumsum(sizes),
            np.concatenate([np.zeros(0, dtype=np.int64), *(rows for _, rows, _ in parts)]),
            np.concatenate([np.zeros(0), *(scores for _, _, scores in parts)]),
        )

    def _search(self, queries: Unit, k: int) -> tuple[Ints, Ints, Floats]:
        asked = np.flatnonzero(queries.any(axis=1))
        group, rows, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        least = np.full(len(queries), -np.inf)  # what a further document must reach, by query
        for begin in range(0, len(self.vectors), self.block):
            block = self.vectors[begin : begin + self.block]
            cosine = cosines(queries[asked], block)
            cosine[:, ~block.any(axis=1)] = -np.inf
            at, place = _reaching(cosine, least[asked], k)
            # New rows join the best so far; the k best of both are the best of all that was seen.
            group = np.concatenate([group, asked[at]])
            rows = np.concatenate([rows, begin + place])
            scores = np.concatenate([scores, rounded(cosine[at, place])])
            by = np.argsort(group, kind="stable")
            group, rows, scores = group[by], rows[by], scores[by]
            kept, offsets = first(offsets_of(group, len(queries)), self.ids.take(rows), scores, k)
            group, rows, scores = group_of(offsets), rows[kept], scores[kept]
            full = np.flatnonzero(np.diff(offsets) == k)
            least[full] = scores[offsets[full + 1] - 1]
        return offsets_of(group, len(queries)), rows, scores


def _reaching(cosine: Floats, least: Floats, k: int) -> tuple[Ints, Ints]:
    """Query and place of the cosines that may be among the first k."""
    margin = least - np.where(np.isfinite(least), np.abs(least) * SLACK, 0)
    at, place = np.nonzero((cosine >= margin[:, None]) & (cosine > -np.inf))
    if len(at) <= 2 * k * len(cosine):
        return at.astype(np.int64), place.astype(np.int64)
    # The first block, or one full of good documents: sort only what can count.
    chosen = []
    for row in range(len(cosine)):
        mine = place[np.searchsorted(at, row) : np.searchsorted(at, row, side="right")]
        chosen.append(mine[contenders(cosine[row, mine], k)])
    sizes = [len(mine) for mine in chosen]
    return np.repeat(np.arange(len(cosine)), sizes), np.concatenate(chosen).astype(np.int64)


class Vector:
    """Documents by the cosine of their vectors with the query's.

    ``centre`` is how much of the corpus's mean vector is taken off documents and queries first: vectors of static
    embedders lean one way together, and what all share tells none apart. By default it is what the embedder asks for.
    With ``index`` the vectors are kept in that folder, and made anew only where the corpus or the embedder changed.
    """

    def __init__(
        self,
        documents: Documents,
        embedder: Embedder,
        *,
        index: str | Path | None = None,
        search: Any = Exact,
        batch: int = EMBEDDED,
        centre: float | None = None,
        name: str = "vector",
    ) -> None:
        self.name, self.embedder, self._documents, self._batch = name, embedder, documents, batch
        self._kind = described(search)
        self.centre = float(getattr(embedder, "centre", 0.0) if centre is None else centre)
        if not 0 <= self.centre <= 1:
            raise UsageError(f"centre must be from 0 (nothing is taken off) to 1, found {self.centre:g}")
        header = {key: value for key, value in self.identity().items() if key != "index"}
        kept = None if index is None else store.load(Path(index), header)
        self.rebuilt = kept is None
        if kept is None:
            self.ids, self.vectors = self._embed()
            self._shift = mean_of(self.vectors) * self.centre
            shift(self.vectors, self._shift)
        else:
            self.ids, self.vectors = store.ids_from_arrays(kept), kept["vectors"]
            self._shift = np.asarray(kept["shift"])
        if index is not None and self.rebuilt:
            arrays = {**store.ids_to_arrays(self.ids), "vectors": self.vectors, "shift": self._shift}
            store.save(Path(index), header, arrays)
        self._index: Index = search(self.vectors, self.ids)

    def identity(self) -> Identity:
        """The embedder, the way of searching and the corpus."""
        return {
            "mode": "vector",
            "embedder": self.embedder.identity(),
            "centre": self.centre,
            "index": self._kind,
            "corpus": self._documents.sha256,
        }

    def embed_queries(self, queries: Questions) -> Unit:
        """The vectors of queries; one with nothing in it has no direction."""
        names = list(queries.ids)
        parts = [
            embedded(self.embedder, names[at : at + self._batch], queries.texts[at : at + self._batch], "query")
            for at in range(0, len(queries), self._batch)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.vectors.shape[1]), dtype=np.float32)

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch."""
        asked = self.embed_queries(queries)
        if asked.shape[1] != self.vectors.shape[1]:
            raise InputError(
                f"query vectors have {asked.shape[1]} dimensions, document vectors {self.vectors.shape[1]}",
                hint="both must come from the same model",
            )
        shift(asked, self._shift)
        offsets, rows, scores = self._index.search(asked, k)
        return cut_run(self.name, queries.ids, offsets, self.ids.take(rows), scores, k)

    def _embed(self) -> tuple[Ids, Unit]:
        names: list[bytes] = []
        lines: list[int] = []
        parts: list[NDArray[np.float32]] = []
        for batch in batches(self._documents, self._batch):
            names += [document.id for document in batch]
            lines += [document.line for document in batch]
            texts = [document.whole for document in batch]
            parts.append(embedded(self.embedder, [document.id for document in batch], texts, "document"))
        return ids_of(self._documents.source, names, lines), _joined(parts, len(names))


def mean_of(vectors: Unit) -> Floats:
    """The mean of vectors that have a direction; the sum is exact, so neither order nor block size matters."""
    total, count = np.zeros(vectors.shape[1]), 0
    for begin in range(0, len(vectors), BLOCK):
        block = vectors[begin : begin + BLOCK]
        total += block.sum(axis=0, dtype=np.float64)
        count += int(block.any(axis=1).sum())
    return total / max(count, 1)


def shift(vectors: Unit, by: Floats) -> None:
    """Take something off vectors, in place; their length is 1 again, and one without a direction still has none."""
    if not by.any():
        return
    for begin in range(0, len(vectors), BLOCK):
        block = vectors[begin : begin + BLOCK]
        moved = block - by
        moved[~np.asarray(block.any(axis=1))] = 0
        block[:] = unit(moved)


def described(search: Any) -> str:
    """What an index is called, with the arguments that were bound to it."""
    inner = getattr(search, "func", search)
    bound = getattr(search, "keywords", {})
    return str(inner.__name__).lower() + "".join(f" {key}={value}" for key, value in sorted(bound.items()))


def embedded(embedder: Embedder, ids: list[bytes], texts: Any, side: str) -> Unit:
    """Unit vectors of texts; one of white space only has none, whatever the embedder makes of it."""
    made = unit(embedder.embed(ids, list(texts), side), f"vectors of {embedder.name}")
    if len(made) != len(texts):
        raise InputError(f"embedder {embedder.name} made {len(made)} vectors of {len(texts)} texts")
    if embedder.reads_texts:
        made[[not text.strip() for text in texts]] = 0
    return made


def _joined(parts: list[Unit], count: int) -> Unit:
    """One table of all parts, each of which is let go as soon as it is copied."""
    out = np.empty((count, parts[0].shape[1] if parts else 0), dtype=np.float32)
    end = count
    while parts:
        part = parts.pop()
        if part.shape[1] != out.shape[1]:
            raise InputError(f"an embedder must make vectors of one size, found {part.shape[1]} and {out.shape[1]}")
        out[end - len(part) : end] = part
        end -= len(part)
    return out
