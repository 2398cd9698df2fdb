"""The tokens of a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.labels.gold.options import Tokenizer


@dataclass(frozen=True, eq=False)
class TokenPlaces:
    """Where the tokens of a text begin and end."""

    characters: int
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> TokenPlaces:
        """Tokenize a text."""
        spans = np.array([(start, end) for start, end in tokenizer(text)], dtype=np.int64).reshape(-1, 2)
        return cls(len(text), spans[:, 0], spans[:, 1])

    def __len__(self) -> int:
        return len(self.starts)

    def within(self, start: int, end: int) -> tuple[int, int]:
        """The tokens that lie between two characters completely."""
        first = int(np.searchsorted(self.starts, start))
        return first, max(first, int(np.searchsorted(self.ends, end, side="right")))

    def at(self, character: int) -> int:
        """The token that has a character, or the last one before it."""
        return max(int(np.searchsorted(self.starts, character, side="right")) - 1, 0)
