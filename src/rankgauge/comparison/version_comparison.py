"""Two results with their own judgments in; the parts of the change, and the test of the system's part out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.comparison.change_parts import (
    ChangeParts,
    Method,
    ScoredVersion,
    VersionPair,
    check_same_conventions,
    crossed,
    version_pair,
)
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.label_changes import JudgmentChanges, judgment_changes, query_changes
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Evaluation, unique_names
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames


@dataclass(frozen=True, eq=False)
class VersionComparison(HtmlView):
    """The change from one result to a later one, in parts; only the system's part is tested."""

    before: str
    after: str
    method: Method
    changes: JudgmentChanges | None  # None if the judgments of one side are unknown
    parts: tuple[ChangeParts, ...]
    comparison: Comparison | None  # of the systems; None if no query can be compared

    def __repr__(self) -> str:
        answer = "" if self.comparison is None else f": {self.comparison.answer()}"
        return f"VersionComparison({self.before!r}, {self.after!r}{answer})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "method": self.method,
            "changes": None if self.changes is None else self.changes.to_dict(),
            "parts": [part.to_dict() for part in self.parts],
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
        }


def compare_versions(
    before: ScoredVersion,
    after: ScoredVersion,
    measures: MeasureNames | None = None,
    *,
    statistics: Statistics | None = None,
    by: Sequence[str] = (),
) -> VersionComparison:
    """Compare a result with a later one on the queries they share, whatever became of the labels.

    If both runs are known, each is scored with the judgments of the other, and the change splits into the parts of the
    system, the labels and the queries. If only one is, the systems are compared with the judgments of the other side.
    If neither is, system and labels are reported jointly, and the test is over the queries whose judgments did not
    change.
    """
    check_same_conventions(before.scores, after.scores)
    common = common_measures(before, after, measures)
    before, after = before.only(common), after.only(common)
    crossing = crossed(before, after)
    changes = changes_between(before, after, same_labels=crossing.same_labels)
    pair = version_pair(crossing, changes)
    comparison = _compare(pair, statistics, by, after.qrels or Qrels.from_dict({}))
    return VersionComparison(before.scores.run, after.scores.run, pair.method, changes, pair.parts, comparison)


def common_measures(before: ScoredVersion, after: ScoredVersion, names: MeasureNames | None) -> list[Measure]:
    """The measures that both results have, or those that are asked for."""
    older, newer = ([*(one.scores.requested or one.scores.measures)] for one in (before, after))
    common = [measure for measure in newer if measure in older]
    if names is not None:
        wanted = after.scores.conventions.measures(names)
        missing = [measure.name for measure in wanted if measure not in common]
        if missing:
            known = ", ".join(measure.name for measure in common) or "none"
            raise UsageError(f"not evaluated on both sides: {', '.join(missing)}; common measures: {known}")
        return list(wanted)
    if not common:
        raise UsageError(
            "the two have no measure in common: "
            f"{', '.join(map(str, older))} before, and {', '.join(map(str, newer))} after"
        )
    return common


def changes_between(before: ScoredVersion, after: ScoredVersion, *, same_labels: bool) -> JudgmentChanges | None:
    """What changed in the judgments; None if those of one side are unknown."""
    if same_labels:
        return query_changes(before.scores.queries, after.scores.queries)
    if before.qrels is None or after.qrels is None:
        return None
    return judgment_changes(before.qrels, after.qrels)


def _compare(pair: VersionPair, statistics: Statistics | None, by: Sequence[str], qrels: Qrels) -> Comparison | None:
    """The test of the system's part; None if no query is left."""
    names = unique_names([pair.baseline.run, pair.system.run])
    baseline, system = replace(pair.baseline, run=names[0]), replace(pair.system, run=names[1])
    if not baseline.averaged.any():
        return None
    return compare_evaluation(Evaluation(qrels, (), (baseline, system)), 0, statistics=statistics, by=by, changes=0)
