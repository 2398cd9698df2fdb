"""The comparison of two entries as text: what changed in the labels, the parts, and the test of the system's part."""

from __future__ import annotations

from rankgauge.comparison.result import Comparison
from rankgauge.comparison.versions.compare import VersionComparison
from rankgauge.comparison.versions.parts import ChangeParts
from rankgauge.comparison.versions.sentences import changes_sentence, method_sentence
from rankgauge.core.formatting import MISSING, number, p_value, plural, signed
from rankgauge.errors import printable, shown
from rankgauge.history.entries import EntrySummary
from rankgauge.render.text.scores import dumped
from rankgauge.render.text.terminal import Cell, table

COMPARISON_SCHEMA = "rankgauge.history-comparison/1"
DIGITS = 4


def as_json(compared: VersionComparison, before: EntrySummary, after: EntrySummary) -> str:
    """Everything, with full precision."""
    entries = {"before": before.to_dict(), "after": after.to_dict()}
    return dumped({"schema": COMPARISON_SCHEMA, "entries": entries, "change": compared.to_dict()})


def as_text(compared: VersionComparison, before: EntrySummary, after: EntrySummary, *, color: bool) -> str:
    """For the terminal."""
    blocks = [
        "\n".join([_entry("before", before), _entry("after", after)]),
        f"{changes_sentence(compared.changes, shown)}\n{method_sentence(compared.method)}",
        _parts_table(compared.parts, color=color),
    ]
    if compared.comparison is None:
        blocks.append("no query can be compared, so nothing is tested")
    else:
        blocks += [_tested_table(compared.comparison, color=color), compared.comparison.answer()]
    return "\n\n".join(blocks) + "\n"


def _entry(side: str, entry: EntrySummary) -> str:
    branch = f" on {printable(entry.git.branch)}" if entry.git.branch else ""
    return f"{side:<6}  {entry.name}{branch}: {printable(entry.system)}, {printable(entry.collection)}"


def _parts_table(parts: tuple[ChangeParts, ...], *, color: bool) -> str:
    """One row per measure, its parts beside the whole change."""
    is_joint = any(part.joint is not None for part in parts)
    titles = ["system and labels", "queries"] if is_joint else ["system", "labels", "queries"]
    rows = []
    for part in parts:
        split = [part.joint, part.queries] if is_joint else [part.system, part.labels, part.queries]
        cells = [number(part.before), number(part.after), signed(part.total, DIGITS)]
        rows.append([Cell(part.measure), *map(Cell, cells), *(Cell(signed(value, DIGITS)) for value in split)])
    return table(["", "before", "after", "change =", *titles], rows, color=color)


def _tested_table(comparison: Comparison, *, color: bool) -> str:
    """The differences between the systems, with their intervals and p values."""
    from rankgauge.comparison.sentences import span_text

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
    return table(["system", "difference", comparison.interval_label, "p", "", "over"], rows, color=color)
