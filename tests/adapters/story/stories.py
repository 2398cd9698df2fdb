"""Stories made for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rankgauge

SHIPPED = Path(rankgauge.__file__).parent / "data" / "story"


def asked_for(word: str, ranking: Sequence[str]) -> dict[str, str]:
    """Scenes that the word finds in just this order: the r-th says it once among r - 1 words of its own."""
    return {id: " ".join([word, *(f"{word}{id}x{n}" for n in range(rank))]) for rank, id in enumerate(ranking)}


def query(word: str, *relevant: str, **more: Any) -> dict[str, Any]:
    return {"id": word, "text": word, "relevant": list(relevant), **more}
