"""A history: its entries, one entry, trends, recent changes, and the comparison of two entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import (
    MISSING,
    NumberKind,
    byte_size,
    given,
    listing,
    milliseconds,
    p_equals,
    percent,
    plural,
    signed,
    text_of,
)
from rankgauge.core.run import FIGURES, SHOWN_FIGURES
from rankgauge.errors import printable
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import CONFIDENCE, ENTRY_NAME, EntrySummary, SavedEntry, SavedMean, entry_label
from rankgauge.history.folder import History
from rankgauge.history.quality_checks import QualityCheck
from rankgauge.history.trends import Trend, TrendChange, TrendSeries
from rankgauge.render.document import (
    NO_VALUE,
    READABLE_NAME,
    Cell,
    ChartData,
    Facts,
    Number,
    Part,
    Range,
    ResultDocument,
    Sentences,
    Table,
    TableColumn,
    Tone,
    Words,
    listed,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.render.documents.scores import query_table, scores_document
from rankgauge.render.formats.wrapping import columns_of
from rankgauge.secrets import mask_secrets, mask_values

LIST_SCHEMA = "rankgauge.history/2"
ENTRY_JSON_SCHEMA = "rankgauge.history-summary/2"
ALERT_SCHEMA = "rankgauge.alert/2"
HASH_CHARACTERS = 12
ENTRY_DIGITS = 4  # of intervals and differences between entries
LEFT_OUT_NAMED = 5
LAST = 20  # entries of a history that a notebook lists


# ---------------------------------------------------------------------------------------------------------- entries


@dataclass(frozen=True)
class Listing:
    """Entries, newest first: how many there are in all, the measures that are wanted, and the room for them."""

    entries: Sequence[EntrySummary]
    count: int
    measures: Sequence[str] = ()
    room: int | None = None  # columns of the terminal


def listing_document(listed: Listing) -> ResultDocument:
    """One row per entry; without named measures, only as many as fit, and at least the first."""
    return ResultDocument(
        "History",
        lambda: _listing_parts(listed),
        lambda: {
            "schema": LIST_SCHEMA,
            "count": listed.count,
            "entries": [entry.to_dict() for entry in listed.entries],
        },
    )


def _listing_parts(listed: Listing) -> list[Part]:
    entries = listed.entries
    if not entries:
        return [sentence("no entries")]
    means = [entry.facts["means"] for entry in entries]
    wanted = _wanted_columns(listed.measures)
    costs = _cost_columns(entries, wanted)
    values: dict[str, Sequence[Cell]] = {
        measure: [_mean_cell(row.get(measure)) for row in means]
        for measure in wanted or _all_measures(means)
        if measure not in FIGURES
    }
    values |= costs
    texts = _word_columns(entries)
    used = sum(min(READABLE_NAME, _width(title, cells)) for title, cells in texts.items())
    shown: dict[str, Sequence[Cell]] = {}
    for measure, cells in values.items():
        used += _width(measure, cells)
        if shown and not wanted and listed.room is not None and used > listed.room:
            break
        shown[measure] = cells
    order = {"labels": 2, "branch": 1}
    columns = [TableColumn(title, is_words=True, may_hide=order.get(title, 0)) for title in texts]
    columns += numbers(*shown)
    rows = [*zip(*texts.values(), *shown.values(), strict=True)]
    older = listed.count - len(entries)
    figures = {title: figure for figure, title in SHOWN_FIGURES.items()}
    hidden = [figures.get(measure, measure) for measure in values if measure not in shown]
    notes = ["+ uncommitted changes"] if any(entry.facts["git"]["dirty"] for entry in entries) else []
    notes += [f"more measures: {', '.join(hidden)}; name one with -m, or use --format json"] if hidden else []
    notes += [f"{plural(older, 'older entry')} not shown: --last 0 shows all"] if older > 0 else []
    return [Table(columns, rows, "Entries, newest first"), Sentences(notes)]


def _word_columns(entries: Sequence[EntrySummary]) -> dict[str, Sequence[Cell]]:
    """The columns of words; those that say nothing are left out."""
    columns: dict[str, Sequence[Cell]] = {
        "entry": [Words(short_name(entry)) for entry in entries],
        "saved": [Words(entry.label) for entry in entries],
    }
    branches = [entry.facts["git"]["branch"] for entry in entries]
    if any(branches) or any(entry.facts["git"]["dirty"] for entry in entries):
        columns["branch"] = [
            name((branch or MISSING) + ("+" if entry.facts["git"]["dirty"] else ""))
            for entry, branch in zip(entries, branches, strict=True)
        ]
    columns["system"] = [name(entry.system) for entry in entries]
    if len({entry.collection for entry in entries}) > 1:
        columns["labels"] = [name(entry.collection) for entry in entries]
    return columns


def short_name(entry: EntrySummary) -> str:
    """The end of an entry's name, by which `history show` finds it."""
    return entry.name.rpartition("-")[2] if ENTRY_NAME.match(entry.name) else entry.name


