"""Recent changes of quality: the change points of every system, collection and branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.formatting import p_equals, plural, signed
from rankgauge.core.result_views import HtmlView
from rankgauge.core.settings import Section, check_settings, setting, setting_of
from rankgauge.errors import UsageError, printable
from rankgauge.evaluation.conventions import Conventions
from rankgauge.history.entries import ALL_ENTRIES, EntryFilter, EntrySummary, entry_label
from rankgauge.history.trends import EntrySeries, TrendOptions, measure_values, series_of, trend_changes
from rankgauge.measures.registry import DEFAULT_MEASURES

if TYPE_CHECKING:
    from rankgauge.history.folder import History

DIGITS = 4


@dataclass(frozen=True)
class CheckOptions:
    """What is checked, and with what confidence."""

    measures: tuple[str, ...] = setting(
        (),
        "Check a measure; repeatable.  [default: nDCG@10, or the first that an entry has]",
        Section.MEASURES,
        flag="-m/--measure NAME",
        common=True,
    )
    last: int | None = setting_of(
        TrendOptions, "last", help="Look at the newest N entries of each system, collection and branch; 0 is all."
    )
    confidence: float = setting_of(
        Statistics,
        "confidence",
        default=0.99,  # a check is repeated more often than a trend is looked at
        help="Confidence that a check finds no change if there is none.",
    )
    worse_only: bool = setting(False, "Report no improvements.", Section.STATISTICS, common=True)
    seed: int = setting_of(TrendOptions, "seed")

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class QualityChange:
    """A change point of one system on one collection and branch."""

    measure: str
    system: str
    collection: str
    branch: str | None
    entry: str  # the first with other values
    saved: str
    commit: str | None
    after: str  # the change came after this entry …
    until: str  # … and at this one at the latest
    difference: float  # of the means over shared queries; of logarithms if the mean is geometric
    p: float
    is_worse: bool
    until_time: str

    @property
    def description(self) -> str:
        """The change in one sentence."""
        branch = f", branch {printable(self.branch)}" if self.branch else ""
        commit = f", commit {self.commit[:12]}" if self.commit else ""
        return (
            f"{self.measure} of {printable(self.system)} on {printable(self.collection)}{branch}: "
            f"{signed(self.difference, DIGITS)} since {entry_label(self.entry)}{commit} ({p_equals(self.p)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class QualityCheck(HtmlView):
    """The recent changes, and how they were looked for."""

    changes: tuple[QualityChange, ...]
    series: int  # systems, collections and branches with recent entries
    untested: int  # those with nothing to compare: one entry, or repeats of one commit on one day
    alpha: float  # of each measure of each of them
    left_out: tuple[str, ...] = ()  # entries with other conventions
    left_out_queries: tuple[str, ...] = ()  # queries whose labels changed, which do not count before the change

    def __repr__(self) -> str:
        return f"QualityCheck({plural(len(self.changes), 'change')} in {self.series:,} series)"


def check_quality(
    history: History, filter: EntryFilter = ALL_ENTRIES, options: CheckOptions | None = None
) -> QualityCheck:
    """The change points from ``filter.since`` on; entries before it are what later ones are compared with.

    The level, 1 − confidence, is shared among all systems, collections, branches and measures that are checked.
    """
    options = options or CheckOptions()
    for measure in options.measures:
        Conventions().measure(measure)
    active = [*_active_series(history, filter)]
    loaded = [series_of(history, entries[-options.last :] if options.last else entries) for entries in active]
    tests = [(series, measure) for series in loaded for measure in _measures(series, options)]
    if options.measures and loaded and not tests:
        known = ", ".join(loaded[0].entries[-1].summary.means)
        raise UsageError(f"no entry has values of {', '.join(options.measures)}", hint=f"the newest has {known}")
    tests = [(series, measure) for series, measure in tests if len(series.commits) > 1]  # others cannot have changed
    alpha = round(1 - options.confidence, 12) / max(1, len(tests))
    found = [change for test in tests for change in _changes(*test, alpha, options)]
    recent = [change for change in found if filter.since is None or change.until_time >= filter.since]
    return QualityCheck(
        tuple(recent),
        len(loaded),
        sum(len(series.commits) < 2 for series in loaded),
        alpha,
        tuple(name for series in loaded for name in series.left_out),
        tuple(dict.fromkeys(query for series in loaded for query in series.changed_queries)),
    )


def _active_series(history: History, filter: EntryFilter) -> Iterator[list[EntrySummary]]:
    """The entries of each system, collection and branch that has one since the time of the filter."""
    series: dict[tuple[str, str, str | None], list[EntrySummary]] = {}
    for entry in history.entries(replace(filter, since=None)):
        series.setdefault((entry.system, entry.collection, entry.git.branch), []).append(entry)
    for entries in series.values():
        if filter.since is None or entries[-1].saved >= filter.since:
            yield entries


def _measures(loaded: EntrySeries, options: CheckOptions) -> tuple[str, ...]:
    """The measures that are asked for, of those that the newest entry has."""
    scores = loaded.scores[-1]
    names = dict.fromkeys(options.measures or DEFAULT_MEASURES[:1])
    chosen = tuple(name for name in names if measure_values(scores, name) is not None)
    return chosen or (() if options.measures else (scores.measures[0].name,))


def _changes(loaded: EntrySeries, measure: str, alpha: float, options: CheckOptions) -> Iterator[QualityChange]:
    spec = loaded.scores[-1].only([measure]).measures[0]
    entries = {entry.name: entry.summary for entry in loaded.entries}
    found = loaded.changes(loaded.values(measure), alpha, loaded.units, options.seed)
    for change in trend_changes(loaded, found):
        entry = entries[change.entry]
        is_worse = change.difference * spec.definition.direction < 0
        if options.worse_only and not is_worse:
            continue
        yield QualityChange(
            measure=spec.name,
            system=entry.system,
            collection=entry.collection,
            branch=entry.git.branch,
            entry=entry.name,
            saved=entry.saved,
            commit=entry.git.commit,
            after=change.after,
            until=change.until,
            difference=change.difference,
            p=change.p,
            is_worse=is_worse,
            until_time=entries[change.until].saved,
        )
