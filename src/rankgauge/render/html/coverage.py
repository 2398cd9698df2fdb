"""How much of what the systems retrieved is judged: beside the answer, because everything depends on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.formatting import text_of
from rankgauge.core.hits import Hits
from rankgauge.evaluation.notes import POOL_DEPTH
from rankgauge.measures.spec import ONE_GRADE
from rankgauge.report.report import Report

MAX_SYSTEMS_NAMED = 6
LOW_COVERAGE = 0.8  # below, unjudged documents could change an answer


@dataclass(frozen=True)
class Coverage:
    """The judged share of the documents at the top of all systems, and of each."""

    share: float
    text: str
    is_low: bool


def coverage_of(report: Report) -> Coverage | None:
    """The judgment coverage of the first ranks; None if documents have no grades, or nothing was retrieved."""
    hits = [joined.hits for joined in report.joined]
    if report.qrels.judgments not in ONE_GRADE or not hits:
        return None
    counts = [_judged_and_retrieved(run_hits) for run_hits in hits]
    judged, retrieved = (sum(column) for column in zip(*counts, strict=True))
    if not retrieved:
        return None
    share = judged / retrieved
    text = f"{text_of(share, 'share')} of the documents in the top {POOL_DEPTH} are judged"
    shares = [text_of(own / all_of if all_of else None, "share") for own, all_of in counts]
    if 1 < len(shares) <= MAX_SYSTEMS_NAMED and len(set(shares)) > 1:
        text += f" ({', '.join(f'{name} {own}' for name, own in zip(report.names, shares, strict=True))})"
    return Coverage(share, text, share < LOW_COVERAGE)


def _judged_and_retrieved(hits: Hits) -> tuple[int, int]:
    top = hits.top(POOL_DEPTH)
    return int((top.grade >= 0).sum()), int(np.minimum(hits.retrieved, POOL_DEPTH).sum())
