"""Runs that are scored already, by a cluster or in another process, where a run is expected."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure


def scores_on(
    qrels: Qrels, scores: Scores, requested: tuple[Measure, ...], conventions: Conventions, *, fingerprint: bool
) -> Scores:
    """The scores of the requested measures; raises if they are not on these judgments or under these conventions."""
    if scores.conventions != conventions:
        raise UsageError(
            f"run {shown(scores.run)} was scored under other conventions: {scores.conventions}",
            hint=f"here they are: {conventions}",
        )
    if scores.queries != tuple(qrels.queries.to_text()):
        raise InputError(
            f"run {shown(scores.run)} was scored on {len(scores.queries)} queries, "
            f"which are not the {len(qrels.queries)} queries of {shown(qrels.name)}",
            hint="score it on these judgments",
        )
    try:
        chosen = scores.only([measure.frozen(qrels) for measure in requested])
    except KeyError as error:
        raise UsageError(f"run {shown(scores.run)} is scored already: {error.args[0]}") from None
    sha256 = qrels.sha256 if fingerprint else None
    return replace(chosen, requested=requested, columns=qrels.columns, qrels=qrels.name, qrels_sha256=sha256)
