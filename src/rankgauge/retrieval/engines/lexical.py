"""Retrieval by words: BM25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.retrieval import store
from rankgauge.retrieval.base import Identity, Questions
from rankgauge.retrieval.corpus.documents import Documents, ids_of
from rankgauge.retrieval.engines.bm25 import Bm25, Weights, weigh
from rankgauge.retrieval.engines.words import Words
from rankgauge.retrieval.scores import Scored, contenders, ranked_run


class Lexical:
    """BM25 over stemmed words. A document that shares no word with the query is never returned.

    With ``index`` the index is kept in that folder, and made anew only where the corpus or a parameter changed.
    """

    def __init__(
        self,
        documents: Documents,
        *,
        parameters: Bm25 | None = None,
        stemmer: str = "english",
        stopwords: str | Sequence[str] = "english",
        index: str | Path | None = None,
        name: str = "lexical",
    ) -> None:
        self.name = name
        self.parameters = parameters or Bm25()
        self._documents = documents
        self._words = Words(stemmer, stopwords)
        self.rebuilt = True
        kept = None if index is None else store.load(Path(index), self.identity())
        if kept is None:
            self._ids, self._weights = self._build()
        else:
            self._ids, self._weights = self._mapped(kept)
            self.rebuilt = False
        if index is not None and self.rebuilt:
            self._save(Path(index))

    def identity(self) -> Identity:
        """The parameters and the corpus."""
        return {
            "mode": "lexical",
            **asdict(self.parameters),
            "stemmer": self._words.language,
            "stopwords": list(self._words.stopwords),
            "corpus": self._documents.sha256,
        }

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch."""
        return ranked_run(self.name, queries.ids, self._ids, [self._found(text, k) for text in queries.texts], k)

    def _found(self, text: str, k: int) -> Scored:
        rows, scores = self._weights.score(self._words.look_up(text))
        kept = contenders(scores, k)
        return rows[kept], scores[kept]

    def _build(self) -> tuple[Ids, Weights]:
        names: list[bytes] = []
        lines: list[int] = []
        cut: list[list[int]] = []
        for document in self._documents:
            names.append(document.id)
            lines.append(document.line)
            cut.append(self._words.learn(document.whole))
        return ids_of(self._documents.source, names, lines), weigh(cut, len(self._words.numbers), self.parameters)

    def _mapped(self, arrays: store.Arrays) -> tuple[Ids, Weights]:
        stems = store.ids_from_arrays(arrays, "stems").to_text()
        self._words.numbers.update({stem: number for number, stem in enumerate(stems)})
        ids = store.ids_from_arrays(arrays)
        return ids, Weights(
            offsets=np.asarray(arrays["offsets"]),
            docs=arrays["docs"],
            weight=arrays["weight"],
            absent=np.asarray(arrays["absent"]),
            documents=len(ids),
        )

    def _save(self, folder: Path) -> None:
        weights = self._weights
        stems = Ids.from_bytes([stem.encode("utf-8", "surrogatepass") for stem in self._words.numbers])
        arrays = {
            **store.ids_to_arrays(self._ids),
            **store.ids_to_arrays(stems, "stems"),
            "offsets": weights.offsets,
            "docs": weights.docs,
            "weight": weights.weight,
            "absent": weights.absent,
        }
        store.save(folder, self.identity(), arrays)
