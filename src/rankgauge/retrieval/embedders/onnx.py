"""Sentence models in ONNX, MiniLM for one. The only file that imports onnxruntime (extra ``onnx``)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, MissingExtraError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.pieces import tokenizer

LONGEST = 256  # pieces; what MiniLM was trained on


class Onnx:
    """A folder with ``model.onnx`` (there or in ``onnx/``) and ``tokenizer.json``; the mean of the pieces' vectors
    (their sum, which has the same direction).

    Texts run one by one: in a batch they would be padded, and a text's last digits would depend on its neighbours.
    """

    reads_texts = True

    def __init__(self, folder: str | Path, longest: int = LONGEST) -> None:
        home = Path(folder)
        model = next((path for path in (home / "model.onnx", home / "onnx" / "model.onnx") if path.is_file()), None)
        if model is None or not (home / "tokenizer.json").is_file():
            raise InputError.at(folder, None, "expected model.onnx and tokenizer.json in it")
        self.name = f"onnx/{home.resolve().name}"
        self._tokenizer = tokenizer(home / "tokenizer.json", "onnx")
        self._tokenizer.enable_truncation(longest)
        self._longest = longest
        self._session = library().InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._sha256 = hashlib.sha256(model.read_bytes()).hexdigest()

    def identity(self) -> Identity:
        """The model's hash and how much of a text it reads."""
        return {"embedder": self.name, "sha256": self._sha256, "longest": self._longest}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """A row for each text."""
        return np.stack([self._embed(text) for text in texts]) if texts else np.zeros((0, 0))

    def _embed(self, text: str) -> Floats:
        found = self._tokenizer.encode(text)
        known = {
            "input_ids": found.ids,
            "attention_mask": found.attention_mask,
            "token_type_ids": found.type_ids,
        }
        unknown = [name for name in self._inputs if name not in known]
        if unknown:
            raise InputError(f"{self.name} asks for {', '.join(unknown)}, which a sentence model does not")
        made = self._session.run(None, {name: np.array([known[name]], dtype=np.int64) for name in self._inputs})[0]
        first: Floats = np.asarray(made, dtype=np.float64)[0]
        return first if first.ndim == 1 else np.cumsum(first, axis=0)[-1]  # some models pool by themselves


def library() -> Any:
    """onnxruntime, or an error that says how to get it."""
    try:
        import onnxruntime
    except ImportError:
        raise MissingExtraError(
            "an ONNX embedder needs the library onnxruntime", hint="pip install 'rankgauge[onnx]'"
        ) from None
    return onnxruntime
