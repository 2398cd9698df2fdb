"""A stored baseline whose labels have changed since: both sides with the same labels, on the queries they share.

Today's run is scored again with the baseline's labels. If the baseline has its runs too, they are scored again with
today's, and both versions count alike. Only what this says of the systems is tested; the rest of the change is
reported as that of the labels and of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.inputs import RunAgain
from rankgauge.comparison.gate.runs import mean_of
from rankgauge.comparison.stored import aligned_scores
from rankgauge.comparison.versions.changes import JudgmentChanges, judgment_changes
from rankgauge.comparison.versions.crossing import CrossedScores, Method, rescored
from rankgauge.comparison.versions.pairing import version_pair
from rankgauge.comparison.versions.parts import ChangeParts
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores


@dataclass(frozen=True)
class LabelGrowth:
    """What changed in the labels, and what that did to each gated measure."""

    changes: JudgmentChanges
    method: Method
    parts: tuple[ChangeParts, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        parts = [part.to_dict() for part in self.parts]
        return {"method": self.method, "changes": self.changes.to_dict(), "parts": parts}


class ComparableScores(NamedTuple):
    """The scores of this run and a baseline with the same labels, and what changed in the labels since."""

    scores: Scores
    baseline: Baseline
    growth: LabelGrowth | None


def with_current_labels(stored: Baseline, evaluation: Evaluation, gated: int, run: RunAgain | None) -> ComparableScores:
    """The scores of this run and the baseline as they can be compared; raises if they cannot.

    ``run`` is this run, to be scored with the labels of the baseline; None if there is only its scores.
    """
    scores, qrels = evaluation.scores[0], evaluation.qrels
    if stored.source is None or stored.judgments is None or run is None or stored.qrels_sha256 == qrels.sha256:
        stored.check_comparable(scores, qrels)
        return ComparableScores(scores, stored, None)
    stored.check_conventions(scores)
    current = scores.only(scores.measures[:gated])
    older = _with_columns_of(stored.judgments, qrels)
    now_older = run.rescored(older, current)
    before = aligned_scores(stored, now_older)
    rankings = [one.ranking for one in stored.runs if one.ranking is not None]
    again = [rescored(one, qrels, current) for one in rankings] if len(rankings) == len(stored.runs) else []
    crossing = CrossedScores(before, current, False, _mean(again) if again else None, now_older)
    pair = version_pair(crossing, changes := judgment_changes(older, qrels))
    growth = LabelGrowth(changes, pair.method, pair.parts)
    return ComparableScores(pair.system, _on_shared_queries(stored, pair.system, before, again), growth)


def _on_shared_queries(stored: Baseline, system: Scores, before: Scores, again: list[Scores]) -> Baseline:
    """The baseline with the values of each of its runs that the system's are compared with."""
    queries = [query for query, averaged in zip(system.queries, system.averaged, strict=True) if averaged]
    kept = [query for query in queries if query in stored.row_of]
    rows = [stored.row_of[query] for query in kept]
    columns = [stored.measures.index(measure.name) for measure in before.measures]
    runs = []
    for index, run in enumerate(stored.runs):
        values = run.values[rows][:, columns]
        if again:
            row_of = {query: row for row, query in enumerate(again[index].queries)}
            values = (values + again[index].values[[row_of[query] for query in kept]]) / 2
        runs.append(replace(run, values=values))
    names = tuple(measure.name for measure in system.measures)
    return replace(stored, measures=names, queries=tuple(kept), runs=tuple(runs))


def _mean(scores: list[Scores]) -> Scores:
    """The mean of several runs of one system, query by query, over the queries that all have."""
    averaged = np.logical_and.reduce([one.averaged for one in scores])
    return replace(scores[0], values=mean_of([one.values for one in scores]), averaged=averaged)


def _with_columns_of(older: Qrels, qrels: Qrels) -> Qrels:
    """The older judgments with the columns of today's queries, which a cutoff may be in."""
    names = qrels.queries.to_text()
    columns = {name: dict(zip(names, column.tolist(), strict=True)) for name, column in qrels.columns.items()}
    return older.with_columns(columns)
