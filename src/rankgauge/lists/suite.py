"""Metrics by name, and a configuration that says which of them, for lists (RETRIEVAL-METRICS-001, §9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.config.settings import Settings, load_settings
from rankgauge.core.tables import Floats
from rankgauge.errors import MeasureError, UsageError, nearest, printable, shown
from rankgauge.evaluation.cache import MetricsCache, content_key
from rankgauge.lists import functions
from rankgauge.lists.batch import GRADES, RELEVANT, Lists, Query, Result, gathered, known, lists_of, named
from rankgauge.lists.ids import AnyIds, in_order
from rankgauge.lists.significance import Significance, calculate_confidence_interval, statistical_significance_test
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

Metric = Callable[..., float | None]


@dataclass(frozen=True)
class SuiteResult:
    """What a suite found on a batch: each metric over all queries, its interval where asked for, and each query."""

    metrics: dict[str, float | None]
    intervals: dict[str, tuple[float, float] | tuple[None, None]] = field(default_factory=dict)
    per_query: dict[str, list[float | None]] = field(default_factory=dict)


class RetrievalMetricsSuite:
    """Metrics registered by name, and the settings of a configuration.

    ``metrics`` maps a name to a function of relevant and retrieved ids; :meth:`register` adds one. A name that is not
    there may be any measure's, as in ``evaluate("nDCG@10", relevant, retrieved)``. Without a configuration the
    settings are the defaults of ``rankgauge.yaml``.
    """

    def __init__(self, config: str | Path | Mapping[str, Any] | Settings | None = None) -> None:
        self.metrics: dict[str, Metric] = {
            "hit": functions.hit_at_k,
            "ndcg": functions.ndcg_at_k,
            "mrr": functions.mean_reciprocal_rank,
            "map": functions.mean_average_precision,
            "recall": functions.recall_at_k,
            "precision": functions.precision_at_k,
        }
        self.settings = _settings_of(config)
        self.cache = MetricsCache(self.settings.cache_file) if self.settings.caching else None

    def register(self, name: str, metric: Metric) -> None:
        """Add a metric; a name that is taken is an error."""
        if name in self.metrics:
            raise UsageError(f"the metric {shown(name)} is there already", hint=f"del suite.metrics[{name!r}] first")
        self.metrics[name] = metric

    def evaluate(self, metric_name: str, *args: Any, **kwargs: Any) -> float | None:
        """The value of one metric, by the arguments of its function."""
        if metric_name in self.metrics:
            return self.metrics[metric_name](*args, **kwargs)
        try:
            measure = parse_measure(metric_name)
        except MeasureError as error:
            close = nearest(metric_name, list(self.metrics))
            hint = error.hint if close is None else f"did you mean {close}?"
            raise MeasureError(f"Unknown metric: {printable(str(metric_name))}", hint=hint) from None
        return self._measured(measure, *args, **kwargs)

    def evaluate_batch(self, queries: Sequence[Query], retrieval_results: Sequence[Result]) -> SuiteResult:
        """The enabled metrics of a batch, in the shapes of ``evaluate_retrieval_batch``, as the configuration says."""
        asked = named(self.settings.measures)
        graded = self.settings.conventions.graded
        if not graded:
            self.settings.conventions.measures(tuple(asked.values()))  # refuses what needs grades
        values = self._values(lists_of(queries, retrieval_results, asked.values(), graded=graded), asked)
        return SuiteResult(
            metrics={name: gathered(asked[name]).add(known(column)).value for name, column in values.items()},
            intervals={
                name: calculate_confidence_interval(known(values[name]).tolist(), self.settings.statistics.confidence)
                for name in asked
                if self.settings.confidence_intervals and asked[name].definition.aggregate == "mean"
            },
            per_query={name: [None if v != v else v for v in column.tolist()] for name, column in values.items()},
        )

    def compare(self, first: SuiteResult, second: SuiteResult) -> dict[str, Significance]:
        """A paired test of each metric that both results have, over the queries that have a value in both."""
        out: dict[str, Significance] = {}
        for name, ours in first.per_query.items():
            if name in second.per_query:
                pairs = list(zip(ours, second.per_query[name], strict=True))
                both = [(a, b) for a, b in pairs if a is not None and b is not None]
                out[name] = statistical_significance_test(
                    [a for a, _ in both], [b for _, b in both], self.settings.statistics.alpha
                )
        return out

    def _values(self, lists: Lists, asked: Mapping[str, Measure]) -> dict[str, Floats]:
        if self.cache is None:
            return self._computed(lists, asked)
        # Lists, strings and numbers are written without ambiguity by repr, many times quicker than one by one.
        content = content_key("lists", repr(lists))
        keys = {name: content_key(content, measure.name) for name, measure in asked.items()}
        found = {name: self.cache.get(key) for name, key in keys.items()}
        if any(value is None for value in found.values()):
            made = self._computed(lists, asked)
            self.cache.put({keys[name]: made[name].astype("<f8").tobytes() for name in asked})
            return made
        return {name: np.frombuffer(value or b"", dtype="<f8") for name, value in found.items()}

    def _computed(self, lists: Lists, asked: Mapping[str, Measure]) -> dict[str, Floats]:
        measures = {name: lists.frozen(measure) for name, measure in asked.items()}
        parts: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in asked}
        for begin in range(0, len(lists), self.settings.batch_size):
            joined = lists.part(begin, begin + self.settings.batch_size).joined()
            for name, measure in measures.items():
                parts[name].append(joined(measure))
        return {name: np.concatenate(columns) for name, columns in parts.items()}

    def _measured(
        self,
        measure: Measure,
        relevant_ids: AnyIds,
        predicted_ids: AnyIds,
        relevance_grades: Mapping[str, float] | None = None,
    ) -> float | None:
        query = {RELEVANT: relevant_ids, GRADES: relevance_grades}
        lists = lists_of([query], [in_order(predicted_ids)], [measure], graded=self.settings.conventions.graded)
        value = float(lists.joined()(lists.frozen(measure))[0])
        return None if value != value else value


def _settings_of(config: str | Path | Mapping[str, Any] | Settings | None) -> Settings:
    if config is None or isinstance(config, Settings):
        return config or Settings()
    return load_settings(config)
