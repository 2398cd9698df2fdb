"""The table below the answer: every system on every measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.comparison.result import Comparison, Difference
from rankgauge.comparison.sentences import least_sensitive, span_text
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import p_value
from rankgauge.evaluation.order import sorted_runs
from rankgauge.measures.spec import Measure
from rankgauge.render.documents.bands import bands_of
from rankgauge.render.documents.scores import best_of
from rankgauge.render.html.charts.forest import forest, largest_distance
from rankgauge.render.html.marks import Mark, difference_text, mark_of
from rankgauge.render.html.page_systems import PageSystem, PageSystems
from rankgauge.render.html.text import interval_text, measure_text


@dataclass(frozen=True)
class BaselineDifference:
    """The difference of a system from the baseline."""

    difference: str
    interval: str
    p: str
    mark: Mark
    tally: str
    forest: Markup


@dataclass(frozen=True)
class ResultRow:
    """One system on one measure."""

    system: PageSystem
    value: str
    interval: str
    best: bool
    band: str | None
    difference: BaselineDifference | None  # None for the baseline, and if nothing was compared


@dataclass(frozen=True)
class MeasureResults:
    """All systems on one measure."""

    measure: Measure
    queries: int
    rows: tuple[ResultRow, ...]
    detectable: str | None  # the minimum detectable difference with these queries
    unpaired: bool  # whether differences are over fewer queries than values


def results(page_systems: PageSystems, comparison: Comparison | None, bands: Bands | None) -> Iterator[MeasureResults]:
    """The table below the answer, by measure; systems from the best to the worst on the first one."""
    scores = page_systems.scores
    system_bands = [{} if bands is None else bands_of(run_scores, bands) for run_scores in scores]
    places = {run_scores.run: place for place, run_scores in enumerate(sorted_runs(scores))}
    systems = sorted(
        zip(scores, page_systems.systems, page_systems.intervals, system_bands, strict=True),
        key=lambda system: places[system[0].run],
    )
    for measure in scores[0].measures:
        differences = [row for row in comparison.differences if row.measure == measure.name] if comparison else []
        limit = largest_distance(differences)
        unpaired = comparison is not None and comparison.has_unpaired_queries(measure.name)
        best = None if unpaired else best_of(measure, [run_scores[measure] for run_scores in scores])
        rows = []
        for run_scores, system, intervals, band in systems:
            difference = next((row for row in differences if row.system == run_scores.run), None)
            value = run_scores[measure]
            rows.append(
                ResultRow(
                    system=system,
                    value=measure_text(measure, value),
                    interval=interval_text(intervals[measure.name]),
                    best=value is not None and value == best,
                    band=band.get(measure.name),
                    difference=None
                    if comparison is None or difference is None
                    else _baseline_difference(comparison, difference, limit, system.color),
                )
            )
        largest = None if unpaired else least_sensitive(differences)
        detectable = None if largest is None else largest.text(largest.detectable or 0.0).removeprefix("+")
        queries = max(run_scores.over_queries[measure.name][1] for run_scores in scores)
        yield MeasureResults(measure, queries, tuple(rows), detectable, unpaired)


def _baseline_difference(comparison: Comparison, row: Difference, limit: float, color: str) -> BaselineDifference:
    effect = row.effect
    return BaselineDifference(
        difference=difference_text(row),
        interval=span_text(row.interval, row),
        p=p_value(row.p_corrected),
        mark=mark_of(comparison, row),
        tally=f"{effect.wins}/{effect.ties}/{effect.losses}",
        forest=forest(row, limit, color),
    )
