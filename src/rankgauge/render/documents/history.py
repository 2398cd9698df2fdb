"""A history: its entries, one entry, trends, recent changes, and the comparison of two entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.comparison.answer_sentences import headline
from rankgauge.comparison.change_parts import ChangeParts, VersionComparison, method_sentence
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.label_changes import changes_sentence
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
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import CONFIDENCE, EntrySummary, SavedEntry, SavedMean
from rankgauge.history.quality_checks import QualityChange, QualityCheck, alert_message
from rankgauge.history.store import History
from rankgauge.history.trends import Trend, TrendChange, TrendSeries
from rankgauge.measures.names import parse_measures
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
    marked,
    name,
    numbers,
    sentence,
    words,
)
from rankgauge.render.documents.comparison import difference_cell, difference_range
from rankgauge.render.documents.comparison import document as comparison_document
from rankgauge.render.documents.scores import query_table, scores_document
from rankgauge.render.formats.wrapping import columns_of
from rankgauge.secrets import mask_secrets

LIST_SCHEMA = "rankgauge.history/1"
ENTRY_JSON_SCHEMA = "rankgauge.history-summary/1"
COMPARISON_SCHEMA = "rankgauge.history-comparison/1"
HASH_CHARACTERS = 12
ENTRY_DIGITS = 4  # of intervals and differences between entries
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
    tags = texts.pop("tags", None)
    order = {"tags": 3, "labels": 2, "branch": 1}
    columns = [TableColumn(title, is_words=True, may_hide=order.get(title, 0)) for title in texts]
    columns += [*numbers(*shown), *([] if tags is None else [TableColumn("tags", may_hide=order["tags"])])]
    rows = [*zip(*texts.values(), *shown.values(), *([] if tags is None else [tags]), strict=True)]
    older = listed.count - len(entries)
    figures = {title: figure for figure, title in SHOWN_FIGURES.items()}
    hidden = [figures.get(measure, measure) for measure in values if measure not in shown]
    notes = ["+ uncommitted changes"] if any(entry.facts["git"]["dirty"] for entry in entries) else []
    notes += [f"more measures: {', '.join(hidden)}; name one with -m, or use --format json"] if hidden else []
    notes += [f"{plural(older, 'older entry')} not shown: --last 0 shows all"] if older > 0 else []
    return [Table(columns, rows, "Entries, newest first"), Sentences(notes)]


def _word_columns(entries: Sequence[EntrySummary]) -> dict[str, Sequence[Cell]]:
    """The columns of words; those that say nothing are left out."""
    columns: dict[str, Sequence[Cell]] = {"entry": [Words(entry.name) for entry in entries]}
    branches = [entry.facts["git"]["branch"] for entry in entries]
    if any(branches) or any(entry.facts["git"]["dirty"] for entry in entries):
        columns["branch"] = [
            name((branch or MISSING) + ("+" if entry.facts["git"]["dirty"] else ""))
            for entry, branch in zip(entries, branches, strict=True)
        ]
    columns["system"] = [name(entry.system) for entry in entries]
    if len({entry.collection for entry in entries}) > 1:
        columns["labels"] = [name(entry.collection) for entry in entries]
    if any(entry.tags for entry in entries):
        columns["tags"] = [name(", ".join(entry.tags)) for entry in entries]
    return columns


def _all_measures(means: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measures of all entries, those of the newest first."""
    return list(dict.fromkeys(measure for row in means for measure in row))


def _width(title: str, cells: Sequence[Cell]) -> int:
    return 2 + max(map(columns_of, (title, *(printable(cell.text, None) for cell in cells))))


def _wanted_columns(names: Sequence[str]) -> list[str]:
    """Measures, and figures of whole runs such as ``mean_tokens``, in the order in which they are named."""
    return [one for text in names for one in ([text] if text in FIGURES else [m.name for m in parse_measures(text)])]


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
            Words(entry.name),
            name(entry.system),
            name(entry.collection),
            name(entry.git.branch or MISSING),
            name(", ".join(entry.tags) or MISSING),
            *(Number(row[measure].value) if measure in row else NO_VALUE for measure in measures),
            *(cells[place] for cells in costs.values()),
        ]
        for place, (entry, row) in enumerate(zip(newest_first, means, strict=True))
    ]
    columns = [*words("entry", "system", "labels", "branch", "tags"), *numbers(*measures, *costs)]
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
        "tags": ", ".join(entry.tags),
        "system": printable(entry.system),
        "labels": f"{printable(entry.collection)}, version {entry.labels[:HASH_CHARACTERS]}",
        "queries": ", ".join(queries),
        "judged": "" if facts["coverage"] is None else f"{text_of(facts['coverage'], 'share')} of the top 10",
        "latency": _latency(entry),
        "tokens": _amounts(entry, "tokens"),
        "cost": _amounts(entry, "cost"),
        "run": "stored" if entry.has_run else "not stored",
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
            Words(point.name),
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
    sure = "" if (change.until == change.entry) else f", at {change.until} at the latest"
    after = f"after {change.after}"
    return f"change{commit}: {signed(change.difference, ENTRY_DIGITS)} ({p_equals(change.p)}; {after}{sure})"


