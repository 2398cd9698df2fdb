from rankgauge.benchmark.run import run_benchmark as run_benchmark
from rankgauge.comparison.compare import compare as compare
from rankgauge.comparison.comparison_result import Comparison as Comparison
from rankgauge.comparison.gate.gate import gate as gate
from rankgauge.comparison.statistics_options import Statistics as Statistics
from rankgauge.config.configured_settings import load_settings as load_settings
from rankgauge.config.settings import Settings as Settings
from rankgauge.core.qrels import Qrels as Qrels
from rankgauge.core.run import Run as Run
from rankgauge.errors import InputError as InputError
from rankgauge.errors import MeasureError as MeasureError
from rankgauge.errors import RankgaugeError as RankgaugeError
from rankgauge.errors import RankgaugeWarning as RankgaugeWarning
from rankgauge.errors import UsageError as UsageError
from rankgauge.evaluation.conventions import Conventions as Conventions
from rankgauge.evaluation.evaluate import evaluate as evaluate
from rankgauge.evaluation.evaluate import evaluate_runs as evaluate_runs
from rankgauge.evaluation.scores import Scores as Scores
from rankgauge.io.conversion import convert as convert
from rankgauge.io.corpus.corpus_files import read_corpus as read_corpus
from rankgauge.io.queries import read_queries as read_queries
from rankgauge.io.read import read_qrels as read_qrels
from rankgauge.io.read import read_run as read_run
from rankgauge.io.reading_options import Reading as Reading
from rankgauge.lists.batches import MetricsCache as MetricsCache
from rankgauge.lists.batches import batch_evaluate_metrics as batch_evaluate_metrics
from rankgauge.lists.batches import evaluate_retrieval_batch as evaluate_retrieval_batch
from rankgauge.lists.calculator import IRMetrics as IRMetrics
from rankgauge.lists.calculator import MetricsCalculator as MetricsCalculator
from rankgauge.lists.calculator import ReportAggregator as ReportAggregator
from rankgauge.lists.functions import hit_at_k as hit_at_k
from rankgauge.lists.functions import mean_reciprocal_rank as mean_reciprocal_rank
from rankgauge.lists.functions import ndcg_at_k as ndcg_at_k
from rankgauge.lists.suite import RetrievalMetricsSuite as RetrievalMetricsSuite
from rankgauge.lists.suite import calculate_confidence_interval as calculate_confidence_interval
from rankgauge.lists.suite import statistical_significance_test as statistical_significance_test
from rankgauge.measures.names import parse_measure as parse_measure
from rankgauge.measures.registry import measure as measure
from rankgauge.rag.evaluator import RetrievalEvaluator as RetrievalEvaluator
from rankgauge.rag.live import evaluate_retriever as evaluate_retriever
from rankgauge.retrieval.asking.documents import Document as Document
from rankgauge.retrieval.fusion import fuse as fuse
from rankgauge.validation.qrels_validation import validate_qrels as validate_qrels
from rankgauge.validation.run_validation import validate_run as validate_run

__version__: str

__all__: list[str]
