"""Charts of characters: means with their intervals, what each query gained or lost, and values over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.comparison.comparison_result import Comparison
from rankgauge.core.formatting import MISSING, number, percent, span, text_of
from rankgauge.errors import printable
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.render.document import ChartData
from rankgauge.render.documents.scores import interval_span, value_text
from rankgauge.render.formats.wrapping import columns_of, excerpt, shortened, wrap
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import paired

if TYPE_CHECKING:
    from rankgauge.history.trends import TrendPoint
    from rankgauge.render.documents.history import TrendChart
    from rankgauge.render.formats.terminal import Layout

BAR, LOW, WHISKER, MEAN, HIGH = "█├─●┤"
LEVELS = "▁▂▃▄▅▆▇"
TIE, BETWEEN = "·", "│"
ASCII = str.maketrans(f"{BAR}{LOW}{WHISKER}{MEAN}{HIGH}{LEVELS}{TIE}{BETWEEN}…−–", "=[-o]1234567.|~--")
MIN_WIDTH, MAX_WIDTH = 12, 60
READABLE_WIDTH = 30  # of a chart, if names are shortened for it
MIN_LABEL, MAX_LABEL = 10, 40


def drawing(chart: ChartData, layout: Layout) -> str:
    """A chart as wide as the layout."""
    match chart.kind:
        case "means":
            scores, confidence = chart.data
            return of_scores(scores, confidence, layout)
        case "changes":
            return of_comparison(chart.data, layout)
        case "trend":
            return drawn([_trend_chart(chart.data, layout)], layout)


def of_scores(scores: Sequence[Scores], confidence: float, layout: Layout) -> str:
    """One bar per run and measure, ending in the interval of its mean."""
    parts = [_bars(scores, measure, layout.chart_width, confidence) for measure in scores[0].measures]
    legend = f"{LOW}{WHISKER}{MEAN}{WHISKER}{HIGH} the mean and its {percent(confidence)} CI"
    return drawn([legend, *parts], layout)


def of_comparison(comparison: Comparison, layout: Layout) -> str:
    """One strip of differences per measure and system, from the largest gain to the largest loss."""
    return drawn(
        [_strips(comparison, measure, layout.chart_width) for measure in comparison.scores[0].measures], layout
    )


def drawn(parts: Sequence[str], layout: Layout) -> str:
    """Parts of a chart as text, with plain characters if others cannot be shown."""
    text = "\n\n".join(parts)
    return text.translate(ASCII) if layout.ascii else text


def _bars(scores: Sequence[Scores], measure: Measure, width: int, confidence: float) -> str:
    rows = [(run[measure], run.interval(measure, confidence=confidence)) for run in scores]
    ends = [end for value, interval in rows for end in (value, interval.low, interval.high) if end is not None]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    values = [value_text(measure, value) for value, _ in rows]
    spans = [interval_span(interval) for _, interval in rows]
    taken = max(map(len, values)) + max(map(len, spans)) + 6
    labels = labels_within(scores, width - taken - READABLE_WIDTH)
    size = room(width, taken + columns_of(labels[0]))
    lines = [f"{measure.shown}, from {short_number(least)} to {short_number(most)}"]
    for label, value, between, (mean, interval) in zip(labels, values, spans, rows, strict=True):
        bar = "" if mean is None else _bar(mean, interval, least, (size - 1) / ((most - least) or 1.0))
        lines.append(f"{label}  {bar:<{size}}  {value:>{max(map(len, values))}}  {between:>{max(map(len, spans))}}")
    return "\n".join(lines)


def labels_within(scores: Sequence[Scores], width: int) -> list[str]:
    """The names of runs, shortened to leave room for a chart, all of the same width."""
    names = shortened([printable(run.run, None) for run in scores], max(MIN_LABEL, min(width, MAX_LABEL)))
    widest = max(map(columns_of, names))
    return [name + " " * (widest - columns_of(name)) for name in names]


def short_number(value: float) -> str:
    """A number of an axis."""
    return text_of(value, "value", digits=3).rstrip("0").rstrip(".")


def _bar(mean: float, interval: Interval, least: float, scale: float) -> str:
    """Full up to the low end of the interval, a line through it, and a dot at the mean."""
    at = round((mean - least) * scale)
    low, high = (at if end is None else round((end - least) * scale) for end in (interval.low, interval.high))
    low, high = min(low, at), max(high, at)
    characters = [BAR] * low + [WHISKER] * (high + 1 - low)
    characters[low], characters[high], characters[at] = LOW, HIGH, MEAN
    return "".join(characters)


def whisker(value: float, ends: tuple[float | None, float | None], limits: tuple[float, float], size: int) -> str:
    """A dot at a value and a line through its interval, on a scale from one limit to the other."""
    scale = (size - 1) / ((limits[1] - limits[0]) or 1.0)
    at = round((value - limits[0]) * scale)
    low, high = (at if end is None else round((end - limits[0]) * scale) for end in ends)
    low, high = min(low, at), max(high, at)
    characters = [" "] * low + [WHISKER] * (high + 1 - low)
    characters[low], characters[high], characters[at] = LOW, HIGH, MEAN
    return "".join(characters)


def _strips(comparison: Comparison, measure: Measure, width: int) -> str:
    systems = [run for run in comparison.scores if run.run != comparison.baseline]
    rows = []
    for system in systems:
        _, system_values, baseline_values = comparison.paired(system.run, measure.name)
        rows.append(sorted(paired(system_values, baseline_values).values.tolist(), reverse=True))
    tallest = max((abs(gap) for gaps in rows for gap in gaps), default=0.0)
    counts = [_counts(gaps) for gaps in rows]
    ups, downs = (max(len(count[side]) for count in counts) for side in (0, 1))
    taken = ups + downs + 8
    labels = labels_within(systems, width - taken - READABLE_WIDTH)
    most = max(map(len, rows))
    queries_per_character = max(1, math.ceil(most / room(width, taken + columns_of(labels[0]))))
    per_character = "one query" if queries_per_character == 1 else f"{queries_per_character} queries"
    rest = f": {per_character} per character, tallest {text_of(tallest, 'value', digits=3)}"
    baseline = printable(comparison.baseline, None)
    available = max(MIN_LABEL, width - len(measure.shown + rest) - len(" vs. "))
    title = f"{measure.shown} vs. {excerpt(baseline, available)}{rest}"
    return "\n".join(
        [
            title,
            *(
                f"{label}  {up:>{ups}} {_strip(gaps, tallest, queries_per_character)} {down}"
                for label, gaps, (up, down) in zip(labels, rows, counts, strict=True)
            ),
        ]
    )


def _counts(gaps: Sequence[float]) -> tuple[str, str]:
    up, down = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    return f"{up} up", f"{down} down, {len(gaps) - up - down} tied"


def _strip(gaps: Sequence[float], tallest: float, queries_per_character: int) -> str:
    """Gains, ties and losses, sorted and separated; the height is the mean of the queries behind a character."""
    groups = [gap for gap in gaps if gap > 0], [gap for gap in gaps if gap == 0], [gap for gap in gaps if gap < 0]
    return BETWEEN.join(
        "".join(
            _height(group[start : start + queries_per_character], tallest)
            for start in range(0, len(group), queries_per_character)
        )
        for group in groups
    )


def _height(gaps: Sequence[float], tallest: float) -> str:
    mean = abs(math.fsum(gaps)) / len(gaps)  # exact: the mean of equal gaps is not above the tallest
    return LEVELS[min(math.ceil(mean / tallest * len(LEVELS)), len(LEVELS)) - 1] if mean else TIE


def room(width: int, taken: int) -> int:
    """The width of a chart beside text."""
    return min(max(width - taken, MIN_WIDTH), MAX_WIDTH)


def _side_columns(points: Sequence[TrendPoint]) -> dict[str, list[str]]:
    """What changed besides quality; columns that say nothing are left out."""
    columns = {
        "queries": [_queries(point) for point in points],
        "judged": [text_of(point.coverage, "share") for point in points],
        "p95 ms": [text_of(point.p95, "milliseconds") for point in points],
        "tokens": [text_of(point.mean_tokens, "amount") for point in points],
        "cost": [text_of(point.mean_cost, "amount") for point in points],
    }
    return {title: cells for title, cells in columns.items() if any(cell != MISSING for cell in cells)}


def _queries(point: TrendPoint) -> str:
    changes = [f"{sign}{count}" for sign, count in (("+", point.added), ("−", point.removed)) if count]
    return f"{point.queries:,}" + (f" ({' '.join(changes)})" if changes else "")


def _trend_chart(chart: TrendChart, layout: Layout) -> str:
    """One line per entry with its value and interval, and a line at each change point."""
    from rankgauge.history.entries import entry_label
    from rankgauge.render.documents.history import ENTRY_DIGITS, change_text

    trend, series = chart.trend, chart.series
    side = _side_columns(trend.points) if chart.with_facts else {}
    width, values = layout.chart_width, series.values
    ends = [end for row in values for end in (row.value, row.low, row.high) if end is not None]
    least, most = (min(ends), max(ends)) if ends else (0.0, 1.0)
    cells = {
        "entry": [entry_label(point.name) for point in trend.points],
        "value": [number(row.value) for row in values],
        f"{percent(trend.confidence)} CI": [span(row.low, row.high, ENTRY_DIGITS) or MISSING for row in values],
        **side,
    }
    widths = {title: max(len(title), *map(len, column)) for title, column in cells.items()}
    taken = sum(widths.values()) + 2 * len(widths)
    for title in [f"{percent(trend.confidence)} CI", *reversed(side)]:  # the interval is in the chart
        if width - taken < MIN_WIDTH:
            del cells[title]
            taken = sum(widths[title] for title in cells) + 2 * len(cells)
    if width - taken < MIN_WIDTH:
        cells["entry"] = shortened(cells["entry"], max(MIN_WIDTH, widths["entry"] - MIN_WIDTH + width - taken))
        widths["entry"] = max(map(columns_of, cells["entry"]))
        taken = sum(widths[title] for title in cells) + 2 * len(cells)
    size = room(width, taken)
    scale = f"{short_number(least)} … {short_number(most)}"
    name, *others = cells
    head = "  ".join(
        [f"{'':<{widths[name]}}", f"{scale[:size]:<{size}}", *(f"{title:>{widths[title]}}" for title in others)]
    )
    changes = {change.index: change for change in series.changes}
    lines = [f"{trend.by}: {printable(series.group)}"] if series.group is not None else []
    lines.append(head.rstrip())
    for row, value in enumerate(values):
        if row in changes:
            text = f"─ {change_text(changes[row])}"
            lines += [text] if layout.width is None else wrap(text, width, 2)
        bar = "" if value.value is None else whisker(value.value, (value.low, value.high), (least, most), size)
        texts = [f"{cells[title][row]:>{widths[title]}}" for title in others]
        lines.append("  ".join([f"{cells[name][row]:<{widths[name]}}", f"{bar:<{size}}", *texts]).rstrip())
    return "\n".join(lines)
