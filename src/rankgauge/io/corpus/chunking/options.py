"""How documents are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from rankgauge.errors import UsageError, nearest, shown

SplitBy = Literal["characters", "sentences", "headings", "tokens"]
SPLITTERS: tuple[SplitBy, ...] = get_args(SplitBy)
DEFAULT_SIZES: dict[SplitBy, int | None] = {"characters": 800, "sentences": 800, "headings": None, "tokens": 200}


@dataclass(frozen=True)
class Chunking:
    """By what documents are split, the maximum size of a chunk, and how much of it the next one repeats.

    Sizes are in characters, or in tokens (words and punctuation marks) if ``by`` is ``tokens``. Without a size,
    ``headings`` keeps sections whole, and the others have their defaults: 800 characters, 200 tokens.
    """

    by: SplitBy = "sentences"
    size: int | None = None
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.by not in SPLITTERS:
            close = nearest(str(self.by), SPLITTERS)
            raise UsageError(
                f"documents are split by {', '.join(SPLITTERS)}, found {shown(str(self.by))}",
                hint=f"did you mean {close}?" if close else None,
            )
        if self.size is None:
            object.__setattr__(self, "size", DEFAULT_SIZES[self.by])
        for name, value, least in (("size", self.size, 1), ("overlap", self.overlap, 0)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise UsageError(f"{name} must be a whole number of at least {least}, found {shown(repr(value))}")
        if self.size is None and self.overlap:
            raise UsageError(
                "sections overlap only if long ones are split", hint="name the maximum size of a chunk as well"
            )
        if self.size is not None and self.overlap >= self.size:
            raise UsageError(
                f"overlap must be smaller than size, found {self.overlap} and {self.size}: no chunk would add anything",
                hint="a tenth of the size is common",
            )

    @property
    def unit(self) -> str:
        """What sizes count."""
        return "token" if self.by == "tokens" else "character"

    def __str__(self) -> str:
        size = "" if self.size is None else f", at most {self.size:,} {self.unit}s"
        return f"{self.by}{size}" + (f", overlap {self.overlap:,}" if self.overlap else "")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"by": self.by, "size": self.size, "overlap": self.overlap}
