"""The scores whose difference is due to the system alone, and the parts of the whole change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.pair import on_scale
from rankgauge.comparison.shared_queries import Mask
from rankgauge.comparison.versions.changes import JudgmentChanges
from rankgauge.comparison.versions.crossing import CrossedScores, Method
from rankgauge.comparison.versions.parts import ChangeParts, separated, together
from rankgauge.core.run import Status
from rankgauge.core.tables import Column, Floats
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import total
from rankgauge.measures.numbers import each
from rankgauge.measures.spec import Measure


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
