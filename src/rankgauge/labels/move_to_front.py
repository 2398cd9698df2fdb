"""The move-to-front order of a pool: documents of the runs that found relevant ones come first."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats


def move_to_front_order(rank: Ints, grades: Floats) -> Ints:
    """The documents of one query in the order in which to judge them, given those that are judged already.

    ``rank`` has one row per document and one column per run, 0 if the run does not have it; ``grades`` is NaN for what
    is not judged. The run with the highest priority gives its next document. A run keeps its priority if that document
    is relevant, and loses one if it is not, or not judged yet. Cormack, Palmer and Clarke, Efficient construction of
    large test collections, SIGIR 1998 (local move-to-front).
    """
    rankings = [[int(doc) for doc in np.argsort(column, kind="stable") if column[doc] > 0] for column in rank.T]
    positions, priorities = [0] * len(rankings), [0] * len(rankings)
    taken: dict[int, None] = {}
    while True:
        waiting = [run for run, ranking in enumerate(rankings) if positions[run] < len(ranking)]
        if not waiting:
            return np.array(list(taken), dtype=np.int64)
        run = max(waiting, key=lambda candidate: (priorities[candidate], -candidate))
        doc = rankings[run][positions[run]]
        positions[run] += 1
        if doc not in taken:
            taken[doc] = None
            priorities[run] -= not grades[doc] > 0
