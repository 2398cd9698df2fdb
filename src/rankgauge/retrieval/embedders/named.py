"""Embedders by name, as the command line and a configuration call them."""

from __future__ import annotations

from rankgauge.errors import UsageError, nearest, shown
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.loading import is_spec, load

PLAIN = ("wordllama", "bow", "vsa")
SCHEMES = ("sentence-transformers", "onnx")
KNOWN = "wordllama, bow, vsa, sentence-transformers/MODEL, onnx/FOLDER, or module:callable"


def embedder(name: str) -> Embedder:
    """The embedder of a name: ``wordllama``, ``bow``, ``vsa``, ``sentence-transformers/…``, ``onnx/…`` or
    ``module:callable``. Each is imported only when asked for.
    """
    scheme, _, rest = name.partition("/")
    match scheme:
        case "wordllama" if not rest:
            from rankgauge.retrieval.embedders.wordllama import WordLlama

            return WordLlama()
        case "bow" if not rest:
            from rankgauge.retrieval.embedders.bow import BagOfWords

            return BagOfWords()
        case "vsa" if not rest:
            from rankgauge.retrieval.embedders.vsa import Hyperdimensional

            return Hyperdimensional()
        case "sentence-transformers" if rest:
            from rankgauge.retrieval.embedders.sentence_transformers import SentenceTransformers

            return SentenceTransformers(rest)
        case "onnx" if rest:
            from rankgauge.retrieval.embedders.onnx import Onnx

            return Onnx(rest)
    if is_spec(name):
        from rankgauge.retrieval.embedders.callables import Called

        return Called(load(name, "embedder"), name)
    close = nearest(scheme, [*PLAIN, *SCHEMES])
    raise UsageError(
        f"no embedder {shown(name)}" + (f"; did you mean {close}?" if close else ""), hint=f"one of {KNOWN}"
    )
