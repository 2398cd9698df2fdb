"""The target band that each value reaches, in tables and in JSON; nothing is shown if no measure has bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.config.bands.bands import Band, Bands
from rankgauge.evaluation.scores import Scores
from rankgauge.render.text.grid import Cell, Show


def heading(bands: Bands) -> str:
    """The title of a row or a column of bands, with the name of the bands."""
    return f"band ({bands.name})"


def band_of(scores: Scores, measure: str, value: float | None, bands: Bands) -> Band | None:
    """The band of a value of an evaluated measure; None if it has none."""
    index = next(index for index, evaluated in enumerate(scores.measures) if evaluated.name == measure)
    return _band_at(scores, index, value, bands)


def bands_of(scores: Scores, bands: Bands) -> dict[str, Band | None]:
    """The band of each measure's value over all queries; None for a measure that has no bands."""
    values = enumerate(scores.over_queries.items())  # in the order of the measures
    return {name: _band_at(scores, index, value, bands) for index, (name, (value, _)) in values}


def _band_at(scores: Scores, index: int, value: float | None, bands: Bands) -> Band | None:
    names = scores.requested or scores.measures  # RBP may have bands if RBP(max_rel=3) was evaluated
    return bands.band_of(scores.measures[index], value) or bands.band_of(names[index], value)


def reached(scores: Scores, bands: Bands) -> dict[str, Band]:
    """The same for the measures that have bands."""
    return {name: band for name, band in bands_of(scores, bands).items() if band is not None}


def used(scores: Sequence[Scores], bands: Bands | None) -> Bands | None:
    """The bands, if a value of these runs has one."""
    return bands if bands is not None and any(reached(run, bands) for run in scores) else None


def band_rows(scores: Sequence[Scores], bands: Bands | None, show: Show) -> list[list[Cell]]:
    """Rows below a table of runs: the bands of their values, a dash if there is none."""
    if (shown := used(scores, bands)) is None:
        return []
    rows = [[Cell(band or "–") for band in bands_of(run, shown).values()] for run in scores]
    if len(rows) == 1:
        return [[Cell(heading(shown)), *rows[0]]]
    head = [Cell(heading(shown)), *(Cell("") for _ in scores[0].measures)]
    return [head, *([Cell(show(run.run)), *row] for run, row in zip(scores, rows, strict=True))]


def with_bands(data: dict[str, Any], scores: Sequence[Scores], bands: Bands | None) -> dict[str, Any]:
    """The JSON of scores with ``kpi``, the thresholds, and the bands that each run's values reach."""
    if (shown := used(scores, bands)) is None:
        return data
    runs = [{**entry, "bands": reached(run, shown)} for entry, run in zip(data["runs"], scores, strict=True)]
    return {**data, "runs": runs, "kpi": shown.to_dict()}
