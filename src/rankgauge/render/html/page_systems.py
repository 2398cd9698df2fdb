"""Who is on the page: the systems that were scored, some of which have no ranking any more."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.comparison.sentences import best_challenger
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.figures.systems import System, systems_of
from rankgauge.report.report import Report


@dataclass(frozen=True, eq=False)
class Cast:
    """All systems with their scores; ``ranked`` are those of the report's runs, in their order.

    A baseline that was stored by a gate has scores and no run.
    """

    scores: tuple[Scores, ...]
    systems: tuple[System, ...]
    ranked: tuple[System, ...]
    baseline: int
    best: int  # but the baseline, on the first measure
    confidence: float


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
        best=len(names) - 1 if found is None else names.index(best_challenger(found)),
        confidence=report.confidence,
    )
