from __future__ import annotations

import inspect

import rankgauge

NAMES = """
Bands BenchmarkPlan Collection Comparison Conventions Corpus Document GateResult Hits Hybrid IRMetrics
InputError InputTypeError Lexical Measure MeasureError MetricsCache MetricsCalculator MissingExtraError Qrels Queries
QueryMetrics Questions RankgaugeError RankgaugeWarning Report ReportAggregator RetrievalEvaluator
RetrievalMetricsSuite RetrievalQuality RetrievalResult RetrieverError RetrieverSettings Run Scores Statistics Story
TieAudit UnjudgedAudit UsageError Validation Vector as_html audit_ties audit_unjudged average_precision_at_k
batch_evaluate_metrics build_report calculate_confidence_interval compare content_key convert count_hits
detectable_difference difference_interval embedder equivalence evaluate evaluate_all evaluate_cached evaluate_pipeline
evaluate_retrieval_batch evaluate_retriever evaluate_retriever_async f1_at_k fetch first_relevant_position fuse gate
gate_efficiency hit_at_k join kendall_tau load_bands load_config looks_like_log make_retriever mean_average_precision
mean_interval mean_reciprocal_rank measure measure_latency ndcg_at_k open_collection paired_test
parse_measure parse_measures precision_at_k qrels_from_frame queries_needed rbo read_corpus read_log read_qrels
read_queries read_run read_story recall_at_k reciprocal_rank reranking_improvement retrieval_quality routing_accuracy
run_benchmark run_from_frame shipped_plan statistical_significance_test tau_ap tune validate_qrels validate_run
verify_benchmark weighted_mean welch write_baseline write_run
"""


def test_the_public_names_are_exactly_the_intended_ones() -> None:
    assert rankgauge.__all__ == sorted(NAMES.split())
    assert set(dir(rankgauge)) == {*rankgauge.__all__, "__version__"}


def test_every_public_name_can_be_used_and_is_documented() -> None:
    for name in rankgauge.__all__:
        assert inspect.getdoc(getattr(rankgauge, name)), name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(rankgauge, "nonsense")


def test_a_function_is_not_hidden_by_a_module_of_its_name() -> None:
    import rankgauge.evaluation.evaluate

    assert callable(rankgauge.evaluate)
