"""Better or worse: every mark and color on the page follows this file, never the sign of a difference alone."""

from __future__ import annotations

from typing import Literal

from rankgauge.measures.spec import Measure

Tone = Literal["better", "worse", ""]  # also the CSS class


def comparatives(measure: Measure) -> tuple[str, str]:
    """What a positive and a negative improvement are called."""
    return ("better", "worse") if measure.definition.direction else ("higher", "lower")


def extremes(measure: Measure) -> tuple[str, str]:
    """What the first and the last of differences sorted by improvement are called."""
    return ("improvement", "decline") if measure.definition.direction else ("increase", "decrease")
