"""Views of verdicts: gates and their baselines, validations, audits and verifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.result import GateResult
from rankgauge.core.formatting import plural
from rankgauge.errors import shown
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.render.notebook.fragment import MAX_ROWS
from rankgauge.render.notebook.parts import Footnote, Lead, Remarks, Table, Tone, ViewPart, facts
from rankgauge.render.notebook.scores import caveats
from rankgauge.render.text import audit as audit_text
from rankgauge.render.text import gate as gate_text
from rankgauge.render.text.grid import Cell, Grid
from rankgauge.render.text.validation import headline
from rankgauge.validation.findings import Validation

VERDICT_TONES: dict[str, Tone] = {"pass": "better", "fail": "worse"}


def gate_view(result: GateResult) -> list[ViewPart]:
    """The verdict, what was required and compared, the cause of a drop, and how it was tested."""
    parts: list[ViewPart] = [Lead(result.sentence, VERDICT_TONES.get(result.verdict, "neutral"))]
    for head, *rows in gate_text.tables(result):
        caption = "Requirements" if head[0] == "required" else f"Change from the {head[1]}"
        parts.append(Table(Grid(head, [[*map(Cell, row)] for row in rows]), caption))
    parts += [*gate_text.rot_lines(result, shown), *gate_text.growth_lines(result, shown)]
    parts += gate_text.blame_lines(result, shown)
    if result.verdict != "skipped":
        parts += map(Footnote, gate_text.footer(result))
    return [*parts, *caveats([result.scores], [note.message for note in result.notes])]


def baseline_view(baseline: Baseline) -> list[ViewPart]:
    """What a gate compares with."""
    return [
        facts(
            f"Baseline: {baseline.run}",
            {
                "runs": f"{len(baseline.runs):,}",
                "judgments": baseline.qrels,
                "queries": f"{len(baseline.queries):,}",
                "measures": ", ".join(baseline.measures),
                "file": baseline.source or "",
                "made of": baseline.description or "",
                "anchor": "" if baseline.anchor is None else baseline.anchor.run,
            },
        )
    ]


class Verified(Protocol):
    """What was checked of a benchmark; its own class is in a later room."""

    @property
    def files(self) -> int:
        """How many files were checked."""

    @property
    def recomputed(self) -> int:
        """How many numbers were computed again."""

    @property
    def changes(self) -> Sequence[object]:
        """What is not as it was written."""

    @property
    def tolerated(self) -> Sequence[object]:
        """What differs only as versions of SciPy do."""


def verification_view(verified: Verified) -> list[ViewPart]:
    """Whether everything is as it was written, and what is not."""
    counts = f"{plural(verified.files, 'file')}, {plural(verified.recomputed, 'number')} recomputed"
    if not verified.changes:
        tolerated = [Remarks("Tolerated", [*map(str, verified.tolerated[:MAX_ROWS])])] if verified.tolerated else []
        return [Lead(f"ok: {counts}", "better"), *tolerated]
    lead = Lead(f"{plural(len(verified.changes), 'change')} in {counts}", "worse")
    return [lead, Remarks("Changes", [*map(str, verified.changes[:MAX_ROWS])])]


def validation_view(file: Validation) -> list[ViewPart]:
    """The state of the file, and one row per kind of finding with its first place and what to do."""
    tone: Tone = "worse" if file.errors else "neutral" if file.warnings else "better"
    rows = [
        [
            Cell(finding.severity),
            Cell(finding.code),
            Cell(f"{finding.count:,}"),
            Cell(finding.message),
            Cell(_first_place(finding.places[0].line, finding.places[0].found) if finding.places else ""),
            Cell(finding.action),
        ]
        for finding in file.findings
    ]
    head = ["", "code", "count", "finding", "first found", "action"]
    return [Lead(headline(file), tone), *([Table(Grid(head, rows, words=6), "Findings")] if rows else [])]


def _first_place(line: int | None, found: str) -> str:
    return found if line is None else f"line {line:,}: {found}"


def ties_view(audit: TieAudit) -> list[ViewPart]:
    """What other orders of tied documents would make of each value."""
    return [
        Table(audit_text.ties_grid(audit), "What the order of tied documents could change"),
        *audit_text.straddling_lines(audit),
    ]


def unjudged_view(audit: UnjudgedAudit) -> list[ViewPart]:
    """What judgments of the unjudged documents could make of each value."""
    return [Table(audit_text.unjudged_grid(audit), "What unjudged documents could change")]
