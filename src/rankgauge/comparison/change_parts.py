"""A change of a value as the sum of its parts: the system's, the labels' and the queries'.

With two runs a, b and two versions of labels A, B, a value over the shared queries is f(run, labels). The system's part
is the mean of f(b, A) − f(a, A) and f(b, B) − f(a, B), that of the labels the mean of f(a, B) − f(a, A) and
f(b, B) − f(b, A): the Shapley values of two causes. The queries that only one side has are the remainder.

All parts are rounded to the same 50 binary digits, counted from the largest of them. So they sum to the total to the
last bit, in any order, and none differs from its exact value by more than 2⁻⁵⁰ of the largest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.differences import Mask, on_scale
from rankgauge.comparison.label_changes import JudgmentChanges, judgment_changes, query_changes
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.arrays import Column, Floats
from rankgauge.core.formatting import number, signed
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, UsageError, held_warnings, shown
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS
from rankgauge.evaluation.evaluate import AnyRun, Evaluation, needs_answers, score, unique_names
from rankgauge.evaluation.scores import Scores
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.measures.aggregates import each, total
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

GRID_BITS = 50  # of 53: sums of a few numbers on such a grid are exact
SMALLEST_EXPONENT = -900  # of the largest number; anything smaller is 0


@dataclass(frozen=True)
class ChangeParts:
    """The change of one measure. On the scale of its differences: logarithms if the measure is a geometric mean."""

    measure: str
    queries_shared: int
    before: float | None  # over its own queries
    after: float | None
    total: float | None = None
    system: float | None = None  # None if it cannot be separated from that of the labels
    labels: float | None = None
    joint: float | None = None  # system and labels together; None if they are separated
    queries: float | None = None  # of the queries that only one side has

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def on_common_grid(*values: float) -> list[float]:
    """The values rounded so that their sums and differences are exact."""
    exponent = max(math.frexp(max(map(abs, values)))[1], SMALLEST_EXPONENT)
    scale = math.ldexp(1.0, GRID_BITS - exponent)
    return [round(value * scale) / scale for value in values]


def separated(parts: ChangeParts, total: float, system: float, labels: float) -> ChangeParts:
    """Fill in system, labels, and the queries as the remainder."""
    total, system, labels = on_common_grid(total, system, labels)
    return replace(parts, total=total, system=system, labels=labels, queries=total - (system + labels))


def together(parts: ChangeParts, total: float, joint: float) -> ChangeParts:
    """Fill in system and labels jointly, and the queries as the remainder."""
    total, joint = on_common_grid(total, joint)
    return replace(parts, total=total, joint=joint, queries=total - joint)


# Two runs scored with two versions of the judgments, as far as runs and judgments are known.

Method = Literal["same labels", "both orders", "newer labels", "older labels", "joint"]


@dataclass(frozen=True, eq=False)
class ScoredVersion:
    """The scores of a run, and what is known of the judgments and the ranking behind them."""

    scores: Scores
    labels: str | None  # the hash of the judgments
    qrels: Qrels | None = None  # as the conventions see them
    run: Run | None = None

    def only(self, measures: list[Measure]) -> ScoredVersion:
        """The version with some of its measures."""
        return ScoredVersion(self.scores.only(measures), self.labels, self.qrels, self.run)


@dataclass(frozen=True, eq=False)
class CrossedScores:
    """The older and the newer run, each with its own labels and, if possible, with those of the other."""

    before: Scores
    after: Scores
    same_labels: bool
    before_again: Scores | None = None  # the older run with the newer labels
    after_again: Scores | None = None  # the newer run with the older labels

    @property
    def method(self) -> Method:
        """How the part of the system is separated from that of the labels."""
        if self.same_labels:
            return "same labels"
        if self.before_again is not None and self.after_again is not None:
            return "both orders"
        if self.before_again is not None:
            return "newer labels"
        return "joint" if self.after_again is None else "older labels"


def rescored(run: AnyRun, qrels: Qrels, like: Scores, reading: Reading = DEFAULT_READING) -> Scores:
    """A run with other judgments, which the conventions have seen already; measures and conventions stay."""
    if needs_answers(like.measures):
        reading = replace(reading, keep_rankings=True)
    with held_warnings():  # they were issued with the scores that these are like
        (joined,) = join_any(qrels, run, reading, like.conventions.compat)
    return score(qrels, joined, like.requested or like.measures, like.conventions)


def crossed(before: ScoredVersion, after: ScoredVersion) -> CrossedScores:
    """Score each run again with the judgments of the other, if run and judgments were kept.

    What a kept run refused is not known, so that its answers are never scored again.
    """
    if before.labels is not None and before.labels == after.labels:
        return CrossedScores(before.scores, after.scores, same_labels=True)
    is_shared = not set(before.scores.queries).isdisjoint(after.scores.queries)
    before_again, after_again = (
        rescored(this.run, other.qrels, this.scores)
        if is_shared and this.run is not None and other.qrels is not None and not needs_answers(this.scores.measures)
        else None
        for this, other in ((before, after), (after, before))
    )
    return CrossedScores(before.scores, after.scores, False, before_again, after_again)


def check_same_conventions(before: Scores, after: Scores) -> None:
    """Raise if values were made in different ways."""
    older, newer = before.conventions.to_dict(), after.conventions.to_dict()
    for name in VALUE_CONVENTIONS:
        if older.get(name) != newer.get(name):
            raise InputError(
                f"{shown(before.run)} and {shown(after.run)} cannot be compared: {name} is "
                f"{shown(str(older.get(name)))} in one and {shown(str(newer.get(name)))} in the other",
                hint="evaluate both with the same conventions",
            )


# The scores whose difference is due to the system alone, and the parts of the whole change.


@dataclass(frozen=True, eq=False)
class VersionPair:
    """Both systems over the queries that they share, with the same labels; and the parts of the change."""

    method: Method
    baseline: Scores
    system: Scores
    parts: tuple[ChangeParts, ...]


def version_pair(crossing: CrossedScores, changes: JudgmentChanges | None = None) -> VersionPair:
    """Pair the systems; ``changes`` say which queries have other judgments, if system and labels are inseparable."""
    before, after = crossing.before, crossing.after
    older = set(before.queries)
    queries = [query for query in after.queries if query in older]
    known = [one for one in (before, after, crossing.before_again, crossing.after_again) if one is not None]
    rows = {id(one): _rows(one, queries) for one in known}
    averaged: Mask = np.logical_and.reduce([one.averaged[rows[id(one)]] for one in known])
    values = {id(one): np.where(averaged[:, None], on_scale(one)[rows[id(one)]], np.nan) for one in known}
    shared = ~np.logical_or.reduce([np.isnan(values[id(one)]) for one in known])

    def value_of(one: Scores | None, other: Scores) -> Floats:
        """Values of one of the four; of another one if that is not known."""
        return values[id(other if one is None else one)]

    a_older, b_newer = values[id(before)], values[id(after)]
    a_newer, b_older = value_of(crossing.before_again, before), value_of(crossing.after_again, after)
    parts = tuple(
        _parts(crossing, column, shared[:, column], (a_older, a_newer, b_older, b_newer))
        for column in range(len(after.measures))
    )
    baseline, system = _tested(crossing.method, (a_older, a_newer, b_older, b_newer))
    if crossing.method == "joint":
        changed = set(queries) if changes is None else set(changes.changed_queries)
        averaged = averaged & np.array([query not in changed for query in queries], dtype=bool)
        same_measure = [old.name == new.name for old, new in zip(before.measures, after.measures, strict=True)]
        shared = shared & np.array(same_measure, dtype=bool)
    shared = shared & averaged[:, None]
    columns = {**_columns(before, queries), **_columns(after, queries)}
    made = [
        replace(
            one,
            queries=tuple(queries),
            values=_off_scale(np.where(shared, side, np.nan), after.measures),
            measures=after.measures if crossing.method != "older labels" else before.measures,
            averaged=averaged,
            status=np.full(len(queries), Status.ANSWERED, dtype=np.uint8),
            without_relevant=after.without_relevant[rows[id(after)]],
            notes=(),
            columns=columns,
        )
        for one, side in ((before, baseline), (after, system))
    ]
    return VersionPair(crossing.method, made[0], made[1], parts)


def _tested(method: Method, values: tuple[Floats, Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """The values of the older and the newer system between which only the system differs."""
    a_older, a_newer, b_older, b_newer = values
    match method:
        case "both orders":
            return (a_older + a_newer) / 2, (b_older + b_newer) / 2
        case "newer labels":
            return a_newer, b_newer
        case "older labels":
            return a_older, b_older
        case _:  # the same labels, or only queries whose judgments are the same
            return a_older, b_newer


def _parts(
    crossing: CrossedScores, column: int, shared: Mask, values: tuple[Floats, Floats, Floats, Floats]
) -> ChangeParts:
    """The parts of the change of one measure."""
    measure = crossing.after.measures[column]
    name = (crossing.after.requested or crossing.after.measures)[column].name
    before, after = (_over_queries(one, column) for one in (crossing.before, crossing.after))
    shown = [one[one.measures[column]] for one in (crossing.before, crossing.after)]
    parts = ChangeParts(name, int(shared.sum()), shown[0], shown[1])
    if before is None or after is None:
        return parts
    a_older, a_newer, b_older, b_newer = (_value(side[shared, column], measure) for side in values)
    match crossing.method:
        case "same labels":
            parts = separated(parts, after - before, b_newer - a_older, 0.0)
        case "both orders":
            system = ((b_older - a_older) + (b_newer - a_newer)) / 2
            parts = separated(parts, after - before, system, ((a_newer - a_older) + (b_newer - b_older)) / 2)
        case "newer labels":
            parts = separated(parts, after - before, b_newer - a_newer, a_newer - a_older)
        case "older labels":
            parts = separated(parts, after - before, b_older - a_older, b_newer - b_older)
        case _:
            parts = together(parts, after - before, b_newer - a_older)
    return parts


def _over_queries(scores: Scores, column: int) -> float | None:
    """The value over all queries on the scale of differences; None if there is none."""
    values = on_scale(scores)[scores.averaged, column]
    values = values[~np.isnan(values)]
    return _value(values, scores.measures[column]) if len(values) else None


def _value(values: Floats, measure: Measure) -> float:
    """A sum, or a mean on the scale of differences; 0 if there is nothing to average."""
    count = 1 if measure.definition.aggregate == "sum" else max(len(values), 1)
    return total(values) / count


def _off_scale(values: Floats, measures: Sequence[Measure]) -> Floats:
    """The values as measures give them: no longer logarithms."""
    for column, measure in enumerate(measures):
        if measure.definition.aggregate == "gmean":
            present = ~np.isnan(values[:, column])
            values[present, column] = each(values[present, column], math.exp)
    return values


def _rows(scores: Scores, queries: Sequence[str]) -> list[int]:
    row_of = {query: row for row, query in enumerate(scores.queries)}
    return [row_of[query] for query in queries]


def _columns(scores: Scores, queries: Sequence[str]) -> dict[str, Column]:
    rows = _rows(scores, queries)
    return {name: np.asarray(values)[rows] for name, values in scores.columns.items()}


METHODS: dict[Method, str] = {
    "same labels": "systems compared with the same labels",
    "both orders": "each run was scored with both versions of the labels; the parts are means of both orders",
    "newer labels": "systems compared with the newer labels: the older run was scored again",
    "older labels": "systems compared with the older labels: the newer run was scored again",
    "joint": "no run was kept, so system and labels are reported jointly; "
    "systems compared on the queries whose judgments did not change",
}


def parts_sentence(part: ChangeParts, digits: int = 3) -> str:
    """``nDCG@10: 0.519 to 0.543 (+0.024) = system +0.020, labels +0.004, queries +0.000``."""
    if part.total is None:
        return f"{part.measure}: no value on one side"
    named = {"system": part.system, "labels": part.labels, "system and labels": part.joint, "queries": part.queries}
    listed = ", ".join(f"{name} {signed(value, digits)}" for name, value in named.items() if value is not None)
    values = f"{number(part.before, digits)} to {number(part.after, digits)}"
    return f"{part.measure}: {values} ({signed(part.total, digits)}) = {listed}"


def method_sentence(method: Method) -> str:
    """How the part of the system was separated from that of the labels."""
    return METHODS[method]


# Two results with their own judgments in; the parts of the change, and the test of the
# system's part out.


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
