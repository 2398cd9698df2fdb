"""The charts of one system over time: its measures with intervals and change points, and what else changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rankgauge.core.formatting import compact_number, milliseconds, percent, plural, signed, span_of, text_of
from rankgauge.errors import InputError, MeasureError, UsageError
from rankgauge.history.entries import EntrySummary, SavedMean
from rankgauge.history.series import EntrySeries, series_of
from rankgauge.history.store import History
from rankgauge.history.trends import DEFAULT_LAST, Trend, TrendChange, TrendOptions, TrendPoint, trend_of_series
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure
from rankgauge.render.documents.history import change_text, trend_footer
from rankgauge.render.html.charts.svg import Chart
from rankgauge.render.html.charts.time import TimeMark, TimePoint, TimeSeries, time_chart
from rankgauge.render.html.direction import Tone

MAX_MEASURES = 3  # with a chart of their own: a chart of 50 entries and 1,000 queries takes most of a second
POSITIVE = (0.0, float("inf"))


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


def known_measure(name: str) -> Measure | None:
    """The measure of a name; None if it was declared by a program that is not running."""
    try:
        return parse_measure(name)
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
    )


def _measure_chart(name: str, trend: Trend, places: Mapping[str, int]) -> Chart:
    measure, series = parse_measure(name), trend.series[0]
    count = measure.definition.aggregate == "sum"
    points = []
    for point, mean in zip(trend.points, series.values, strict=True):
        value = _mean_text(mean, trend.confidence, count=count)
        points.append(TimePoint(mean.value, mean.low, mean.high, f"{point.name}: {value}", places[point.name]))
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
    """Queries, judged documents and latency, if they are known and differ between entries."""
    versions = len({entry.summary.labels for entry in loaded.entries})
    labels = f"{plural(versions, 'version')} of the labels." if versions > 1 else ""
    queries = [(float(point.queries), _queries_text(point)) for point in trend.points]
    judged = [
        (point.coverage, "" if point.coverage is None else text_of(point.coverage, "share")) for point in trend.points
    ]
    latency = [(point.p95, milliseconds(point.p95)) for point in trend.points]
    sides: list[tuple[str, Sequence[tuple[float | None, str]], str, tuple[float, float]]] = [
        ("Queries", queries, labels, POSITIVE),
        ("Judged in the top 10", judged, "", (0.0, 1.0)),
        ("Latency, p95 in ms", latency, "", POSITIVE),
    ]
    for title, values, caption, possible in sides:
        if len({value for value, _ in values if value is not None}) < 2:
            continue
        points = [
            TimePoint(value, None, None, f"{point.name}: {text}", places[point.name])
            for point, (value, text) in zip(trend.points, values, strict=True)
        ]
        series = TimeSeries(points, (), _days(trend), possible, "c0", _range_text(title, points))
        yield Chart(title, time_chart(series), caption)


def _queries_text(point: TrendPoint) -> str:
    changes = [f"{count:,} {what}" for count, what in ((point.added, "added"), (point.removed, "removed")) if count]
    return plural(point.queries, "query") + (f" ({', '.join(changes)})" if changes else "")
