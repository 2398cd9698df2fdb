"""Stories made for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rankgauge

BUNDLED = Path(rankgauge.__file__).parent / "data" / "story"


def story_ranked_by(word: str, ranking: Sequence[str]) -> dict[str, str]:
    """Scenes that the word finds in exactly this order: the r-th has it once among r - 1 words of its own."""
    return {id: " ".join([word, *(f"{word}{id}x{n}" for n in range(rank))]) for rank, id in enumerate(ranking)}


def query(word: str, *relevant: str, **keys: Any) -> dict[str, Any]:
    return {"id": word, "text": word, "relevant": list(relevant), **keys}
