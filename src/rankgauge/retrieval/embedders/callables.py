"""Any function from a list of texts to a table of numbers, as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.base import Identity


class Called:
    """Calls ``function(texts)``, or ``function(texts, side)`` where it has a parameter of that name.

    What the function does cannot be hashed: ``version`` is its place in the identity, so change it with the model.
    """

    reads_texts = True

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        import inspect

        self.name, self.version, self._function = name, version, function
        try:
            self._sided = "side" in inspect.signature(function).parameters
        except (TypeError, ValueError):  # some built-in functions have no signature
            self._sided = False

    def identity(self) -> Identity:
        """The name and the version it was given."""
        return {"embedder": self.name, "version": self.version}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """What the function returns, as a table."""
        made = self._function(texts, side=side) if self._sided else self._function(texts)
        try:
            return np.asarray(made, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"embedder {self.name} must return a row of numbers for each text, found {type(made).__name__}"
            ) from None
