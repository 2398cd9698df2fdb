"""WordLlama: the mean of static vectors of a text's pieces, with the weights that its wheel carries.

Its two data files are read without its code: the vectors are the same, at half the time, and its import (which sets
up logging for the whole program) is spared. Sums are exact, since float64 holds any sum of so many half-precision
numbers, so a text's vector is the same in any batch and on any machine. https://github.com/dleemiller/WordLlama
"""

from __future__ import annotations

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputError, MissingExtraError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.pieces import tokenizer

WEIGHTS = Path("weights") / "l2_supercat_256.safetensors"
TOKENIZER = Path("tokenizers") / "l2_supercat_tokenizer_config.json"
GATHERED = 1 << 15  # rows of the table added up at once: 64 MB


class WordLlama:
    """The default embedder. Texts are lower-cased, because its weights are case-sensitive and were made so."""

    name = "wordllama"
    reads_texts = True
    centre = 0.5  # of 0, ¼, ½, ¾ and 1 the best over Cranfield, Medline and Vaswani together; CISI had no say

    def __init__(self) -> None:
        home = folder()
        self._tokenizer = tokenizer(home / TOKENIZER, "retrieval")
        # float32 holds half-precision numbers exactly and is added up much quicker.
        self._table = tensor(home / WEIGHTS, "embedding.weight").astype(np.float32)
        self._sha256 = {
            name: hashlib.sha256((home / path).read_bytes()).hexdigest()
            for name, path in (("weights", WEIGHTS), ("tokenizer", TOKENIZER))
        }

    def identity(self) -> Identity:
        """The hashes of both files."""
        return {"embedder": self.name, "lower_case": True, "sha256": self._sha256}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """The sum of the pieces' vectors, which has the direction of their mean."""
        lowered = [text.lower() for text in texts]
        found = self._tokenizer.encode_batch_fast(lowered, add_special_tokens=False)
        pieces = [np.array(encoded.ids, dtype=np.int64) for encoded in found]
        out = np.zeros((len(texts), self._table.shape[1]))
        for row, mine in enumerate(pieces):
            for begin in range(0, len(mine), GATHERED):
                out[row] += self._table[mine[begin : begin + GATHERED]].sum(axis=0, dtype=np.float64)
        return out


def folder() -> Path:
    """Where the wheel was installed; it is not imported."""
    spec = find_spec("wordllama")
    home = None if spec is None or spec.origin is None else Path(spec.origin).parent
    if home is None or not (home / WEIGHTS).is_file():
        raise MissingExtraError(
            "the embedder wordllama needs the weights of the package wordllama",
            hint="pip install 'rankgauge[retrieval]'",
        )
    return home


def tensor(path: Path, name: str) -> NDArray[np.float16]:
    """A half-precision table of a safetensors file: a length, a JSON header, then the numbers."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))[name]
    if header["dtype"] != "F16":
        raise InputError.at(path, None, f"expected half-precision numbers, found {header['dtype']}")
    begin, _ = header["data_offsets"]
    return np.memmap(path, dtype="<f2", mode="r", offset=8 + size + begin, shape=tuple(header["shape"]))
