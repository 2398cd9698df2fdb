"""The result of evaluating a retriever: the values of every query, their means and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np

from rankgauge.config.retriever_settings import RetrieverCalls, Unit
from rankgauge.core.formatting import milliseconds, number, plural, span
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import Columns, Tabular
from rankgauge.core.run import Run, Status, latency_percentiles
from rankgauge.errors import Note, printable, warn_user
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.rag.scoring import measures_at
from rankgauge.retrieval.asking.answers import AnswerFacts, answer_notes
from rankgauge.retrieval.asking.failures import SHOWN_FAILURES
from rankgauge.stats.results import Interval

RETRIEVAL_SCHEMA = "rankgauge.retrieval/1"
PRINTED_FIELDS = ("precision_at_k", "recall_at_k", "mrr", "ndcg_at_k")
NOT_REMARKED = ("queries-failed",)  # the counts name the failed queries
MILLISECONDS = 1000.0


@dataclass(frozen=True, eq=False)
class RetrievalResult(Tabular):
    """Every measure over all answered queries, and ``per_query_metrics`` in the order of the input."""

    evaluation: Evaluation
    per_query_metrics: tuple[QueryMetrics, ...]
    fields: Mapping[str, Measure]  # field of the metrics → its measure
    printed: tuple[Measure, ...]
    unit: Unit = "chunk"
    calls: RetrieverCalls | None = None  # how a live retriever was asked

    @property
    def scores(self) -> Scores:
        """The value of each measure for each query, as :func:`rankgauge.evaluate` returns it."""
        return self.evaluation.scores[0]

    @property
    def run(self) -> Run:
        """What the retriever returned, as a run: for ``compare``, ``gate``, ``evaluate`` and ``write_log``.

        Its ``extras`` have the texts and metadata that came with the results, and the latencies.
        """
        return cast(Run, self.evaluation.joined[0].run)

    @property
    def qrels(self) -> Qrels:
        """The judgments of the test cases, with the columns of their queries."""
        return self.evaluation.qrels

    def __getitem__(self, measure: str | Measure) -> float | None:
        """The mean of a measure; None if no query was answered."""
        return self.scores[measure]

    def __len__(self) -> int:
        return len(self.per_query_metrics)

    @property
    def mean_precision_at_k(self) -> float | None:
        """The mean of P@k."""
        return self.mean("precision_at_k")

    @property
    def mean_recall_at_k(self) -> float | None:
        """The mean of R@k."""
        return self.mean("recall_at_k")

    @property
    def mean_f1_at_k(self) -> float | None:
        """The mean of F1@k."""
        return self.mean("f1_at_k")

    @property
    def mean_mrr(self) -> float | None:
        """The mean of the reciprocal rank."""
        return self.mean("mrr")

    @property
    def mean_map(self) -> float | None:
        """The mean of average precision."""
        return self.mean("map")

    @property
    def mean_ndcg_at_k(self) -> float | None:
        """The mean of nDCG@k."""
        return self.mean("ndcg_at_k")

    @property
    def mean_hit_rate(self) -> float | None:
        """The share of queries with a relevant document among the first k."""
        return self.mean("hit_rate")

    def mean(self, field: str) -> float | None:
        """The mean of one of the seven fields; None if no query was answered."""
        return self.scores[self.fields[field]]

    def interval(self, measure: str | Measure, *, confidence: float = 0.95) -> Interval:
        """The interval of a mean over the answered queries, as :meth:`Scores.interval` chooses it."""
        return self.scores.interval(measure, confidence=confidence)

    @property
    def failed_as_zero(self) -> dict[str, float | None] | None:
        """The means in which a failed query counts as 0; None if no query failed."""
        return self.scores.failed_as_zero

    @property
    def failures(self) -> dict[str, str]:
        """The error of each failed query."""
        return {row.id: row.error or "" for row in self.per_query_metrics if row.status == Status.FAILED}

    @property
    def repeated(self) -> int:
        """The number of results dropped because their id appeared before in the same ranking."""
        return sum(row.repeated for row in self.per_query_metrics)

    @cached_property
    def latency_ms(self) -> dict[str, float] | None:
        """Percentiles of the time of one attempt, in milliseconds, over those that were answered; None without any."""
        return _percentiles([one.latency for one in self.per_query_metrics])

    @cached_property
    def response_ms(self) -> dict[str, float] | None:
        """Percentiles of the time since the first attempt, with failed attempts and pauses."""
        return _percentiles([one.response for one in self.per_query_metrics])

    def __repr__(self) -> str:
        return f"RetrievalResult({self.scores.run!r}: {str(self).splitlines()[0]})"

    def __str__(self) -> str:
        means = "   ".join(_mean_text(m.name, self[m], self.interval(m)) for m in self.printed)
        lines = [f"{means}   {self._counts()}"]
        if self.failed_as_zero is not None:
            as_zero = (_mean_text(m.name, self.failed_as_zero[m.name]) for m in self.printed)
            lines.append("failed as 0   " + "   ".join(as_zero))
        if self.latency_ms is not None and self.response_ms is not None and self.calls is not None:
            lines.append(f"latency   {_times_text(self.latency_ms)}   per attempt; {self.calls.load}")
            if any((row.attempts or 1) > 1 for row in self.per_query_metrics):
                lines.append(f"response  {_times_text(self.response_ms)}   from the first attempt, with retries")
        return "\n".join([*lines, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        notes = [note for note in self.scores.notes if note.code not in NOT_REMARKED]
        return tuple(note.message for note in (*notes, *self.answer_notes))

    @property
    def answer_notes(self) -> tuple[Note, ...]:
        """Caveats about the answers: scores that contradict their order, results that repeat an id."""
        answered = [row for row in self.per_query_metrics if row.status != Status.FAILED]
        is_chunk = self.unit == "chunk"
        facts = [
            AnswerFacts(
                repeated=row.repeated * is_chunk,
                collapsed=row.repeated * (not is_chunk),
                fault=row.fault,
                short_of=row.short_of,
            )
            for row in answered
        ]
        return answer_notes(facts, [len(row.retrieved) for row in answered])

    def _counts(self) -> str:
        queries = plural(len(self), "query")
        if not self.failures:
            return queries
        failures = list(self.failures.items())
        shown = "; ".join(f"{printable(query)}: {printable(reason)}" for query, reason in failures[:SHOWN_FAILURES])
        return f"{queries}, {len(failures)} failed ({shown}{'; …' if len(failures) > SHOWN_FAILURES else ''})"

    def frame_columns(self) -> Columns:
        """One row per query, in the order of the input."""
        row_of = {query: row for row, query in enumerate(self.scores.queries)}
        rows = np.array([row_of[metrics.id] for metrics in self.per_query_metrics], dtype=np.int64)
        values = self.scores.frame_columns()
        columns: dict[str, Sequence[Any]] = {
            "id": [metrics.id for metrics in self.per_query_metrics],
            "query": [metrics.query for metrics in self.per_query_metrics],
            "status": [metrics.status.name.lower() for metrics in self.per_query_metrics],
            "k": [metrics.k for metrics in self.per_query_metrics],
        }
        columns |= {m.name: [values[m.name][row] for row in rows] for m in self.scores.measures}
        if self.latency_ms is not None:
            for name, field in (("latency_ms", "latency"), ("response_ms", "response")):
                times = [getattr(metrics, field) for metrics in self.per_query_metrics]
                columns[name] = [None if seconds is None else seconds * MILLISECONDS for seconds in times]
        columns["error"] = [metrics.error for metrics in self.per_query_metrics]
        for name, column in self.scores.columns.items():
            columns.setdefault(name, column[rows].tolist())
        return columns

    def to_dict(self) -> dict[str, Any]:
        """For JSON: full precision, null if there is no value."""
        measures: dict[str, Any] = {}
        for name, (value, n) in self.scores.over_queries.items():
            interval = self.interval(name)
            measures[name] = {
                "value": value,
                "n": n,
                "low": interval.low,
                "high": interval.high,
                "confidence": interval.confidence,
            }
            if interval.reason:
                measures[name]["reason"] = interval.reason
            if self.failed_as_zero is not None:
                measures[name]["failed_as_zero"] = self.failed_as_zero[name]
        return {
            "schema": RETRIEVAL_SCHEMA,
            "retriever": self.scores.run,
            "unit": self.unit,
            "conventions": self.scores.conventions.to_dict(),
            "queries": {
                "asked": len(self),
                "averaged": int(self.scores.averaged.sum()),
                "failed": len(self.failures),
                "empty": sum(row.status == Status.EMPTY for row in self.per_query_metrics),
                "without_relevant": int(self.scores.without_relevant.sum()),
            },
            "measures": measures,
            "load": None if self.calls is None else self.calls.load,
            "latency_ms": self.latency_ms,
            "response_ms": self.response_ms,
            "repeated": self.repeated,
            "remarks": list(self.remarks),
            "per_query": [row.to_dict() for row in self.per_query_metrics],
        }


def result_of(
    evaluation: Evaluation,
    outcomes: Sequence[QueryOutcome],
    cutoff: int | str,
    unit: Unit,
    printed: Sequence[Measure] = (),
    calls: RetrieverCalls | None = None,
) -> RetrievalResult:
    """The result of the queries in the order of their outcomes."""
    scores = evaluation.scores[0]
    fields = measures_at(cutoff)
    columns = {field: scores.values[:, scores.measures.index(measure)] for field, measure in fields.items()}
    row_of = {query: row for row, query in enumerate(scores.queries)}
    per_query = []
    for outcome in outcomes:
        row = row_of[outcome.id]
        status = Status(int(scores.status[row]))
        values: dict[str, Any] = {
            field: math.nan if status == Status.FAILED else float(column[row]) for field, column in columns.items()
        }
        per_query.append(QueryMetrics(**values, status=status, **vars(outcome)))
    default = tuple(fields[field] for field in PRINTED_FIELDS)
    return RetrievalResult(evaluation, tuple(per_query), fields, tuple(printed) or default, unit, calls)


def warn_of_repeats(result: RetrievalResult) -> None:
    """Warn if a retriever returned the same chunk twice for a query; in the same words, so that a loop warns once."""
    if result.unit == "chunk" and result.repeated:
        warn_user(
            "results repeat an id of the same query: counted once, at the first rank; `repeated` counts them "
            "(use unit='document' for chunks of one document)"
        )


def _mean_text(name: str, value: float | None, interval: Interval | None = None) -> str:
    ends = "" if interval is None else span(interval.low, interval.high, 2)
    return f"{name} {number(value, 2)} ({ends})" if ends else f"{name} {number(value, 2)}"


def _percentiles(seconds: Sequence[float | None]) -> dict[str, float] | None:
    times = [value * MILLISECONDS for value in seconds if value is not None]
    return latency_percentiles(times) if times else None


def _times_text(times: Mapping[str, float]) -> str:
    return "   ".join(f"{name} {milliseconds(value)}" for name, value in times.items())


# The values of one query, and the answer of the retriever behind them.


@dataclass(frozen=True, kw_only=True)
class QueryMetrics:
    """The values of one query, NaN if its retriever failed, and the answer behind them.

    ``mrr`` and ``map`` are the reciprocal rank and the average precision of this one query, over all returned results.
    """

    precision_at_k: float
    recall_at_k: float
    f1_at_k: float
    mrr: float
    map: float
    ndcg_at_k: float
    hit_rate: float
    k: int
    id: str
    query: str
    status: Status
    retrieved: tuple[str, ...] = ()
    scores: tuple[float, ...] | None = None  # of the retrieved documents, higher is better
    repeated: int = 0  # results dropped because their id appeared before
    fault: str | None = None  # how the given scores contradict the order of the results
    short_of: int = 0  # k, if there are fewer results and more may be had
    error: str | None = None
    latency: float | None = None  # seconds of the attempt that was answered
    response: float | None = None  # seconds from the first attempt, retries and pauses included
    attempts: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; a value that does not exist is null."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()
        }
        scores = None if self.scores is None else [score if math.isfinite(score) else None for score in self.scores]
        return {**plain, "status": self.status.name.lower(), "retrieved": list(self.retrieved), "scores": scores}


@dataclass(frozen=True)
class QueryOutcome:
    """One query and what the retriever returned for it, before scoring."""

    id: str
    query: str
    k: int
    retrieved: tuple[str, ...] = ()
    scores: tuple[float, ...] | None = None
    repeated: int = 0
    fault: str | None = None
    short_of: int = 0
    error: str | None = None
    latency: float | None = None
    response: float | None = None
    attempts: int | None = None
