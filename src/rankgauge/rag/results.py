"""What the evaluation of a retriever gives back: every query's numbers, their means, and how sure those are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.core.run import Status
from rankgauge.errors import printable
from rankgauge.evaluation.notebook import Columns, Table, Tabular, score_columns
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.measures.weights import weighted_means
from rankgauge.rag.documents import Unit
from rankgauge.rag.metrics import Asked, QueryMetrics
from rankgauge.rag.scoring import fields_at
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.results import Interval

SCHEMA = "rankgauge.retrieval/1"
SHOWN = ("precision_at_k", "recall_at_k", "mrr", "ndcg_at_k")
LISTED = 3
PERCENTILES = (50, 95, 99)
MILLISECONDS = 1000.0


@dataclass(frozen=True, eq=False)
class RetrievalResult(Tabular):
    """Every measure over all queries that were answered, and ``per_query_metrics`` in the order they were given."""

    scores: Scores
    per_query_metrics: tuple[QueryMetrics, ...]
    fields: Mapping[str, Measure]  # field of the metrics → its measure
    shown: tuple[Measure, ...]
    unit: Unit = "chunk"

    def __getitem__(self, measure: str | Measure) -> float | None:
        """The mean of a measure; None where nothing was answered."""
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
        """The share of queries with a hit among the first k."""
        return self.mean("hit_rate")

    def mean(self, field: str) -> float | None:
        """The mean of one of the seven fields; None where nothing was answered."""
        return self.scores[self.fields[field]]

    def interval(self, measure: str | Measure, *, confidence: float = 0.95) -> Interval:
        """Student's t interval of a mean over the queries that were answered."""
        return mean_interval(
            [value for value in self.scores.per_query(measure).values() if value is not None], confidence=confidence
        )

    @cached_property
    def weighted(self) -> dict[str, float | None] | None:
        """The means in which a query counts by its weight; None where the queries have none."""
        scores = self.scores
        return weighted_means(scores.measures, scores.values, scores.averaged, scores.columns)

    @property
    def failures(self) -> dict[str, str]:
        """Why each query failed that did."""
        return {one.id: one.error or "" for one in self.per_query_metrics if one.status == Status.FAILED}

    @property
    def repeated(self) -> int:
        """How many results were dropped because their id had come before in the same result."""
        return sum(one.repeated for one in self.per_query_metrics)

    @cached_property
    def latency_ms(self) -> dict[str, float] | None:
        """Percentiles of the time of one call, in milliseconds, over those that were answered; None without any.

        A percentile is a time that was measured (the nearest rank), not one between two.
        """
        known = sorted(one.latency * MILLISECONDS for one in self.per_query_metrics if one.latency is not None)
        if not known:
            return None
        out = {f"p{p}": known[max(0, math.ceil(p / 100 * len(known)) - 1)] for p in PERCENTILES}
        return {**out, "max": known[-1]}

    def __str__(self) -> str:
        measures = "   ".join(_shown(m.name, self[m], self.interval(m)) for m in self.shown)
        lines = [f"{measures}   {self._counted()}"]
        if self.weighted is not None:
            lines.append("weighted   " + "   ".join(_shown(m.name, self.weighted[m.name]) for m in self.shown))
        if self.latency_ms is not None:
            lines.append("latency   " + "   ".join(f"{name} {value:.3g} ms" for name, value in self.latency_ms.items()))
        return "\n".join([*lines, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers."""
        out = [note.message for note in self.scores.notes if note.code == "no-relevant"]
        if self.repeated and self.unit == "document":
            kept = sum(len(one.retrieved) for one in self.per_query_metrics)
            out.append(f"{self.repeated + kept} chunks collapsed into {kept} documents: {self.repeated} dropped")
        elif self.repeated:
            what = "result repeats" if self.repeated == 1 else "results repeat"
            out.append(f"{self.repeated} {what} an id of the same query: counted once, at the first place")
        return tuple(out)

    def _counted(self) -> str:
        total = len(self)
        said = f"{total} {'query' if total == 1 else 'queries'}"
        if not self.failures:
            return said
        some = list(self.failures.items())
        listed = "; ".join(f"{printable(query)}: {printable(why)}" for query, why in some[:LISTED])
        return f"{said}, {len(some)} failed ({listed}{'; …' if len(some) > LISTED else ''})"

    def summary_table(self) -> Table:
        """Each measure with its interval."""
        head = ["measure", "mean", "95 % from", "to", "n"]
        rows: list[list[object]] = []
        for name, (value, n) in self.scores.over_queries.items():
            interval = self.interval(name)
            rows.append([name, value, interval.low, interval.high, n])
            if self.weighted is not None:
                rows[-1].append(self.weighted[name])
        return Table(head if self.weighted is None else [*head, "weighted"], rows, self._counted())

    def frame_columns(self) -> Columns:
        """One row a query, in the order in which they were given."""
        row = {query: place for place, query in enumerate(self.scores.queries)}
        places = np.array([row[one.id] for one in self.per_query_metrics], dtype=np.int64)
        scored = score_columns(self.scores)
        out: dict[str, Sequence[Any]] = {
            "id": [one.id for one in self.per_query_metrics],
            "query": [one.query for one in self.per_query_metrics],
            "status": [one.status.name.lower() for one in self.per_query_metrics],
            "k": [one.k for one in self.per_query_metrics],
        }
        out |= {m.name: [scored[m.name][at] for at in places] for m in self.scores.measures}
        if self.latency_ms is not None:
            out["latency_ms"] = [
                None if one.latency is None else one.latency * MILLISECONDS for one in self.per_query_metrics
            ]
        out["error"] = [one.error for one in self.per_query_metrics]
        for name, values in self.scores.columns.items():
            out.setdefault(name, values[places].tolist())
        return out

    def to_dict(self) -> dict[str, Any]:
        """For JSON: full precision, null for what has no value."""
        measures: dict[str, Any] = {}
        for name, (value, n) in self.scores.over_queries.items():
            found = self.interval(name)
            measures[name] = {
                "value": value,
                "n": n,
                "low": found.low,
                "high": found.high,
                "confidence": found.confidence,
            }
            if found.reason:
                measures[name]["reason"] = found.reason
            if self.weighted is not None:
                measures[name]["weighted"] = self.weighted[name]
        return {
            "schema": SCHEMA,
            "retriever": self.scores.run,
            "unit": self.unit,
            "conventions": self.scores.conventions.to_dict(),
            "queries": {
                "asked": len(self),
                "averaged": int(self.scores.averaged.sum()),
                "failed": len(self.failures),
                "empty": sum(one.status == Status.EMPTY for one in self.per_query_metrics),
                "without_relevant": int(self.scores.without_relevant.sum()),
            },
            "measures": measures,
            "latency_ms": self.latency_ms,
            "repeated": self.repeated,
            "remarks": list(self.remarks),
            "per_query": [one.to_dict() for one in self.per_query_metrics],
        }


def result_of(
    scores: Scores, asked: Sequence[Asked], cutoff: int | str, unit: Unit, shown: Sequence[Measure] = ()
) -> RetrievalResult:
    """The scores of queries that were asked, in the order in which they were."""
    named = fields_at(cutoff)
    columns = {field: scores.values[:, scores.measures.index(measure)] for field, measure in named.items()}
    row = {query: place for place, query in enumerate(scores.queries)}
    found = []
    for one in asked:
        at = row[one.id]
        status = Status(int(scores.status[at]))
        values = {field: math.nan if status == Status.FAILED else float(v[at]) for field, v in columns.items()}
        found.append(
            QueryMetrics(
                **values,
                k=one.k,
                id=one.id,
                query=one.query,
                status=status,
                retrieved=one.retrieved,
                repeated=one.repeated,
                error=one.error,
                latency=one.latency,
                attempts=one.attempts,
            )
        )
    return RetrievalResult(scores, tuple(found), named, tuple(shown) or tuple(named[field] for field in SHOWN), unit)


def _shown(name: str, value: float | None, interval: Interval | None = None) -> str:
    if value is None:
        return f"{name} –"
    if interval is None or interval.low is None or interval.high is None:
        return f"{name} {value:.2f}"
    return f"{name} {value:.2f} ±{(interval.high - interval.low) / 2:.2f}"
