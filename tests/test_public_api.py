from __future__ import annotations

import inspect

import rankgauge

NAMES = """
Bands Collection Comparison Conventions Corpus Document Documents Hits Hybrid IRMetrics InputError InputTypeError
Lexical Measure MeasureError MetricsCache MetricsCalculator MissingExtraError Qrels Queries QueryMetrics Questions
RankgaugeError RankgaugeWarning ReportAggregator RetrievalEvaluator RetrievalMetricsSuite RetrievalResult
RetrieverError RetrieverSettings Run Scores Statistics TieAudit UnjudgedAudit UsageError Validation Vector audit_ties
audit_unjudged average_precision_at_k batch_evaluate_metrics calculate_confidence_interval compare content_key convert
count_hits embedder evaluate evaluate_all evaluate_cached evaluate_pipeline evaluate_retrieval_batch
evaluate_retriever evaluate_retriever_async f1_at_k fetch first_relevant_position fuse gate_efficiency hit_at_k join
load_bands load_config looks_like_log make_retriever mean_average_precision mean_reciprocal_rank measure
measure_latency ndcg_at_k open_collection open_documents parse_measure parse_measures precision_at_k qrels_from_frame
read_corpus read_log read_qrels read_queries read_run recall_at_k reciprocal_rank reranking_improvement
routing_accuracy run_from_frame statistical_significance_test tune validate_qrels validate_run weighted_mean write_run
GateResult gate write_baseline
RetrievalQuality Story read_story retrieval_quality
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
    import rankgauge.evaluation

    assert callable(rankgauge.evaluate)
