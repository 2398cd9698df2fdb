"""Judgments, a run, and what is asked of it in; the verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.blame import Blame, absent, blame, lost, strange
from rankgauge.comparison.gate.decide import POWER, Rule
from rankgauge.comparison.gate.pairing import Pairs, compare, pair, too_few, unpaired
from rankgauge.comparison.gate.requirements import Requirement, parse_requirements
from rankgauge.comparison.gate.result import GateResult, Required
from rankgauge.comparison.gate.sides import AnyCorpus, corpus_ids, documents, judgments, kept, other_side
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import InputError, MeasureError, UsageError, shown
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Conventions, Names, NoRelevant, Queries, Scores, score
from rankgauge.io.join.inputs import as_qrels
from rankgauge.io.join.joining import Reading
from rankgauge.io.join.parallel import Report, join_each
from rankgauge.io.sources import DEFAULT as NO_MORE
from rankgauge.io.sources import Limits
from rankgauge.measures.parse import DEFAULT, parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.randomization import PERMUTATIONS


def gate(
    qrels: AnyQrels,
    run: AnyRun,
    *,
    require: str | Iterable[str] = (),
    against: AnyRun | None = None,
    measures: Names | None = None,
    margin: float = 0.0,
    alpha: float = 0.05,
    power: float = POWER,
    corpus: AnyCorpus | None = None,
    compat: Compat = "trec_eval-9",
    queries: Queries = "qrels",
    no_relevant: NoRelevant = "zero",
    on_duplicate: OnDuplicate = "error",
    resamples: int = PERMUTATIONS,
    seed: int = 0,
    qrels_format: str | None = None,
    run_format: str | None = None,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> GateResult:
    """Whether a run has the values that are required and did not drop against a baseline.

    ``require`` are texts like ``"nDCG@10>=0.35"``. ``against`` is a baseline's JSON or a run; ``measures`` are those
    compared with it: left out, the baseline's own, else the required ones, else the usual six. A drop fails only where
    it is significant at ``alpha`` over all of these together and at least ``margin``. ``corpus``, a file of documents
    or their ids, tells a retriever that got worse from documents that are gone. Without any relevant document in the
    judgments the gate is skipped.
    """
    wanted = parse_requirements(require, compat=compat)
    if not wanted and against is None:
        raise UsageError(
            "a gate needs something to look for: no requirement and no baseline is given",
            hint='--require "nDCG@10>=0.35" asks for a value, --against baseline.json for no drop',
        )
    rule = Rule(margin, alpha, power, resamples, seed)
    reading = Reading(compat, on_duplicate, run_format, limits or NO_MORE, fingerprint=True)
    conventions = Conventions(compat, queries, no_relevant)
    other, stored = other_side(against, reading)
    gated = _gated(measures, stored, wanted, compat) if against is not None else ()
    judged = judgments(qrels, qrels_format, reading.limits)
    given = kept(run, reading)
    asked = tuple(dict.fromkeys([*gated, *(one.measure for one in wanted)]))
    joined = join_each(judged, [given] if other is None else [given, other], reading, progress)
    scores = score(judged, joined[0], asked, conventions)
    result = GateResult("pass", scores, rule, required=_required(scores, wanted, alpha))
    if scores.without_relevant.all():
        reason = f"no query of {shown(judged.name)} has a relevant document, so nothing can be said"
        return replace(result, verdict="skipped", reason=reason)
    current = Baseline.of(scores, joined[0].hits, judged)
    result = replace(result, current=current)
    if other is not None:
        stored = Baseline.of(score(judged, joined[1], asked, conventions), joined[1].hits, judged)
    if stored is not None:
        stored.refuse_other(scores, judged)
        pairs = pair(scores, stored, len(gated))
        compared = compare(scores, pairs, rule)
        notes = (*unpaired(scores, stored, pairs), *too_few(compared, rule))
        result = replace(result, against=stored, compared=compared, notes=notes)
        if any(row.decision.outcome == "worse" for row in compared):
            result = replace(result, blame=_blamed(result, stored, current, pairs, judged, given, corpus, reading))
    missed = not all(row.met for row in result.required)
    return replace(result, verdict="fail" if missed or result.blame is not None else "pass")


def write_baseline(
    path: str | Path,
    qrels: AnyQrels,
    run: AnyRun,
    measures: Names | None = None,
    *,
    compat: Compat = "trec_eval-9",
    queries: Queries = "qrels",
    no_relevant: NoRelevant = "zero",
    on_duplicate: OnDuplicate = "error",
    qrels_format: str | None = None,
    run_format: str | None = None,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> Scores:
    """Store a run's values query by query, to be compared with by a gate later."""
    conventions = Conventions(compat, queries, no_relevant)
    asked = parse_measures(measures or DEFAULT, compat=compat)
    reading = Reading(compat, on_duplicate, run_format, limits or NO_MORE, fingerprint=True)
    judged = as_qrels(qrels, format=qrels_format, limits=reading.limits)
    joined = join_each(judged, [run], reading, progress)[0]
    scores = score(judged, joined, asked, conventions)
    files = [given for given in (qrels, run) if isinstance(given, (str, Path))]
    Baseline.of(scores, joined.hits, judged).write(path, inputs=files)
    return scores


