"""Models of sentence-transformers: embedders and cross-encoders. The only file that imports this 2 GB extra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import MissingExtraError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.offline import allow_downloads


class SentenceTransformerEmbedder:
    """A model by its name or folder. Its prompts for queries and documents are used if it has any."""

    reads_texts = True

    def __init__(self, model: str) -> None:
        self.name = f"sentence-transformers/{model}"
        self._library = import_library("a sentence-transformers embedder")
        self._model = self._library.SentenceTransformer(model, device="cpu")

    def identity(self) -> Identity:
        """The model and the library's version."""
        return {"embedder": self.name, "version": str(self._library.__version__)}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text."""
        prompts = getattr(self._model, "prompts", None) or {}
        prompt = side if side in prompts else None
        vectors = self._model.encode(texts, prompt_name=prompt, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors)


class CrossEncoderReranker:
    """Score query and document together: accurate but slow, so only for the top results."""

    def __init__(self, model: str) -> None:
        self.name = f"cross-encoder/{model}"
        self._library = import_library("a cross-encoder")
        self._model = self._library.CrossEncoder(model, device="cpu")

    def identity(self) -> Identity:
        """The model and the library's version."""
        return {"reranker": self.name, "version": str(self._library.__version__)}

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """How well each text answers the query."""
        scores = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        return np.asarray(scores, dtype=np.float64).reshape(len(texts))


def import_library(purpose: str) -> Any:
    """Import sentence-transformers, or raise an error that says how to install it."""
    allow_downloads()
    try:
        import sentence_transformers
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{purpose} needs the library sentence-transformers", hint="pip install 'rankgauge[sentence-transformers]'"
        ) from None
    return sentence_transformers
