"""The answer at the top: a sentence for each system, and what else there is to say of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankgauge.comparison.result import Comparison
from rankgauge.evaluation import Scores
from rankgauge.experiment.report import Report
from rankgauge.render.comparison import mark
from rankgauge.render.grid import BETTER, WORSE
from rankgauge.render.html.text import between, percent, value_of

LONG = 240  # signs of an answer that is told in two parts
FIRST = 4  # measures of a system that is compared with none


@dataclass(frozen=True)
class Answer:
    """One system's."""

    first: str
    rest: str = ""


def answers(report: Report) -> list[Answer]:
    """One for each system but the baseline, or for each where nothing was compared."""
    found = report.comparison
    if found is None:
        return [_alone(scores) for scores in report.scores]
    return [_against(found, name) for name in found.names if name != found.baseline]


def _alone(scores: Scores) -> Answer:
    parts = []
    for measure in scores.measures[:FIRST]:
        interval = scores.interval(measure)
        span = between(interval)
        parts.append(
            f"{measure.name} {value_of(measure, scores[measure])}"
            + (f" ({_unbroken(percent(interval.level))} {span})" if span else "")
        )
    return Answer(f"{scores.run}: {', '.join(parts)}.")


def _against(found: Comparison, name: str) -> Answer:
    """The whole answer; where that is long, on the first measure, with a word on each of the others."""
    rows = [row for row in found.differences if row.system == name]
    pair = replace(found, names=(found.baseline, name))
    whole = pair.answer()
    if len(whole) <= LONG or not rows[0].difference:
        return Answer(_unbroken(whole))
    first = replace(pair, differences=tuple(rows[:1])).answer()
    signs = {row.measure: mark(found, row).strip() for row in rows[1:]}
    parts = []
    for sign, words in ((BETTER, "better on"), (WORSE, "worse on"), ("", "nobody can tell on")):
        listed = [measure for measure, each in signs.items() if each == sign]
        if listed:
            parts.append(f"{words} {', '.join(listed)}")
    return Answer(_unbroken(first), f"Otherwise {'; '.join(parts)}.")


def _unbroken(text: str) -> str:
    """The text with no line ending before a sign of percent."""
    return text.replace(" %", "\u00a0%")
