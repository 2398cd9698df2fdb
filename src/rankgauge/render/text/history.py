"""The entries of a history as text: a listing, and one entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.core.formatting import MISSING, byte_size, number, percent, plural, span
from rankgauge.errors import printable
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import CONFIDENCE, EntrySummary
from rankgauge.measures.parse import parse_measures
from rankgauge.render.text.grid import Cell, Drawing, Grid, Lines, TerminalPart, full
from rankgauge.render.text.scores import dumped, query_grid
from rankgauge.render.text.terminal import PLAIN, READABLE_NAME, Layout, display_width, text_of

LIST_SCHEMA = "rankgauge.history/1"
ENTRY_JSON_SCHEMA = "rankgauge.history-summary/1"
HASH_CHARACTERS = 12


def list_json(entries: Sequence[EntrySummary], count: int) -> str:
    """The entries, newest first, and how many there are in all."""
    return dumped({"schema": LIST_SCHEMA, "count": count, "entries": [entry.to_dict() for entry in entries]})


def list_table(entries: Sequence[EntrySummary], count: int, measures: Sequence[str], layout: Layout = PLAIN) -> str:
    """One row per entry; without named measures, only as many as fit, and at least the first."""
    if not entries:
        return "no entries\n"
    means = [entry.facts["means"] for entry in entries]
    wanted = [measure.name for measure in parse_measures(list(measures))] if measures else _all_measures(means)
    words = _word_columns(entries)
    values = {measure: [_value(row.get(measure)) for row in means] for measure in wanted}
    used = sum(min(READABLE_NAME, _width(title, cells)) for title, cells in words.items())
    shown: dict[str, list[str]] = {}
    for measure, cells in values.items():
        used += _width(measure, cells)
        if shown and not measures and layout.width is not None and used > layout.chart_width:
            break
        shown[measure] = cells
    tags = words.pop("tags", None)
    columns = {**words, **shown, **({} if tags is None else {"tags": tags})}
    rows = [[Cell(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    older = count - len(entries)
    hidden = [measure for measure in values if measure not in shown]
    notes = ["+ uncommitted changes"] if any(entry.facts["git"]["dirty"] for entry in entries) else []
    notes += [f"more measures: {', '.join(hidden)}; name one with -m, or use --format json"] if hidden else []
    notes += [f"{plural(older, 'older entry')} not shown: --last 0 shows all"] if older > 0 else []
    grid = Grid(list(columns), rows, words=len(words), hideable=("tags", "labels", "branch"))
    return text_of([grid, Lines(notes)], layout) + "\n"


def _word_columns(entries: Sequence[EntrySummary]) -> dict[str, list[str]]:
    """The columns of words; those that say nothing are left out."""
    columns = {"entry": [entry.name for entry in entries]}
    branches = [entry.facts["git"]["branch"] for entry in entries]
    if any(branches) or any(entry.facts["git"]["dirty"] for entry in entries):
        columns["branch"] = [
            full(branch or MISSING) + ("+" if entry.facts["git"]["dirty"] else "")
            for entry, branch in zip(entries, branches, strict=True)
        ]
    columns["system"] = [full(entry.system) for entry in entries]
    if len({entry.collection for entry in entries}) > 1:
        columns["labels"] = [full(entry.collection) for entry in entries]
    if any(entry.tags for entry in entries):
        columns["tags"] = [", ".join(entry.tags) for entry in entries]
    return columns


def _all_measures(means: Sequence[Mapping[str, Any]]) -> list[str]:
    """The measures of all entries, those of the newest first."""
    return list(dict.fromkeys(measure for row in means for measure in row))


def _width(title: str, cells: Sequence[str]) -> int:
    return 2 + max(map(display_width, (title, *cells)))


def _value(mean: Any) -> str:
    return MISSING if mean is None else number(mean["value"])


def show_json(entry: EntrySummary, scores: Scores | None) -> str:
    """One entry, with the value of each query if asked for."""
    data: dict[str, Any] = {"schema": ENTRY_JSON_SCHEMA, "entry": entry.to_dict()}
    return dumped(data if scores is None else {**data, "scores": scores.to_dict(per_query=True)})


def show_text(entry: EntrySummary, scores: Scores | None, layout: Layout = PLAIN) -> str:
    """What an entry says, line by line, then its values."""
    facts = "\n".join(text_of([Lines([text], title)], layout) for title, text in entry_lines(entry).items())
    head = ["", "value", f"{percent(CONFIDENCE)} CI", "queries"]
    values = [
        [Cell(measure), Cell(number(mean.value)), Cell(span(mean.low, mean.high, 4) or MISSING), Cell(f"{mean.n:,}")]
        for measure, mean in entry.means.items()
    ]
    parts: list[TerminalPart] = [Drawing(facts), Grid(head, values), Lines([f"conventions: {entry.conventions}"])]
    return text_of([*parts, *([] if scores is None else [query_grid(scores)])], layout) + "\n"


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
        "judged": "" if facts["coverage"] is None else f"{percent(facts['coverage'], 1)} of the top 10",
        "latency": _latency(entry),
        "run": "stored" if entry.has_run else "not stored",
    }
    return {title: text for title, text in lines.items() if text}


def _latency(entry: EntrySummary) -> str:
    cost = entry.cost
    if cost is None:
        return ""
    times = {"p50": cost.p50, "p95": cost.p95, "p99": cost.p99, "max": cost.max}
    parts = [f"{label} {value:.3g} ms" for label, value in times.items() if value is not None]
    parts += [f"index {byte_size(cost.index_bytes)}"] if cost.index_bytes is not None else []
    return ", ".join(parts)
