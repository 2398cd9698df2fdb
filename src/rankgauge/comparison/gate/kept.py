"""What a stored baseline keeps so that it can still be compared when labels change: its judgments, and its runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.io.shapes import MapOf, Maybe

JUDGMENTS_SHAPE = {"judgments": MapOf(MapOf(float))}
RANKINGS_SHAPE = {"rankings": [Maybe({"name": str, "scores": MapOf(MapOf(float)), "failed": [str]})]}
LARGEST = sys.float_info.max  # JSON has no infinite score


def storable_judgments(qrels: Qrels) -> Qrels | None:
    """Judgments of documents; None for those by subtopic, by group of judges or by text."""
    return None if qrels.by_group is not None else qrels


def kept_data(judgments: Qrels | None, rankings: Sequence[Run | None]) -> dict[str, Any]:
    """For JSON; a key without content is left out."""
    data: dict[str, Any] = {}
    if judgments is not None:
        data["judgments"] = _by_query(judgments, judgments.grades)
    if any(ranking is not None for ranking in rankings):
        data["rankings"] = [None if ranking is None else _ranking(ranking) for ranking in rankings]
    return data


def _ranking(run: Run) -> dict[str, Any]:
    failed = np.flatnonzero(run.status == Status.FAILED)
    scores = _by_query(run, np.clip(run.scores, -LARGEST, LARGEST))
    return {"name": run.name, "scores": scores, "failed": run.queries.take(failed).to_text()}


def _by_query(table: Qrels | Run, numbers: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, dict[str, float]]:
    docs, values, bounds = table.docs.to_text(), numbers.tolist(), table.offsets.tolist()
    return {
        query: dict(zip(docs[begin:end], values[begin:end], strict=True))
        for query, begin, end in zip(table.queries.to_text(), bounds[:-1], bounds[1:], strict=True)
    }
