"""Thresholds by measure, and the band of a value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

Band = Literal["below", "baseline", "good", "strong"]
BANDS: tuple[Band, ...] = ("baseline", "good", "strong")


@dataclass(frozen=True)
class Bands:
    """For some measures, the value at which each band begins. A band without a threshold is left out."""

    name: str
    thresholds: Mapping[Measure, Mapping[Band, float]]

    def __contains__(self, measure: str | Measure) -> bool:
        return parse_measure(measure) in self.thresholds

    def band_of(self, measure: str | Measure, value: float | None) -> Band | None:
        """The highest band that an unrounded value reaches; None for a measure without bands and for no value."""
        wanted = parse_measure(measure)
        if wanted not in self.thresholds or value is None or math.isnan(value):
            return None
        sign = -1 if wanted.definition.better == "lower" else 1
        reached: Band = "below"
        for band, threshold in self.thresholds[wanted].items():
            if sign * value >= sign * threshold:
                reached = band
        return reached

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "bands": {str(measure): dict(found) for measure, found in self.thresholds.items()}}