def _all_measures(means: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measures of all entries, those of the newest first."""
    return list(dict.fromkeys(measure for row in means for measure in row))


def _width(title: str, cells: Sequence[Cell]) -> int:
    return 2 + max(map(columns_of, (title, *(printable(cell.text, None) for cell in cells))))


def _wanted_columns(names: Sequence[str]) -> list[str]:
    """Measures, and figures of whole runs such as ``mean_tokens``, in the order in which they are named."""
    measures = Conventions().measures
    return [one for text in names for one in ([text] if text in FIGURES else [m.name for m in measures(text)])]


def _cost_columns(entries: Sequence[EntrySummary], wanted: Sequence[str] = ()) -> dict[str, Sequence[Cell]]:
    """What the entries cost, by the titles of columns: all that some entry has, or only what is wanted."""
    columns: dict[str, Sequence[Cell]] = {}
    for figure in [one for one in wanted if one in FIGURES] if wanted else SHOWN_FIGURES:
        title = SHOWN_FIGURES.get(figure, figure)
        kind: NumberKind = "milliseconds" if figure.endswith("_latency") else "amount"
        field = figure.removesuffix("_latency")
        values = [None if entry.cost is None else getattr(entry.cost, field) for entry in entries]
        if wanted or any(value is not None for value in values):
            columns[title] = [Number(value, kind) for value in values]
    return columns


def _mean_cell(mean: Mapping[str, Any] | None) -> Cell:
    return NO_VALUE if mean is None else Number(mean["value"])


def entries_document(entries: Sequence[EntrySummary], *, total: int | None = None) -> ResultDocument:
    """Entries from the oldest to the newest as one row each, newest first, with the measures of all of them."""
    newest_first = [*reversed(entries)]
    means, costs = [entry.means for entry in newest_first], _cost_columns(newest_first)
    measures = [*dict.fromkeys(measure for row in means for measure in row)]
    rows = [
        [
            Words(entry.label),
            name(entry.system),
            name(entry.collection),
            name(entry.git.branch or MISSING),
            *(Number(row[measure].value) if measure in row else NO_VALUE for measure in measures),
            *(cells[place] for cells in costs.values()),
        ]
        for place, (entry, row) in enumerate(zip(newest_first, means, strict=True))
    ]
    columns = [*words("saved", "system", "labels", "branch"), *numbers(*measures, *costs)]
    title = f"{plural(len(entries) if total is None else total, 'entry')}, newest first"
    return ResultDocument(title, lambda: [Table(columns, rows, title, total=total)])


def document(history: History) -> ResultDocument:
    """The newest entries."""
    entries = history.entries(last=LAST)
    if not entries:
        return ResultDocument("History", lambda: [sentence("No entries.")])
    return entries_document(entries, total=history.count())


def entry_document(entry: EntrySummary, scores: Scores | None = None) -> ResultDocument:
    """What an entry says, line by line, then its values, and the value of each query if asked for."""

    def parts() -> list[Part]:
        values: list[list[Cell]] = [
            [
                Words(measure),
                Number(mean.value),
                _range(mean),
                Number(mean.n, "count"),
            ]
            for measure, mean in entry.means.items()
        ]
        columns = [*words(""), *numbers("value", f"{percent(CONFIDENCE)} CI", "queries")]
        made: list[Part] = [_facts(entry), Table(columns, values, "Means")]
        made.append(sentence(f"conventions: {entry.conventions}", "footnote"))
        return made if scores is None else [*made, query_table(scores)]

    data = {"schema": ENTRY_JSON_SCHEMA, "entry": entry.to_dict()}
    return ResultDocument(
        f"Entry {entry.name}",
        parts,
        lambda: data if scores is None else {**data, "scores": scores.to_dict(per_query=True)},
    )


def saved_entry_document(entry: SavedEntry) -> ResultDocument:
    """What an entry says, and its scores."""
    scores = scores_document(entry.scores)
    return ResultDocument(scores.title, lambda: [_facts(entry.summary), *scores.parts()], caveats=scores.caveats)


def _range(mean: SavedMean) -> Range:
    return Range(mean.low, mean.high, digits=ENTRY_DIGITS)


def _facts(entry: EntrySummary) -> Facts:
    return Facts({title: [text] for title, text in entry_lines(entry).items()}, f"Entry {entry.name}")


def entry_lines(entry: EntrySummary) -> dict[str, str]:
    """What an entry says besides its values; what is unknown is left out."""
    facts, git = entry.facts, entry.git
    command = f" by rankgauge {printable(facts['command'])}" if facts["command"] else ""
    commit = "" if git.commit is None else git.commit[:HASH_CHARACTERS]
    branch = f" on {printable(git.branch)}" if git.branch else ""
    dirty = ", with uncommitted changes" if git.dirty else ""
    skipped = {key.replace("_", " "): count for key, count in entry.queries.items() if key != "averaged" and count}
    queries = [f"{entry.queries['averaged']:,} averaged", *(f"{count:,} {key}" for key, count in skipped.items())]
    lines = {
        "entry": entry.name,
        "saved": f"{entry.saved[:10]} {entry.saved[11:19]} UTC{command}",
        "verdict": printable(facts["verdict"] or ""),
        "commit": f"{commit}{branch}{dirty}" if commit else "",
        "system": printable(entry.system),
        "labels": printable(entry.collection) + (f", version {entry.labels[:HASH_CHARACTERS]}" if entry.labels else ""),
        "queries": ", ".join(queries),
        "judged": "" if facts["coverage"] is None else f"{text_of(facts['coverage'], 'share')} of the top 10",
        "latency": _latency(entry),
        "tokens": _amounts(entry, "tokens"),
        "cost": _amounts(entry, "cost"),
        "log": "saved" if entry.log is not None else "not saved",
    }
    return {title: text for title, text in lines.items() if text}


def _latency(entry: EntrySummary) -> str:
    cost = entry.cost
    if cost is None:
        return ""
    times = {**cost.percentiles, "max": cost.max}
    parts = [f"{label} {milliseconds(value)}" for label, value in times.items() if value is not None]
    parts += [f"index {byte_size(cost.index_bytes)}"] if cost.index_bytes is not None else []
    return ", ".join(parts)


def _amounts(entry: EntrySummary, what: str) -> str:
    """Tokens or money, per query and in total."""
    mean, total = (None if entry.cost is None else getattr(entry.cost, f"{of}_{what}") for of in ("mean", "total"))
    return "" if mean is None else f"{text_of(mean, 'amount')} per query, {text_of(total, 'amount')} in total"


# ----------------------------------------------------------------------------------------------------------- trends


@dataclass(frozen=True)
class TrendChart:
    """One series of a trend, with what else changed in each entry or without."""

    trend: Trend
    series: TrendSeries
    with_facts: bool


def trend_document(trend: Trend) -> ResultDocument:
    """The value of each entry: of all queries with what else changed, then of each group; and where it changed."""
    branch = f", branch {printable(trend.branch)}" if trend.branch else ""
    title = f"{trend.measure} of {printable(trend.system)} on {printable(trend.collection)}{branch}"

    def parts() -> list[Part]:
        series = [TrendChart(trend, one, place == 0) for place, one in enumerate(trend.series)]
        charts = [ChartData("trend", one, _trend_parts(one, title)) for one in series]
        return [sentence(title), *charts, Sentences(trend_footer(trend), "footnote")]

    return ResultDocument(title, parts, trend.to_dict)


def _trend_parts(chart: TrendChart, title: str) -> list[Part]:
    """A series for an output that draws no chart of it."""
    trend, series = chart.trend, chart.series
    changed = {change.index for change in series.changes}
    rows: list[list[Cell]] = [
        [
            Words(entry_label(point.name)),
            Number(mean.value),
            _range(mean),
            Number(point.queries, "count"),
            Words("change" if index in changed else ""),
        ]
        for index, (point, mean) in enumerate(zip(trend.points, series.values, strict=True))
    ]
    group = "" if series.group is None else f" ({trend.by}: {series.group})"
    columns = [*words("entry"), *numbers("value", f"{percent(trend.confidence)} CI", "queries", "")]
    return [Table(columns, rows, title + group), *listed("Changes", [*map(change_text, series.changes)])]


def change_text(change: TrendChange) -> str:
    """A change point in words."""
    commit = f" at commit {change.commit[:12]}" if change.commit else ""
    sure = "" if (change.until == change.entry) else f", at {entry_label(change.until)} at the latest"
    after = f"after {entry_label(change.after)}"
    return f"change{commit}: {signed(change.difference, ENTRY_DIGITS)} ({p_equals(change.p)}; {after}{sure})"


def trend_footer(trend: Trend) -> list[str]:
    """How change points were found, and which entries are left out."""
    first, newest = trend.series[0], trend.points[-1].name
    changes = sum(len(series.changes) for series in trend.series)
    if first.reason is not None:
        found = f"no test of change points: {first.reason}"
    else:
        p = f" (all queries: {p_equals(first.p)})" if not first.changes else ""
        found = f"{plural(changes, 'change point') if changes else 'no change point'}{p}"
    groups = len(trend.series) - 1
    share = (
        f"; {plural(groups, 'group')} at alpha {text_of(trend.series[1].alpha, 'given', digits=2)} each"
        if groups
        else ""
    )
    test = f": largest paired t over splits, joint sign flips of {plural(first.shared, 'query')} that entries share, "
    method = "" if first.reason is not None else f"{test}alpha {given(first.alpha)}{share}"
    lines = [f"{found}{method}"]
    if trend.rescored:
        count = plural(len(trend.rescored), "entry")
        lines.append(f"{count} with other labels scored again, from the log, with those of {entry_label(newest)}")
    return [*lines, *_series_footer(trend.left_out, trend.left_out_queries)]


def _series_footer(left_out: Sequence[str], left_out_queries: Sequence[str]) -> list[str]:
    """What of a series is not compared, and how series are made."""
    lines = []
    if left_out:
        count = plural(len(left_out), "entry")
        named = listing([printable(entry_label(entry)) for entry in left_out], LEFT_OUT_NAMED)
        lines.append(f"{count} with other conventions left out: {named}")
    if left_out_queries:
        count = plural(len(left_out_queries), "query")
        named = listing(map(printable, left_out_queries), LEFT_OUT_NAMED)
        lines.append(f"{count} with other labels left out where the labels differ: {named}")
    return [*lines, "a series is a system on a collection on a branch"]


def changes_document(check: QualityCheck) -> ResultDocument:
    """One line per change, then how many there are, and how they were looked for."""

    def parts() -> list[Part]:
        count = plural(len(check.changes), "change") if check.changes else "no change"
        alpha = text_of(check.alpha, "given", digits=2)
        checked = f"{count}; {plural(check.series, 'series', 'series')} checked, alpha {alpha} each"
        is_worse = any(change.is_worse for change in check.changes)
        tone: Tone = "worse" if is_worse else "neutral" if check.changes else "better"
        answer = Sentences([*(mask_secrets(change.description) for change in check.changes), checked], "answer", tone)
        return [answer, Sentences(_series_footer(check.left_out, check.left_out_queries), "footnote")]

    def data() -> dict[str, Any]:
        changes = mask_values([change.to_dict() for change in check.changes])
        return {
            "schema": ALERT_SCHEMA,
            "changes": changes,
            "series": check.series,
            "alpha": check.alpha,
            "untested": check.untested,
            "left_out": [*check.left_out],
            "left_out_queries": [*check.left_out_queries],
        }

    return ResultDocument("Changes of quality", parts, data)
