"""The answer at the top: a sentence for each system, and what else there is to say of them."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.comparison.sentences import headline
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.text import between, percent, value_of
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Report

LONG = 240  # signs of an answer that is told on the first measure, with a word on the others
FIRST = 4  # measures of a system that is compared with none


@dataclass(frozen=True)
class Answer:
    """A sentence each, and what is said in a lower voice."""

    sentences: tuple[str, ...]
    rest: tuple[str, ...] = ()


def answer_of(report: Report) -> Answer:
    """A sentence for each system but the baseline, or for each where nothing was compared."""
    found = report.comparison
    if report.scores[0].without_relevant.all():
        return Answer((NO_RELEVANT_DOCUMENT,))
    if found is None:
        return Answer(tuple(_alone(scores, report.confidence) for scores in report.scores))
    whole = found.answer()
    if len(found.names) == 2 and len(whole) <= LONG:
        return Answer((_unbroken(whole),))
    lines, systems = [_unbroken(line) for line in headline(found)], len(found.names) - 1
    return Answer(tuple(lines[:systems]), tuple(lines[systems:]))


def _alone(scores: Scores, confidence: float) -> str:
    parts = []
    for measure in scores.measures[:FIRST]:
        interval = scores.interval(measure, confidence=confidence)
        span = between(interval)
        parts.append(
            f"{measure.name} {value_of(measure, scores[measure])}"
            + (f" ({_unbroken(percent(interval.confidence))} {span})" if span else "")
        )
    return f"{scores.run}: {', '.join(parts)}."


def _unbroken(text: str) -> str:
    """The text with no line ending before a sign of percent."""
    return text.replace(" %", "\u00a0%")
