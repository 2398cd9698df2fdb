from rankgauge.lists.batches import MetricsCache as MetricsCache
from rankgauge.lists.batches import batch_evaluate_metrics as batch_evaluate_metrics
from rankgauge.lists.batches import evaluate_retrieval_batch as evaluate_retrieval_batch
from rankgauge.lists.calculator import IRMetrics as IRMetrics
from rankgauge.lists.calculator import MetricsCalculator as MetricsCalculator
from rankgauge.lists.calculator import ReportAggregator as ReportAggregator
from rankgauge.lists.functions import average_precision_at_k as average_precision_at_k
from rankgauge.lists.functions import count_hits as count_hits
from rankgauge.lists.functions import f1_at_k as f1_at_k
from rankgauge.lists.functions import first_relevant_position as first_relevant_position
from rankgauge.lists.functions import hit_at_k as hit_at_k
from rankgauge.lists.functions import mean_average_precision as mean_average_precision
from rankgauge.lists.functions import mean_reciprocal_rank as mean_reciprocal_rank
from rankgauge.lists.functions import ndcg_at_k as ndcg_at_k
from rankgauge.lists.functions import precision_at_k as precision_at_k
from rankgauge.lists.functions import recall_at_k as recall_at_k
from rankgauge.lists.functions import reciprocal_rank as reciprocal_rank
from rankgauge.lists.suite import RetrievalMetricsSuite as RetrievalMetricsSuite
from rankgauge.lists.suite import Significance as Significance
from rankgauge.lists.suite import SuiteResult as SuiteResult
from rankgauge.lists.suite import calculate_confidence_interval as calculate_confidence_interval
from rankgauge.lists.suite import statistical_significance_test as statistical_significance_test

__all__: list[str]
