"""Better or worse: every mark and color on the page follows this file, never the sign of a difference alone."""

from __future__ import annotations

from typing import Literal

from rankgauge.measures.spec import Measure

Direction = Literal[1, -1, 0]  # higher is better, lower is better, neither
Tone = Literal["better", "worse", ""]  # also the CSS class
DIRECTIONS: dict[str | None, Direction] = {"higher": 1, "lower": -1, None: 0}


def direction_of(measure: Measure) -> Direction:
    """The sign of an improvement; 0 for a measure that is neither good nor bad, such as a count."""
    return DIRECTIONS[measure.definition.better]


def tally(measure: Measure, higher: int, equal: int, lower: int) -> tuple[int, int, int]:
    """Wins, ties and losses of a system that is higher, equal and lower on this many queries."""
    return (lower, equal, higher) if direction_of(measure) < 0 else (higher, equal, lower)


def comparatives(measure: Measure) -> tuple[str, str]:
    """What a positive and a negative improvement are called."""
    return ("better", "worse") if direction_of(measure) else ("higher", "lower")


def extremes(measure: Measure) -> tuple[str, str]:
    """What the first and the last of differences sorted by improvement are called."""
    return ("improvement", "decline") if direction_of(measure) else ("increase", "decrease")
