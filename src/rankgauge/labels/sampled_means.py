"""The means of runs over the queries of a sampled pool, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.run import Run
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.evaluation.intervals import within
from rankgauge.labels.records import Judgment
from rankgauge.labels.sampled import sampled_values
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.results import Interval

SAMPLED_DEPTH = 10
SAMPLED_NAMES = {"ap": "AP", "precision": f"P@{SAMPLED_DEPTH}", "relevant": "NumRel"}


@dataclass(frozen=True)
class SampledEstimate:
    """The estimated mean of one value of one run over queries; ``interval.estimate`` is the mean."""

    run: str
    measure: str
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        interval = self.interval
        return {
            "run": self.run,
            "measure": self.measure,
            "estimate": interval.estimate,
            "queries": interval.n,
            **interval.to_dict(),
        }


def estimate_from_sample(
    judgments: Sequence[Judgment], runs: Sequence[Run], *, rel: float = 1.0, confidence: float = 0.95
) -> tuple[SampledEstimate, ...]:
    """AP, P@10 and the number of relevant documents, estimated from judgments of a sampled pool.

    The intervals are those of a mean over queries: they include the noise of the sample within each query.
    """
    names = unique_names([run.name for run in runs])
    rows = []
    for name, run in zip(names, runs, strict=True):
        values = sampled_values(judgments, run, k=SAMPLED_DEPTH, rel=rel)
        for field, measure in SAMPLED_NAMES.items():
            numbers = np.array([getattr(value, field) for value in values], dtype=np.float64)
            interval = mean_interval(numbers, method="bootstrap-t", confidence=confidence)
            rows.append(SampledEstimate(name, measure, within(interval, 0.0, np.inf if field == "relevant" else 1.0)))
    return tuple(rows)
