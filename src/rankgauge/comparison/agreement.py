"""Whether measures rank the systems in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.stats.agreement import kendall_tau

MIN_SYSTEMS = 3  # two systems have one order or the other, which is not a correlation
FEW_SYSTEMS = 6  # below this, orders often agree by chance


@dataclass(frozen=True)
class MeasureAgreement:
    """Kendall's tau-b of the rankings of systems by two measures; None if one of them ranks nothing."""

    measures: tuple[str, str]
    tau: float | None
    systems: int
    reason: str | None = None


def measure_agreement(scores: Sequence[Scores]) -> tuple[MeasureAgreement, ...]:
    """One row per pair of measures, for three or more systems, by their values over all queries."""
    if len(scores) < MIN_SYSTEMS:
        return ()
    ranked = {
        measure.name: _values(scores, measure)
        for measure in scores[0].measures
        if measure.definition.direction and all(run[measure] is not None for run in scores)
    }
    out = []
    for first, second in combinations(ranked, 2):
        tau = kendall_tau(ranked[first], ranked[second])
        out.append(MeasureAgreement((first, second), tau.value, len(scores), tau.reason))
    return tuple(out)


def _values(scores: Sequence[Scores], measure: Measure) -> list[float]:
    """The systems' values, turned so that higher is better."""
    return [measure.definition.direction * (run[measure] or 0.0) for run in scores]
