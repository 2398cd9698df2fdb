"""Who is on the page: the systems that were scored, some of which have no ranking any more."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.evaluation import Scores
from rankgauge.experiment.report import Report
from rankgauge.render.html.figures.systems import System, systems_of

LEVEL = 0.95  # of intervals where nothing was compared


@dataclass(frozen=True, eq=False)
class Cast:
    """All systems with their scores; ``ranked`` are those of the report's runs, in their order.

    A baseline that was stored by a gate has scores and no run.
    """

    scores: tuple[Scores, ...]
    systems: tuple[System, ...]
    ranked: tuple[System, ...]
    baseline: int
    level: float

    @property
    def best(self) -> int:
        """The best system but the baseline, on the first measure."""
        measure = self.scores[0].measures[0]
        sign = -1 if measure.definition.better == "lower" else 1
        others = [place for place in range(len(self.systems)) if place != self.baseline]
        return max(others, key=lambda place: (sign * (self.scores[place][measure] or 0.0), -place))


def cast_of(report: Report) -> Cast:
    """The systems of the comparison where there is one, or else those of the report."""
    found = report.comparison
    scores = report.scores if found is None else found.scores
    names = [one.run for one in scores]
    baseline = 0 if found is None else names.index(found.baseline)
    systems = systems_of(names, baseline)
    return Cast(
        scores=scores,
        systems=tuple(systems),
        ranked=tuple(systems[names.index(name)] for name in report.names),
        baseline=baseline,
        level=LEVEL if found is None else found.level,
    )
