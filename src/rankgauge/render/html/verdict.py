"""The verdict at the top of the page: a word, a sign and a color, so that none of them is needed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankgauge.comparison.gate.result import VERDICT_WORDS
from rankgauge.comparison.result import Comparison
from rankgauge.render.document import Table, Words, with_names
from rankgauge.render.documents.gate import blame_lines, footer, growth_lines, rot_lines
from rankgauge.render.documents.gate import gate_tables as tables
from rankgauge.report.report import Report

Tone = Literal["pass", "fail", "undecided"]  # also the CSS class

VERDICT_SIGNS: dict[Tone, str] = {"pass": "✓", "fail": "✗", "undecided": "?"}
GATE_TONES: dict[str, Tone] = {"pass": "pass", "fail": "fail"}  # others decide nothing
ROW_TONES: dict[str, Tone] = {"met": "pass", "MISSED": "fail", "WORSE": "fail", "no worse": "pass", "unchanged": "pass"}
OUTCOME_TONES: dict[str, Tone] = {"better": "pass", "worse": "fail", "equivalent": "pass", "unchanged": "pass"}


@dataclass(frozen=True)
class PageVerdict:
    """What was decided, in a word or two."""

    tone: Tone
    word: str

    @property
    def label(self) -> str:
        """The word at the beginning of a line."""
        return f"{self.word[:1].upper()}{self.word[1:]}"

    @property
    def sign(self) -> str:
        """The verdict as a character."""
        return VERDICT_SIGNS[self.tone]


@dataclass(frozen=True)
class GateRow:
    """One measure of a gate: what is required or compared, the outcome, and the numbers behind it."""

    name: str
    verdict: PageVerdict
    cells: tuple[str, ...]


@dataclass(frozen=True)
class GateTable:
    """What is required, or what is compared with a baseline."""

    title: str
    head: tuple[str, ...]
    rows: tuple[GateRow, ...]


def page_verdict(report: Report) -> PageVerdict | None:
    """The verdict of the gate, or of the comparison on the first measure; None if neither was made."""
    if report.gate is not None:
        word = VERDICT_WORDS.get(report.gate.verdict, report.gate.verdict)
        return PageVerdict(GATE_TONES.get(report.gate.verdict, "undecided"), word)
    comparison = report.comparison
    if comparison is None or report.scores[0].without_relevant.all():
        return None
    return _of_two(comparison) if len(comparison.systems) == 1 else _of_many(comparison)


def _of_two(comparison: Comparison) -> PageVerdict:
    row = next(row for row in comparison.differences if row.measure == comparison.primary)
    outcome = row.outcome(comparison.alpha)
    return PageVerdict(OUTCOME_TONES.get(outcome, "undecided"), outcome)


def _of_many(comparison: Comparison) -> PageVerdict:
    """Whether one system is better than every other one, or than the baseline if not all pairs were compared."""
    ranking = comparison.ranking
    if ranking is not None:
        return (
            PageVerdict("undecided", "inconclusive")
            if ranking.indistinguishable
            else PageVerdict("pass", "one best system")
        )
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    if any(row.outcome(comparison.alpha) in ("better", "higher") for row in rows):
        return PageVerdict("pass", f"better than {comparison.baseline}")
    return PageVerdict("undecided", "inconclusive")


def gate_tables(report: Report) -> list[GateTable]:
    """The tables of the gate: one p and one detectable difference in each row."""
    return [] if report.gate is None else [_gate_table(table) for table in tables(report.gate, report.bands)]


TONES = {"better": "pass", "worse": "fail", "neutral": "undecided", "": "undecided"}


def _gate_table(table: Table) -> GateTable:
    """One table, whose outcome moves to the front, where it is visible on any screen."""
    outcome = next(place for place, column in enumerate(table.columns) if column.is_outcome)

    def others(row):
        return (*row[1:outcome], *row[outcome + 1 :])

    made = []
    for row in table.rows:
        cell = row[outcome]
        assert isinstance(cell, Words)
        made.append(
            GateRow(row[0].text, PageVerdict(TONES[cell.tone], cell.text), tuple(one.text for one in others(row)))
        )
    head = [column.title for column in table.columns]
    return GateTable(table.name, (head[0] or "measure", "outcome", *others(head)), tuple(made))


def gate_lines(report: Report) -> list[str]:
    """What else the gate found, and how it tested."""
    gate = report.gate
    if gate is None:
        return []
    notes = [f"note: {note.message}" for note in gate.notes]
    lines = [with_names(line, str) for line in [*rot_lines(gate), *growth_lines(gate), *blame_lines(gate), *notes]]
    return lines if gate.verdict == "skipped" else [*lines, *footer(gate)[:-1]]  # the page has the conventions already
