"""Views of a history: entries, trends and recent changes."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import MISSING, number, percent, plural, span
from rankgauge.history.checks import QualityCheck
from rankgauge.history.entries import CONFIDENCE, EntrySummary, SavedEntry
from rankgauge.history.store import History
from rankgauge.history.trends import Trend, TrendSeries
from rankgauge.render.notebook.parts import Footnote, Lead, Remarks, Table, ViewPart, facts
from rankgauge.render.notebook.scores import scores_view
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.history import entry_lines
from rankgauge.render.text.trend import change_text, footer

LAST = 20  # entries of a history that are listed


def history_view(history: History) -> list[ViewPart]:
    """The newest entries."""
    count = history.count()
    entries = history.entries(last=LAST)
    return [*(entries_view(entries, total=count) if entries else ["No entries."])]


def entries_view(entries: Sequence[EntrySummary], *, total: int | None = None) -> list[ViewPart]:
    """One row per entry, newest first, with the measures of all of them."""
    newest_first = [*reversed(entries)]
    means = [entry.means for entry in newest_first]
    measures = [*dict.fromkeys(name for row in means for name in row)]
    rows = [
        [
            Cell(entry.name),
            Cell(entry.system),
            Cell(entry.collection),
            Cell(entry.git.branch or MISSING),
            Cell(", ".join(entry.tags) or MISSING),
            *(Cell(number(row[name].value) if name in row else MISSING) for name in measures),
        ]
        for entry, row in zip(newest_first, means, strict=True)
    ]
    head = ["entry", "system", "labels", "branch", "tags", *measures]
    count = plural(len(entries) if total is None else total, "entry")
    return [Table(Grid(head, rows, words=5), f"{count}, newest first", total=total)]


def entry_view(entry: EntrySummary) -> list[ViewPart]:
    """What an entry says, and its means."""
    rows = [
        [Cell(name), Cell(number(mean.value)), Cell(span(mean.low, mean.high, 4) or MISSING), Cell(f"{mean.n:,}")]
        for name, mean in entry.means.items()
    ]
    grid = Grid(["", "value", f"{percent(CONFIDENCE)} CI", "queries"], rows)
    return [
        facts(f"Entry {entry.name}", entry_lines(entry)),
        Table(grid, "Means"),
        Footnote(f"conventions: {entry.conventions}"),
    ]


def saved_entry_view(entry: SavedEntry) -> list[ViewPart]:
    """What an entry says, and its scores."""
    return [facts(f"Entry {entry.name}", entry_lines(entry.summary)), *scores_view(entry.scores)]


def trend_view(trend: Trend) -> list[ViewPart]:
    """The value of each entry with its interval, and where it changed."""
    branch = f", branch {trend.branch}" if trend.branch else ""
    title = f"{trend.measure} of {trend.system} on {trend.collection}{branch}"
    parts: list[ViewPart] = []
    for series in trend.series:
        group = "" if series.group is None else f" ({trend.by}: {series.group})"
        parts.append(Table(_series_grid(trend, series), title + group))
        parts.append(Remarks("Changes", [change_text(change) for change in series.changes]))
    return [*parts, *map(Footnote, footer(trend))]


def _series_grid(trend: Trend, series: TrendSeries) -> Grid:
    changed = {change.index for change in series.changes}
    rows = [
        [
            Cell(point.name),
            Cell(number(mean.value)),
            Cell(span(mean.low, mean.high, 4) or MISSING),
            Cell(f"{point.queries:,}"),
            Cell("change" if index in changed else ""),
        ]
        for index, (point, mean) in enumerate(zip(trend.points, series.values, strict=True))
    ]
    return Grid(["entry", "value", f"{percent(trend.confidence)} CI", "queries", ""], rows)


def check_view(check: QualityCheck) -> list[ViewPart]:
    """The recent changes, or that there are none."""
    if not check.changes:
        return [Lead(f"No recent change of quality in {check.series:,} series.", "better")]
    worse = any(change.is_worse for change in check.changes)
    lead = Lead(f"{plural(len(check.changes), 'recent change')} of quality.", "worse" if worse else "neutral")
    return [lead, Remarks("Changes", [change.description for change in check.changes])]
