"""A history as one self-contained page: the newest results, trends, and a list of all entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from rankgauge.core.formatting import percent, plural
from rankgauge.errors import InputError, printable
from rankgauge.evaluation.conventions import Conventions
from rankgauge.history.entries import CONFIDENCE, EntrySummary
from rankgauge.history.filters import ALL_ENTRIES, EntryFilter
from rankgauge.history.store import History
from rankgauge.history.trends import DEFAULT_LAST
from rankgauge.render.documents.history import entry_lines
from rankgauge.render.html.leaderboard import Leaderboard, SeriesKey, leaderboard, series_of_entries
from rankgauge.render.html.packing import Packer
from rankgauge.render.html.page import SHARED_SCRIPTS, page_parts, template, with_data
from rankgauge.render.html.text import plain
from rankgauge.render.html.trend_charts import SystemTrend, known_measure, system_trend

HISTORY_SCRIPTS = (*SHARED_SCRIPTS, "entries.js")
MAX_ENTRIES = 10_000  # that the page holds: the newest
MAX_COLLECTIONS = 12  # with a table of their own
MAX_TRENDS = 6  # systems with charts
DIGITS = 6  # of the values in the list


def history_page(history: History, filter: EntryFilter = ALL_ENTRIES) -> str:
    """Render the page of the entries that a filter selects; it holds their summaries, and no value of a query."""
    entries = history.entries(filter, last=MAX_ENTRIES, whole=True)
    if not entries:
        which = "no entries" if filter == ALL_ENTRIES else "no entries that the options select"
        raise InputError(f"{printable(str(history.path), None)} has {which}", hint="save a result with --save")
    newest_first = [*reversed(entries)]
    places = {entry.name: place for place, entry in enumerate(newest_first)}
    series = series_of_entries(entries)
    trends = _trends(history, series, places)
    frame = template("history.html").render(
        **page_parts(HISTORY_SCRIPTS),
        title="Results over time",
        facts=_facts(entries, history.count(filter)),
        boards=_boards(series, places),
        omitted_boards=max(0, len({key[0] for key in series}) - MAX_COLLECTIONS),
        trends=trends,
        omitted_trends=sum(len(group) > 1 for group in series.values()) - len(trends),
        last=DEFAULT_LAST,
        confidence=percent(CONFIDENCE),
    )
    return with_data(frame, Packer().compress(_payload(newest_first)))


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


def _payload(entries: Sequence[EntrySummary]) -> dict[str, Any]:
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
        basis = _conventions_text(tuple(entry.facts["conventions"].items()))
        lines = {title: plain(text) for title, text in entry_lines(entry).items() if title != "entry"}
        rows.append(
            {
                "name": entry.name,
                "system": plain(entry.system),
                "collection": plain(entry.collection),
                "branch": plain(entry.facts["git"]["branch"] or ""),
                "tags": list(map(plain, entry.tags)),
                "lines": lines,
                "means": means,
                "conventions": conventions.setdefault(basis, len(conventions)),
            }
        )
    return {
        "measures": [_measure(name) for name in measures],
        "conventions": list(conventions),
        "confidence": percent(CONFIDENCE),
        "entries": rows,
    }


@cache
def _conventions_text(items: tuple[tuple[str, Any], ...]) -> str:
    return str(Conventions(**dict(items)))


def _measure(name: str) -> dict[str, Any]:
    measure = known_measure(name)
    return {"name": plain(name), "count": measure is not None and measure.definition.aggregate == "sum"}


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, DIGITS)
