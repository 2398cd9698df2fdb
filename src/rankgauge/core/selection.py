"""The best row of each group, as greedy rankings choose it."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats


def last_best(group: Ints, *values: Floats) -> Ints:
    """The best row of each group that has rows, which are sorted by group.

    The best has the largest first value; of several such rows the largest second value, and so on; then it is the last.
    """
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    is_first = np.concatenate([[True], group[1:] != group[:-1]])
    begins, number = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    is_best = np.ones(len(group), dtype=bool)
    for value in values:
        candidates = np.where(is_best, value, -np.inf)
        is_best &= candidates == np.maximum.reduceat(candidates, begins)[number]
    best: Ints = np.maximum.reduceat(np.where(is_best, np.arange(len(group)), -1), begins)
    return best