def trend_footer(trend: Trend) -> list[str]:
    """How change points were found, and which entries are left out."""
    first = trend.series[0]
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
    if trend.left_out:
        count = plural(len(trend.left_out), "entry")
        lines.append(f"{count} with other conventions left out: {listing(map(printable, trend.left_out))}")
    return lines


def changes_document(check: QualityCheck, changes: Sequence[QualityChange] | None = None) -> ResultDocument:
    """One line per change that is reported, then how many there are, and how they were looked for."""
    reported = check.changes if changes is None else changes

    def parts() -> list[Part]:
        known = len(check.changes) - len(reported)
        before = f", {known:,} reported before" if known else ""
        count = plural(len(reported), "new change") if reported else "no new change"
        alpha = text_of(check.alpha, "given", digits=2)
        checked = f"{count}{before}; {plural(check.series, 'series', 'series')} checked, alpha {alpha} each"
        is_worse = any(change.is_worse for change in reported)
        tone: Tone = "worse" if is_worse else "neutral" if reported else "better"
        return [Sentences([*(mask_secrets(change.description) for change in reported), checked], "answer", tone)]

    def data() -> dict[str, Any]:
        searched = {"found": len(check.changes), "series": check.series, "alpha": check.alpha}
        return {**alert_message(reported), **searched}

    return ResultDocument("Changes of quality", parts, data)


# ------------------------------------------------------------------------------------------- comparisons of versions


def entries_comparison_document(
    compared: VersionComparison, before: EntrySummary, after: EntrySummary
) -> ResultDocument:
    """The answer, what changed in the labels, the parts of the change, and the test of the system's part."""

    def parts() -> list[Part]:
        about: list[Part] = [
            Sentences([_entry_line("before", before), _entry_line("after", after)]),
            *_version_parts(compared, "Parts of the change"),
        ]
        tested = compared.comparison
        if tested is None:
            return [*about, sentence("no query can be compared, so nothing is tested")]
        return [Sentences(headline(tested), "answer"), *about, _tested_table(tested)]

    entries = {"before": before.to_dict(), "after": after.to_dict()}
    return ResultDocument(
        "Change", parts, lambda: {"schema": COMPARISON_SCHEMA, "entries": entries, "change": compared.to_dict()}
    )


def _version_parts(compared: VersionComparison, title: str) -> list[Part]:
    lines = [changes_sentence(compared.changes, marked), method_sentence(compared.method)]
    return [Sentences(lines), parts_table(compared.parts, title)]


def version_document(compared: VersionComparison) -> ResultDocument:
    """What changed in the labels, the parts of the change, and the comparison of the systems."""
    title = f"From {compared.before} to {compared.after}"
    about = _version_parts(compared, title)
    if compared.comparison is None:
        return ResultDocument(
            title, lambda: [sentence("No query can be compared, so nothing is tested.", "answer"), *about]
        )
    tested = comparison_document(compared.comparison)

    def parts() -> list[Part]:
        answer, *others = tested.parts()
        return [answer, *about, *others]

    return ResultDocument(title, parts, caveats=tested.caveats)


def _entry_line(side: str, entry: EntrySummary) -> str:
    branch = f" on {printable(entry.git.branch)}" if entry.git.branch else ""
    return f"{side:<6}  {entry.name}{branch}: {printable(entry.system)}, {printable(entry.collection)}"


def parts_table(parts: Sequence[ChangeParts], title: str) -> Table:
    """One row per measure, its parts beside the whole change."""
    is_joint = any(part.joint is not None for part in parts)
    titles = ["system and labels", "queries"] if is_joint else ["system", "labels", "queries"]
    rows: list[list[Cell]] = []
    for part in parts:
        split = [part.joint, part.queries] if is_joint else [part.system, part.labels, part.queries]
        changes = [Number(value, "difference", ENTRY_DIGITS) for value in (part.total, *split)]
        rows.append([Words(part.measure), Number(part.before), Number(part.after), *changes])
    return Table([*words(""), *numbers("before", "after", "change =", *titles)], rows, title)


def _tested_table(comparison: Comparison) -> Table:
    """The differences between the systems, with their intervals and p values."""
    rows: list[list[Cell]] = [
        [
            Words(row.measure),
            replace(difference_cell(row, comparison.alpha), mark=""),  # the word beside it says the same
            difference_range(row),
            Number(row.p_corrected, "p"),
            Words(row.outcome(comparison.alpha)),
            Words(plural(row.n, "query")),
        ]
        for row in comparison.differences
    ]
    legend = f"intervals are {comparison.interval_kind}" if comparison.interval_kind else ""
    titles = ["difference", f"{percent(comparison.confidence)} CI", "p", "", "over"]
    return Table([*words("system"), *numbers(*titles)], rows, "Difference of the systems", legend)
