"""A measure over time: its values with intervals, where it changed, and what else changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.tables import Column, Floats
from rankgauge.core.views import HtmlView
from rankgauge.errors import UsageError
from rankgauge.evaluation.groups import groups, summary
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import CONFIDENCE, SavedEntry, SavedMean
from rankgauge.history.filters import EntryFilter
from rankgauge.history.series import EntrySeries, load_series
from rankgauge.measures.parse import parse_measure
from rankgauge.stats.change_detection import ChangePoints

if TYPE_CHECKING:
    from rankgauge.history.store import History

TREND_SCHEMA = "rankgauge.trend/1"
DEFAULT_LAST = 50


@dataclass(frozen=True)
class TrendOptions:
    """What a trend shows."""

    by: str | None = None  # a column of the queries to group by
    last: int | None = DEFAULT_LAST  # the newest entries; None for all
    confidence: float = CONFIDENCE
    seed: int = 0


@dataclass(frozen=True)
class TrendPoint:
    """An entry, and what changed besides quality."""

    name: str
    saved: str
    commit: str | None
    tags: tuple[str, ...]
    labels: str  # the version of the judgments
    queries: int  # averaged
    added: int  # queries that the entry before does not have
    removed: int  # queries that only the entry before has
    coverage: float | None  # the share of the top 10 that is judged
    p50: float | None  # milliseconds
    p95: float | None


@dataclass(frozen=True)
class TrendChange:
    """A change point: the entry from which on values differ."""

    index: int  # of the point
    entry: str
    commit: str | None
    after: str  # the change came after this entry …
    until: str  # … and at this one at the latest
    difference: float  # of the means over shared queries; of logarithms if the mean is geometric
    p: float


@dataclass(frozen=True)
class TrendSeries:
    """The values of all queries, or of one group of them."""

    group: str | None
    values: tuple[SavedMean, ...]  # one for each point
    changes: tuple[TrendChange, ...]
    p: float | None  # that nothing changed at all, corrected
    alpha: float  # of the change points of this series
    shared: int  # the number of queries behind the change points
    noise: float | None  # the standard deviation of whole runs, as repeats of a commit show it; None if it is unknown
    reason: str | None = None  # why there are no change points


@dataclass(frozen=True)
class Trend(HtmlView):
    """A measure over time: all queries first, then groups."""

    measure: str
    system: str
    collection: str
    branch: str | None
    by: str | None
    confidence: float
    points: tuple[TrendPoint, ...]
    series: tuple[TrendSeries, ...]
    left_out: tuple[str, ...] = ()  # entries with other conventions

    def __repr__(self) -> str:
        changes = plural(sum(len(series.changes) for series in self.series), "change point")
        which = f"{self.measure} of {self.system!r} on {self.collection!r}"
        return f"Trend({which}: {plural(len(self.points), 'entry')}, {changes})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"schema": TREND_SCHEMA, **asdict(self)}


def trend_of(history: History, measure: str, filter: EntryFilter, options: TrendOptions | None = None) -> Trend:
    """The trend of the entries that a filter selects, which must be of one system and one collection.

    Change points have the level 1 − confidence; that of groups is shared among them.
    """
    options = options or TrendOptions()
    parse_measure(measure)
    return trend_of_series(load_series(history, filter, options.last), measure, options, filter.branch)


def trend_of_series(loaded: EntrySeries, measure: str, options: TrendOptions, branch: str | None = None) -> Trend:
    """The trend of entries that are loaded already."""
    newest = loaded.entries[-1]
    try:
        chosen = newest.scores.only([measure]).measures[0]
    except KeyError:
        known = ", ".join(newest.summary.means)
        raise UsageError(f"the newest entry has no values of {measure}", hint=f"it has {known}") from None
    alpha = round(1 - options.confidence, 12)
    values = loaded.values(measure)
    overall = [_saved_mean(entry, measure, options.confidence) for entry in loaded.entries]
    series = [_series(loaded, None, overall, values, alpha, options.seed)]
    if options.by is not None:
        members = dict(groups(newest.scores.columns, options.by))
        for label, rows in members.items():
            means = [_group_mean(entry.scores, measure, (options.by, label), options) for entry in loaded.entries]
            masked = np.where(rows[:, np.newaxis], values, np.nan)
            series.append(_series(loaded, label, means, masked, alpha / len(members), options.seed))
    return Trend(
        chosen.name,
        newest.summary.system,
        newest.summary.collection,
        branch,
        options.by,
        options.confidence,
        tuple(_points(loaded)),
        tuple(series),
        loaded.left_out,
    )


def _points(loaded: EntrySeries) -> Iterator[TrendPoint]:
    before: set[str] | None = None
    for entry in loaded.entries:
        summary, scores, cost = entry.summary, entry.scores, entry.summary.cost
        now = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()}
        yield TrendPoint(
            summary.name,
            summary.saved,
            summary.git.commit,
            summary.tags,
            summary.labels,
            len(now),
            0 if before is None else len(now - before),
            0 if before is None else len(before - now),
            summary.facts["coverage"],
            None if cost is None else cost.p50,
            None if cost is None else cost.p95,
        )
        before = now


def _saved_mean(entry: SavedEntry, measure: str, confidence: float) -> SavedMean:
    """The value of an entry over its own queries, with its own labels."""
    try:
        scores = entry.scores.only([measure])
    except KeyError:
        return SavedMean(None, 0)
    name = (scores.requested or scores.measures)[0].name
    if confidence == CONFIDENCE and name in entry.summary.means:
        return entry.summary.means[name]
    value, n = scores.over_queries[scores.measures[0].name]
    interval = scores.interval(scores.measures[0], confidence=confidence)
    return SavedMean(value, n, interval.low, interval.high)


def _group_mean(scores: Scores, measure: str, group: tuple[str, str], options: TrendOptions) -> SavedMean:
    """The value of an entry over its own queries of one group, with its own labels."""
    try:
        chosen = scores.only([measure])
    except KeyError:
        return SavedMean(None, 0)
    rows = dict(groups(scores.columns, group[0])).get(group[1]) if group[0] in scores.columns else None
    if rows is None:
        return SavedMean(None, 0)
    rows = rows & scores.averaged
    units: Column | None = scores.columns.get("unit")
    found = summary(
        group,
        chosen.measures[0],
        chosen.values[rows, 0],
        confidence=options.confidence,
        units=None if units is None else units[rows],
    )
    return SavedMean(found.mean, found.n, found.interval.low, found.interval.high)


def _series(
    loaded: EntrySeries, group: str | None, means: list[SavedMean], values: Floats, alpha: float, seed: int
) -> TrendSeries:
    found = loaded.changes(values, alpha, loaded.units, seed)
    noise = loaded.noise(values, loaded.units)
    shared = int(np.count_nonzero(np.count_nonzero(~np.isnan(values), axis=1) > 1))
    deviation = None if noise is None else noise.deviation
    changes = trend_changes(loaded, found)
    return TrendSeries(group, tuple(means), changes, found.p, alpha, shared, deviation, found.reason)


def trend_changes(loaded: EntrySeries, found: ChangePoints) -> tuple[TrendChange, ...]:
    """Change points, which are between commits, by the entries that they are between."""
    commits, entries = loaded.commits, loaded.entries
    return tuple(
        TrendChange(
            commits[point.index][0],
            entries[commits[point.index][0]].name,
            entries[commits[point.index][0]].summary.git.commit,
            entries[commits[point.first][-1]].name,
            entries[commits[point.last][0]].name,
            point.difference,
            point.p,
        )
        for point in found.points
    )
