"""The target band that each value reaches, in tables and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.evaluation import Scores
from rankgauge.kpi.bands import Band, Bands
from rankgauge.render.terminal import Cell, name


def bands_of(scores: Scores, bands: Bands) -> dict[str, Band | None]:
    """The band of each measure's value over all queries; None for a measure that has no bands."""
    names = scores.asked or scores.measures  # RBP may have bands where RBP(max_rel=3) was evaluated
    return {
        measure.name: bands.band_of(measure, value) or bands.band_of(asked, value)
        for measure, asked in zip(scores.measures, names, strict=True)
        for value, _ in [scores.over_queries[measure.name]]
    }


def band_row(scores: Scores, bands: Bands) -> list[Cell]:
    """The bands of a run below its values; a dash for a measure that has none."""
    return [Cell(band or "–") for band in bands_of(scores, bands).values()]


def band_lines(scores: Sequence[Scores], bands: Bands | None) -> str:
    """The bands of each run in a line of its own, for tables that have runs as rows; nothing where none has any."""
    if bands is None:
        return ""
    lines = []
    for run in scores:
        reached = [f"{measure} {band}" for measure, band in bands_of(run, bands).items() if band is not None]
        if reached:
            lines.append(f"{bands.name}: {name(run.run)} {', '.join(reached)}\n")
    return "".join(lines)


def with_bands(data: dict[str, Any], scores: Sequence[Scores], bands: Bands | None) -> dict[str, Any]:
    """The JSON of scores with ``kpi``, the thresholds, and the bands that each run's values reach."""
    if bands is None:
        return data
    runs = [
        {**run, "bands": {measure: band for measure, band in bands_of(one, bands).items() if band is not None}}
        for run, one in zip(data["runs"], scores, strict=True)
    ]
    return {**data, "runs": runs, "kpi": bands.to_dict()}