def _gated(
    measures: Names | None, stored: Baseline | None, wanted: Sequence[Requirement], compat: Compat
) -> tuple[Measure, ...]:
    """The measures that must not drop."""
    if measures:
        chosen = parse_measures(measures, compat=compat)
        for measure in chosen:
            if not _comparable(measure):
                raise UsageError(
                    f"{measure} cannot be compared with a baseline: that takes a mean over queries of which it is "
                    "known whether higher or lower is better",
                    hint="leave it out of -m, or require a value of it",
                )
        return chosen
    if stored is None:
        chosen = tuple(one.measure for one in wanted) or parse_measures(DEFAULT, compat=compat)
    else:
        try:
            chosen = parse_measures(stored.measures, compat=compat)
        except MeasureError as error:
            raise InputError.at(stored.source, None, error.message, hint=error.hint) from None
    chosen = tuple(measure for measure in chosen if _comparable(measure))
    if not chosen:
        raise UsageError("no measure of the baseline can be compared: name some with -m")
    return chosen


def _comparable(measure: Measure) -> bool:
    return measure.definition.aggregate == "mean" and measure.definition.better is not None


def _required(scores: Scores, wanted: Sequence[Requirement], alpha: float) -> tuple[Required, ...]:
    units = scores.columns.get("unit")
    rows = []
    for one in wanted:
        value = scores[one.measure]
        place = scores.asked.index(one.measure)
        known = scores.averaged & ~np.isnan(scores.values[:, place])
        low = high = None
        if one.measure.definition.aggregate == "mean":
            column = scores.values[known, place]
            interval = mean_interval(column, confidence=1 - alpha, units=None if units is None else units[known])
            low, high = interval.low, interval.high
        rows.append(Required(one, value, one.met(value), low, high))
    return tuple(rows)


def _blamed(
    result: GateResult,
    stored: Baseline,
    current: Baseline,
    pairs: Pairs,
    judged: Qrels,
    run: AnyRun,
    corpus: AnyCorpus | None,
    reading: Reading,
) -> Blame:
    """What a drop has to do with documents that are gone."""
    gone = lost(stored.retrieved, current.retrieved, judged)
    strangers: list[str] = []
    if gone:  # only now is it worth reading all ids
        candidates = sorted({doc for docs in gone.values() for doc in docs})
        here = documents(run, reading)
        there = None if corpus is None else corpus_ids(corpus, reading.limits)
        strangers = [] if there is None else strange(here, there)
        # Where the run has ids that the corpus never had, being in the corpus does not say that a document kept its id.
        missing = absent(candidates, here) if there is None or strangers else absent(candidates, here, there)
        gone = {query: [doc for doc in docs if doc in missing] for query, docs in gone.items()}
    return blame(
        {query: docs for query, docs in gone.items() if docs},
        pairs.queries,
        [row.measure for row in result.compared],
        pairs.better,
        [row.decision for row in result.compared],
        strangers=strangers,
        corpus=corpus is not None,
        rule=result.rule,
        units=pairs.units,
    )
