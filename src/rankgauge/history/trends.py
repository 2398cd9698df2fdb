"""A measure over time: its values with intervals, where it changed, and what else changed meanwhile.

A trend is made of a series: entries of one system on one collection as they can be compared, with the values of each
query. If labels changed, an older entry with a log is scored with the labels of the newest log; of any other, only the
queries whose labels are the same count. Entries with other conventions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.comparison.differences import on_scale
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.arrays import Column, Floats
from rankgauge.core.formatting import listing, plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.settings import Section, check_settings, declared, setting, setting_of
from rankgauge.errors import InputError, UsageError, shown, warn_user
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import evaluate_measures, needs_answers
from rankgauge.evaluation.query_groups import groups
from rankgauge.evaluation.query_groups import summary as group_summary
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import CONFIDENCE, EntryFilter, EntrySummary, SavedEntry, SavedMean
from rankgauge.history.entry_files import read_entry
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.stats.change_detection import ChangePoints, change_points
from rankgauge.stats.draws import RESAMPLES, Resampling, draws_for_level

if TYPE_CHECKING:
    from rankgauge.history.folder import History

TREND_SCHEMA = "rankgauge.trend/3"


@dataclass(frozen=True)
class TrendOptions:
    """What a trend shows."""

    by: str | None = setting(
        None,
        "Also show each group of queries of a column: category, difficulty, …",
        Section.MEASURES,
        flag="--by COLUMN",
        common=True,
    )
    last: int | None = setting(
        50, "Show the newest N entries; 0 shows all.", Section.ENTRIES, flag="-n/--last N", limits=">=0", common=True
    )
    confidence: float = setting_of(Statistics, "confidence")
    seed: int = setting_of(
        Statistics, "seed", help="Seed the random sign flips of the test.", is_common=True, flag="--seed N"
    )

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_LAST: int = declared(TrendOptions)["last"].default


@dataclass(frozen=True)
class TrendPoint:
    """An entry, and what changed besides quality."""

    name: str
    saved: str
    commit: str | None
    labels: str  # the version of the judgments
    queries: int  # averaged
    added: int  # queries that the entry before does not have
    removed: int  # queries that only the entry before has
    coverage: float | None  # the share of the top 10 that is judged
    p50: float | None  # milliseconds
    p95: float | None
    mean_tokens: float | None  # per query
    mean_cost: float | None  # per query, in the user's currency


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
    left_out_queries: tuple[str, ...] = ()  # queries whose labels changed, which do not count before the change
    rescored: tuple[str, ...] = ()  # entries whose log was scored with the labels of the newest

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
    Conventions().measure(measure)
    return trend_of_series(load_series(history, filter, options.last or None), measure, options, filter.branch)


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
    overall = [_entry_mean(*pair, measure, options.confidence) for pair in loaded.pairs]
    series = [_series(loaded, None, overall, values, alpha, options.seed)]
    if options.by is not None:
        members = dict(groups(newest.scores.columns, options.by))
        for label, rows in members.items():
            means = [_group_mean(scores, measure, (options.by, label), options) for scores in loaded.scores]
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
        loaded.changed_queries,
        tuple(entry.name for entry, scores in loaded.pairs if scores is not entry.scores),
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
            summary.labels,
            len(now),
            0 if before is None else len(now - before),
            0 if before is None else len(before - now),
            summary.facts["coverage"],
            None if cost is None else cost.p50,
            None if cost is None else cost.p95,
            None if cost is None else cost.mean_tokens,
            None if cost is None else cost.mean_cost,
        )
        before = now


def _entry_mean(entry: SavedEntry, own: Scores, measure: str, confidence: float) -> SavedMean:
    """The value of an entry over its own queries; ``own`` has its scores, perhaps with the labels of the newest."""
    try:
        scores = own.only([measure])
    except KeyError:
        return SavedMean(None, 0)
    name = (scores.requested or scores.measures)[0].name
    if confidence == CONFIDENCE and own is entry.scores and name in entry.summary.means:
        return entry.summary.means[name]
    value, n = scores.over_queries[scores.measures[0].name]
    interval = scores.interval(scores.measures[0], confidence=confidence)
    return SavedMean(value, n, interval.low, interval.high)


def _group_mean(scores: Scores, measure: str, group: tuple[str, str], options: TrendOptions) -> SavedMean:
    """The value of an entry over its own queries of one group."""
    try:
        chosen = scores.only([measure])
    except KeyError:
        return SavedMean(None, 0)
    rows = dict(groups(scores.columns, group[0])).get(group[1]) if group[0] in scores.columns else None
    if rows is None:
        return SavedMean(None, 0)
    rows = rows & scores.averaged
    units: Column | None = scores.columns.get("unit")
    found = group_summary(
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
    shared = int(np.count_nonzero(np.count_nonzero(~np.isnan(values), axis=1) > 1))
    changes = trend_changes(loaded, found)
    return TrendSeries(group, tuple(means), changes, found.p, alpha, shared, found.reason)


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


@dataclass(frozen=True, eq=False)
class EntrySeries:
    """Entries, oldest first, with scores that can be compared and the queries whose values can."""

    entries: tuple[SavedEntry, ...]
    scores: tuple[Scores, ...]  # with the labels of the newest entry, if the run was kept
    comparable: tuple[frozenset[str] | None, ...]  # queries with the same judgments; None if all are
    left_out: tuple[str, ...]  # entries with other conventions

    @property
    def pairs(self) -> Iterator[tuple[SavedEntry, Scores]]:
        """Each entry with its scores."""
        return zip(self.entries, self.scores, strict=True)

    @property
    def changed_queries(self) -> tuple[str, ...]:
        """The queries whose labels differ in some entry from those of the newest."""
        changed = {
            query
            for scores, same in zip(self.scores, self.comparable, strict=True)
            if same is not None
            for query in scores.queries
            if query not in same and query in self.queries
        }
        return tuple(query for query in self.queries if query in changed)

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The queries of the newest entry."""
        return self.scores[-1].queries

    @property
    def units(self) -> Column | None:
        """What queries share, if they do."""
        return self.scores[-1].columns.get("unit")

    @cached_property
    def commits(self) -> tuple[tuple[int, ...], ...]:
        """Consecutive entries of one commit on one day, which are repeats; one with uncommitted changes is none.

        On another day, the data may have changed without a commit.
        """

        def commit(index: int) -> object:
            summary = self.entries[index].summary
            git = summary.git
            return index if git.commit is None or git.dirty else (git.commit, summary.saved[:10])

        return tuple(tuple(group) for _, group in groupby(range(len(self.entries)), commit))

    def values(self, measure: str) -> Floats:
        """The values of a measure, of the queries that can be compared: queries × entries; NaN if there is none."""
        out = np.full((len(self.queries), len(self.entries)), np.nan)
        row_of = {query: row for row, query in enumerate(self.queries)}
        for column, (scores, comparable) in enumerate(zip(self.scores, self.comparable, strict=True)):
            own = measure_values(scores, measure)
            if own is None:
                continue
            for query, value, averaged in zip(scores.queries, own.tolist(), scores.averaged.tolist(), strict=True):
                row = row_of.get(query)
                if averaged and row is not None and (comparable is None or query in comparable):
                    out[row, column] = value
        return out

    def changes(self, values: Floats, alpha: float, units: Column | None = None, seed: int = 0) -> ChangePoints:
        """The change points of values, between commits: columns are those of ``commits``."""
        sums = [np.nansum(values[:, [*group]], axis=1) for group in self.commits]
        counts = [np.count_nonzero(~np.isnan(values[:, [*group]]), axis=1) for group in self.commits]
        with np.errstate(invalid="ignore"):
            means = np.column_stack([total / count for total, count in zip(sums, counts, strict=True)])
        return change_points(
            means,
            alpha=alpha,
            runs=[len(group) for group in self.commits],
            units=units,
            resampling=Resampling(max(RESAMPLES, draws_for_level(alpha)), seed=seed),
        )


