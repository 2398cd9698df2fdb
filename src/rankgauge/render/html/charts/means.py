"""The mean of each system with its confidence interval, one chart per measure."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.core.formatting import percent
from rankgauge.render.html.charts.ranges import RangeRow, ranges
from rankgauge.render.html.charts.svg import Chart
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.render.html.text import interval_text, measure_text


def mean_charts(page_systems: PageSystems) -> Iterator[Chart]:
    """One chart for each measure."""
    confidence = page_systems.confidence
    for measure in page_systems.scores[0].measures:
        rows = []
        for index, (scores, system) in enumerate(zip(page_systems.scores, page_systems.systems, strict=True)):
            value, interval = scores[measure], page_systems.intervals[index][measure.name]
            value_text, ends = measure_text(measure, value), interval_text(interval)
            suffix = f" ({percent(confidence)} CI {ends})" if ends else ""
            description = f"{system.name}: {measure.name} {value_text}{suffix}"
            rows.append(RangeRow(system, value, interval.low, interval.high, value_text, description))
        yield Chart(measure.name, ranges(rows, measure.definition.range), measure.definition.summary)
