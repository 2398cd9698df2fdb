"""Measures from few labels: machine labels and a sample of human ones, or a random sample of each query's pool.

The unit is the query. If machines label all queries and people a random sample of them, a query's value by human labels
is the truth, and its value by machine labels a prediction. What is estimated is the mean of all queries like these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, UsageError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs, unique_names
from rankgauge.evaluation.mean_intervals import interval_of, within
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats.judgment_lines import (
    Inclusion,
    Judgment,
    current_judgments,
    has_provenance,
    median_grade,
    read_judgments,
)
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.measures.names import MeasureNames
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.prediction_powered import PredictionPowered, prediction_powered_mean
from rankgauge.stats.results import Interval

MIN_HUMAN_QUERIES = 20
NOT_RECORDED = (
    "the human labels do not record how their queries were chosen: the estimates hold only if they were drawn at "
    "random (rankgauge pool --sample-queries records it)"
)


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
    judged every document that the machine judged; other queries of ``human`` are left out. The estimate is for all
    queries like these, judged by people or not. If ``human`` does not record that its queries were drawn at random, a
    note says so.
    """
    truth, predicted = as_qrels(human, reading), as_qrels(machine, reading)
    complete, notes = _complete_queries(truth, predicted)
    if len(complete) < MIN_HUMAN_QUERIES:
        raise InputError(
            f"expected at least {MIN_HUMAN_QUERIES} queries whose documents are all judged by people, "
            f"found {len(complete)}" + "".join(f"; {note.message}" for note in notes),
            hint="draw queries at random (rankgauge pool --sample-queries 30), and judge all of their documents",
        )
    if len(complete) < len(predicted.queries) and not _is_recorded_sample(human, complete):
        notes.append(Note("sample-not-recorded", NOT_RECORDED))
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


def _is_recorded_sample(human: AnyQrels, queries: set[bytes]) -> bool:
    """Whether the labels say of each of these queries that it was drawn at random."""
    if not isinstance(human, (str, Path)) or not has_provenance(human):
        return False
    recorded = {
        encode_id(judgment.query, "query id")
        for judgment in current_judgments(read_judgments(human))
        if judgment.inclusion is not None and judgment.inclusion.query_probability is not None
    }
    return queries <= recorded


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
    limits = measure.definition.range
    powered = prediction_powered_mean(
        labels,
        np.array([predictions[query] for query in known]),
        np.array([predictions[query] for query in rest]),
        confidence=confidence,
        limits=limits if np.isfinite(limits).all() else None,
    )
    everything = np.array([predictions[query] for query in (*known, *rest)])
    human, alone = (interval_of(values, measure, confidence=confidence) for values in (labels, everything))
    return LabelEstimate(people.run, measure.name, powered, human, alone)


# A random sample of each query's pool: every judged document represents 1/probability documents.
#
# Unlike infAP, which assumes that every document of a pool was equally likely, the strata may have different
# probabilities. Aslam and Pavlu, A practical sampling strategy for efficient retrieval evaluation, 2007 (statAP).


@dataclass(frozen=True)
class SampledValues:
    """Estimates for one query: average precision, precision in the top k, and the number of relevant documents."""

    query: str
    ap: float
    precision: float
    relevant: float


@dataclass(frozen=True)
class _SampledDocument:
    """A judged document: whether it is relevant, and the stratum that it was drawn from."""

    is_relevant: bool
    stratum: str
    size: int
    drawn: int

    @property
    def probability(self) -> float:
        return self.drawn / self.size

    def joint_probability(self, other: _SampledDocument) -> float:
        """That of both being in the sample."""
        if self.stratum != other.stratum:
            return self.probability * other.probability
        return self.probability * (self.drawn - 1) / (self.size - 1)


def sampled_values(
    judgments: Sequence[Judgment], run: Run, *, k: int = 10, rel: float = 1.0
) -> tuple[SampledValues, ...]:
    """Estimate the measures of a run from judgments of a sampled pool, query by query.

    The sum of precisions at the relevant documents is a sum over pairs of relevant documents, and each pair in the
    sample counts 1 / (probability of the pair): the estimate of that sum, and of the number of relevant documents, is
    unbiased. Judgments without a probability, such as those of a move-to-front pool, are refused.
    """
    if k < 1:
        raise UsageError(f"k must be at least 1, found {k!r}")
    samples = _samples(judgments, rel)
    top = run.ranked()
    docs, offsets = top.docs.to_text(), top.offsets.tolist()
    rankings = {query: docs[offsets[row] : offsets[row + 1]] for row, query in enumerate(top.queries.to_text())}
    return tuple(_values(query, sample, rankings.get(query, []), k) for query, sample in sorted(samples.items()))


