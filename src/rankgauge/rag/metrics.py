"""The numbers of one query, and how they came about."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from rankgauge.core.run import Status


@dataclass(frozen=True, kw_only=True)
class QueryMetrics:
    """The numbers of one query, NaN where its retriever failed, and how they came about.

    ``mrr`` and ``map`` are the reciprocal rank and the average precision of this one query, over all that was returned.
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
    repeated: int = 0  # results dropped because their id had come before
    error: str | None = None
    latency: float | None = None  # seconds, of the call that was answered
    attempts: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a number that there is not is null."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        out = {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in out.items()}
        return {**out, "status": self.status.name.lower(), "retrieved": list(self.retrieved)}


@dataclass(frozen=True)
class Asked:
    """One query as it was asked and what came back, before it is scored."""

    id: str
    query: str
    k: int
    retrieved: tuple[str, ...] = ()
    repeated: int = 0
    error: str | None = None
    latency: float | None = None
    attempts: int | None = None
