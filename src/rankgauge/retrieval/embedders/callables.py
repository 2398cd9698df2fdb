"""Any function from a list of texts to a table of numbers, as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.loading import has_parameter


class CallableEmbedder:
    """Call ``function(texts)``, or ``function(texts, side)`` if it has a parameter ``side``.

    The function cannot be hashed: ``version`` represents it in the identity, so change it whenever the model changes.
    """

    reads_texts = True

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        self.name, self.version, self._function = name, version, function
        self._takes_side = has_parameter(function, "side")

    def identity(self) -> Identity:
        """The given name and version."""
        return {"embedder": self.name, "version": self.version}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """What the function returns, as a table."""
        vectors = self._function(texts, side=side) if self._takes_side else self._function(texts)
        try:
            return np.asarray(vectors, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"embedder {self.name} must return one row of numbers per text, found {type(vectors).__name__}"
            ) from None
