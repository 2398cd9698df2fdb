"""The values of one query, and the answer of the retriever behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from rankgauge.core.run import Status


@dataclass(frozen=True, kw_only=True)
class QueryMetrics:
    """The values of one query, NaN if its retriever failed, and the answer behind them.

    ``mrr`` and ``map`` are the reciprocal rank and the average precision of this one query, over all returned results.
    """

    precision_at_k: float
    recall_at_k: float
    f1_at_k: float
    mrr: float
    map: float
    ndcg_at_k: float
    hit_rate: float
    k: int
    id: str
    query: str
    status: Status
    retrieved: tuple[str, ...] = ()
    scores: tuple[float, ...] | None = None  # of the retrieved documents, higher is better
    repeated: int = 0  # results dropped because their id appeared before
    fault: str | None = None  # how the given scores contradict the order of the results
    short_of: int = 0  # k, if there are fewer results and more may be had
    error: str | None = None
    latency: float | None = None  # seconds of the attempt that was answered
    response: float | None = None  # seconds from the instant at which the query was due, retries and pauses included
    attempts: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a value that does not exist is null."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()
        }
        scores = None if self.scores is None else [score if math.isfinite(score) else None for score in self.scores]
        return {**plain, "status": self.status.name.lower(), "retrieved": list(self.retrieved), "scores": scores}


@dataclass(frozen=True)
class QueryOutcome:
    """One query and what the retriever returned for it, before scoring."""

    id: str
    query: str
    k: int
    retrieved: tuple[str, ...] = ()
    scores: tuple[float, ...] | None = None
    repeated: int = 0
    fault: str | None = None
    short_of: int = 0
    error: str | None = None
    latency: float | None = None
    response: float | None = None
    attempts: int | None = None