def _samples(judgments: Sequence[Judgment], rel: float) -> dict[str, dict[str, _SampledDocument]]:
    """The judged documents of each query, with the number of documents of each stratum that have a judgment."""
    grades: dict[tuple[str, str], list[float]] = {}
    inclusions: dict[tuple[str, str], Inclusion] = {}
    for judgment in current_judgments(judgments):
        pair = (judgment.query, judgment.doc)
        grades.setdefault(pair, []).append(judgment.grade or 0.0)
        inclusions[pair] = _checked(judgment)
    counts: dict[tuple[str, str], int] = {}
    sizes: dict[tuple[str, str], int | None] = {}
    for (query, _), inclusion in inclusions.items():
        key = (query, inclusion.stratum or "")
        counts[key] = counts.get(key, 0) + 1
        if sizes.setdefault(key, inclusion.stratum_size) != inclusion.stratum_size:
            found = " and ".join(str(size) for size in (sizes[key], inclusion.stratum_size))
            raise InputError(
                f"the stratum {shown(key[1])} of query {shown(query)} has two sizes (stratum_size): {found}",
                hint="the judgments of a query must come from one pool",
            )
    out: dict[str, dict[str, _SampledDocument]] = {}
    for (query, doc), inclusion in inclusions.items():
        drawn = counts[query, inclusion.stratum or ""]
        size = drawn if inclusion.stratum is None else max(drawn, inclusion.stratum_size or drawn)
        if drawn == 1 < size:
            raise InputError(
                f"one judgment in the stratum {shown(inclusion.stratum or '')} of query {shown(query)}, expected two",
                hint="judge the whole pool: a stratum with one judgment says nothing about its pairs of documents",
            )
        is_relevant = median_grade(grades[query, doc]) >= rel
        out.setdefault(query, {})[doc] = _SampledDocument(is_relevant, inclusion.stratum or "", size, drawn)
    if not out:
        raise InputError("there are no judgments to estimate from")
    return out


def _checked(judgment: Judgment) -> Inclusion:
    """How a document came to be judged; raise unless its probability is known."""
    inclusion = judgment.inclusion
    if inclusion is None or inclusion.probability is None or inclusion.strategy == "given":
        strategy = "unknown" if inclusion is None else inclusion.strategy
        raise InputError(
            f"document {shown(judgment.doc)} of query {shown(judgment.query)} has no inclusion probability "
            f"(strategy: {strategy}), so that nothing can be estimated for documents that were not judged",
            hint="pool with --strategy stratified or uniform, or evaluate with these judgments alone",
        )
    return inclusion


def _values(query: str, sample: dict[str, _SampledDocument], ranking: Sequence[str], k: int) -> SampledValues:
    found = [(rank, sample[doc]) for rank, doc in enumerate(ranking, 1) if doc in sample and sample[doc].is_relevant]
    relevant = sum(1 / document.probability for document in sample.values() if document.is_relevant)
    precisions = 0.0
    for position, (rank, document) in enumerate(found):
        pairs = sum(1 / document.joint_probability(earlier) for _, earlier in found[:position])
        precisions += (1 / document.probability + pairs) / rank
    at_k = sum(1 / document.probability for rank, document in found if rank <= k) / k
    return SampledValues(query, precisions / relevant if relevant else 0.0, at_k, relevant)


# The means of runs over the queries of a sampled pool, with intervals.

SAMPLED_DEPTH = 10
SAMPLED_NAMES = {"ap": "AP", "precision": f"P@{SAMPLED_DEPTH}", "relevant": "NumRel"}


@dataclass(frozen=True)
class SampledEstimate:
    """The estimated mean of one value of one run over queries; ``interval.estimate`` is the mean."""

    run: str
    measure: str
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        interval = self.interval
        return {
            "run": self.run,
            "measure": self.measure,
            "estimate": interval.estimate,
            "queries": interval.n,
            **interval.to_dict(),
        }


def estimate_from_sample(
    judgments: Sequence[Judgment], runs: Sequence[Run], *, rel: float = 1.0, confidence: float = 0.95
) -> tuple[SampledEstimate, ...]:
    """AP, P@10 and the number of relevant documents, estimated from judgments of a sampled pool.

    The intervals are those of a mean over queries: they include the noise of the sample within each query.
    """
    names = unique_names([run.name for run in runs])
    rows = []
    for name, run in zip(names, runs, strict=True):
        values = sampled_values(judgments, run, k=SAMPLED_DEPTH, rel=rel)
        for field, measure in SAMPLED_NAMES.items():
            numbers = np.array([getattr(value, field) for value in values], dtype=np.float64)
            interval = mean_interval(numbers, method="bootstrap-t", confidence=confidence)
            rows.append(SampledEstimate(name, measure, within(interval, 0.0, np.inf if field == "relevant" else 1.0)))
    return tuple(rows)
