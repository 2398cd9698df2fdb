"""The values of one run: queries × measures, their means, intervals and groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Column, Floats
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import text_of
from rankgauge.core.qrels import are_unlabeled, expects_nothing
from rankgauge.core.result_views import Columns, ResultList, Tabular
from rankgauge.core.run import RunExtras, Status
from rankgauge.errors import MeasureError, UsageError, printable
from rankgauge.evaluation.caveats import Note, incomplete_measures
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.result_depth import Depth
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure

if TYPE_CHECKING:
    from rankgauge.core.query_answers import Leak, QueryAnswers
    from rankgauge.evaluation.label_versions import LabelVersions
    from rankgauge.evaluation.mean_intervals import MeanColumn
    from rankgauge.evaluation.query_groups import GroupSummary
    from rankgauge.stats.results import Alternative, Interval


@dataclass(frozen=True, eq=False)
class Scores(Tabular):
    """The value of each measure for each query, unrounded, and the conventions behind it."""

    run: str
    run_sha256: str | None  # None unless a fingerprint was asked for
    qrels: str
    qrels_sha256: str | None
    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats  # queries × measures; NaN if there is none
    averaged: NDArray[np.bool_]
    status: NDArray[np.uint8]
    without_relevant: NDArray[np.bool_]
    conventions: Conventions
    notes: tuple[Note, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    requested: tuple[Measure, ...] = ()  # as they were asked for, before anything of the judgments was put in
    extras: RunExtras | None = None  # what came with the results of a live retriever: latencies, errors
    answers: QueryAnswers | None = None  # what it did with each query, if a measure needs it
    labels: LabelVersions | None = None  # the hash of each query's labels
    depth: Depth | None = None  # of the results; None if scores from elsewhere do not say
    holds_empty: bool = False  # whether a query that is missing was not asked

    def __getitem__(self, measure: str | Measure) -> float | None:
        """The value over all queries; None if there is nothing to average."""
        return self.over_queries[self.measures[self._index(measure)].name][0]

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={_rounded(value)}" for name, (value, _) in self.over_queries.items())
        return f"Scores({self.run!r} on {self.qrels!r}, {int(self.averaged.sum())} queries: {listed})"

    def _index(self, measure: str | Measure) -> int:
        plain = self._usual.measure(measure)
        for known in (plain, self.conventions.measure(measure)):  # at grade 2, "AP" is the AP(rel=2) that was asked for
            for indexes in self._indexes:
                if known in indexes:
                    return indexes[known]
        raise KeyError(f"{plain} was not evaluated; there are {', '.join(map(str, self.measures))}")

    def only(self, measures: Sequence[str | Measure]) -> Scores:
        """The scores of some of the measures, in the given order."""
        columns = [self._index(measure) for measure in measures]
        return replace(
            self,
            measures=tuple(self.measures[column] for column in columns),
            requested=tuple(self.requested[column] for column in columns) if self.requested else (),
            values=self.values[:, columns],
        )

    @cached_property
    def _indexes(self) -> tuple[dict[Measure, int], ...]:
        """The first column of each measure, as it was evaluated, and as it was requested."""
        numbered = ([*enumerate(measures)] for measures in (self.measures, self.requested))
        return tuple({measure: index for index, measure in reversed(measures)} for measures in numbered)

    @cached_property
    def _usual(self) -> Conventions:
        """The conventions at which a name means what it says."""
        return replace(self.conventions, rel=1, graded=True)

    def shown_name(self, name: str) -> str:
        """The name of an evaluated measure as it is shown."""
        return next(measure.shown for measure in self.measures if measure.name == name)

    @cached_property
    def over_queries(self) -> dict[str, tuple[float | None, int]]:
        """For each measure, the value over all queries and the number of queries behind it."""
        out = {}
        for index, measure in enumerate(self.measures):
            values = self.values[self.averaged, index]
            values = values[~np.isnan(values)]
            out[measure.name] = (aggregate(values, measure.definition.aggregate), len(values))
        return out

    def per_query(self, measure: str | Measure) -> dict[str, float | None]:
        """The value for each query that was evaluated."""
        column = self.values[:, self._index(measure)]
        return {self.queries[row]: none_if_nan(column[row]) for row in np.flatnonzero(self.averaged).tolist()}

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which queries the system was asked, as far as that is known."""
        known: NDArray[np.bool_] = (self.status != Status.MISSING) | (not self.holds_empty)
        return known

    def averaged_for(self, measure: Measure) -> NDArray[np.bool_]:
        """Which queries count for a measure: for one of rankings, those that have an answer."""
        if measure.definition.over != "answerable":
            return self.averaged
        counted: NDArray[np.bool_] = self.averaged & ~self._unanswerable & ~self._unlabeled
        return counted

    @property
    def _unanswerable(self) -> NDArray[np.bool_]:
        if self.conventions.no_relevant == "zero":
            return np.zeros(len(self.queries), dtype=bool)
        nothing: NDArray[np.bool_] = self.without_relevant & expects_nothing(self.columns, len(self.queries))
        return nothing

    @property
    def _unlabeled(self) -> NDArray[np.bool_]:
        unlabeled: NDArray[np.bool_] = self.without_relevant & are_unlabeled(self.columns, len(self.queries))
        return unlabeled

    @property
    def class_sizes(self) -> tuple[int, int]:
        """How many of the queries that count have an answer, and how many have none."""
        without = int((self.averaged & self._unanswerable).sum())
        return int((self.averaged & ~self._unlabeled).sum()) - without, without

    def leaks(self, measure: Measure) -> list[Leak]:
        """The forbidden documents that a measure counts: those above its cutoff, of queries that are averaged."""
        if self.answers is None:
            return []
        counted = {self.queries[row] for row in np.flatnonzero(self.averaged).tolist()}
        found = [leak for leak in self.answers.leaks if leak.query in counted]
        return [leak for leak in found if not isinstance(measure.cutoff, int) or leak.rank <= measure.cutoff]

    @cached_property
    def incomplete(self) -> dict[str, str]:
        """The measures whose values are incomplete, each with the reason: run or judgments are shallower than k."""
        return incomplete_measures(self.measures, self.notes)

    @cached_property
    def failed_as_zero(self) -> dict[str, float | None] | None:
        """The values in which a failed query counts as 0; None if no query failed.

        A measure for which lower is better has no such value: 0 would be its best.
        """
        failed = self.status == Status.FAILED
        if self.conventions.no_relevant == "skip":
            failed &= ~self.without_relevant
        failed &= ~self._unanswerable & ~self._unlabeled
        if not failed.any():
            return None
        out = {}
        for index, measure in enumerate(self.measures):
            column = np.where(failed, 0.0, self.values[:, index])[self.averaged | failed]
            values = column[~np.isnan(column)]
            is_lower_better = measure.definition.direction < 0
            out[measure.name] = None if is_lower_better else aggregate(values, measure.definition.aggregate)
        return out

    def frame_columns(self) -> Columns:
        """One row per query, as ``to_pandas`` and ``to_polars`` give it; no values for queries not averaged."""
        columns: dict[str, Sequence[Any]] = {"query": list(self.queries)}
        for index, measure in enumerate(self.measures):
            values = zip(self.values[:, index], self.averaged.tolist(), strict=True)
            columns[measure.name] = [none_if_nan(value) if averaged else None for value, averaged in values]
        for name, column in self.columns.items():
            columns.setdefault(name, column.tolist())
        return columns

    def interval(
        self, measure: str | Measure, *, confidence: float = 0.95, alternative: Alternative = "two-sided"
    ) -> Interval:
        """The confidence interval of a measure over all queries (see ``evaluation.intervals``).

        ``alternative='greater'`` gives a lower bound, ``'less'`` an upper one.
        """
        from rankgauge.evaluation.mean_intervals import intervals_of

        column = self.mean_column(self._index(measure))
        return intervals_of([column], confidence=confidence, alternative=alternative)[0]

    def mean_column(self, index: int) -> MeanColumn:
        """What the interval of one of the measures is computed from."""
        from rankgauge.evaluation.mean_intervals import MeanColumn

        units = self.columns.get("unit")
        return MeanColumn(
            self.values[self.averaged, index],
            self.measures[index],
            None if units is None else units[self.averaged],
        )

    def by(self, *columns: str, confidence: float = 0.95) -> list[GroupSummary]:
        """Each measure over the queries of each group of one column, or of several together."""
        from rankgauge.evaluation.query_groups import groups, summary

        units = self.columns.get("unit")
        out: ResultList[GroupSummary] = ResultList()
        for label, members in groups(self.columns, columns):
            kept = members & self.averaged
            group_units = None if units is None else units[kept]
            for index, measure in enumerate(self.measures):
                values = self.values[kept, index]
                group = (" / ".join(columns), label)
                out.append(summary(group, measure, values, confidence=confidence, units=group_units))
        return out

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """One run of the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "name": self.run,
            "sha256": self.run_sha256,
            "queries": {
                "averaged": int(self.averaged.sum()),
                "missing": int((self.status == Status.MISSING).sum()),
                "failed": int((self.status == Status.FAILED).sum()),
                "without_relevant": int(self.without_relevant.sum()),
            },
            "depth": None if self.depth is None else self.depth.documents,
            "measures": {name: {"value": value, "n": n} for name, (value, n) in self.over_queries.items()},
        }
        if not self.asked.all():
            out["not_asked"] = [self.queries[row] for row in np.flatnonzero(~self.asked).tolist()]
        if self.extras is not None and (self.extras.figures() or self.extras.errors):
            out["calls"] = self.extras.to_dict()
        if self.answers is not None and self.answers.is_guarded.any():
            out["leaks"] = [leak.to_dict() for leak in self.answers.leaks]
        for name, reason in self.incomplete.items():
            out["measures"][name]["incomplete"] = reason
        for name, value in (self.failed_as_zero or {}).items():
            out["measures"][name]["failed_as_zero"] = value
        if per_query:
            names = [measure.name for measure in self.measures]
            out["per_query"] = {
                self.queries[row]: dict(zip(names, map(none_if_nan, self.values[row]), strict=True))
                for row in np.flatnonzero(self.averaged).tolist()
            }
        return out


def none_if_nan(value: float) -> float | None:
    """A value of a query; None if it has none."""
    return None if np.isnan(value) else float(value)


def _rounded(value: float | None) -> str:
    return "null" if value is None else text_of(value, "value")


# The order of runs in tables: by the first measure, the best first, unless a user asks for another.

BY_NAME, AS_GIVEN = "name", "given"


def sorted_runs(scores: Sequence[Scores], sort: str | None = None) -> list[Scores]:
    """Runs sorted by a measure, the best first; by ``name``; or as ``given``. Equal ones stay as given."""
    if sort == AS_GIVEN or not scores:
        return list(scores)
    if sort == BY_NAME:
        return sorted(scores, key=lambda run: run.run)
    measure = scores[0].measures[0] if sort is None else _measure_of(scores[0], sort)
    return best_first(scores, measure)


def best_first(scores: Sequence[Scores], measure: Measure) -> list[Scores]:
    """Runs from the best value to the worst, or from the highest without a direction; those without a value last."""
    sign = measure.definition.direction or 1

    def key(run: Scores) -> float:
        value = run[measure]
        return math.inf if value is None else -sign * value

    return sorted(scores, key=key)


def _measure_of(scores: Scores, name: str) -> Measure:
    """The evaluated measure that a user names, in any notation."""
    try:
        return scores.only([name]).measures[0]
    except (KeyError, MeasureError):
        choices = ", ".join([*(measure.name for measure in scores.measures), BY_NAME, AS_GIVEN])
        raise UsageError(f"cannot sort by '{printable(name)}'", hint=f"output.sort takes one of: {choices}") from None
