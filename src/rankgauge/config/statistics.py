"""The intervals and tests that a configuration asks for, of scores that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.pair import on_scale
from rankgauge.config.apply import Plan
from rankgauge.evaluation.evaluate import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.stats.correction import holm
from rankgauge.stats.results import Interval
from rankgauge.stats.tests import paired_t


@dataclass(frozen=True)
class Tested:
    """One run against the first, by one measure: the difference of the means, p, and p corrected for all tests."""

    run: str
    against: str
    measure: str
    difference: float | None
    p: float | None
    corrected: float | None
    significant: bool | None
    n: int
    reason: str | None


@dataclass(frozen=True)
class Statistics:
    """Intervals by run and measure (runs in order), and tests. Empty where the plan does not ask for them."""

    level: float
    intervals: tuple[dict[str, Interval], ...] = ()
    tests: tuple[Tested, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "level": self.level,
            "intervals": [
                {
                    name: {"low": found.low, "high": found.high, "method": found.method, "reason": found.reason}
                    for name, found in run.items()
                }
                for run in self.intervals
            ],
            "tests": [
                {
                    "run": test.run,
                    "against": test.against,
                    "measure": test.measure,
                    "test": "paired t, corrected by Holm",
                    "difference": test.difference,
                    "p": test.p,
                    "corrected": test.corrected,
                    "significant": test.significant,
                    "n": test.n,
                    "reason": test.reason,
                }
                for test in self.tests
            ],
        }


def statistics_of(scores: Sequence[Scores], plan: Plan) -> Statistics:
    """Intervals of each mean at 1 − alpha and paired tests of each run against the first, where they are asked for.

    Sums such as NumRelRet have neither. The p values of all tests are corrected together, by Holm.
    """
    level = 1 - plan.alpha
    intervals: tuple[dict[str, Interval], ...] = ()
    if plan.confidence_intervals:
        intervals = tuple({name: run.interval(name, confidence=level) for name in _averaged(run)} for run in scores)
    return Statistics(level, intervals, _tests(scores, plan.alpha) if plan.significance_testing else ())


def _averaged(run: Scores) -> list[str]:
    return [measure.name for measure in run.measures if measure.definition.aggregate != "sum"]


def _tests(scores: Sequence[Scores], alpha: float) -> tuple[Tested, ...]:
    first, base = scores[0], on_scale(scores[0])
    units = first.columns.get("unit")  # queries of one unit are one observation
    pairs = []
    for run in scores[1:]:
        values = on_scale(run)
        for name in _averaged(first):
            place = [measure.name for measure in run.measures].index(name)
            ours, theirs = values[:, place], base[:, place]
            both = run.averaged & first.averaged & ~(np.isnan(ours) | np.isnan(theirs))
            result = paired_t(ours[both], theirs[both], units=None if units is None else units[both])
            pairs.append((run, name, replace(result, estimate=_gap(run, first, place, both))))
    corrected = holm([result.p for _, _, result in pairs]).p if pairs else ()
    return tuple(
        Tested(
            run=run.run,
            against=first.run,
            measure=name,
            difference=result.estimate,
            p=result.p,
            corrected=p,
            significant=None if p is None else p < alpha,
            n=result.n,
            reason=result.reason,
        )
        for (run, name, result), p in zip(pairs, corrected, strict=True)
    )


def _gap(run: Scores, first: Scores, place: int, both: NDArray[np.bool_]) -> float | None:
    """The difference of the means, or of the geometric means, over the queries that both have."""
    kind = run.measures[place].definition.aggregate
    one, other = (aggregate(scores.values[both, place], kind) for scores in (run, first))
    return None if one is None or other is None else one - other
