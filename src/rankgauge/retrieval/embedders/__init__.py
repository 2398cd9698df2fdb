"""Embedders: texts in, vectors out. One file per kind; ``embedder`` finds them by name."""

from __future__ import annotations

from rankgauge.retrieval.embedders.embedder import CallableEmbedder, Embedder
from rankgauge.retrieval.named_code import is_object_path, load_object, unknown_name

EMBEDDER_PREFIXES = ("wordllama", "hashed", "vsa", "sentence-transformers")
EMBEDDER_NAMES = "wordllama, hashed, vsa, sentence-transformers/MODEL, or module:callable"


def embedder(name: str) -> Embedder:
    """The embedder with a name: ``wordllama``, ``hashed``, ``vsa``, ``sentence-transformers/…`` or ``module:callable``.

    Each is imported only when requested.
    """
    prefix, _, model = name.partition("/")
    match prefix:
        case "wordllama" if not model:
            from rankgauge.retrieval.embedders.wordllama import WordLlamaEmbedder

            return WordLlamaEmbedder()
        case "hashed" if not model:
            from rankgauge.retrieval.embedders.hashed import HashedWords

            return HashedWords()
        case "vsa" if not model:
            from rankgauge.retrieval.embedders.hashed import HyperdimensionalEmbedder

            return HyperdimensionalEmbedder()
        case "sentence-transformers" if model:
            from rankgauge.retrieval.embedders.sentence_transformers import SentenceTransformerEmbedder

            return SentenceTransformerEmbedder(model)
    if is_object_path(name):
        return CallableEmbedder(load_object(name, "embedder"), name, path=name)
    raise unknown_name("embedder", name, EMBEDDER_PREFIXES, EMBEDDER_NAMES, misspelled=prefix)
