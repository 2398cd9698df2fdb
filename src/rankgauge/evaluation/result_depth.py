"""How deep the results of a system are: the k that was asked for, or what the results show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.run import RunExtras


class Depth(NamedTuple):
    """How many documents a query has at most, if that is known, and whether that many were asked for."""

    documents: int | None = None
    is_requested: bool = False


def depth_of(hits: Hits, extras: RunExtras | None) -> Depth:
    """The k that was asked for, else the largest depth if at least half of the answered queries end exactly there."""
    asked = None if extras is None else extras.logged_k if extras.requested_k is None else extras.requested_k
    if asked is not None:
        return Depth(asked, is_requested=True)
    return Depth(common_depth(hits.retrieved), is_requested=False)


def common_depth(documents: np.ndarray[Any, Any]) -> int | None:
    """The largest of the numbers of documents per query, if at least half of the queries with any have that many."""
    answered = documents[documents > 0]
    deepest = int(answered.max(initial=0))
    return deepest if deepest and 2 * int((answered == deepest).sum()) >= len(answered) else None
