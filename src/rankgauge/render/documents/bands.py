"""The target band that each value reaches, and each uplift over the baseline; nothing if no measure has a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.config.bands import Band, Bands, Uplift
from rankgauge.core.formatting import percent, signed, span_of
from rankgauge.evaluation.scores import Scores
from rankgauge.render.document import NO_VALUE, NOTHING, Cell, Words, name

if TYPE_CHECKING:
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.config.uplift import UpliftResult


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
    """The band of each value whose measure has bands."""
    return {name: band for name, band in bands_of(scores, bands).items() if band is not None}


def used(scores: Sequence[Scores], bands: Bands | None) -> Bands | None:
    """The bands, if a value of these runs has one."""
    return bands if bands is not None and any(reached(run, bands) for run in scores) else None


def band_rows(scores: Sequence[Scores], bands: Bands | None) -> list[list[Cell]]:
    """Rows below a table of runs: the bands of their values, a dash if there is none."""
    if (shown := used(scores, bands)) is None:
        return []
    rows: list[list[Cell]] = [[*map(band_cell, bands_of(run, shown).values())] for run in scores]
    if len(rows) == 1:
        return [[Words(heading(shown)), *rows[0]]]
    head: list[Cell] = [Words(heading(shown)), *(NOTHING for _ in scores[0].measures)]
    return [head, *([name(run.run), *row] for run, row in zip(scores, rows, strict=True))]


def band_cell(band: Band | None) -> Words:
    """A band in a table."""
    return NO_VALUE if band is None else Words(band_words(band))


def band_words(band: str) -> str:
    """What a band is called where it is shown; any other word is itself."""
    return "above baseline" if band == "above" else band


def with_bands(
    data: dict[str, Any], scores: Sequence[Scores], bands: Bands | None, comparison: Comparison | None = None
) -> dict[str, Any]:
    """The JSON of scores with ``kpi``, the targets, and the bands and uplifts that each run reaches."""
    levels = used(scores, bands)
    uplifts = [uplifts_of(run, bands, comparison) for run in scores]
    if bands is None or (levels is None and not any(uplifts)):
        return data
    runs = [
        {
            **entry,
            **({} if levels is None else {"bands": reached(run, levels)}),
            **({"uplifts": {name: result.to_dict() for name, result in results.items()}} if results else {}),
        }
        for entry, run, results in zip(data["runs"], scores, uplifts, strict=True)
    ]
    return {**data, "runs": runs, "kpi": bands.to_dict()}


def uplifts_of(scores: Scores, bands: Bands | None, comparison: Comparison | None) -> dict[str, UpliftResult]:
    """The uplifts of a system, by measure; those of a baseline are none, and without a comparison each needs one."""
    targets = {} if bands is None else uplift_targets(scores, bands)
    if not targets or (comparison is not None and scores.run == comparison.baseline):
        return {}
    from rankgauge.config.uplift import UpliftResult, uplift_of

    if comparison is None:
        return {name: UpliftResult(target, "needs a baseline") for name, target in targets.items()}
    return {name: uplift_of(comparison, comparison[scores.run, name], target) for name, target in targets.items()}


def uplift_targets(scores: Scores, bands: Bands) -> dict[str, Uplift]:
    """The targets for the measures of a run, by their names."""
    names = zip(scores.measures, scores.requested or scores.measures, strict=True)
    found = ((measure.name, bands.uplifts.get(measure) or bands.uplifts.get(name)) for measure, name in names)
    return {name: target for name, target in found if target is not None}


def uplift_lines(scores: Sequence[Scores], bands: Bands | None, comparison: Comparison | None = None) -> list[str]:
    """A sentence per system and target: the improvement, its interval, the target and what that means."""
    if bands is None:
        return []
    if comparison is None:
        targets = uplift_targets(scores[0], bands)
        needed = "needs a comparison with a baseline (`rankgauge compare`)"
        return [f"{_title(bands)}: {scores[0].shown_name(name)} {target}: {needed}" for name, target in targets.items()]
    return [
        f"{_title(bands)}: {_uplift_text(run.run, run.shown_name(name), result, comparison)}"
        for run in scores
        for name, result in uplifts_of(run, bands, comparison).items()
    ]


def _title(bands: Bands) -> str:
    return f"uplift ({bands.name})"


def _uplift_text(system: str, measure: str, result: UpliftResult, comparison: Comparison) -> str:
    def text(value: float) -> str:
        return f"{signed(value * 100, 1)}%" if result.target.relative else signed(value)

    over = f"{measure} over {comparison.baseline}, target {result.target}"
    if result.estimate is None:
        return f"{system} on {over}: undefined, because the baseline's value is not positive"
    ends = span_of(result.low, result.high, text)
    confidence = f" ({percent(comparison.confidence)} CI {ends})" if ends else ""
    reach = "the estimate reaches it" if result.estimate_reaches else "the estimate is below it"
    if result.target.high is not None and result.estimate > result.target.high:
        reach = "the estimate is above it"
    status = f"inconclusive, {reach}" if result.status == "inconclusive" else result.status
    return f"{system} {text(result.estimate)}{confidence} on {over}: {status}"
