"""Models of sentence-transformers: embedders and cross-encoders. The only file that imports this 2 GB extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.errors import MissingExtraError
from rankgauge.retrieval.embedders.embedder import hashed_identity
from rankgauge.retrieval.embedders.model_files import allow_downloads, file_hashes, prompts_by_side
from rankgauge.retrieval.retriever import Identity

OWNER = "sentence-transformers"  # of a model whose name has none
CACHE_VARIABLE = "SENTENCE_TRANSFORMERS_HOME"


class SentenceTransformerEmbedder:
    """A model by its name or folder. Its prompts for queries and documents are used if it has any."""

    reads_texts = True

    def __init__(self, model: str) -> None:
        self.name = f"sentence-transformers/{model}"
        self._library = import_library("a sentence-transformers embedder")
        self._model = self._library.SentenceTransformer(model, device="cpu")
        self._files = model_hashes(model)
        prompts = {name: text or "" for name, text in (getattr(self._model, "prompts", None) or {}).items()}
        default = getattr(self._model, "default_prompt_name", None)
        self._prompts = prompts_by_side(self.name, prompts, default)

    def identity(self) -> Identity:
        """The hashes of the model's files, its prompts and the library's version."""
        return hashed_identity(
            "embedder",
            self.name,
            is_complete=self._files is not None,
            version=str(self._library.__version__),
            files=self._files,
            prompts=self._prompts,
        )

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text."""
        prompt = self._prompts[side]
        vectors = self._model.encode(texts, prompt=prompt, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors)


class CrossEncoderReranker:
    """Score query and document together: accurate but slow, so only for the top results."""

    def __init__(self, model: str) -> None:
        self.name = f"cross-encoder/{model}"
        self._library = import_library("a cross-encoder")
        self._model = self._library.CrossEncoder(model, device="cpu")
        self._files = model_hashes(model)

    def identity(self) -> Identity:
        """The hashes of the model's files and the library's version."""
        version = str(self._library.__version__)
        is_complete = self._files is not None
        return hashed_identity("reranker", self.name, is_complete=is_complete, version=version, files=self._files)

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """How well each text answers the query."""
        scores = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        return np.asarray(scores, dtype=np.float64).reshape(len(texts))


def model_hashes(model: str) -> dict[str, str] | None:
    """The hashes of the files of a model: in its folder, or where it was downloaded to; None if that is not found."""
    folder = Path(model) if Path(model).is_dir() else _downloaded_folder(model)
    return None if folder is None else file_hashes(folder) or None


def _downloaded_folder(model: str) -> Path | None:
    """The folder in the cache of Hugging Face that has the newest version of a model; nothing is downloaded."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        return None
    for name in [model] if "/" in model else [f"{OWNER}/{model}", model]:
        try:
            return Path(snapshot_download(name, local_files_only=True, cache_dir=os.environ.get(CACHE_VARIABLE)))
        except (OSError, ValueError):  # not in the cache, or not the name of a model
            continue
    return None


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
