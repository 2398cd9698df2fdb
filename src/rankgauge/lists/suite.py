"""Metrics by name, and a configuration that selects them, for lists (RETRIEVAL-METRICS-001, §9).

The interval of a mean and the test of two systems have the signatures of §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, TypedDict

import numpy as np

from rankgauge.config.configured_settings import load_settings
from rankgauge.config.settings import Settings
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import number
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import MeasureError, UsageError, nearest, printable, shown, warn_user
from rankgauge.evaluation.mean_intervals import interval_of, is_binary
from rankgauge.lists import functions
from rankgauge.lists.batches import (
    GRADES_KEY,
    RELEVANT_KEY,
    ListBatch,
    MetricsCache,
    Query,
    Result,
    check_batch,
    check_for_lists,
    measures_by_name,
    running_aggregate,
    without_nan,
)
from rankgauge.lists.list_join import AnyIds, ranked_ids
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.paired_tests import paired_t, student_t
from rankgauge.stats.proportions import wilson_interval
from rankgauge.stats.results import check_between

Metric = Callable[..., float | None]
Ends = tuple[float, float] | tuple[None, None]


@dataclass(frozen=True)
class SuiteResult(HtmlView):
    """The result of a suite on a batch: each metric over all queries, its interval if requested, and each query."""

    metrics: dict[str, float | None]
    intervals: dict[str, Ends] = field(default_factory=dict)
    per_query: dict[str, list[float | None]] = field(default_factory=dict)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={number(value)}" for name, value in self.metrics.items())
        return f"SuiteResult({values})"


class RetrievalMetricsSuite:
    """Metrics registered by name, and the settings of a configuration.

    ``metrics`` maps a name to a function of relevant and retrieved ids; :meth:`register` adds one. Any other name may
    be that of a measure, as in ``evaluate("nDCG@10", relevant, retrieved)``. Without a configuration, the settings are
    the defaults of ``rankgauge.yaml``.
    """

    def __init__(self, config: str | Path | Mapping[str, Any] | Settings | None = None) -> None:
        self.metrics: dict[str, Metric] = {
            "hit": functions.hit_at_k,
            "ndcg": functions.ndcg_at_k,
            "mrr": functions.mean_reciprocal_rank,
            "map": average_precision,
            "recall": functions.recall_at_k,
            "precision": functions.precision_at_k,
        }
        self.settings = _settings_from(config)
        self.cache = MetricsCache() if self.settings.caching else None

    def register(self, name: str, metric: Metric) -> None:
        """Add a metric; a name that is already registered is an error.

        >>> suite = RetrievalMetricsSuite()
        >>> suite.register("first", lambda relevant, retrieved: float(retrieved[0] in relevant))
        >>> suite.evaluate("first", ["doc1"], ["doc1"])
        1.0
        """
        if name in self.metrics:
            raise UsageError(
                f"the metric {shown(name)} is already registered", hint=f"del suite.metrics[{name!r}] first"
            )
        self.metrics[name] = metric

    def evaluate(self, metric_name: str, *args: Any, **kwargs: Any) -> float | None:
        """The value of one metric for the arguments of its function.

        ``hit``, ``ndcg``, ``recall`` and ``precision`` take the ids of one query, ``mrr`` one entry per query, which is
        a list or one id, and ``map`` either: ids are those of one query, lists of ids have one entry per query.

        >>> suite = RetrievalMetricsSuite()
        >>> suite.evaluate("hit", ["doc1"], ["doc2", "doc1"], k=2)
        1.0
        >>> suite.evaluate("map", [["a"], ["b"]], [["x", "a"], ["b"]])
        0.75
        """
        if metric_name in self.metrics:
            return self.metrics[metric_name](*args, **kwargs)
        try:
            measure = parse_measure(metric_name)
        except MeasureError as error:
            close = nearest(metric_name, list(self.metrics))
            hint = error.hint if close is None else f"did you mean {close}?"
            raise MeasureError(f"Unknown metric: {printable(str(metric_name))}", hint=hint) from None
        check_for_lists([measure])
        return self._value(measure, *args, **kwargs)

    def evaluate_batch(self, queries: Sequence[Query], retrieval_results: Sequence[Result]) -> SuiteResult:
        """The configured metrics of a batch, in the shapes of ``evaluate_retrieval_batch``.

        >>> suite = RetrievalMetricsSuite({"measures": ["hit@1", "mrr"]})
        >>> suite.evaluate_batch([{"relevant_docs": ["a"]}], [["x", "a"]]).metrics
        {'hit@1': 0.0, 'mrr': 0.5}
        """
        measures = measures_by_name(self.settings.measures)
        graded = self.settings.conventions.graded
        if not graded:
            self.settings.conventions.measures(tuple(measures.values()))  # refuses measures that need grades
        batch = check_batch(queries, retrieval_results, measures.values(), graded=graded)
        if self.cache is None:
            values = self._compute(batch, measures)
        else:
            values = self.cache.batch_values(batch, measures, lambda: self._compute(batch, measures))
        return SuiteResult(
            metrics={
                name: running_aggregate(measures[name]).add(without_nan(column)).value
                for name, column in values.items()
            },
            intervals={
                name: self._interval(measure, values[name])
                for name, measure in measures.items()
                if self.settings.confidence_intervals and measure.definition.aggregate == "mean"
            },
            per_query={name: [None if v != v else v for v in column.tolist()] for name, column in values.items()},
        )

    def compare(self, first: SuiteResult, second: SuiteResult) -> dict[str, Significance]:
        """A paired test of each metric that both results have, over the queries that have a value in both."""
        tests: dict[str, Significance] = {}
        for name, first_values in first.per_query.items():
            if name in second.per_query:
                rows = zip(first_values, second.per_query[name], strict=True)
                pairs = [(a, b) for a, b in rows if a is not None and b is not None]
                tests[name] = statistical_significance_test(
                    [a for a, _ in pairs], [b for _, b in pairs], self.settings.statistics.alpha
                )
        return tests

    def _interval(self, measure: Measure, values: Floats) -> Ends:
        interval = interval_of(values, measure, confidence=self.settings.statistics.confidence)
        return (None, None) if interval.low is None or interval.high is None else (interval.low, interval.high)

    def _compute(self, batch: ListBatch, measures: Mapping[str, Measure]) -> dict[str, Floats]:
        frozen = {name: batch.freeze(measure) for name, measure in measures.items()}
        parts: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in measures}
        for begin in range(0, len(batch), self.settings.batch_size):
            joined = batch.part(begin, begin + self.settings.batch_size).join()
            for name, measure in frozen.items():
                parts[name].append(joined(measure))
        return {name: np.concatenate(columns) for name, columns in parts.items()}

    def _value(
        self,
        measure: Measure,
        relevant_ids: AnyIds,
        predicted_ids: AnyIds,
        relevance_grades: Mapping[str, float] | None = None,
    ) -> float | None:
        query = {RELEVANT_KEY: relevant_ids, GRADES_KEY: relevance_grades}
        batch = check_batch([query], [ranked_ids(predicted_ids)], [measure], graded=self.settings.conventions.graded)
        value = float(batch.join()(batch.freeze(measure))[0])
        return None if value != value else value


def average_precision(
    relevant_ids: AnyIds | Iterable[AnyIds], predicted_ids: AnyIds | Iterable[AnyIds], k: int | None = None
) -> float:
    """AP of one query, or its mean over several: ids are those of one query, lists of ids have one entry per query.

    The first entry of each argument says which: if one of them is a list, the arguments have one entry per query.
    """
    relevant: Any = list(relevant_ids) if isinstance(relevant_ids, Iterator) else relevant_ids
    predicted: Any = list(predicted_ids) if isinstance(predicted_ids, Iterator) else predicted_ids
    if _is_one_query(relevant) and _is_one_query(predicted):
        return functions.average_precision_at_k(relevant, predicted, k)
    return functions.mean_average_precision(relevant, predicted, k)


def _is_one_query(ids: Any) -> bool:
    """Whether the first entry, if there is one, is an id."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        return True
    return not isinstance(first := next(iter(ids), ""), Iterable) or isinstance(first, (str, bytes))


