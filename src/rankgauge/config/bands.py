"""Target bands: from which value on a measure is at the baseline, good or strong; the presets; uplifts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import given, percent
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure

Band = Literal["below", "baseline", "above", "good", "strong"]
BANDS: tuple[Band, ...] = ("baseline", "above", "good", "strong")
NO_BANDS = "none"  # instead of a name
_PLAIN = re.compile(r"[A-Za-z][\w@.=()-]*", re.ASCII)  # what YAML takes for a text without quotes


@dataclass(frozen=True)
class Uplift:
    """By how much a system should be better than the baseline: by a difference, or by a share of its value.

    ``high`` is the other end of what is usual, if the target is a range; ``size`` is the end to be reached.
    """

    size: float
    relative: bool = False
    high: float | None = None

    @property
    def ends(self) -> tuple[float, ...]:
        """The size, or both ends of the range."""
        return (self.size,) if self.high is None else (self.size, self.high)

    def __str__(self) -> str:
        return " to ".join(f"+{percent(end)}" if self.relative else f"+{given(end)}" for end in self.ends)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"size": self.size, "relative": self.relative, **({} if self.high is None else {"high": self.high})}


@dataclass(frozen=True)
class Bands:
    """For each of some measures, the value at which each band begins. A band may have no threshold.

    ``baseline`` is usual values of a baseline; ``above`` begins where these end, and does not include that value.

    ``uplifts`` are targets relative to a baseline, which only a comparison can check (see ``config.bands.uplift``).
    """

    name: str
    thresholds: Mapping[Measure, Mapping[Band, float]]
    about: str = field(default="", compare=False)  # where the numbers come from
    uplifts: Mapping[Measure, Uplift] = field(default_factory=dict)

    def __contains__(self, measure: str | Measure) -> bool:
        return parse_measure(measure) in {*self.thresholds, *self.uplifts}

    def band_of(self, measure: str | Measure, value: float | None) -> Band | None:
        """The highest band that an unrounded value reaches; None for a measure without bands and for no value."""
        parsed = parse_measure(measure)
        if not self.thresholds.get(parsed) or value is None or math.isnan(value):
            return None
        sign = parsed.definition.direction or 1
        reached: Band = "below"
        for band, threshold in self.thresholds[parsed].items():
            if sign * value > sign * threshold or (band != "above" and value == threshold):
                reached = band
        return reached

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        bands = {str(measure): dict(bounds) for measure, bounds in self.thresholds.items()}
        uplifts = {str(measure): uplift.to_dict() for measure, uplift in self.uplifts.items()}
        return {"name": self.name, "bands": bands, **({"uplifts": uplifts} if uplifts else {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Bands:
        """The inverse of ``to_dict``."""
        uplifts = {
            name: Uplift(entry["size"], entry["relative"], entry.get("high"))
            for name, entry in data.get("uplifts", {}).items()
        }
        return cls(
            data["name"],
            {parse_measure(name): dict(bounds) for name, bounds in data["bands"].items()},
            uplifts={parse_measure(name): uplift for name, uplift in uplifts.items()},
        )

    def to_yaml(self) -> str:
        """The file that ``load_bands`` reads, to be edited."""
        import json  # which an evaluation does without

        lines = [f"# {line}".rstrip() for line in self.about.splitlines()]
        lines += [f"name: {json.dumps(self.name)}", "bands:"]
        for measure in dict.fromkeys([*self.thresholds, *self.uplifts]):
            values = [f"{band}: {value!r}" for band, value in self.thresholds.get(measure, {}).items()]
            if (uplift := self.uplifts.get(measure)) is not None:
                ends = [f"{end * 100:.12g}%" if uplift.relative else repr(end) for end in uplift.ends]
                values.append(f"uplift: {ends[0]}" if len(ends) == 1 else f"uplift: [{', '.join(ends)}]")
            lines.append(f"  {_quoted(str(measure))}: {{{', '.join(values)}}}")
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    import json

    return text if _PLAIN.fullmatch(text) else json.dumps(text)


# The bands that come with the package. `rankgauge measures --kpi NAME` writes them as the YAML to edit.

_THRESHOLDS: dict[str, dict[str, dict[Band, float]]] = {
    "trec-2025": {
        "nDCG@10": {"baseline": 0.30, "above": 0.32, "good": 0.35, "strong": 0.40},
        "AP@100": {"baseline": 0.25, "above": 0.27},
        "RR@10": {"baseline": 0.45, "good": 0.55},
        "R@50": {"baseline": 0.55, "above": 0.60, "good": 0.62},
        "R@100": {"baseline": 0.60, "above": 0.65, "good": 0.70},
        "Success@10": {"baseline": 0.70, "above": 0.75, "good": 0.80},
    },
}
_UPLIFTS: dict[str, dict[str, Uplift]] = {"trec-2025": {"AP@100": Uplift(0.03, high=0.05)}}
_ABOUT = {
    "trec-2025": """\
Target bands for passage retrieval, from the KPI reference of TREC 2025 (R task): what it says, and nothing more.

Each measure has the lowest value of up to four bands; below the first it is "below". Change the numbers and name this
file: --set kpi=my-bands.yaml. Measures are named in any notation that rankgauge reads. If a lower value is better, the
numbers descend.

baseline: the lower end of what the reference calls a typical baseline (BM25).
above:    its upper end: a value over it is above the typical baseline. RR@10 has one number, and so no upper end.
good:     its competitive target. It has none for AP@100.
strong:   given for nDCG@10 only.
uplift:   for AP@100, "+0.03–0.05 uplift is meaningful": a difference from the baseline of at least 0.03, which
          `rankgauge compare` and `rankgauge benchmark run` check; 0.05 is the other end of the range. A share of the
          baseline is written as 10%.

The numbers come from a development subset of MS MARCO v2.1, measured by trec_eval (linear gain, AP over all relevant
documents). On another collection they are meaningless: replace them with your own.""",
}


def presets() -> list[str]:
    """The names of the bands that come with the package."""
    return sorted(_THRESHOLDS)


def preset(name: str) -> Bands:
    """The bands of a name."""
    return Bands(
        name,
        {parse_measure(text): values for text, values in _THRESHOLDS[name].items()},
        _ABOUT[name],
        {parse_measure(text): uplift for text, uplift in _UPLIFTS[name].items()},
    )
