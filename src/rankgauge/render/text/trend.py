"""A trend as text: one line per entry with its value and interval, and a line at each change point."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import MISSING, listing, number, p_equals, percent, plural, signed, span
from rankgauge.errors import printable
from rankgauge.history.trends import Trend, TrendChange, TrendPoint, TrendSeries
from rankgauge.render.text.grid import Lines
from rankgauge.render.text.plot import MIN_WIDTH as MIN_CHART
from rankgauge.render.text.plot import drawn, room, short_number, whisker
from rankgauge.render.text.scores import dumped
from rankgauge.render.text.terminal import PLAIN, Layout, display_width, hung, text_of
from rankgauge.render.text.wrapping import shortened

CHANGE_DIGITS = 4


def as_json(trend: Trend) -> str:
    """The trend with full precision."""
    return dumped(trend.to_dict())


def as_text(trend: Trend, layout: Layout = PLAIN) -> str:
    """All queries with what else changed, then one chart per group, then how change points were found."""
    parts = [text_of([_heading(trend)], layout)]
    for place, series in enumerate(trend.series):
        side = _side_columns(trend.points) if place == 0 else {}
        parts.append(_chart(trend, series, side, layout))
    return drawn([*parts, text_of([Lines(footer(trend))], layout)], layout)


def _heading(trend: Trend) -> str:
    branch = f", branch {printable(trend.branch)}" if trend.branch else ""
    return f"{trend.measure} of {printable(trend.system)} on {printable(trend.collection)}{branch}"


def _side_columns(points: Sequence[TrendPoint]) -> dict[str, list[str]]:
    """What changed besides quality; columns that say nothing are left out."""
    columns = {
        "queries": [_queries(point) for point in points],
        "judged": [MISSING if point.coverage is None else percent(point.coverage, 0) for point in points],
        "p95 ms": [MISSING if point.p95 is None else f"{point.p95:.3g}" for point in points],
    }
    return {title: cells for title, cells in columns.items() if any(cell != MISSING for cell in cells)}


def _queries(point: TrendPoint) -> str:
    changes = [f"{sign}{count}" for sign, count in (("+", point.added), ("−", point.removed)) if count]
    return f"{point.queries:,}" + (f" ({' '.join(changes)})" if changes else "")


def _chart(trend: Trend, series: TrendSeries, side: dict[str, list[str]], layout: Layout) -> str:
    width, values = layout.chart_width, series.values
    ends = [end for row in values for end in (row.value, row.low, row.high) if end is not None]
    least, most = (min(ends), max(ends)) if ends else (0.0, 1.0)
    cells = {
        "entry": [point.name for point in trend.points],
        "value": [number(row.value) for row in values],
        f"{percent(trend.confidence)} CI": [span(row.low, row.high, CHANGE_DIGITS) or MISSING for row in values],
        **side,
    }
    widths = {title: max(len(title), *map(len, column)) for title, column in cells.items()}
    taken = sum(widths.values()) + 2 * len(widths)
    for title in [f"{percent(trend.confidence)} CI", *reversed(side)]:  # the interval is in the chart
        if width - taken < MIN_CHART:
            del cells[title]
            taken = sum(widths[title] for title in cells) + 2 * len(cells)
    if width - taken < MIN_CHART:
        cells["entry"] = shortened(cells["entry"], max(MIN_CHART, widths["entry"] - MIN_CHART + width - taken))
        widths["entry"] = max(map(display_width, cells["entry"]))
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
            lines += hung(f"─ {change_text(changes[row])}", layout)
        bar = "" if value.value is None else whisker(value.value, (value.low, value.high), (least, most), size)
        texts = [f"{cells[title][row]:>{widths[title]}}" for title in others]
        lines.append("  ".join([f"{cells[name][row]:<{widths[name]}}", f"{bar:<{size}}", *texts]).rstrip())
    return "\n".join(lines)


def change_text(change: TrendChange) -> str:
    """A change point in words."""
    commit = f" at commit {change.commit[:12]}" if change.commit else ""
    sure = "" if (change.until == change.entry) else f", at {change.until} at the latest"
    after = f"after {change.after}"
    return f"change{commit}: {signed(change.difference, CHANGE_DIGITS)} ({p_equals(change.p)}; {after}{sure})"


def footer(trend: Trend) -> list[str]:
    """How change points were found, and which entries are left out."""
    first = trend.series[0]
    changes = sum(len(series.changes) for series in trend.series)
    if first.reason is not None:
        found = f"no test of change points: {first.reason}"
    else:
        p = f" (all queries: {p_equals(first.p)})" if not first.changes else ""
        found = f"{plural(changes, 'change point') if changes else 'no change point'}{p}"
    groups = len(trend.series) - 1
    share = f"; {plural(groups, 'group')} at alpha {trend.series[1].alpha:.2g} each" if groups else ""
    noise = "unknown (no commit was saved three times)" if first.noise is None else f"{number(first.noise)}"
    test = f": largest paired t over splits, joint sign flips of {plural(first.shared, 'query')} that entries share, "
    method = "" if first.reason is not None else f"{test}alpha {first.alpha:g}{share}"
    lines = [f"{found}{method}; run-to-run noise {noise}"]
    if trend.left_out:
        count = plural(len(trend.left_out), "entry")
        lines.append(f"{count} with other conventions left out: {listing(map(printable, trend.left_out))}")
    return lines
