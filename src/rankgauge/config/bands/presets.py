"""The bands that come with the package. `rankgauge measures --kpi NAME` writes them as the YAML to edit."""

from __future__ import annotations

from rankgauge.config.bands.bands import Band, Bands
from rankgauge.measures.parse import parse_measure

DEFAULT_PRESET = "trec-2025"

_THRESHOLDS: dict[str, dict[str, tuple[float, float, float]]] = {
    "trec-2025": {
        "nDCG@10": (0.30, 0.35, 0.40),
        "AP@100": (0.25, 0.30, 0.35),
        "RR@10": (0.45, 0.55, 0.65),
        "R@50": (0.55, 0.62, 0.69),
        "R@100": (0.60, 0.70, 0.80),
        "Success@10": (0.70, 0.80, 0.90),
    },
}
_ABOUT = {
    "trec-2025": """\
Target bands for passage retrieval, from the KPI reference of TREC 2025 (R task).

Each measure has the lowest value of three bands; below the first it is "below". Change the numbers and name this file:
--kpi my-bands.yaml. Measures are named in any notation that rankgauge reads. If a lower value is better, the numbers
descend.

baseline: the lower end of what the reference calls a typical baseline (BM25).
good:     its competitive target. For AP@100 it names an uplift of 0.03 on 0.25 to 0.27: 0.30.
strong:   given for nDCG@10 only, as far above good as good is above the baseline; the others have the same step.

The numbers come from a development subset of MS MARCO v2.1, measured by trec_eval (linear gain, AP over all relevant
documents). On another collection they are meaningless: replace them with your own.""",
}


def presets() -> list[str]:
    """The names of the bands that come with the package."""
    return sorted(_THRESHOLDS)


def preset(name: str) -> Bands:
    """The bands of a name."""
    return Bands(
        name, {parse_measure(text): _bands(*values) for text, values in _THRESHOLDS[name].items()}, _ABOUT[name]
    )


def _bands(baseline: float, good: float, strong: float) -> dict[Band, float]:
    return {"baseline": baseline, "good": good, "strong": strong}