def measure_values(scores: Scores, measure: str) -> Floats | None:
    """The values of a measure by its name, as logarithms if they are averaged geometrically; None if there are none."""
    try:
        return on_scale(scores.only([measure]))[:, 0]
    except KeyError:
        return None


def load_series(history: History, filter: EntryFilter, last: int | None = None) -> EntrySeries:
    """The entries that a filter selects, which must be of one system and one collection."""
    return series_of(history, one_system(history.entries(filter, last=last), filter))


def one_system(entries: Sequence[EntrySummary], filter: EntryFilter) -> Sequence[EntrySummary]:
    """The entries; raises if there are none, or of several systems or collections."""
    chosen = [f"{name} {shown(value)}" for name, value in vars(filter).items() if value is not None]
    if not entries:
        selected = f" of {', '.join(chosen)}" if chosen else ""
        raise InputError(f"no entries{selected}", hint="`rankgauge history list` shows the entries")
    for kind in ("system", "collection"):
        names = list(dict.fromkeys(getattr(entry, kind) for entry in entries))
        if len(names) > 1:
            raise UsageError(
                f"the entries are of several {kind}s: {listing(map(shown, names))}", hint=f"choose one with --{kind}"
            )
    return entries


def series_of(history: History, summaries: Sequence[EntrySummary]) -> EntrySeries:
    """Entries as they can be compared with the newest of them."""
    readable = [entry for entry in map(_readable, summaries) if entry is not None]
    if not readable:
        raise InputError(f"none of {plural(len(summaries), 'entry')} can be read", hint="delete the damaged files")
    newest = readable[-1]
    kept, scores, comparable, left_out = [], [], [], []
    now_labels = _readable_labels(newest.summary)
    for entry in readable:
        if entry.summary.conventions != newest.summary.conventions:
            left_out.append(entry.name)
            continue
        own, same = entry.scores, same_labels(entry.scores, newest.scores)
        if same is not None and now_labels is not None and entry.summary.log is not None:
            again = _rescored(entry.summary.log, now_labels, own)
            own, same = (own, same) if again is None else (again, None)
        kept.append(entry)
        scores.append(own)
        comparable.append(same)
    return EntrySeries(tuple(kept), tuple(scores), tuple(comparable), tuple(left_out))


