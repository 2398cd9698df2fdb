"""What a run did with each query besides its ranking: whether it answered, how sure it was, what it must not return.

Judgments alone do not tell: it takes scores, what a log says of refusals, and lists or rules of forbidden documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Leak:
    """A forbidden document in a ranking, and the list or rule that forbids it."""

    query: str
    document: str
    rank: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"query": self.query, "document": self.document, "rank": self.rank, "reason": self.reason}


@dataclass(frozen=True, eq=False)
class QueryAnswers:
    """One row per judged query.

    ``is_unanswerable`` are the queries without an answer; ``is_classed`` are those that count as answered or refused: a
    query that a pipeline rightly did not retrieve for is neither. ``top_score`` is −∞ for an empty ranking.
    ``forbidden_rank`` is the rank of the first forbidden document, 0 if there is none; ``is_guarded`` are the queries
    to which a list or rule of forbidden documents applies.
    """

    is_unanswerable: Mask
    is_answered: Mask
    is_classed: Mask
    top_score: Floats
    forbidden_rank: Ints
    is_guarded: Mask
    relevant_rank: Ints | None = None  # of the first relevant document, 0 if there is none
    has_scores: bool = False  # whether scores are more than positions in a list
    leaks: tuple[Leak, ...] = ()  # all forbidden documents, by query and rank
    guards: int = 0  # how many documents, folders and rules forbid something
    unseen: tuple[str, ...] = ()  # those of them that match no id of the results or the labels

    def select(self, keep: Mask | Ints) -> QueryAnswers:
        """Some of the queries, by a mask or by their numbers."""
        return replace(
            self,
            is_unanswerable=self.is_unanswerable[keep],
            is_answered=self.is_answered[keep],
            is_classed=self.is_classed[keep],
            top_score=self.top_score[keep],
            forbidden_rank=self.forbidden_rank[keep],
            is_guarded=self.is_guarded[keep],
            relevant_rank=None if self.relevant_rank is None else self.relevant_rank[keep],
        )
