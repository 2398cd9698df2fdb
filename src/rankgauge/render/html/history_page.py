"""A history as one self-contained page: the newest results, trends, and a list of all entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from rankgauge.core.formatting import MISSING, compact_number, milliseconds, percent, plural, signed, span_of, text_of
from rankgauge.errors import InputError, MeasureError, UsageError, printable
from rankgauge.evaluation.conventions import Conventions
from rankgauge.history.entries import ALL_ENTRIES, CONFIDENCE, EntryFilter, EntrySummary, SavedMean, entry_label
from rankgauge.history.folder import History
from rankgauge.history.trends import (
    DEFAULT_LAST,
    EntrySeries,
    Trend,
    TrendChange,
    TrendOptions,
    TrendPoint,
    series_of,
    trend_of_series,
)
from rankgauge.measures.measure import Measure
from rankgauge.render.document import NOTHING, Cell, Number, Tone, Words
from rankgauge.render.documents.history import change_text, entry_lines, trend_footer
from rankgauge.render.documents.scores import best_of
from rankgauge.render.html.charts.drawing import Chart
from rankgauge.render.html.charts.over_time import TimeMark, TimePoint, TimeSeries, time_chart
from rankgauge.render.html.page import SHARED_SCRIPTS, page_parts, template, with_data
from rankgauge.render.html.page_tables import Drawn, PageCell, PageColumn, PageRow, PageTable, RowGroup, Styled
from rankgauge.render.html.page_tables import interval as page_interval
from rankgauge.render.html.page_tables import value as page_value
from rankgauge.render.html.page_text import plain
from rankgauge.render.html.payload_packing import Packer

MAX_QUERIES = 10  # of an entry
MAX_MEASURES = 3  # with a chart of their own: a chart of 50 entries and 1,000 queries takes most of a second
POSITIVE = (0.0, float("inf"))


@dataclass(frozen=True)
class EntryQueries:
    """The queries of an entry that changed most since the one before it; of the first entry, the lowest ones."""

    measure: str
    since: str | None  # the entry before
    total: int  # queries that changed, or all
    rows: tuple[tuple[str, float | None, float], ...]  # query, value before, value

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        rows = [[plain(query), _rounded(before), _rounded(now)] for query, before, now in self.rows]
        return {"measure": plain(self.measure), "since": self.since, "total": self.total, "rows": rows}


def entry_queries(loaded: EntrySeries, name: str) -> dict[str, EntryQueries]:
    """The queries behind each entry of a series, on one measure."""
    values, found = loaded.values(name), {}
    for column, entry in enumerate(loaded.entries):
        now, before = values[:, column], values[:, column - 1] if column else None
        change = np.zeros(len(now)) if before is None else np.nan_to_num(now - before)
        order = np.argsort(now if before is None else -np.abs(change), kind="stable")
        kept = [row for row in order.tolist() if not np.isnan(now[row]) and (before is None or change[row])]
        rows = [
            (loaded.queries[row], None if before is None else float(before[row]), float(now[row]))
            for row in kept[:MAX_QUERIES]
        ]
        since = loaded.entries[column - 1].name if column else None
        found[entry.name] = EntryQueries(name, since, len(kept), tuple(rows))
    return found


@dataclass(frozen=True)
class SystemTrend:
    """One system on one collection and one branch over time."""

    system: str
    collection: str
    branch: str | None
    count: int  # of its entries, of which the newest are shown
    charts: tuple[Chart, ...] = ()  # the first measure, and what else changed
    others: tuple[Chart, ...] = ()  # further measures
    changes: tuple[str, ...] = ()  # of the first measure, in words
    notes: tuple[str, ...] = ()  # how change points were found, or why there are no charts
    queries: Mapping[str, EntryQueries] = field(default_factory=dict)  # by the name of an entry


def known_measure(name: str) -> Measure | None:
    """The measure of a name; None if it was declared by a program that is not running."""
    try:
        return Conventions().measure(name)
    except MeasureError:
        return None


def system_trend(history: History, entries: Sequence[EntrySummary], places: Mapping[str, int]) -> SystemTrend:
    """The charts of entries of one system, oldest first; ``places`` are those of entries in the list of the page."""
    newest, options = entries[-1], TrendOptions()
    branch = newest.facts["git"]["branch"]
    key = (newest.system, newest.collection, branch, len(entries))
    try:
        loaded = series_of(history, entries[-DEFAULT_LAST:])
        names = [name for name in newest.facts["means"] if known_measure(name) is not None][:MAX_MEASURES]
        trends = {name: trend_of_series(loaded, name, options, branch) for name in names}
    except (InputError, UsageError) as error:
        return SystemTrend(*key, notes=(f"no charts: {error.message}",))
    if not trends:
        return SystemTrend(*key, notes=("no charts: the measures of the newest entry are not known here",))
    charts = [_measure_chart(name, trend, places) for name, trend in trends.items()]
    first = next(iter(trends.values()))
    return SystemTrend(
        *key,
        charts=(charts[0], *_side_charts(first, loaded, places)),
        others=tuple(charts[1:]),
        changes=tuple(f"{first.measure}: {change_text(change)}" for change in first.series[0].changes),
        notes=tuple(trend_footer(first)),
        queries=entry_queries(loaded, first.measure),
    )


def _measure_chart(name: str, trend: Trend, places: Mapping[str, int]) -> Chart:
    measure, series = Conventions().measure(name), trend.series[0]
    count = measure.definition.aggregate == "sum"
    points = []
    for point, mean in zip(trend.points, series.values, strict=True):
        value = _mean_text(mean, trend.confidence, count=count)
        points.append(
            TimePoint(mean.value, mean.low, mean.high, f"{entry_label(point.name)}: {value}", places[point.name])
        )
    marks = [_mark(change, measure) for change in series.changes]
    changes = [f"{mark.description}." for mark in marks]
    description = " ".join([_range_text(name, points), *changes])
    drawn = time_chart(TimeSeries(points, marks, _days(trend), measure.definition.range, "c1", description))
    found = changes or ["No change point." if series.reason is None else f"No test of change points: {series.reason}."]
    return Chart(name, drawn, " ".join(text[0].upper() + text[1:] for text in found))


def _mark(change: TrendChange, measure: Measure) -> TimeMark:
    improvement = change.difference * measure.definition.direction
    tone: Tone = "better" if improvement > 0 else "worse" if improvement < 0 else ""
    return TimeMark(change.index, signed(change.difference), tone, change_text(change))


def _mean_text(mean: SavedMean, confidence: float, *, count: bool) -> str:
    ends = span_of(mean.low, mean.high, compact_number)
    suffix = f" ({percent(confidence)} CI {ends})" if ends else ""
    return f"{compact_number(mean.value, count=count)}{suffix}"


def _range_text(title: str, points: Sequence[TimePoint]) -> str:
    known = [point for point in points if point.value is not None]
    if not known:
        return f"{title}: no values."
    return f"{title} of {plural(len(known), 'entry')}, from {known[0].description} to {known[-1].description}."


def _days(trend: Trend) -> tuple[str, str]:
    return trend.points[0].saved[:10], trend.points[-1].saved[:10]


def _side_charts(trend: Trend, loaded: EntrySeries, places: Mapping[str, int]) -> Iterator[Chart]:
    """Queries, judged documents, latency, tokens and money, if they are known and differ between entries."""
    versions = len({entry.summary.labels for entry in loaded.entries})
    labels = f"{plural(versions, 'version')} of the labels." if versions > 1 else ""
    queries = [(float(point.queries), _queries_text(point)) for point in trend.points]
    judged = [
        (point.coverage, "" if point.coverage is None else text_of(point.coverage, "share")) for point in trend.points
    ]
    latency = [(point.p95, milliseconds(point.p95)) for point in trend.points]
    tokens = [(point.mean_tokens, text_of(point.mean_tokens, "amount")) for point in trend.points]
    money = [(point.mean_cost, text_of(point.mean_cost, "amount")) for point in trend.points]
    sides: list[tuple[str, Sequence[tuple[float | None, str]], str, tuple[float, float]]] = [
        ("Queries", queries, labels, POSITIVE),
        ("Judged in the top 10", judged, "", (0.0, 1.0)),
        ("Latency, p95 in ms", latency, "", POSITIVE),
        ("Tokens per query", tokens, "", POSITIVE),
        ("Cost per query", money, "", POSITIVE),
    ]
    for title, values, caption, possible in sides:
        if len({value for value, _ in values if value is not None}) < 2:
            continue
        points = [
            TimePoint(value, None, None, f"{entry_label(point.name)}: {text}", places[point.name])
            for point, (value, text) in zip(trend.points, values, strict=True)
        ]
        series = TimeSeries(points, (), _days(trend), possible, "c0", _range_text(title, points))
        yield Chart(title, time_chart(series), caption)


def _queries_text(point: TrendPoint) -> str:
    changes = [f"{count:,} {what}" for count, what in ((point.added, "added"), (point.removed, "removed")) if count]
    return plural(point.queries, "query") + (f" ({', '.join(changes)})" if changes else "")


MAX_COLUMNS = 6  # measures
OTHER_BASIS = (
    "* Other labels or conventions than the newest entry: the values are not comparable. Keep logs (--save-run), and "
    "compare those."
)
MAX_ROWS = 30  # of one table

SeriesKey = tuple[str, str, str | None]  # collection, system, branch


@dataclass(frozen=True)
class LeaderboardRow:
    """The newest entry of a system on a branch."""

    entry: EntrySummary
    place: int  # of the entry in the list of the page
    branch: str
    values: tuple[Number, ...]
    interval: Cell  # of the first value
    comparable: bool  # whether its labels and conventions are those of the newest entry


@dataclass(frozen=True)
class Leaderboard:
    """The systems of one collection."""

    collection: str
    measures: tuple[str, ...]
    rows: tuple[LeaderboardRow, ...]
    omitted: int
    has_branches: bool
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
                tuple(
                    _value(measure, own, best=same and own is not None and own == top)
                    for measure, own, top in zip(measures, values, best, strict=True)
                ),
                NOTHING if mean is None else page_interval(mean),
                same,
            )
        )
    return Leaderboard(
        collection,
        names,
        tuple(rows),
        len(latest) - len(rows),
        any(row.branch != MISSING for row in rows),
        not all(row.comparable for row in rows),
    )


def _value(measure: Measure | None, value: float | None, *, best: bool) -> Number:
    """A value; its measure may not be known here."""
    return Number(value, "compact", best=best) if measure is None else page_value(measure, value, best=best)


def leaderboard_table(board: Leaderboard) -> PageTable:
    """The newest results on a collection, each with a link to its entry."""
    columns = [PageColumn(Words("system"), is_head=True)]
    columns += [PageColumn(Words("branch"))] if board.has_branches else []
    for place, measure in enumerate(board.measures):
        columns.append(PageColumn(Words(measure), "n", "n"))
        columns += [] if place else [PageColumn(Words(f"{percent(CONFIDENCE)} CI"), "n muted", "n")]
    columns += [PageColumn(Words("queries"), "n muted", "n"), PageColumn(Words("entry"), "n", "n")]
    notes = [OTHER_BASIS] if board.has_others else []
    notes += [f"{plural(board.omitted, 'more system')} in the list of entries."] if board.omitted else []
    rows = RowGroup([_leaderboard_row(board, row) for row in board.rows])
    label = f"Latest results on {board.collection}"
    return PageTable(label, columns, [rows], "groups latest", Words(board.collection, from_data=True), notes=notes)


def _leaderboard_row(board: Leaderboard, row: LeaderboardRow) -> PageRow:
    system = Drawn(_clipped(row.entry.system))
    cells: list[PageCell | Styled] = [system if row.comparable else Styled(system, sign="*")]
    cells += [Drawn(_clipped(row.branch))] if board.has_branches else []
    for place, value in enumerate(row.values):
        cells += [value] if place else [value, row.interval]
    link = Markup('<a href="#entries" data-entry="{}">{}</a>').format(row.place, plain(row.entry.label))
    cells += [Number(row.entry.queries["averaged"], "count"), Drawn(link)]
    return PageRow(cells)


def _clipped(text: str) -> Markup:
    return Markup('<bdi class="clip" title="{0}">{0}</bdi>').format(plain(text))


def _same_basis(entry: EntrySummary, newest: EntrySummary) -> bool:
    """Whether two entries have the same labels and conventions."""
    return entry.labels == newest.labels and entry.facts["conventions"] == newest.facts["conventions"]


HISTORY_SCRIPTS = (*SHARED_SCRIPTS, "entries.js")
MAX_ENTRIES = 10_000  # that the page holds: the newest
MAX_COLLECTIONS = 12  # with a table of their own
MAX_TRENDS = 6  # systems with charts
DIGITS = 6  # of the values in the list


def history_page(history: History, filter: EntryFilter = ALL_ENTRIES) -> str:
    """Render the page of the entries that a filter selects: their summaries, and the queries behind recent ones."""
    entries = history.entries(filter, last=MAX_ENTRIES)
    if not entries:
        which = "no entries" if filter == ALL_ENTRIES else "no entries that the options select"
        raise InputError(f"{printable(str(history.folder), None)} has {which}", hint="save a result with --save")
    newest_first = [*reversed(entries)]
    places = {entry.name: place for place, entry in enumerate(newest_first)}
    series = series_of_entries(entries)
    trends = _trends(history, series, places)
    frame = template("history.html").render(
        **page_parts(HISTORY_SCRIPTS),
        title="Results over time",
        facts=_facts(entries, history.count(filter)),
        boards=[*map(leaderboard_table, _boards(series, places))],
        omitted_boards=max(0, len({key[0] for key in series}) - MAX_COLLECTIONS),
        trends=trends,
        omitted_trends=sum(len(group) > 1 for group in series.values()) - len(trends),
        last=DEFAULT_LAST,
        confidence=percent(CONFIDENCE),
    )
    queries = {name: own.to_dict() for trend in trends for name, own in trend.queries.items()}
    return with_data(frame, Packer().compress(_payload(newest_first, queries)))


def _facts(entries: Sequence[EntrySummary], count: int) -> list[str]:
    days = [entries[place].saved[:10] for place in (0, -1)]
    older = count - len(entries)
    return [
        plural(len(entries), "entry") + (f" ({older:,} older not on this page)" if older > 0 else ""),
        plural(len({entry.system for entry in entries}), "system"),
        plural(len({entry.collection for entry in entries}), "collection"),
        days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}",
    ]


def _boards(series: dict[SeriesKey, list[EntrySummary]], places: dict[str, int]) -> list[Leaderboard]:
    latest: dict[str, list[EntrySummary]] = {}
    for (collection, *_), group in series.items():
        latest.setdefault(collection, []).append(group[-1])
    ordered = sorted(latest.items(), key=lambda item: min(places[entry.name] for entry in item[1]))
    return [leaderboard(collection, entries, places) for collection, entries in ordered[:MAX_COLLECTIONS]]


def _trends(history: History, series: dict[SeriesKey, list[EntrySummary]], places: dict[str, int]) -> list[SystemTrend]:
    """Those of the systems that were saved last, and more than once."""
    groups = sorted((group for group in series.values() if len(group) > 1), key=lambda group: places[group[-1].name])
    return [system_trend(history, group, places) for group in groups[:MAX_TRENDS]]


def _payload(entries: Sequence[EntrySummary], queries: Mapping[str, Any]) -> dict[str, Any]:
    """What the list shows of each entry, newest first; texts that many entries share are kept once."""
    measures: dict[str, int] = {}
    conventions: dict[str, int] = {}
    rows = []
    for entry in entries:
        means = {
            measures.setdefault(name, len(measures)): [
                _rounded(mean.value),
                _rounded(mean.low),
                _rounded(mean.high),
                mean.n,
            ]
            for name, mean in entry.means.items()
        }
        basis = entry.conventions
        lines = {title: plain(text) for title, text in entry_lines(entry).items() if title != "entry"}
        rows.append(
            {
                "name": entry.name,
                "system": plain(entry.system),
                "collection": plain(entry.collection),
                "branch": plain(entry.facts["git"]["branch"] or ""),
                "lines": lines,
                "means": means,
                "conventions": conventions.setdefault(basis, len(conventions)),
                "queries": queries.get(entry.name),
            }
        )
    return {
        "measures": [_measure(name) for name in measures],
        "conventions": list(conventions),
        "confidence": percent(CONFIDENCE),
        "entries": rows,
    }


def _measure(name: str) -> dict[str, Any]:
    measure = known_measure(name)
    return {"name": plain(name), "count": measure is not None and measure.definition.aggregate == "sum"}


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, DIGITS)
