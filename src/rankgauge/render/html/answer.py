"""The answer at the top of the page: one sentence per system, and secondary sentences below."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rankgauge.comparison.sentences import headline
from rankgauge.core.formatting import percent
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.render.html.text import interval_text, measure_text
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Report
from rankgauge.stats.results import Interval

GROUP_START = re.compile(r"(?<=\.) (?=Not distinguishable from it: |Worse: |Lower: |Of \d)")
SINGLE_SYSTEM_MEASURES = 4  # measures in the sentence of a system that is not compared


@dataclass(frozen=True)
class PageAnswer:
    """The main sentences, secondary ones in smaller type, and between them the groups of systems."""

    sentences: tuple[str, ...]
    details: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # the systems like the best one, and those that are worse


def page_answer(report: Report, page_systems: PageSystems) -> PageAnswer:
    """The answer and what else to know, or a sentence for each system if nothing was compared."""
    comparison = report.comparison
    if report.gate is not None:
        return PageAnswer((f"{report.gate.answer(str)}.",))
    if report.scores[0].without_relevant.all():
        return PageAnswer((NO_RELEVANT_DOCUMENT,))
    if comparison is None:
        return PageAnswer(tuple(map(_values_sentence, page_systems.scores, page_systems.intervals)))
    first, *others = headline(comparison)
    best, *groups = GROUP_START.split(first) if len(comparison.systems) > 1 else [first]
    return PageAnswer((best,), tuple(others), tuple(groups))


def _values_sentence(scores: Scores, intervals: Mapping[str, Interval]) -> str:
    values = []
    for measure in scores.measures[:SINGLE_SYSTEM_MEASURES]:
        interval = intervals[measure.name]
        ends = interval_text(interval)
        suffix = f" ({percent(interval.confidence)} CI {ends})" if ends else ""
        values.append(f"{measure.name} {measure_text(measure, scores[measure])}{suffix}")
    return f"{scores.run}: {', '.join(values)}."
