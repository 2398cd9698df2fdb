"""Whether measures rank the systems alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from rankgauge.evaluation.evaluate import Scores
from rankgauge.measures.spec import Measure
from rankgauge.stats.agreement import kendall_tau

FEWEST = 3  # systems: two are ranked alike or not, and that is no correlation
LITTLE = 6  # systems, below which chance alone often agrees


@dataclass(frozen=True)
class MeasureAgreement:
    """Kendall's tau-b of the rankings of systems by two measures; None where one of them ranks nothing."""

    measures: tuple[str, str]
    tau: float | None
    systems: int
    reason: str | None = None


def measures_agree(scores: Sequence[Scores]) -> tuple[MeasureAgreement, ...]:
    """One for each pair of measures, of three or more systems, by their values over all queries."""
    if len(scores) < FEWEST:
        return ()
    ranked = {
        measure.name: _values(scores, measure)
        for measure in scores[0].measures
        if measure.definition.better is not None and all(run[measure] is not None for run in scores)
    }
    out = []
    for one, other in combinations(ranked, 2):
        found = kendall_tau(ranked[one], ranked[other])
        out.append(MeasureAgreement((one, other), found.value, len(scores), found.reason))
    return tuple(out)


def _values(scores: Sequence[Scores], measure: Measure) -> list[float]:
    """The systems' values, turned so that higher is better."""
    sign = -1.0 if measure.definition.better == "lower" else 1.0
    return [sign * (run[measure] or 0.0) for run in scores]
