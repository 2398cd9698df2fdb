"""A difference in a table: its text, and its mark if it is significant."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.comparison.result import Comparison, Difference
from rankgauge.core.formatting import MISSING
from rankgauge.measures.spec import Measure
from rankgauge.render.html.direction import Tone, direction_of
from rankgauge.render.text.grid import BETTER, WORSE

MARK_TONES: dict[str, Tone] = {BETTER: "better", WORSE: "worse"}


@dataclass(frozen=True)
class Mark:
    """The mark of a significant difference: a character, and the same as a word; both empty if there is none."""

    character: str = ""
    tone: Tone = ""


NO_MARK = Mark()


def difference_text(row: Difference) -> str:
    """The difference with its sign, or as a ratio; a dash if there is none."""
    return MISSING if row.difference is None else row.text(row.difference)


def mark_of(comparison: Comparison, row: Difference) -> Mark:
    """The mark of a difference, if it is significant and its measure has a direction."""
    character = row.mark(comparison.alpha)
    if not character or not direction_of(measure_of(comparison, row)):
        return NO_MARK
    return Mark(character, MARK_TONES[character])


def measure_of(comparison: Comparison, row: Difference) -> Measure:
    """The measure of a difference."""
    return next(measure for measure in comparison.scores[0].measures if measure.name == row.measure)
