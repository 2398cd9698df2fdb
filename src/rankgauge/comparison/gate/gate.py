"""Judgments, a run, and what is required of it in; the verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.comparing import compare_with_baselines
from rankgauge.comparison.gate.decide import GATE_STATISTICS, Rule
from rankgauge.comparison.gate.inputs import AnyCorpus, RunAgain, checked_judgments, corpus_ids, runs_or_baseline
from rankgauge.comparison.gate.requirements import Requirement, parse_requirements
from rankgauge.comparison.gate.result import GateResult, RequiredValue
from rankgauge.comparison.gate.rotted import NO_HASHES, fitting_baseline, fitting_part, grade_zero_notes
from rankgauge.comparison.gate.storing import stored_measures
from rankgauge.comparison.statistics import Statistics
from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_measures
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.io.sources import can_read_again
from rankgauge.measures.spec import Measure


def gate(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    require: str | Iterable[str] = (),
    baseline: AnyRun | Sequence[AnyRun] | Baseline | None = None,
    margin: float = 0.0,
    two_sided: bool = False,
    statistics: Statistics = GATE_STATISTICS,
    corpus: AnyCorpus | None = None,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> GateResult:
    """Whether a run has the required values and did not drop against a baseline.

    ``require`` holds texts like ``"nDCG@10>=0.35"``. ``baseline`` is a stored baseline, a run, or a list of runs of one
    system, whose mean is the baseline; ``measures`` are those compared with it, by default the baseline's own, else the
    required ones, else the default measures. A drop fails only if it is significant over all of these together,
    one-sided unless ``two_sided``, and at least ``margin``. ``corpus``, a file of documents or their ids, tells a
    retriever that got worse from documents that are gone; if the judgments keep text hashes, labels that no longer fit
    are found, and the run is tested on the queries whose labels do. If labels changed since a baseline was stored, both
    sides are compared with the same labels on the queries they share, and ``growth`` says what the labels did.
    A run of a live retriever that failed for a query fails. If the judgments have no relevant document at all, the gate
    is skipped.
    """
    conventions = conventions or Conventions()
    requirements = parse_requirements(require, conventions)
    if not requirements and baseline is None:
        raise UsageError(
            "a gate needs a requirement or a baseline, and neither is given",
            hint='--require "nDCG@10>=0.35" asks for a value, --baseline baseline.json for no drop',
        )
    rule = Rule(margin, statistics, two_sided)
    reading = replace(reading or Reading(), fingerprint=True)
    baseline_runs, stored = runs_or_baseline(baseline, reading)
    runs = [run, *baseline_runs]
    if not all(map(can_read_again, runs)):
        reading = replace(reading, keep_rankings=True)
    if baseline is not None:
        gated = _gated_measures(measures, stored, requirements, conventions)
    else:
        gated = conventions.measures(measures) if measures else ()  # to be stored
    requested = tuple(dict.fromkeys([*gated, *(requirement.measure for requirement in requirements)]))
    judgments, checked, is_checked = checked_judgments(qrels, corpus, reading)
    evaluation = evaluate_measures(judgments, runs, requested, conventions=conventions, reading=reading)
    if len(evaluation.scores) > len(runs):
        raise InputError(
            f"expected one run in each source, found {len(evaluation.scores)} in {len(runs)}: "
            f"{listing(shown(scores.run) for scores in evaluation.scores)}",
            hint="a gate tests one run: write the others to files of their own",
        )
    if reading.keep_rankings and evaluation.joined:
        runs = [joined.run for joined in evaluation.joined]
    if evaluation.scores[0].without_relevant.all():
        reason = f"no query of {shown(evaluation.qrels.name)} has a relevant document, so nothing can be tested"
        required = _required_values(evaluation.scores[0], requirements, rule)
        return GateResult("skipped", evaluation, rule, required=required, reason=reason)
    rot = checked if checked is not None and checked.rotted_queries else None
    if rot is not None:
        judged_sha256 = evaluation.qrels.sha256
        evaluation = fitting_part(runs, judgments, rot, requested, conventions, reading)
        stored = None if stored is None else fitting_baseline(stored, judged_sha256, evaluation)
    result = GateResult("pass", evaluation, rule, rot=rot, notes=tuple(grade_zero_notes(checked)))
    if not len(evaluation.scores[0]):
        return replace(result, verdict="rotted")
    result = replace(result, required=_required_values(evaluation.scores[0], requirements, rule))
    if baseline_runs:
        stored = Baseline.of(evaluation, *range(1, len(evaluation.scores)))
    if stored is not None:
        known_ids = None if corpus is None else partial(corpus_ids, corpus, reading.limits)
        again = RunAgain(runs[0], reading) if evaluation.joined else None
        result = compare_with_baselines(replace(result, baseline=stored), len(gated), known_ids, again)
    if result.blame is not None and not is_checked:
        result = replace(result, notes=(*result.notes, NO_HASHES))
    missed = not all(row.met for row in result.required)
    has_failed = missed or result.blame is not None or bool(result.failed_queries)
    return replace(result, verdict="fail" if has_failed else "pass" if rot is None else "rotted")


def _gated_measures(
    measures: MeasureNames | None,
    stored: Baseline | None,
    requirements: Sequence[Requirement],
    conventions: Conventions,
) -> tuple[Measure, ...]:
    """The measures that must not drop."""
    if measures:
        chosen = conventions.measures(measures)
        for measure in chosen:
            if not _is_comparable(measure):
                raise UsageError(
                    f"{measure} cannot be compared with a baseline: only means over queries of which higher or lower "
                    "values are known to be better can",
                    hint="leave it out of -m, or require a value of it",
                )
        return chosen
    if stored is None:
        chosen = tuple(requirement.measure for requirement in requirements) or conventions.measures(None)
    else:
        chosen = stored_measures(stored, conventions)
    chosen = tuple(measure for measure in chosen if _is_comparable(measure))
    if not chosen:
        raise UsageError("no measure of the baseline can be compared: name some with -m")
    return chosen


def _is_comparable(measure: Measure) -> bool:
    return measure.definition.aggregate == "mean" and measure.definition.direction != 0


def _required_values(scores: Scores, requirements: Sequence[Requirement], rule: Rule) -> tuple[RequiredValue, ...]:
    rows = []
    for requirement in requirements:
        value = scores[requirement.measure]
        interval = scores.interval(requirement.measure, confidence=rule.statistics.confidence)
        rows.append(RequiredValue(requirement, value, requirement.is_met(value), interval.low, interval.high))
    return tuple(rows)
