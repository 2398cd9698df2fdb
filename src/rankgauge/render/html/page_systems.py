"""The systems on the page: those that were scored, some of which have no ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankgauge.comparison.answer_sentences import best_challenger
from rankgauge.evaluation.mean_intervals import intervals_of_scores
from rankgauge.evaluation.scores import Scores
from rankgauge.report.report import Report
from rankgauge.stats.results import Interval

SYSTEM_STYLES = 12  # colors and shapes: one for the baseline, and eleven more


@dataclass(frozen=True)
class PageSystem:
    """One system in tables and charts: its name, its color and its shape."""

    name: str
    color: str  # a CSS class
    shape: str  # the id of a symbol of the page


@dataclass(frozen=True, eq=False)
class PageSystems:
    """All systems with their scores; ``ranked`` are those of the report's runs, in their order.

    A baseline stored by a gate has scores and no run.
    """

    scores: tuple[Scores, ...]
    systems: tuple[PageSystem, ...]
    ranked: tuple[PageSystem, ...]
    baseline: int
    best: int  # the best system other than the baseline, on the first measure
    confidence: float
    intervals: tuple[Mapping[str, Interval], ...]  # of each system's means, by measure


def page_systems_of(report: Report) -> PageSystems:
    """The systems of the comparison if there is one, otherwise those of the report."""
    comparison = report.comparison
    scores = report.scores if comparison is None else comparison.scores
    names = [run_scores.run for run_scores in scores]
    baseline = 0 if comparison is None else names.index(comparison.baseline)
    systems = color_systems(names, baseline)
    return PageSystems(
        scores=scores,
        systems=tuple(systems),
        ranked=tuple(systems[names.index(name)] for name in report.names),
        baseline=baseline,
        best=len(names) - 1 if comparison is None else names.index(best_challenger(comparison)),
        confidence=report.confidence,
        intervals=tuple(intervals_of_scores(scores, report.confidence)),
    )


def color_systems(names: Sequence[str], baseline: int) -> list[PageSystem]:
    """The systems in their order; the baseline is a gray circle.

    Colors repeat if there are many systems, but each time with other shapes.
    """
    others, styles = (index for index in range(len(names)) if index != baseline), SYSTEM_STYLES - 1
    numbers = {baseline: (0, 0)}
    for order, index in enumerate(others):
        numbers[index] = (1 + order % styles, 1 + (order + order // styles) % styles)
    styled = [(name, *numbers[index]) for index, name in enumerate(names)]
    return [PageSystem(name, f"c{color}", f"s{shape}") for name, color, shape in styled]
