"""A difference in a table: its text, and its mark if it is significant."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.comparison.result import Comparison, Difference
from rankgauge.core.formatting import MISSING
from rankgauge.render.document import BETTER, WORSE
from rankgauge.render.html.direction import Tone

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
    return Mark(character, MARK_TONES[character]) if character else NO_MARK
