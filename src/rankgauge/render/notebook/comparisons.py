"""Views of what is compared: systems, rankings, orders of systems, versions of labels; and of a report."""

from __future__ import annotations

from rankgauge.comparison.attribution import QueryChange
from rankgauge.comparison.order import sort_systems
from rankgauge.comparison.order_agreement import QrelsAgreement
from rankgauge.comparison.ranking_difference import RunDifference
from rankgauge.comparison.remarks import remarks
from rankgauge.comparison.result import Comparison
from rankgauge.comparison.sentences import headline
from rankgauge.comparison.versions.compare import VersionComparison
from rankgauge.comparison.versions.sentences import changes_sentence, method_sentence
from rankgauge.errors import shown
from rankgauge.render.notebook.parts import Fold, Footnote, Lead, Remarks, Table, ViewPart, captioned
from rankgauge.render.notebook.scores import caveats, evaluation_view
from rankgauge.render.text import agreement as agreement_text
from rankgauge.render.text import comparison as comparison_text
from rankgauge.render.text import difference as difference_text
from rankgauge.render.text.grid import Grid
from rankgauge.render.text.history_comparison import parts_grid
from rankgauge.report.report import Report

CHANGED_QUERIES = 3  # whose rankings are shown side by side


def comparison_view(comparison: Comparison) -> list[ViewPart]:
    """The answer, the table with the baseline and the letters of many systems, groups, largest changes, caveats."""
    notes = [note.message for note in comparison.notes]
    return [*_answer_parts(comparison), *caveats(comparison.scores, notes)]


def _answer_parts(comparison: Comparison) -> list[ViewPart]:
    comparison = sort_systems(comparison)
    answer, *others = headline(comparison)
    table = Table(comparison_text.grid(comparison), f"Compared with {comparison.baseline}")
    parts: list[ViewPart] = [Lead(answer), *others, table]
    parts += remarks(comparison)
    if comparison.groups:
        parts.append(Fold("Groups of queries", captioned(comparison_text.groups(comparison), "Groups")))
    changes = [
        Remarks(f"{system} − {comparison.baseline}", [_change(comparison, row) for row in rows])
        for system, rows in comparison.changes.items()
        if rows
    ]
    if changes:
        parts.append(Fold(f"Largest changes in {comparison.primary}", changes))
    return [*parts, *map(Footnote, comparison_text.conventions_lines(comparison.scores))]


def _change(comparison: Comparison, change: QueryChange) -> str:
    (line,) = comparison_text.change_lines(comparison, change)
    return "; ".join(part.strip() for part in line.split("   ") if part.strip())


def report_view(report: Report) -> list[ViewPart]:
    """What a gate decided, the answer or the scores, failed systems and caveats."""
    parts: list[ViewPart] = [] if report.gate is None else [Lead(str(report.gate))]
    parts += evaluation_view(report.evaluation) if report.comparison is None else _answer_parts(report.comparison)
    parts.append(Remarks("Failed systems", [f"{system}: {reason}" for system, reason in report.failed.items()]))
    return parts if report.comparison is None else [*parts, Remarks("Caveats", report.caveats)]


def difference_view(difference: RunDifference) -> list[ViewPart]:
    """How many queries differ, the means, and the rankings that changed most."""
    summary, means, *rankings = difference_text.parts(difference, {}, top=CHANGED_QUERIES)
    titles, grids = map(str, rankings[::2]), rankings[1::2]
    changed = [Table(grid, title) for title, grid in zip(titles, grids, strict=True) if isinstance(grid, Grid)]
    parts = captioned([means], "Mean over queries")
    return [Lead(str(summary)), *parts, *([Fold("Rankings that changed most", changed)] if changed else [])]


def order_view(agreement: QrelsAgreement) -> list[ViewPart]:
    """The correlations of two orders of systems, and the pairs that swap."""
    answer, *parts = agreement_text.parts(agreement)
    return [Lead(str(answer)), *captioned(parts, "Agreement on the order of systems", "Swapped pairs")]


def version_view(compared: VersionComparison) -> list[ViewPart]:
    """What changed in the labels, the parts of the change, and the comparison of the systems."""
    parts: list[ViewPart] = [
        changes_sentence(compared.changes, shown),
        method_sentence(compared.method),
        Table(parts_grid(compared.parts), f"From {compared.before} to {compared.after}"),
    ]
    if compared.comparison is None:
        return [Lead("No query can be compared, so nothing is tested."), *parts]
    answer, *tested = comparison_view(compared.comparison)
    return [answer, *parts, *tested]
