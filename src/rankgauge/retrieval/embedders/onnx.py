"""Sentence models in ONNX, such as MiniLM. The only file that imports onnxruntime (extra ``onnx``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.errors import InputError, MissingExtraError, printable, shown
from rankgauge.retrieval.embedders.embedder import hashed_identity
from rankgauge.retrieval.embedders.model_files import file_hashes, load_tokenizer, read_sentence_model
from rankgauge.retrieval.retriever import Identity

MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
POOLED_OUTPUT = "sentence_embedding"
TOKEN_OUTPUTS = ("token_embeddings", "last_hidden_state")
NO_POOLING_HINT = (
    'copy modules.json and 1_Pooling from the model\'s repository, or write 1_Pooling/config.json: {"pooling_mode": '
    '"mean"}, or "cls"'
)


class OnnxEmbedder:
    """A folder with ``model.onnx`` (directly or in ``onnx/``), ``tokenizer.json``, and the files of
    sentence-transformers that say how the vectors of its tokens become one: see :mod:`.model_files`.

    Texts run one by one: in a batch they would be padded, and a text's last digits would depend on its neighbors.
    """

    reads_texts = True

    def __init__(self, folder: str | Path) -> None:
        directory = Path(folder)
        model = self._model = read_sentence_model(directory)
        inner = directory / model.transformer
        weights = _first_file(directory / "model.onnx", directory / "onnx" / "model.onnx", inner / "model.onnx")
        tokenizer = _first_file(directory / "tokenizer.json", inner / "tokenizer.json")
        if weights is None or tokenizer is None:
            raise InputError.at(folder, None, "expected model.onnx and tokenizer.json in this folder")
        self.name = f"onnx/{directory.resolve().name}"
        self._folder = directory
        self._files = file_hashes(directory)
        self._tokenizer = load_tokenizer(tokenizer, "onnx")
        self._prompt_tokens = {side: self._count_prompt(text) for side, text in model.prompts.items()}
        if model.max_tokens is not None:
            side = "left" if model.truncates_left else "right"
            self._tokenizer.enable_truncation(model.max_tokens, direction=side)
        self._session = import_onnxruntime().InferenceSession(str(weights), providers=["CPUExecutionProvider"])
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._output = self._choose_output()

    def identity(self) -> Identity:
        """The hashes of all files of the folder, and what its configuration says."""
        return hashed_identity("embedder", self.name, files=self._files, **self._model.to_dict())

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text."""
        return np.stack([self._embed(text, side) for text in texts]) if texts else np.zeros((0, 0))

    def _embed(self, text: str, side: str) -> Floats:
        prompted = self._model.prompts.get(side, "") + text
        encoding = self._tokenizer.encode(prompted.lower() if self._model.is_lowercase else prompted)
        values = dict(zip(MODEL_INPUTS, (encoding.ids, encoding.attention_mask, encoding.type_ids), strict=True))
        inputs = {name: np.array([values[name]], dtype=np.int64) for name in self._inputs}
        try:
            output: Floats = np.asarray(self._session.run([self._output], inputs)[0], dtype=np.float64)[0]
        except Exception as error:  # the library has errors of its own
            reason = printable(str(error).splitlines()[0] if str(error) else type(error).__name__, 120)
            raise InputError(f"{self.name} failed on a text of {len(encoding.ids)} tokens: {reason}") from None
        if output.ndim == 2 and not self._model.pooling:
            raise InputError.at(
                self._folder, None, "nothing says how the tokens' vectors become one", hint=NO_POOLING_HINT
            )
        if output.ndim == 2:
            output = self._model.pool(output, self._prompt_tokens.get(side, 0))
        return self._model.finish(output)

    def _choose_output(self) -> str:
        """The name of the output that is used: the text's vector, or the vectors of its tokens."""
        unknown = [name for name in self._inputs if name not in MODEL_INPUTS]
        if unknown:
            raise InputError(f"{self.name} is not a sentence model: it has the inputs {', '.join(unknown)}")
        names = [node.name for node in self._session.get_outputs()]
        known = [name for name in (POOLED_OUTPUT, *TOKEN_OUTPUTS) if name in names]
        if not known and len(names) > 1:
            outputs = ", ".join(shown(name) for name in names)
            raise InputError.at(
                self._folder, None, f"expected an output named {POOLED_OUTPUT} or {TOKEN_OUTPUTS[1]}, found {outputs}"
            )
        if known[:1] == [POOLED_OUTPUT] and not self._model.includes_prompt:
            known = known[1:]  # it pools all tokens
            if not known:
                raise InputError.at(
                    self._folder,
                    None,
                    f"include_prompt is false, but the only output is {POOLED_OUTPUT}, of all tokens",
                )
        return known[0] if known else names[0]

    def _count_prompt(self, prompt: str) -> int:
        """The number of a prompt's tokens, special ones before it included."""
        if not prompt:
            return 0
        encoding = self._tokenizer.encode(prompt.lower() if self._model.is_lowercase else prompt)
        ends_special = bool(encoding.special_tokens_mask and encoding.special_tokens_mask[-1])
        return len(encoding.ids) - ends_special


def _first_file(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def import_onnxruntime() -> Any:
    """Import onnxruntime, or raise an error that says how to install it."""
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise MissingExtraError(
            "an ONNX embedder needs the library onnxruntime", hint="pip install 'rankgauge[onnx]'"
        ) from None
    return onnxruntime
