"""Retrieval by words: BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from rankgauge.config.retriever_settings import Bm25Parameters
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.io.corpus.corpus import Corpus, unique_ids
from rankgauge.retrieval import store
from rankgauge.retrieval.base import Identity, QueryBatch
from rankgauge.retrieval.batches import reported_batches
from rankgauge.retrieval.engines.bm25 import Postings, build_postings
from rankgauge.retrieval.engines.words import Vocabulary
from rankgauge.retrieval.scores import ScoredRows, contenders, ranked_run

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
        stored = None if index is None else store.load_arrays(Path(index), self.identity, _are_valid)
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

    def _from_arrays(self, arrays: store.Arrays) -> tuple[Ids, Postings]:
        stems = store.ids_from_arrays(arrays, "stems").to_text()
        self._vocabulary.stem_numbers.update({stem: number for number, stem in enumerate(stems)})
        ids = store.ids_from_arrays(arrays)
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
            **store.ids_to_arrays(self._ids),
            **store.ids_to_arrays(stems, "stems"),
            "offsets": postings.offsets,
            "docs": postings.docs,
            "weight": postings.weight,
            "absent": postings.absent,
        }
        store.save_arrays(folder, self.identity(), arrays)


def _are_valid(arrays: store.Arrays) -> bool:
    """Whether stored arrays fit each other: offsets lead into the postings, and postings to documents."""
    forms: dict[str, type[np.generic]] = {
        "offsets": np.int64,
        "docs": np.int32,
        "weight": np.float32,
        "absent": np.float32,
    }
    if not all(store.has_form(arrays[name], kind, 1) for name, kind in forms.items()):
        return False
    if not (store.valid_ids(arrays) and store.valid_ids(arrays, "stems")):
        return False
    offsets, docs, words = arrays["offsets"], arrays["docs"], len(arrays["stems.length"])
    sizes_fit = (len(offsets), len(arrays["absent"]), len(arrays["weight"])) == (words + 1, words, len(docs))
    return (
        sizes_fit
        and (int(offsets[0]), int(offsets[-1])) == (0, len(docs))
        and bool(np.all(np.diff(offsets) >= 0))
        and bool(np.all((docs >= 0) & (docs < len(arrays["ids.length"]))))
    )
