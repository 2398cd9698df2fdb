"""The comparison of two entries as text: what changed in the labels, the parts, and the test of the system's part."""

from __future__ import annotations

from rankgauge.comparison.result import Comparison
from rankgauge.comparison.sentences import headline, span_text
from rankgauge.comparison.versions.compare import VersionComparison
from rankgauge.comparison.versions.parts import ChangeParts
from rankgauge.comparison.versions.sentences import changes_sentence, method_sentence
from rankgauge.core.formatting import MISSING, number, p_value, percent, plural, signed
from rankgauge.errors import printable, shown
from rankgauge.history.entries import EntrySummary
from rankgauge.render.text.grid import Cell, Grid, Lines, TerminalPart
from rankgauge.render.text.scores import dumped

COMPARISON_SCHEMA = "rankgauge.history-comparison/1"
DIGITS = 4


def as_json(compared: VersionComparison, before: EntrySummary, after: EntrySummary) -> str:
    """Everything, with full precision."""
    entries = {"before": before.to_dict(), "after": after.to_dict()}
    return dumped({"schema": COMPARISON_SCHEMA, "entries": entries, "change": compared.to_dict()})


def terminal_parts(compared: VersionComparison, before: EntrySummary, after: EntrySummary) -> list[TerminalPart]:
    """For the terminal: the answer first."""
    parts: list[TerminalPart] = [
        Lines([_entry("before", before), _entry("after", after)]),
        Lines([changes_sentence(compared.changes, shown), method_sentence(compared.method)]),
        parts_grid(compared.parts),
    ]
    if compared.comparison is None:
        return [*parts, "no query can be compared, so nothing is tested"]
    return [Lines(headline(compared.comparison)), *parts, _tested_grid(compared.comparison)]


def _entry(side: str, entry: EntrySummary) -> str:
    branch = f" on {printable(entry.git.branch)}" if entry.git.branch else ""
    return f"{side:<6}  {entry.name}{branch}: {printable(entry.system)}, {printable(entry.collection)}"


def parts_grid(parts: tuple[ChangeParts, ...]) -> Grid:
    """One row per measure, its parts beside the whole change."""
    is_joint = any(part.joint is not None for part in parts)
    titles = ["system and labels", "queries"] if is_joint else ["system", "labels", "queries"]
    rows = []
    for part in parts:
        split = [part.joint, part.queries] if is_joint else [part.system, part.labels, part.queries]
        cells = [number(part.before), number(part.after), signed(part.total, DIGITS)]
        rows.append([Cell(part.measure), *map(Cell, cells), *(Cell(signed(value, DIGITS)) for value in split)])
    return Grid(["", "before", "after", "change =", *titles], rows)


def _tested_grid(comparison: Comparison) -> Grid:
    """The differences between the systems, with their intervals and p values."""
    rows = [
        [
            Cell(row.measure),
            Cell(MISSING if row.difference is None else row.text(row.difference)),
            Cell(span_text(row.interval, row) or MISSING),
            Cell(p_value(row.p_corrected)),
            Cell(row.outcome(comparison.alpha)),
            Cell(plural(row.n, "query")),
        ]
        for row in comparison.differences
    ]
    legend = f"intervals are {comparison.interval_kind}" if comparison.interval_kind else ""
    head = ["system", "difference", f"{percent(comparison.confidence)} CI", "p", "", "over"]
    return Grid(head, rows, legend=legend)
