"""The inputs that every audit shares: judgments, a run and measures, joined and scored."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Conventions, Names, Scores, asked_measures, joined_scores


@dataclass(frozen=True, eq=False)
class AuditInput:
    """A scored run, with the join and the judgments behind its scores."""

    qrels: Qrels
    hits: Hits
    scores: Scores


def open_audit(
    qrels: AnyQrels,
    run: AnyRun,
    measures: Names | None,
    *,
    conventions: Conventions | None,
    rel: float | None,
    on_duplicate: OnDuplicate,
) -> AuditInput:
    """Read, join and score one run."""
    conventions = conventions or Conventions()
    requested = asked_measures(measures, conventions, rel)
    judgments, joined, scores, _ = joined_scores(qrels, [run], requested, conventions, on_duplicate=on_duplicate)
    return AuditInput(judgments, joined[0].hits, scores[0])
