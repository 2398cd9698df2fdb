"""Sentence models in ONNX, such as MiniLM. The only file that imports onnxruntime (extra ``onnx``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, MissingExtraError
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.pieces import load_tokenizer

DEFAULT_MAX_TOKENS = 256  # the length that MiniLM was trained with


class OnnxEmbedder:
    """A folder with ``model.onnx`` (directly or in ``onnx/``) and ``tokenizer.json``. A text's vector is the sum of its
    tokens' vectors, which has the direction of their mean.

    Texts run one by one: in a batch they would be padded, and a text's last digits would depend on its neighbors.
    """

    reads_texts = True

    def __init__(self, folder: str | Path, max_tokens: int = DEFAULT_MAX_TOKENS) -> None:
        directory = Path(folder)
        candidates = (directory / "model.onnx", directory / "onnx" / "model.onnx")
        model = next((path for path in candidates if path.is_file()), None)
        if model is None or not (directory / "tokenizer.json").is_file():
            raise InputError.at(folder, None, "expected model.onnx and tokenizer.json in this folder")
        self.name = f"onnx/{directory.resolve().name}"
        self._tokenizer = load_tokenizer(directory / "tokenizer.json", "onnx")
        self._tokenizer.enable_truncation(max_tokens)
        self._max_tokens = max_tokens
        self._session = import_onnxruntime().InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._sha256 = sha256_of_file(model)

    def identity(self) -> Identity:
        """The model's hash and the number of tokens it reads."""
        return {"embedder": self.name, "sha256": self._sha256, "max_tokens": self._max_tokens}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text."""
        return np.stack([self._embed(text) for text in texts]) if texts else np.zeros((0, 0))

    def _embed(self, text: str) -> Floats:
        encoding = self._tokenizer.encode(text)
        values = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        unknown_inputs = [name for name in self._inputs if name not in values]
        if unknown_inputs:
            raise InputError(f"{self.name} is not a sentence model: it has the inputs {', '.join(unknown_inputs)}")
        inputs = {name: np.array([values[name]], dtype=np.int64) for name in self._inputs}
        output: Floats = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64)[0]
        return output if output.ndim == 1 else np.cumsum(output, axis=0)[-1]  # some models pool by themselves


def import_onnxruntime() -> Any:
    """Import onnxruntime, or raise an error that says how to install it."""
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise MissingExtraError(
            "an ONNX embedder needs the library onnxruntime", hint="pip install 'rankgauge[onnx]'"
        ) from None
    return onnxruntime