def _settings_from(config: str | Path | Mapping[str, Any] | Settings | None) -> Settings:
    if config is None or isinstance(config, Settings):
        return config or Settings()
    return load_settings(config)


class Significance(TypedDict):
    """The result of a test of two systems; ``reason`` says why there is no p value."""

    t_statistic: float | None
    p_value: float | None
    significant: bool | None
    mean_a: float | None
    mean_b: float | None
    test: str
    reason: str | None


def calculate_confidence_interval(
    scores: Sequence[float], confidence_level: float = 0.95
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a mean by Student's t; ``(None, None)`` for fewer than two scores.

    Equal scores do not show how much they vary. If all are 0 or all are 1, the interval is Wilson's, which ``evaluate``
    gives a measure that is 0 or 1; otherwise both ends are the score, with a warning. The function sees numbers, not a
    measure: ``Scores.interval`` chooses the interval that suits a measure.

    >>> low, high = calculate_confidence_interval([0.2, 0.4, 0.6, 0.8], confidence_level=0.9)
    >>> round(low, 3), round(high, 3)
    (0.196, 0.804)
    """
    interval = mean_interval(scores, confidence=confidence_level)
    values = np.asarray(scores, dtype=np.float64)
    if interval.low is None and is_binary(values):
        interval = wilson_interval(values, confidence=confidence_level)
    if interval.low is not None and interval.high is not None:
        return interval.low, interval.high
    if len(values) < 2:
        return None, None
    score = mean(values.tolist())  # exact, as the sum of equal scores is not
    warn_user(
        f"all {len(values)} scores are {number(score)}: how much scores vary is unknown, so the interval has no width"
    )
    return score, score


def statistical_significance_test(
    scores_a: Sequence[float], scores_b: Sequence[float], alpha: float = 0.05, *, paired: bool = True
) -> Significance:
    """Test whether two systems differ significantly: Student's t test, paired over the same queries.

    ``paired=False`` is the test of two independent samples with equal variances: what the specification does, and too
    conservative if both systems answered the same queries.

    >>> result = statistical_significance_test([0.4, 0.6, 0.9, 0.6, 0.9], [0.2, 0.5, 0.9, 0.4, 0.7])
    >>> result["significant"], round(result["p_value"], 3)
    (True, 0.025)
    """
    check_between("alpha", alpha, 0, 1)
    result = paired_t(scores_a, scores_b) if paired else student_t(scores_a, scores_b)
    return {
        "t_statistic": result.statistic,
        "p_value": result.p,
        "significant": None if result.p is None else bool(result.p < alpha),
        "mean_a": aggregate(np.asarray(scores_a, dtype=np.float64), "mean"),
        "mean_b": aggregate(np.asarray(scores_b, dtype=np.float64), "mean"),
        "test": result.method,
        "reason": result.reason,
    }
