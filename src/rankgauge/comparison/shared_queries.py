"""Which queries two systems share: every paired difference, in a comparison or a gate, is over these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.evaluation.scores import Scores

Mask = NDArray[np.bool_]


def shared_queries(system: Scores, baseline: Scores, columns: Sequence[int] = ()) -> Mask:
    """The queries that are averaged on both sides and have a value of each of some measures, by their column."""
    shared: Mask = system.averaged & baseline.averaged
    for column in columns:
        shared = shared & ~np.isnan(system.values[:, column]) & ~np.isnan(baseline.values[:, column])
    return shared
