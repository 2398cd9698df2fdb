"""What an embedder is."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from rankgauge.retrieval.base import Identity


class Embedder(Protocol):
    """Makes a vector of each text. Length does not matter: vectors are brought to length 1 by those who use them.

    A text's vector depends on the text alone, never on its batch. An embedder that does not read texts (vectors made
    beforehand) goes by the ids.
    """

    name: str
    reads_texts: bool

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """A row for each text; ``side`` is ``document`` or ``query``, which some models treat differently."""

    def identity(self) -> Identity:
        """All that decides what the vectors are, as JSON."""
