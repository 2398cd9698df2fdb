"""Retrieval by words: BM25. The only file that imports bm25s (extra ``retrieval``)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import Bm25Parameters
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run
from rankgauge.errors import MissingExtraError
from rankgauge.io.corpus.corpus import Corpus, unique_ids
from rankgauge.retrieval import index_files
from rankgauge.retrieval.index_files import reported_batches
from rankgauge.retrieval.language import Vocabulary
from rankgauge.retrieval.ranked_scores import ScoredRows, contenders, ranked_run
from rankgauge.retrieval.retriever import Identity, QueryBatch

REPORTED_DOCUMENTS = 256  # between two reports of progress


class Lexical:
    """BM25 over stemmed words. A document that shares no word with the query is never returned.

    With ``index``, the index is kept in that folder and rebuilt only if the corpus or a parameter changed.
    """

    def __init__(
        self,
        documents: Corpus,
        *,
        parameters: Bm25Parameters | None = None,
        stemmer: str = "english",
        stopwords: str | Sequence[str] = "english",
        index: str | Path | None = None,
        name: str = "lexical",
    ) -> None:
        self.name = name
        self.parameters = parameters or Bm25Parameters()
        self._documents = documents
        self._vocabulary = Vocabulary(stemmer, stopwords)
        stored = None if index is None else index_files.load_arrays(Path(index), self.identity, _are_valid)
        self.rebuilt = stored is None
        self._ids, self._postings = self._build() if stored is None else self._from_arrays(stored)
        if index is not None and self.rebuilt:
            self._save(Path(index))

    def identity(self) -> Identity:
        """The parameters and the corpus."""
        return {
            "mode": "lexical",
            **asdict(self.parameters),
            "stemmer": self._vocabulary.language,
            "stopwords": list(self._vocabulary.stopwords),
            "corpus": self._documents.sha256,
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        results = [self._search(text, k) for text in queries.texts]
        return ranked_run(self.name, queries.ids, self._ids, results, k)

    def _search(self, text: str, k: int) -> ScoredRows:
        rows, scores = self._postings.score(self._vocabulary.look_up(text))
        kept = contenders(scores, k)
        return rows[kept], scores[kept]

    def _build(self) -> tuple[Ids, Postings]:
        names: list[bytes] = []
        lines: list[int] = []
        word_numbers: list[list[int]] = []
        for batch in reported_batches("indexing", self._documents, REPORTED_DOCUMENTS):
            names += [document.id for document in batch]
            lines += [document.line for document in batch]
            word_numbers += [self._vocabulary.add_text(document.full_text) for document in batch]
        postings = build_postings(word_numbers, len(self._vocabulary.stem_numbers), self.parameters)
        return unique_ids(self._documents.source, names, lines), postings

    def _from_arrays(self, arrays: index_files.Arrays) -> tuple[Ids, Postings]:
        stems = index_files.ids_from_arrays(arrays, "stems").to_text()
        self._vocabulary.stem_numbers.update({stem: number for number, stem in enumerate(stems)})
        ids = index_files.ids_from_arrays(arrays)
        return ids, Postings(
            offsets=np.asarray(arrays["offsets"]),
            docs=arrays["docs"],
            weight=arrays["weight"],
            absent=np.asarray(arrays["absent"]),
            document_count=len(ids),
        )

    def _save(self, folder: Path) -> None:
        postings = self._postings
        stems = Ids.from_bytes([stem.encode("utf-8", "surrogatepass") for stem in self._vocabulary.stem_numbers])
        arrays = {
            **index_files.ids_to_arrays(self._ids),
            **index_files.ids_to_arrays(stems, "stems"),
            "offsets": postings.offsets,
            "docs": postings.docs,
            "weight": postings.weight,
            "absent": postings.absent,
        }
        index_files.save_arrays(folder, self.identity(), arrays)


def _are_valid(arrays: index_files.Arrays) -> bool:
    """Whether stored arrays fit each other: offsets lead into the postings, and postings to documents."""
    forms: dict[str, type[np.generic]] = {
        "offsets": np.int64,
        "docs": np.int32,
        "weight": np.float32,
        "absent": np.float32,
    }
    if not all(index_files.has_form(arrays[name], kind, 1) for name, kind in forms.items()):
        return False
    if not (index_files.valid_ids(arrays) and index_files.valid_ids(arrays, "stems")):
        return False
    offsets, docs, words = arrays["offsets"], arrays["docs"], len(arrays["stems.length"])
    sizes_fit = (len(offsets), len(arrays["absent"]), len(arrays["weight"])) == (words + 1, words, len(docs))
    return (
        sizes_fit
        and (int(offsets[0]), int(offsets[-1])) == (0, len(docs))
        and bool(np.all(np.diff(offsets) >= 0))
        and bool(np.all((docs >= 0) & (docs < len(arrays["ids.length"]))))
    )


# The BM25 weight of every word in every document.


@dataclass(frozen=True, eq=False)
class Postings:
    """The postings of each word: the documents that contain it, ascending, and its weight in each.

    ``absent`` is the weight of a word in every document, including those without it (bm25l and bm25+; otherwise 0).
    """

    offsets: Ints
    docs: NDArray[np.int32]
    weight: NDArray[np.float32]
    absent: NDArray[np.float32]
    document_count: int

    def score(self, words: Ints) -> tuple[Ints, Floats]:
        """The documents that share a word of positive weight with the query, and their scores.

        Weights are added word by word in the order of the query, in float64, as bincount does: the sums are the same
        to the last bit on any processor.
        """
        spans = [
            slice(*ends) for ends in zip(self.offsets[words].tolist(), self.offsets[words + 1].tolist(), strict=True)
        ]
        if not spans:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        docs = np.concatenate([self.docs[span] for span in spans])
        weight = np.concatenate([self.weight[span] for span in spans])
        total = np.bincount(docs, weights=weight, minlength=self.document_count).astype(np.float64)
        rows: Ints = np.flatnonzero(total > 0)
        absent = float(np.cumsum(self.absent[words], dtype=np.float64)[-1])
        return rows, total[rows] + absent


def build_postings(texts: Sequence[list[int]], word_count: int, parameters: Bm25Parameters) -> Postings:
    """The postings of documents that are given as word numbers."""
    bm25s = import_bm25s()
    if not word_count:
        empty = np.zeros(0, dtype=np.float32)
        return Postings(np.zeros(1, dtype=np.int64), empty.astype(np.int32), empty, empty, len(texts))
    index = bm25s.BM25(
        k1=parameters.k1,
        b=parameters.b,
        delta=parameters.delta,
        method=parameters.variant,
        backend="numpy",
        csc_backend="numpy",  # scipy's is as fast, but takes longer to import than to use
    )
    index.index(
        (list(texts), {number: number for number in range(word_count)}), create_empty_token=False, show_progress=False
    )
    matrix = index.scores
    absent = index.nonoccurrence_array
    return Postings(
        offsets=np.asarray(matrix["indptr"], dtype=np.int64),
        docs=np.asarray(matrix["indices"], dtype=np.int32),
        weight=np.asarray(matrix["data"], dtype=np.float32),
        absent=np.zeros(word_count, dtype=np.float32) if absent is None else np.asarray(absent, dtype=np.float32),
        document_count=len(texts),
    )


def import_bm25s() -> Any:
    """Import bm25s, or raise an error that says how to install it."""
    try:
        import bm25s
    except ModuleNotFoundError:
        raise MissingExtraError(
            "lexical retrieval needs the library bm25s", hint="pip install 'rankgauge[retrieval]'"
        ) from None
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every step
    return bm25s
