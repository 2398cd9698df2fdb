"""The newest entry of each system and branch, best first: one table per collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rankgauge.core.formatting import MISSING, compact_number, span_of
from rankgauge.history.entries import EntrySummary
from rankgauge.measures.spec import Measure
from rankgauge.render.documents.scores import best_of
from rankgauge.render.html.text import measure_text
from rankgauge.render.html.trend_charts import known_measure

MAX_COLUMNS = 6  # measures
MAX_ROWS = 30  # of one table

SeriesKey = tuple[str, str, str | None]  # collection, system, branch


@dataclass(frozen=True)
class LeaderboardRow:
    """The newest entry of a system on a branch."""

    entry: EntrySummary
    place: int  # of the entry in the list of the page
    branch: str
    values: tuple[str, ...]
    interval: str  # of the first value
    best: tuple[bool, ...]
    comparable: bool  # whether its labels and conventions are those of the newest entry


@dataclass(frozen=True)
class Leaderboard:
    """The systems of one collection."""

    collection: str
    measures: tuple[str, ...]
    rows: tuple[LeaderboardRow, ...]
    omitted: int
    has_branches: bool
    has_tags: bool
    has_others: bool  # whether a row is not comparable


def series_of_entries(entries: Iterable[EntrySummary]) -> dict[SeriesKey, list[EntrySummary]]:
    """Entries, oldest first, by collection, system and branch."""
    series: dict[SeriesKey, list[EntrySummary]] = {}
    for entry in entries:
        series.setdefault((entry.collection, entry.system, entry.facts["git"]["branch"]), []).append(entry)
    return series


def leaderboard(collection: str, latest: Sequence[EntrySummary], places: Mapping[str, int]) -> Leaderboard:
    """The newest entries of a collection, in any order; the best on the first measure of the newest is first."""
    newest = min(latest, key=lambda entry: places[entry.name])
    names = tuple(newest.facts["means"])[:MAX_COLUMNS]
    measures = [*map(known_measure, names)]
    sign = -1 if measures and measures[0] is not None and measures[0].definition.direction < 0 else 1

    def value(entry: EntrySummary, name: str) -> float | None:
        mean = entry.facts["means"].get(name)
        found: float | None = None if mean is None else mean["value"]
        return found

    def order(entry: EntrySummary) -> tuple[bool, bool, float, int]:
        first = value(entry, names[0]) if names else None
        key = 0.0 if first is None else -sign * first
        return not _same_basis(entry, newest), first is None, key, places[entry.name]

    comparable = [entry for entry in latest if _same_basis(entry, newest)]
    best = [
        None if measure is None else best_of(measure, [value(entry, name) for entry in comparable])
        for name, measure in zip(names, measures, strict=True)
    ]
    rows = []
    for entry in sorted(latest, key=order)[:MAX_ROWS]:
        values = [value(entry, name) for name in names]
        mean = entry.means.get(names[0]) if names else None
        same = _same_basis(entry, newest)
        rows.append(
            LeaderboardRow(
                entry,
                places[entry.name],
                entry.facts["git"]["branch"] or MISSING,
                tuple(map(_value_text, measures, values)),
                "" if mean is None else span_of(mean.low, mean.high, compact_number),
                tuple(same and own is not None and own == top for own, top in zip(values, best, strict=True)),
                same,
            )
        )
    return Leaderboard(
        collection,
        names,
        tuple(rows),
        len(latest) - len(rows),
        any(row.branch != MISSING for row in rows),
        any(row.entry.tags for row in rows),
        not all(row.comparable for row in rows),
    )


def _value_text(measure: Measure | None, value: float | None) -> str:
    """A value; its measure may not be known here."""
    return compact_number(value) if measure is None else measure_text(measure, value)


def _same_basis(entry: EntrySummary, newest: EntrySummary) -> bool:
    """Whether two entries have the same labels and conventions."""
    return entry.labels == newest.labels and entry.facts["conventions"] == newest.facts["conventions"]
