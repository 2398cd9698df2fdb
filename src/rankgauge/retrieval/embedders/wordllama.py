"""WordLlama: the mean of static vectors of a text's tokens, with the weights bundled in its wheel.

Its two data files are read without its code: the vectors are the same, in half the time, and its import (which
configures logging for the whole program) is avoided. Sums are exact, since float64 holds any sum of this many
half-precision numbers, so a text's vector is the same in any batch and on any machine.
https://github.com/dleemiller/WordLlama
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputError, MissingExtraError
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.retrieval.embedders.embedder import hashed_identity
from rankgauge.retrieval.embedders.model_files import load_tokenizer
from rankgauge.retrieval.retriever import Identity

WEIGHTS_FILE = Path("weights") / "l2_supercat_256.safetensors"
TOKENIZER_FILE = Path("tokenizers") / "l2_supercat_tokenizer_config.json"
ROWS_PER_SUM = 1 << 15  # rows of the table summed at once: 64 MB


class WordLlamaEmbedder:
    """The default embedder. Texts are lowercased, as its case-sensitive weights expect."""

    name = "wordllama"
    reads_texts = True

    def __init__(self) -> None:
        folder = wheel_folder()
        self._tokenizer = load_tokenizer(folder / TOKENIZER_FILE)
        # float32 holds half-precision numbers exactly and is summed much faster.
        self._table = read_tensor(folder / WEIGHTS_FILE, "embedding.weight").astype(np.float32)
        self._files = {
            name: sha256_of_file(folder / path)
            for name, path in (("weights", WEIGHTS_FILE), ("tokenizer", TOKENIZER_FILE))
        }

    def identity(self) -> Identity:
        """The hashes of both files."""
        return hashed_identity("embedder", self.name, lowercase=True, files=self._files)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """The sum of the tokens' vectors, which has the direction of their mean."""
        lowercase = [text.lower() for text in texts]
        encodings = self._tokenizer.encode_batch_fast(lowercase, add_special_tokens=False)
        token_ids = [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]
        out = np.zeros((len(texts), self._table.shape[1]))
        for row, tokens in enumerate(token_ids):
            for begin in range(0, len(tokens), ROWS_PER_SUM):
                out[row] += self._table[tokens[begin : begin + ROWS_PER_SUM]].sum(axis=0, dtype=np.float64)
        return out


def wheel_folder() -> Path:
    """The folder of the installed wheel; it is not imported."""
    spec = find_spec("wordllama")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
    if folder is None or not (folder / WEIGHTS_FILE).is_file():
        raise MissingExtraError(
            "the embedder wordllama needs the weights of the package wordllama",
            hint="pip install 'rankgauge[retrieval]'",
        )
    return folder


def read_tensor(path: Path, name: str) -> NDArray[np.float16]:
    """Read a half-precision table of a safetensors file: a length, a JSON header, then the numbers."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))[name]
    if header["dtype"] != "F16":
        raise InputError.at(path, None, f"expected half-precision numbers, found {header['dtype']}")
    begin, _ = header["data_offsets"]
    return np.memmap(path, dtype="<f2", mode="r", offset=8 + size + begin, shape=tuple(header["shape"]))
