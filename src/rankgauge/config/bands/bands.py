"""Thresholds by measure, and the band of a value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

Band = Literal["below", "baseline", "good", "strong"]
BANDS: tuple[Band, ...] = ("baseline", "good", "strong")
_PLAIN = re.compile(r"[A-Za-z][\w@.=()-]*", re.ASCII)  # what YAML takes for a text without quotes


@dataclass(frozen=True)
class Bands:
    """For each of some measures, the value at which each band begins. A band may have no threshold."""

    name: str
    thresholds: Mapping[Measure, Mapping[Band, float]]
    about: str = field(default="", compare=False)  # where the numbers come from

    def __contains__(self, measure: str | Measure) -> bool:
        return parse_measure(measure) in self.thresholds

    def band_of(self, measure: str | Measure, value: float | None) -> Band | None:
        """The highest band that an unrounded value reaches; None for a measure without bands and for no value."""
        parsed = parse_measure(measure)
        if parsed not in self.thresholds or value is None or math.isnan(value):
            return None
        sign = parsed.definition.direction or 1
        reached: Band = "below"
        for band, threshold in self.thresholds[parsed].items():
            if sign * value >= sign * threshold:
                reached = band
        return reached

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "bands": {str(measure): dict(bounds) for measure, bounds in self.thresholds.items()}}

    def to_yaml(self) -> str:
        """The file that ``load_bands`` reads, to be edited."""
        import json  # which an evaluation does without

        lines = [f"# {line}".rstrip() for line in self.about.splitlines()]
        lines += [f"name: {json.dumps(self.name)}", "bands:"]
        for measure, bounds in self.thresholds.items():
            values = ", ".join(f"{band}: {value!r}" for band, value in bounds.items())
            lines.append(f"  {_quoted(str(measure))}: {{{values}}}")
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    import json

    return text if _PLAIN.fullmatch(text) else json.dumps(text)
