"""Any function from a list of texts to a table of numbers, as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.base import hashed_identity
from rankgauge.retrieval.loading import code_identity, has_parameter


class CallableEmbedder:
    """Call ``function(texts)``, or ``function(texts, side)`` if it has a parameter ``side``.

    A function or class of a module is identified by the file of the module. Anything else (a lambda, a bound method)
    cannot be hashed, and its stored vectors are not used again unless ``version`` is given: change it whenever the
    vectors change. ``path`` is the ``module:name`` that the function was loaded by.
    """

    reads_texts = True

    def __init__(self, function: Callable[..., Any], name: str, version: str = "", path: str | None = None) -> None:
        self.name, self.version, self._function = name, version, function
        self._takes_side = has_parameter(function, "side")
        self._code = code_identity(function, path)

    def identity(self) -> Identity:
        """The given name and version, and the hashes of the code."""
        is_complete = bool(self.version or self._code["files"])
        return hashed_identity("embedder", self.name, is_complete=is_complete, version=self.version, code=self._code)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """What the function returns, as a table."""
        vectors = self._function(texts, side=side) if self._takes_side else self._function(texts)
        try:
            return np.asarray(vectors, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"embedder {self.name} must return one row of numbers per text, found {type(vectors).__name__}"
            ) from None
