"""Recent changes of quality: the change points of every system, collection and branch, for alerts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankgauge.core.formatting import p_equals, plural, signed
from rankgauge.core.views import HtmlView
from rankgauge.errors import UsageError, printable
from rankgauge.history.entries import EntrySummary
from rankgauge.history.filters import ALL_ENTRIES, EntryFilter
from rankgauge.history.series import EntrySeries, measure_values, series_of
from rankgauge.history.trends import DEFAULT_LAST, trend_changes
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.secrets import mask_values
from rankgauge.stats.results import check_between

if TYPE_CHECKING:
    from rankgauge.history.store import History

ALERT_SCHEMA = "rankgauge.alert/1"
DEFAULT_CONFIDENCE = 0.99  # a check is repeated more often than a trend is looked at
DIGITS = 4
PRIVATE = ("uid", "after_time", "until_time")  # of a change, in what is sent


@dataclass(frozen=True)
class CheckOptions:
    """What is checked, and with what confidence."""

    measures: tuple[str, ...] = ()  # by default the first default measure, or the first that an entry has
    last: int | None = DEFAULT_LAST  # the newest entries of each system, collection and branch; None for all
    confidence: float = DEFAULT_CONFIDENCE  # that a check without a change finds none
    worse_only: bool = False  # whether improvements are left out
    seed: int = 0


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
    uid: str  # of the entry
    after_time: str
    until_time: str

    @property
    def description(self) -> str:
        """The change in one sentence."""
        branch = f", branch {printable(self.branch)}" if self.branch else ""
        commit = f", commit {self.commit[:12]}" if self.commit else ""
        return (
            f"{self.measure} of {printable(self.system)} on {printable(self.collection)}{branch}: "
            f"{signed(self.difference, DIGITS)} since {self.entry}{commit} ({p_equals(self.p)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: value for name, value in asdict(self).items() if name not in PRIVATE}


@dataclass(frozen=True)
class QualityCheck(HtmlView):
    """The recent changes, and how they were looked for."""

    changes: tuple[QualityChange, ...]
    series: int  # systems, collections and branches with recent entries
    alpha: float  # of each measure of each of them

    def __repr__(self) -> str:
        return f"QualityCheck({plural(len(self.changes), 'change')} in {self.series:,} series)"


def alert_message(changes: Sequence[QualityChange]) -> dict[str, Any]:
    """What a report says: names, numbers and commits, without secrets; nothing of documents or queries."""
    text = "\n".join(change.description for change in changes)
    data = {"schema": ALERT_SCHEMA, "text": text, "changes": [change.to_dict() for change in changes]}
    masked: dict[str, Any] = mask_values(data)
    return masked


def check_quality(
    history: History, filter: EntryFilter = ALL_ENTRIES, options: CheckOptions | None = None
) -> QualityCheck:
    """The change points from ``filter.since`` on; entries before it are what later ones are compared with.

    The level, 1 − confidence, is shared among all systems, collections, branches and measures that are checked.
    """
    options = options or CheckOptions()
    check_between("confidence", options.confidence, 0, 1)
    for measure in options.measures:
        parse_measure(measure)
    active = [*_active_series(history, filter)]
    loaded = [series_of(history, entries if options.last is None else entries[-options.last :]) for entries in active]
    tests = [(series, measure) for series in loaded for measure in _measures(series, options)]
    if options.measures and loaded and not tests:
        known = ", ".join(loaded[0].entries[-1].summary.means)
        raise UsageError(f"no entry has values of {', '.join(options.measures)}", hint=f"the newest has {known}")
    tests = [(series, measure) for series, measure in tests if len(series.commits) > 1]  # others cannot have changed
    alpha = round(1 - options.confidence, 12) / max(1, len(tests))
    found = [change for test in tests for change in _changes(*test, alpha, options)]
    recent = [change for change in found if filter.since is None or change.until_time >= filter.since]
    return QualityCheck(tuple(recent), len(loaded), alpha)


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
            uid=entry.uid,
            after_time=entries[change.after].saved,
            until_time=entries[change.until].saved,
        )
