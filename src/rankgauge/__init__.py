"""Did my retrieval get better, how sure is that, and which queries moved?

Names are imported when they are first used, so that ``import rankgauge`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgauge._version import __version__ as __version__

if TYPE_CHECKING:
    from rankgauge.adapters.pipeline.gate import gate_efficiency
    from rankgauge.adapters.pipeline.log import evaluate_pipeline
    from rankgauge.adapters.pipeline.rerank import reranking_improvement
    from rankgauge.adapters.pipeline.routing import routing_accuracy
    from rankgauge.adapters.story.quality import retrieval_quality
    from rankgauge.adapters.story.result import RetrievalQuality
    from rankgauge.adapters.story.story import Story, read_story
    from rankgauge.benchmark.plan import BenchmarkPlan, shipped_plan
    from rankgauge.benchmark.run import run_benchmark
    from rankgauge.benchmark.verify import verify_benchmark
    from rankgauge.comparison.compare import compare
    from rankgauge.comparison.gate.gate import gate, write_baseline
    from rankgauge.comparison.gate.result import GateResult
    from rankgauge.comparison.result import Comparison
    from rankgauge.config.bands.bands import Bands
    from rankgauge.config.bands.loading import load_bands
    from rankgauge.config.reading import load_config
    from rankgauge.core.hits import Hits, join
    from rankgauge.core.qrels import Qrels
    from rankgauge.core.run import Run
    from rankgauge.errors import (
        InputError,
        InputTypeError,
        MeasureError,
        MissingExtraError,
        RankgaugeError,
        RankgaugeWarning,
        RetrieverError,
        UsageError,
    )
    from rankgauge.evaluation.audit.ties import TieAudit, audit_ties
    from rankgauge.evaluation.audit.unjudged import UnjudgedAudit, audit_unjudged
    from rankgauge.evaluation.cache import MetricsCache, content_key
    from rankgauge.evaluation.cached import evaluate_cached
    from rankgauge.evaluation.conventions import Conventions
    from rankgauge.evaluation.evaluate import evaluate, evaluate_runs
    from rankgauge.evaluation.scores import Scores
    from rankgauge.io.conversion import convert
    from rankgauge.io.formats.frames import qrels_from_frame, run_from_frame
    from rankgauge.io.queries import Corpus, Queries, read_corpus, read_queries
    from rankgauge.io.reading import looks_like_log, read_log, read_qrels, read_run
    from rankgauge.lists.aggregator import ReportAggregator
    from rankgauge.lists.batch import batch_evaluate_metrics, evaluate_retrieval_batch
    from rankgauge.lists.calculator import IRMetrics, MetricsCalculator
    from rankgauge.lists.functions import (
        average_precision_at_k,
        count_hits,
        f1_at_k,
        first_relevant_position,
        hit_at_k,
        mean_average_precision,
        mean_reciprocal_rank,
        ndcg_at_k,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
    )
    from rankgauge.lists.significance import calculate_confidence_interval, statistical_significance_test
    from rankgauge.lists.suite import RetrievalMetricsSuite
    from rankgauge.measures.parse import parse_measure, parse_measures
    from rankgauge.measures.registry import measure
    from rankgauge.measures.spec import Measure
    from rankgauge.measures.weights import weighted_mean
    from rankgauge.rag.documents import Document
    from rankgauge.rag.evaluator import RetrievalEvaluator
    from rankgauge.rag.live import evaluate_retriever, evaluate_retriever_async
    from rankgauge.rag.metrics import QueryMetrics
    from rankgauge.rag.results import RetrievalResult
    from rankgauge.render.html import as_html
    from rankgauge.report.building import build_report
    from rankgauge.report.report import Report
    from rankgauge.retrieval.base import Questions
    from rankgauge.retrieval.corpus.documents import Documents
    from rankgauge.retrieval.corpus.opening import Collection, open_collection, open_documents
    from rankgauge.retrieval.embedders.named import embedder
    from rankgauge.retrieval.engines.hybrid import Hybrid
    from rankgauge.retrieval.engines.lexical import Lexical
    from rankgauge.retrieval.engines.vector import Vector
    from rankgauge.retrieval.fetch.fetch import fetch
    from rankgauge.retrieval.fetch.latency import measure_latency
    from rankgauge.retrieval.fetch.modes import RetrieverSettings, make_retriever
    from rankgauge.retrieval.fetch.trec import write_run
    from rankgauge.retrieval.fusion.fusion import fuse
    from rankgauge.retrieval.fusion.tune import tune
    from rankgauge.stats.agreement import kendall_tau, rbo, tau_ap
    from rankgauge.stats.intervals import difference_interval, mean_interval
    from rankgauge.stats.power import detectable_difference, queries_needed
    from rankgauge.stats.tests import equivalence, paired_test, welch
    from rankgauge.validation.findings import Validation
    from rankgauge.validation.validate import validate_qrels, validate_run


_HOMES = {
    "Bands": "rankgauge.config.bands.bands",
    "BenchmarkPlan": "rankgauge.benchmark.plan",
    "Collection": "rankgauge.retrieval.corpus.opening",
    "Comparison": "rankgauge.comparison.result",
    "Conventions": "rankgauge.evaluation.conventions",
    "Corpus": "rankgauge.io.queries",
    "Document": "rankgauge.rag.documents",
    "Documents": "rankgauge.retrieval.corpus.documents",
    "GateResult": "rankgauge.comparison.gate.result",
    "Hits": "rankgauge.core.hits",
    "Hybrid": "rankgauge.retrieval.engines.hybrid",
    "IRMetrics": "rankgauge.lists.calculator",
    "InputError": "rankgauge.errors",
    "InputTypeError": "rankgauge.errors",
    "Lexical": "rankgauge.retrieval.engines.lexical",
    "Measure": "rankgauge.measures.spec",
    "MeasureError": "rankgauge.errors",
    "MetricsCache": "rankgauge.evaluation.cache",
    "MetricsCalculator": "rankgauge.lists.calculator",
    "MissingExtraError": "rankgauge.errors",
    "Qrels": "rankgauge.core.qrels",
    "Queries": "rankgauge.io.queries",
    "QueryMetrics": "rankgauge.rag.metrics",
    "Questions": "rankgauge.retrieval.base",
    "RankgaugeError": "rankgauge.errors",
    "RankgaugeWarning": "rankgauge.errors",
    "Report": "rankgauge.report.report",
    "ReportAggregator": "rankgauge.lists.aggregator",
    "RetrievalEvaluator": "rankgauge.rag.evaluator",
    "RetrievalMetricsSuite": "rankgauge.lists.suite",
    "RetrievalQuality": "rankgauge.adapters.story.result",
    "RetrievalResult": "rankgauge.rag.results",
    "RetrieverError": "rankgauge.errors",
    "RetrieverSettings": "rankgauge.retrieval.fetch.modes",
    "Run": "rankgauge.core.run",
    "Scores": "rankgauge.evaluation.scores",
    "Statistics": "rankgauge.comparison.statistics",
    "Story": "rankgauge.adapters.story.story",
    "TieAudit": "rankgauge.evaluation.audit.ties",
    "UnjudgedAudit": "rankgauge.evaluation.audit.unjudged",
    "UsageError": "rankgauge.errors",
    "Validation": "rankgauge.validation.findings",
    "Vector": "rankgauge.retrieval.engines.vector",
    "as_html": "rankgauge.render.html",
    "audit_ties": "rankgauge.evaluation.audit.ties",
    "audit_unjudged": "rankgauge.evaluation.audit.unjudged",
    "average_precision_at_k": "rankgauge.lists.functions",
    "batch_evaluate_metrics": "rankgauge.lists.batch",
    "build_report": "rankgauge.report.building",
    "calculate_confidence_interval": "rankgauge.lists.significance",
    "compare": "rankgauge.comparison.compare",
    "content_key": "rankgauge.evaluation.cache",
    "convert": "rankgauge.io.conversion",
    "count_hits": "rankgauge.lists.functions",
    "detectable_difference": "rankgauge.stats.power",
    "difference_interval": "rankgauge.stats.intervals",
    "embedder": "rankgauge.retrieval.embedders.named",
    "equivalence": "rankgauge.stats.tests",
    "evaluate": "rankgauge.evaluation.evaluate",
    "evaluate_runs": "rankgauge.evaluation.evaluate",
    "evaluate_cached": "rankgauge.evaluation.cached",
    "evaluate_pipeline": "rankgauge.adapters.pipeline.log",
    "evaluate_retrieval_batch": "rankgauge.lists.batch",
    "evaluate_retriever": "rankgauge.rag.live",
    "evaluate_retriever_async": "rankgauge.rag.live",
    "f1_at_k": "rankgauge.lists.functions",
    "fetch": "rankgauge.retrieval.fetch.fetch",
    "first_relevant_position": "rankgauge.lists.functions",
    "fuse": "rankgauge.retrieval.fusion.fusion",
    "gate": "rankgauge.comparison.gate.gate",
    "gate_efficiency": "rankgauge.adapters.pipeline.gate",
    "hit_at_k": "rankgauge.lists.functions",
    "join": "rankgauge.core.hits",
    "kendall_tau": "rankgauge.stats.agreement",
    "load_bands": "rankgauge.config.bands.loading",
    "load_config": "rankgauge.config.reading",
    "looks_like_log": "rankgauge.io.reading",
    "make_retriever": "rankgauge.retrieval.fetch.modes",
    "mean_average_precision": "rankgauge.lists.functions",
    "mean_interval": "rankgauge.stats.intervals",
    "mean_reciprocal_rank": "rankgauge.lists.functions",
    "measure": "rankgauge.measures.registry",
    "measure_latency": "rankgauge.retrieval.fetch.latency",
    "ndcg_at_k": "rankgauge.lists.functions",
    "open_collection": "rankgauge.retrieval.corpus.opening",
    "open_documents": "rankgauge.retrieval.corpus.opening",
    "paired_test": "rankgauge.stats.tests",
    "parse_measure": "rankgauge.measures.parse",
    "parse_measures": "rankgauge.measures.parse",
    "precision_at_k": "rankgauge.lists.functions",
    "qrels_from_frame": "rankgauge.io.formats.frames",
    "queries_needed": "rankgauge.stats.power",
    "rbo": "rankgauge.stats.agreement",
    "read_corpus": "rankgauge.io.queries",
    "read_log": "rankgauge.io.reading",
    "read_qrels": "rankgauge.io.reading",
    "read_queries": "rankgauge.io.queries",
    "read_run": "rankgauge.io.reading",
    "read_story": "rankgauge.adapters.story.story",
    "recall_at_k": "rankgauge.lists.functions",
    "reciprocal_rank": "rankgauge.lists.functions",
    "reranking_improvement": "rankgauge.adapters.pipeline.rerank",
    "retrieval_quality": "rankgauge.adapters.story.quality",
    "routing_accuracy": "rankgauge.adapters.pipeline.routing",
    "run_benchmark": "rankgauge.benchmark.run",
    "run_from_frame": "rankgauge.io.formats.frames",
    "shipped_plan": "rankgauge.benchmark.plan",
    "statistical_significance_test": "rankgauge.lists.significance",
    "tau_ap": "rankgauge.stats.agreement",
    "tune": "rankgauge.retrieval.fusion.tune",
    "validate_qrels": "rankgauge.validation.validate",
    "validate_run": "rankgauge.validation.validate",
    "verify_benchmark": "rankgauge.benchmark.verify",
    "weighted_mean": "rankgauge.measures.weights",
    "welch": "rankgauge.stats.tests",
    "write_baseline": "rankgauge.comparison.gate.gate",
    "write_run": "rankgauge.retrieval.fetch.trec",
}

__all__ = [
    "Bands",
    "BenchmarkPlan",
    "Collection",
    "Comparison",
    "Conventions",
    "Corpus",
    "Document",
    "Documents",
    "GateResult",
    "Hits",
    "Hybrid",
    "IRMetrics",
    "InputError",
    "InputTypeError",
    "Lexical",
    "Measure",
    "MeasureError",
    "MetricsCache",
    "MetricsCalculator",
    "MissingExtraError",
    "Qrels",
    "Queries",
    "QueryMetrics",
    "Questions",
    "RankgaugeError",
    "RankgaugeWarning",
    "Report",
    "ReportAggregator",
    "RetrievalEvaluator",
    "RetrievalMetricsSuite",
    "RetrievalQuality",
    "RetrievalResult",
    "RetrieverError",
    "RetrieverSettings",
    "Run",
    "Scores",
    "Statistics",
    "Story",
    "TieAudit",
    "UnjudgedAudit",
    "UsageError",
    "Validation",
    "Vector",
    "as_html",
    "audit_ties",
    "audit_unjudged",
    "average_precision_at_k",
    "batch_evaluate_metrics",
    "build_report",
    "calculate_confidence_interval",
    "compare",
    "content_key",
    "convert",
    "count_hits",
    "detectable_difference",
    "difference_interval",
    "embedder",
    "equivalence",
    "evaluate",
    "evaluate_cached",
    "evaluate_pipeline",
    "evaluate_retrieval_batch",
    "evaluate_retriever",
    "evaluate_retriever_async",
    "evaluate_runs",
    "f1_at_k",
    "fetch",
    "first_relevant_position",
    "fuse",
    "gate",
    "gate_efficiency",
    "hit_at_k",
    "join",
    "kendall_tau",
    "load_bands",
    "load_config",
    "looks_like_log",
    "make_retriever",
    "mean_average_precision",
    "mean_interval",
    "mean_reciprocal_rank",
    "measure",
    "measure_latency",
    "ndcg_at_k",
    "open_collection",
    "open_documents",
    "paired_test",
    "parse_measure",
    "parse_measures",
    "precision_at_k",
    "qrels_from_frame",
    "queries_needed",
    "rbo",
    "read_corpus",
    "read_log",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_story",
    "recall_at_k",
    "reciprocal_rank",
    "reranking_improvement",
    "retrieval_quality",
    "routing_accuracy",
    "run_benchmark",
    "run_from_frame",
    "shipped_plan",
    "statistical_significance_test",
    "tau_ap",
    "tune",
    "validate_qrels",
    "validate_run",
    "verify_benchmark",
    "weighted_mean",
    "welch",
    "write_baseline",
    "write_run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankgauge' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
