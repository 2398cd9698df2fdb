"""Views of labels: agreement of assessors, estimates from few labels, labels that no longer fit, gold passages."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import plural
from rankgauge.labels.agreement import RaterAgreement
from rankgauge.labels.estimates import LabelEstimates
from rankgauge.labels.gold.labels import GoldLabels
from rankgauge.labels.gold.resolution import ResolvedLabels
from rankgauge.render.notebook.parts import Lead, Remarks, Table, Tone, ViewPart, captioned
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.label_check import check_parts
from rankgauge.render.text.labels import agreement_parts, estimate_parts
from rankgauge.validation.label_rot import LabelCheck

HEAD_ROWS = 10


def raters_view(agreements: Sequence[RaterAgreement]) -> list[ViewPart]:
    """Each pair of assessors: the statistics, the confusion table, the groups."""
    return captioned(agreement_parts(agreements, None), "Agreement of assessors")


def rater_view(agreement: RaterAgreement) -> list[ViewPart]:
    """One pair of assessors."""
    return raters_view([agreement])


def estimates_view(estimates: LabelEstimates) -> list[ViewPart]:
    """One row per run and measure."""
    parts = captioned(estimate_parts(estimates), "Estimates")
    return [*parts, Remarks("Caveats", [note.message for note in estimates.notes])]


def check_view(check: LabelCheck) -> list[ViewPart]:
    """How many labels still fit, and which do not."""
    sentence, *rest = check_parts(check)
    tone: Tone = "worse" if check.rotted else "better"
    return [Lead(str(sentence), tone), *captioned(rest, "Labels that no longer fit, by query")]


def gold_view(labels: GoldLabels) -> list[ViewPart]:
    """The first passages, and what is missing."""
    rows = [
        [Cell(passage.query), Cell(passage.document or ""), Cell(passage.text or "")]
        for passage in labels.passages[:HEAD_ROWS]
    ]
    queries, passages = plural(len(labels.queries), "query"), plural(len(labels.passages), "passage")
    without = [f"{plural(len(labels.without_gold), 'query')} without a passage"] if labels.without_gold else []
    grid = Grid(["query", "document", "passage"], rows, words=3)
    return [
        Table(grid, f"{labels.name}: {passages} of {queries}", total=len(labels.passages)),
        Remarks("Caveats", [*without, *(note.message for note in labels.notes)]),
    ]


def resolved_view(resolved: ResolvedLabels) -> list[ViewPart]:
    """How many passages some chunk contains, and which are in none."""
    total, missing = len(resolved.labels.passages), len(resolved.matches.missing)
    found = f"{total - missing:,} of {plural(total, 'passage')} are in the chunks; {len(resolved.split):,} are split"
    return [Lead(f"{found}."), Remarks("In no chunk", [note.message for note in resolved.missing_notes()])]