def same_labels(scores: Scores, newest: Scores) -> frozenset[str] | None:
    """The queries whose labels have the same hash on both sides; None if that is so of all that both have."""
    before, now = ({} if one.labels is None else one.labels.of_query for one in (scores, newest))
    shared = [query for query in scores.queries if query in set(newest.queries)]
    if not before and not now:
        return None  # scores that somebody else made, with whatever labels
    same = frozenset(query for query in shared if before.get(query) == now.get(query) is not None)
    return None if len(same) == len(shared) else same


def _readable(summary: EntrySummary) -> SavedEntry | None:
    """An entry with its values; a damaged one is warned of."""
    try:
        return read_entry(summary)
    except InputError as error:
        warn_user(f"left out: {error.message}")
        return None


def _readable_labels(summary: EntrySummary) -> Qrels | None:
    """The labels of an entry's log; None if there is none that can be read."""
    if summary.log is None:
        return None
    try:
        return as_qrels(summary.log, Reading())
    except InputError as error:
        warn_user(f"scores are not made again: {error.message}")
        return None


def _rescored(log: Path, labels: Qrels, like: Scores) -> Scores | None:
    """The ranking in a log, scored with other labels; None if it is damaged, or if the values need more than that."""
    default = like.conventions.given == str(Conventions())
    if needs_answers(like.measures) or not default or not len(labels):
        return None
    try:
        evaluation = evaluate_measures(labels, [log], like.requested or like.measures, conventions=Conventions())
    except InputError as error:
        warn_user(f"scores are not made again: {error.message}")
        return None
    return evaluation.scores[0] if len(evaluation.scores) == 1 else None
