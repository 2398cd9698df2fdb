"""The mean of each system with its interval, one panel a measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.figures.ranges import Row, ranges
from rankgauge.render.html.figures.svg import Figure
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import between, percent, value_of


def means(scores: Sequence[Scores], systems: Sequence[System], confidence: float) -> Iterator[Figure]:
    """One picture for each measure."""
    for measure in scores[0].measures:
        rows = []
        for one, system in zip(scores, systems, strict=True):
            value, interval = one[measure], one.interval(measure, confidence=confidence)
            shown = value_of(measure, value)
            span = between(interval)
            said = f"{system.name}: {measure.name} {shown}" + (f" ({percent(confidence)} {span})" if span else "")
            rows.append(Row(system, value, interval.low, interval.high, shown, said))
        yield Figure(measure.name, ranges(rows, measure.definition.range), measure.definition.summary)
