"""The bands that come with the package. `rankgauge measures --kpi NAME` writes them as the YAML to edit."""

from __future__ import annotations

from rankgauge.config.bands.bands import Band, Bands, Uplift
from rankgauge.measures.parse import parse_measure

_THRESHOLDS: dict[str, dict[str, dict[Band, float]]] = {
    "trec-2025": {
        "nDCG@10": {"baseline": 0.30, "good": 0.35, "strong": 0.40},
        "AP@100": {"baseline": 0.25},
        "RR@10": {"baseline": 0.45, "good": 0.55},
        "R@50": {"baseline": 0.55, "good": 0.62},
        "R@100": {"baseline": 0.60, "good": 0.70},
        "Success@10": {"baseline": 0.70, "good": 0.80},
    },
}
_UPLIFTS: dict[str, dict[str, Uplift]] = {"trec-2025": {"AP@100": Uplift(0.03)}}
_ABOUT = {
    "trec-2025": """\
Target bands for passage retrieval, from the KPI reference of TREC 2025 (R task): what it says, and nothing more.

Each measure has the lowest value of up to three bands; below the first it is "below". Change the numbers and name this
file: --kpi my-bands.yaml. Measures are named in any notation that rankgauge reads. If a lower value is better, the
numbers descend.

baseline: the lower end of what the reference calls a typical baseline (BM25).
good:     its competitive target. It has none for AP@100.
strong:   given for nDCG@10 only.
uplift:   for AP@100, "+0.03–0.05 uplift is meaningful": a difference from the baseline of at least 0.03, which
          `rankgauge compare` and `rankgauge benchmark run` check. A share of the baseline is written as 10%.

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
