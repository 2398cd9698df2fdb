"""The order of runs in tables: by the first measure, the best first, unless a user asks for another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.errors import MeasureError, UsageError, printable
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure

BY_NAME, AS_GIVEN = "name", "given"


def sorted_runs(scores: Sequence[Scores], sort: str | None = None) -> list[Scores]:
    """Runs sorted by a measure, the best first; by ``name``; or as ``given``. Equal ones stay as given."""
    if sort == AS_GIVEN or not scores:
        return list(scores)
    if sort == BY_NAME:
        return sorted(scores, key=lambda run: run.run)
    measure = scores[0].measures[0] if sort is None else _measure_of(scores[0], sort)
    return best_first(scores, measure)


def best_first(scores: Sequence[Scores], measure: Measure) -> list[Scores]:
    """Runs from the best value to the worst, or from the highest without a direction; those without a value last."""
    sign = measure.definition.direction or 1

    def key(run: Scores) -> float:
        value = run[measure]
        return math.inf if value is None else -sign * value

    return sorted(scores, key=key)


def _measure_of(scores: Scores, name: str) -> Measure:
    """The evaluated measure that a user names, in any notation."""
    try:
        return scores.only([name]).measures[0]
    except (KeyError, MeasureError):
        choices = ", ".join([*(measure.name for measure in scores.measures), BY_NAME, AS_GIVEN])
        raise UsageError(f"cannot sort by '{printable(name)}'", hint=f"--sort takes one of: {choices}") from None
