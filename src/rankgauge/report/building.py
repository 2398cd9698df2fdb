"""Judgments, runs and settings in; a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.compare import compare_scores, unique_names
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, asked_measures, joined_scores
from rankgauge.report.report import Report
from rankgauge.report.settings import Settings

if TYPE_CHECKING:
    from rankgauge.comparison.result import Comparison
    from rankgauge.core.hits import Joined
    from rankgauge.core.qrels import Qrels
    from rankgauge.evaluation.evaluate import Scores


def build_report(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    settings: Settings,
    *,
    title: str | None = None,
    topics: Any = None,
    reading: Mapping[str, Any] | None = None,
    **more: Any,
) -> Report:
    """Score runs, perhaps by their systems' names, and compare them.

    ``reading`` are options of ``evaluate_all`` about files; ``more`` is what else the report is to hold.
    """
    given = list(runs.values()) if isinstance(runs, Mapping) else list(runs)
    judged, joined, scores, texts = joined_scores(
        qrels,
        given,
        asked_measures(settings.measures, settings.conventions, settings.level),
        settings.conventions,
        topics=topics,
        fingerprint=True,
        **(reading or {}),
    )
    names = list(runs) if isinstance(runs, Mapping) else unique_names([one.name for one in joined])
    named = [replace(one, run=name) for one, name in zip(scores, names, strict=True)]
    more = {"run_format": (reading or {}).get("run_format"), **more}
    return report_of(judged, given, joined, named, settings, title=title or judged.name, texts=texts, **more)


def report_of(
    judged: Qrels,
    runs: Sequence[AnyRun],
    joined: Sequence[Joined],
    scores: Sequence[Scores],
    settings: Settings,
    *,
    title: str,
    texts: Mapping[str, str],
    comparison: Comparison | None = None,
    **more: Any,
) -> Report:
    """The report of what has been scored already; systems are compared where there are two or more, and none was."""
    found = comparison
    if found is None and len(scores) > 1:
        found = compare_scores(
            judged,
            joined,
            scores,
            baseline=0 if settings.baseline is None else settings.baseline,
            statistics=settings.statistics,
            by=settings.by,
            texts=texts,
            moved=settings.moved,
        )
    return Report(
        title=title,
        qrels=judged,
        runs=tuple(runs),
        joined=tuple(joined),
        scores=tuple(scores),
        comparison=found,
        confidence=settings.statistics.confidence,
        bands=settings.bands,
        by=settings.by,
        texts=texts,
        **more,
    )
