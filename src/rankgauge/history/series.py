"""Entries of one system on one collection as they can be compared: the values of each query over time.

If labels changed, an older run that was kept is scored with the labels of the newest entry; of an entry without its
run, only the queries whose judgments are the same count. Entries with other conventions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.comparison.pair import on_scale
from rankgauge.comparison.versions.changes import judgment_changes
from rankgauge.comparison.versions.crossing import rescored
from rankgauge.core.formatting import listing
from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import VALUE_CONVENTIONS
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import EntrySummary, SavedEntry
from rankgauge.history.filters import EntryFilter
from rankgauge.stats.between_runs import RunNoise, pooled_noise
from rankgauge.stats.change_detection import ChangePoints, change_points
from rankgauge.stats.draws import draws_for_level
from rankgauge.stats.seeds import RESAMPLES, Resampling

if TYPE_CHECKING:
    from rankgauge.history.store import History


@dataclass(frozen=True, eq=False)
class EntrySeries:
    """Entries, oldest first, with scores that can be compared and the queries whose values can."""

    entries: tuple[SavedEntry, ...]
    scores: tuple[Scores, ...]  # with the labels of the newest entry, if the run was kept
    comparable: tuple[frozenset[str] | None, ...]  # queries with the same judgments; None if all are
    left_out: tuple[str, ...]  # entries with other conventions

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
        """Consecutive entries of the same commit, which are repeats; one with uncommitted changes is never a repeat."""

        def commit(index: int) -> object:
            git = self.entries[index].summary.git
            return index if git.commit is None or git.dirty else git.commit

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

    def noise(self, values: Floats, units: Column | None) -> RunNoise | None:
        """The noise of whole runs, as repeats of a commit show it; None if there are too few."""
        return pooled_noise([values[:, [*group]].T for group in self.commits if len(group) > 1], 1, units)

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
            noise=self.noise(values, units),
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
    newest = history.entry(summaries[-1].name)
    kept, scores, comparable, left_out = [], [], [], []
    unchanged: dict[str, frozenset[str]] = {}  # by the version of the labels
    for summary in summaries:
        if any(
            getattr(summary.conventions, name) != getattr(newest.summary.conventions, name)
            for name in VALUE_CONVENTIONS
        ):
            left_out.append(summary.name)
            continue
        entry = newest if summary.uid == newest.summary.uid else history.entry(summary.name)
        own, same = entry.scores, None
        if summary.labels != newest.summary.labels:
            if entry.run is not None and newest.qrels is not None:
                own = rescored(entry.run, newest.qrels, entry.scores)
            else:
                same = unchanged.setdefault(summary.labels, _same_judgments(entry, newest))
        kept.append(entry)
        scores.append(own)
        comparable.append(same)
    return EntrySeries(tuple(kept), tuple(scores), tuple(comparable), tuple(left_out))


def _same_judgments(entry: SavedEntry, newest: SavedEntry) -> frozenset[str]:
    """The queries that have the same judgments in both; none if the judgments are not known."""
    if entry.qrels is None or newest.qrels is None:
        return frozenset()
    changes = judgment_changes(entry.qrels, newest.qrels)
    return frozenset(entry.scores.queries) - {*changes.queries_removed, *changes.changed_queries}
