"""What a configuration says about an evaluation, and the evaluation that obeys it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import UsageError
from rankgauge.evaluation.cache import MetricsCache
from rankgauge.evaluation.cached import evaluate_cached
from rankgauge.evaluation.evaluate import (
    AnyQrels,
    AnyRun,
    Conventions,
    NoRelevant,
    Queries,
    Scores,
    asked_measures,
    evaluate_all,
    joined_scores,
)
from rankgauge.io.join.inputs import as_qrels
from rankgauge.io.queries import read_queries
from rankgauge.io.reading import read_run
from rankgauge.io.sources import DEFAULT, Limits
from rankgauge.measures.parse import parse_measures

if TYPE_CHECKING:
    from rankgauge.config.schema import Config
    from rankgauge.io.join.parallel import Report


@dataclass(frozen=True)
class BinaryConventions(Conventions):
    """Conventions under which grades do not count: every output says so."""

    level: float = 1

    def to_dict(self) -> dict[str, str]:
        """For JSON."""
        return {**super().to_dict(), "grades": f"binary: 1 from grade {self.level:g} on, else 0"}

    def __str__(self) -> str:
        return f"binary judgments, relevant from grade {self.level:g}; {super().__str__()}"


@dataclass(frozen=True)
class Plan:
    """The arguments of an evaluation. A caller changes those that his user gave himself with :meth:`but`."""

    measures: tuple[str, ...] | None = None
    graded: bool = True
    level: float | None = None
    compat: Compat = "trec_eval-9"
    queries: Queries = "qrels"
    no_relevant: NoRelevant = "zero"
    on_duplicate: OnDuplicate = "error"
    confidence_intervals: bool = False
    significance_testing: bool = False
    alpha: float = 0.05
    batch_size: int = 100
    caching: bool = False
    cache_file: str | None = None
    parallel: bool = True

    def but(self, **given: Any) -> Plan:
        """The plan with what is given; None and () say nothing."""
        return replace(self, **{name: value for name, value in given.items() if value is not None and value != ()})

    def evaluate(
        self,
        qrels: AnyQrels,
        runs: Sequence[AnyRun],
        *,
        fingerprint: bool = False,
        qrels_format: str | None = None,
        run_format: str | None = None,
        limits: Limits | None = None,
        topics: str | Path | None = None,
        progress: Report | None = None,
    ) -> list[Scores]:
        """Score runs as the plan says. The options are those of ``evaluate_all``."""
        limits = limits or DEFAULT
        judged = self.judgments(qrels, format=qrels_format, limits=limits)
        if topics is not None:
            judged = judged.with_columns(read_queries(topics, limits=limits).columns)
        found = self._scores(judged, runs, fingerprint, run_format, limits, progress)
        return found if self.graded else [replace(scores, conventions=self.conventions) for scores in found]

    def joined(
        self, qrels: AnyQrels, runs: Sequence[AnyRun], *, qrels_format: str | None = None, **reading: Any
    ) -> tuple[Qrels, list[Joined], list[Scores]]:
        """The same scores, not from the cache, with the judgments and the joins that they were made of."""
        judged = self.judgments(qrels, format=qrels_format, limits=reading.get("limits"))
        asked = asked_measures(self.measures, self.conventions, self.rel)
        return joined_scores(judged, runs, asked, self.conventions, on_duplicate=self.on_duplicate, **reading)[:3]

    @property
    def conventions(self) -> Conventions:
        """What every output states."""
        if self.graded:
            return Conventions(self.compat, self.queries, self.no_relevant)
        return BinaryConventions(self.compat, self.queries, self.no_relevant, self._binary_level)

    @property
    def rel(self) -> float | None:
        """The level of relevance that measures are told; binary judgments have it in them."""
        return self.level if self.graded else None

    @property
    def _binary_level(self) -> float:
        return 1 if self.level is None else self.level

    def judgments(self, qrels: AnyQrels, *, format: str | None = None, limits: Limits | None = None) -> Qrels:
        """The judgments, made binary where grades do not count."""
        judged = as_qrels(qrels, format=format, limits=limits or DEFAULT)
        if self.graded:
            return judged
        self.refuse_levels()
        return binary(judged, self._binary_level)

    def _scores(
        self,
        judged: Qrels,
        runs: Sequence[AnyRun],
        fingerprint: bool,
        run_format: str | None,
        limits: Limits,
        progress: Report | None,
    ) -> list[Scores]:
        if self.caching:
            with MetricsCache(self.cache_file or default_cache_file()) as cache:
                return [
                    evaluate_cached(
                        judged,
                        read_run(run, format=run_format, limits=limits, on_duplicate=self.on_duplicate)
                        if isinstance(run, (str, Path))
                        else run,
                        self.measures,
                        cache=cache,
                        conventions=Conventions(self.compat, self.queries, self.no_relevant),
                        rel=self.rel,
                        on_duplicate=self.on_duplicate,
                        fingerprint=fingerprint,
                    )
                    for run in runs
                ]
        # evaluate_all starts processes where several large files make that pay; one at a time it cannot.
        parts = [runs] if self.parallel else [[run] for run in runs]
        return [
            scores
            for part in parts
            for scores in evaluate_all(
                [judged],
                part,
                self.measures,
                compat=self.compat,
                queries=self.queries,
                no_relevant=self.no_relevant,
                rel=self.rel,
                on_duplicate=self.on_duplicate,
                fingerprint=fingerprint,
                run_format=run_format,
                limits=limits,
                progress=progress,
            )
        ]

    def refuse_levels(self) -> None:
        """Raise where a measure asks for a level of relevance that binary judgments do not have."""
        for measure in parse_measures(self.measures or (), compat=self.compat):
            level = dict(measure.parameters).get("rel")
            if level not in (None, 1):
                raise UsageError(
                    f"{measure} asks for grades from {level} on, and the configuration says that grades do not count",
                    hint="set graded (graded_relevance) to true, or leave out that measure",
                )


def plan_of(config: Config) -> Plan:
    """What a configuration says, as plain values."""
    measures, statistics, performance = config.measures, config.statistics, config.performance
    return Plan(
        measures=None if measures.names is None else tuple(measures.names),
        graded=measures.graded,
        level=measures.level,
        compat=measures.compat,
        queries=measures.queries,
        no_relevant=measures.no_relevant,
        on_duplicate=measures.on_duplicate,
        confidence_intervals=statistics.confidence_intervals,
        significance_testing=statistics.significance_testing,
        alpha=statistics.alpha_level,
        batch_size=performance.batch_size,
        caching=performance.caching_enabled,
        cache_file=performance.cache_file,
        parallel=performance.parallel_processing,
    )


def load_plan(path: str | Path) -> Plan:
    """The plan in a configuration file. A cache file that it names stands beside it."""
    from rankgauge.config.reading import load_config

    plan = plan_of(load_config(path))
    if plan.cache_file is None:
        return plan
    return replace(plan, cache_file=str(Path(path).parent / Path(plan.cache_file).expanduser()))


def binary(qrels: Qrels, level: float = 1) -> Qrels:
    """Judgments in which a document is relevant (1) or not (0); what was pooled and not judged stays so."""
    grades = np.where(qrels.grades >= level, 1.0, np.minimum(qrels.grades, 0.0))
    return replace(qrels, name=f"{qrels.name} (binary)", grades=grades)


def default_cache_file() -> Path:
    """Where values are kept when a configuration names no file: in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME")
    return (Path(folder) if folder else Path.home() / ".cache") / "rankgauge" / "metrics.sqlite"
