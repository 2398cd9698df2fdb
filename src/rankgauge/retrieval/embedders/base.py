"""The embedder protocol."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from rankgauge.retrieval.base import Identity


class Embedder(Protocol):
    """Turn each text into a vector. The length of a vector does not matter: it is scaled to 1 wherever it is used.

    The vector of a text depends only on the text, never on its batch. An embedder that does not read texts
    (precomputed vectors) uses the ids.
    """

    name: str
    reads_texts: bool

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text; ``side`` is ``document`` or ``query``, which some models treat differently."""

    def identity(self) -> Identity:
        """Everything that determines the vectors, as JSON."""
