"""Measures from machine labels for all queries and human labels for a random sample of them.

The unit is the query: its value by human labels is the truth, its value by machine labels a prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.views import HtmlView
from rankgauge.errors import InputError, Note, shown
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.intervals import interval_of, within
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.read import as_qrels
from rankgauge.stats.prediction_powered import PredictionPowered, prediction_powered_mean
from rankgauge.stats.results import Interval

MIN_HUMAN_QUERIES = 20


@dataclass(frozen=True)
class LabelEstimate:
    """One measure of one run: the prediction-powered estimate, and what each kind of labels gives alone."""

    run: str
    measure: str
    estimate: PredictionPowered
    human: Interval
    machine: Interval  # covers the mean by machine labels, not the true one

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "run": self.run,
            "measure": self.measure,
            "estimate": self.estimate.estimate,
            "interval": self.estimate.interval.to_dict(),
            "weight": self.estimate.weight,
            "human_queries": self.estimate.labeled,
            "machine_queries": self.estimate.unlabeled,
            "human_only": {"estimate": self.human.estimate, **self.human.to_dict()},
            "machine_only": {"estimate": self.machine.estimate, **self.machine.to_dict()},
        }


@dataclass(frozen=True)
class LabelEstimates(HtmlView):
    """The estimates of all runs and measures, and what was left out."""

    rows: tuple[LabelEstimate, ...]
    human_queries: int
    machine_queries: int
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        queries = f"{self.human_queries:,} human and {self.machine_queries:,} machine-labeled queries"
        return f"LabelEstimates({plural(len(self.rows), 'estimate')} from {queries})"


def estimate_with_machine_labels(
    human: AnyQrels,
    machine: AnyQrels,
    runs: Sequence[AnyRun],
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    confidence: float = 0.95,
    reading: Reading = DEFAULT_READING,
) -> LabelEstimates:
    """Estimate measures from machine labels for all queries and human labels for a random sample of them.

    The sample must have at least 20 queries, drawn at random (``rankgauge pool --sample-queries``), in which people
    judged every document that the machine judged; other queries of ``human`` are left out.
    """
    truth, predicted = as_qrels(human, reading), as_qrels(machine, reading)
    complete, notes = _complete_queries(truth, predicted)
    if len(complete) < MIN_HUMAN_QUERIES:
        raise InputError(
            f"expected at least {MIN_HUMAN_QUERIES} queries whose documents are all judged by people, "
            f"found {len(complete)}" + "".join(f"; {note.message}" for note in notes),
            hint="draw queries at random (rankgauge pool --sample-queries 30), and judge all of their documents",
        )
    chosen = np.array([row for row, query in enumerate(truth.queries) if query in complete], dtype=np.int64)
    by_machine = evaluate_runs(predicted, runs, measures, conventions=conventions, reading=reading).scores
    by_people = evaluate_runs(truth.select(chosen), runs, measures, conventions=conventions, reading=reading).scores
    rows = [
        _estimate(people, machine_scores, index, confidence)
        for people, machine_scores in zip(by_people, by_machine, strict=True)
        for index in range(len(people.measures))
    ]
    return LabelEstimates(tuple(rows), len(complete), len(predicted.queries) - len(complete), tuple(notes))


def _complete_queries(human: Qrels, machine: Qrels) -> tuple[set[bytes], list[Note]]:
    """The queries in which people judged everything that the machine judged, and notes on the others."""
    judged = _judged(human)
    predicted = _judged(machine)
    unpredicted = [query for query in judged if query not in predicted]
    partial = [query for query, docs in judged.items() if query in predicted and predicted[query] - docs]
    notes = []
    if unpredicted:
        names = listing(map(shown, unpredicted))
        notes.append(Note("no-machine-labels", f"{plural(len(unpredicted), 'query')} without machine labels: {names}"))
    if partial:
        names = listing(map(shown, partial))
        text = f"{plural(len(partial), 'query')} not fully judged by people, and left out: {names}"
        notes.append(Note("partly-judged", text))
    return set(judged) - set(unpredicted) - set(partial), notes


def _judged(qrels: Qrels) -> dict[bytes, set[bytes]]:
    names = list(qrels.queries)
    docs: dict[bytes, set[bytes]] = {name: set() for name in names}
    for number, doc, grade in zip(qrels.query.tolist(), qrels.docs, qrels.grades.tolist(), strict=True):
        if grade >= 0:
            docs[names[number]].add(doc)
    return docs


def _estimate(people: Scores, machine: Scores, index: int, confidence: float) -> LabelEstimate:
    measure = people.measures[index]
    if measure.definition.aggregate != "mean":
        raise InputError(f"{measure.name} is not a mean over queries, which these estimates are")
    truth = {query: people.values[row, index] for row, query in enumerate(people.queries) if people.averaged[row]}
    predictions = {
        query: machine.values[row, index] for row, query in enumerate(machine.queries) if machine.averaged[row]
    }
    predictions = {query: value for query, value in predictions.items() if not np.isnan(value)}
    known = [query for query, value in truth.items() if query in predictions and not np.isnan(value)]
    rest = [query for query in predictions if query not in truth]
    labels = np.array([truth[query] for query in known])
    powered = prediction_powered_mean(
        labels,
        np.array([predictions[query] for query in known]),
        np.array([predictions[query] for query in rest]),
        confidence=confidence,
    )
    bounded = within(powered.interval, *measure.definition.range)
    powered = replace(powered, interval=bounded)
    everything = np.array([predictions[query] for query in (*known, *rest)])
    human, alone = (interval_of(values, measure, confidence=confidence) for values in (labels, everything))
    return LabelEstimate(people.run, measure.name, powered, human, alone)
