"""Judgments, runs and settings in; a report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.compare import AnyBaseline, compare_evaluation, evaluate_systems
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation
from rankgauge.io.options import Reading
from rankgauge.report.report import SHOWN_DEPTH, Report

if TYPE_CHECKING:
    from rankgauge.comparison.result import Comparison


def build_report(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    settings: Settings | None = None,
    *,
    title: str | None = None,
    queries: Any = None,
    reading: Reading | None = None,
    **details: Any,
) -> Report:
    """Score runs, by the names of their systems if they have any, and compare them.

    ``details`` are further fields of :class:`Report`: snippets, costs, validations, ….
    """
    settings = settings or Settings()
    evaluation = evaluate_for_report(qrels, runs, settings, queries=queries, reading=reading)
    return report_of(evaluation, settings, title=title, **details)


def evaluate_for_report(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    settings: Settings,
    *,
    queries: Any = None,
    reading: Reading | None = None,
) -> Evaluation:
    """Score runs, and keep what a report shows of them: hashes, and the first documents of each ranking."""
    return evaluate_systems(
        qrels,
        runs,
        settings.measures,
        conventions=settings.conventions,
        reading=replace(reading or Reading(), fingerprint=True, keep_top=SHOWN_DEPTH),
        queries=queries,
    )


def report_of_comparison(comparison: Comparison) -> Report:
    """The report of a comparison that kept its rankings."""
    if comparison.evaluation is None:
        raise UsageError(
            "a report shows rankings, which this comparison did not keep",
            hint="compare(…, reading=Reading(keep_rankings=True)), with runs only, not with a stored baseline",
        )
    by = tuple(dict.fromkeys(row.by for row in comparison.groups))
    settings = Settings(statistics=comparison.statistics, by=by)
    return report_of(comparison.evaluation, settings, comparison=comparison)


def report_of(
    evaluation: Evaluation,
    settings: Settings,
    *,
    title: str | None = None,
    comparison: Comparison | None = None,
    baseline: AnyBaseline | None = None,
    **details: Any,
) -> Report:
    """The report of runs that are scored already; two or more are compared, unless that was done before.

    ``baseline`` is the one of the settings, by default, or the first run.
    """
    if comparison is None and len(evaluation.scores) > 1:
        comparison = compare_evaluation(
            evaluation,
            (settings.baseline or 0) if baseline is None else baseline,
            statistics=settings.statistics,
            by=settings.by or (),
            changes=settings.changes,
        )
    return Report(
        title=title or evaluation.qrels.name,
        evaluation=evaluation,
        comparison=comparison,
        confidence=settings.statistics.confidence,
        bands=settings.bands,
        by=settings.by or (),
        **details,
    )
