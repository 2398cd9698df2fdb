"""One value per query, and one over all averaged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Aggregate, Measure

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Values:
    """The value of each query, NaN if there is none; ``over_queries`` aggregates the averaged ones."""

    values: Floats
    averaged: NDArray[np.bool_]
    how: Aggregate

    @cached_property
    def over_queries(self) -> float | None:
        """The value over all queries, as in Scores; None if there is nothing to average."""
        averaged = self.values[self.averaged]
        return aggregate(averaged[~np.isnan(averaged)], self.how)

    def at(self, row: int) -> float | None:
        """The value of one query."""
        value = float(self.values[row])
        return None if np.isnan(value) else value


def result_of(scores: Scores, results: Sequence[Result], measure: str | Measure) -> Result:
    """The result of one measure, by its name as requested or as evaluated."""
    parsed = Conventions(compat=scores.conventions.compat).measure(measure)
    for measures in (scores.measures, scores.requested):
        if parsed in measures:
            return results[measures.index(parsed)]
    raise KeyError(f"{parsed} was not audited; available: {', '.join(map(str, scores.measures))}")
