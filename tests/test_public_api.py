"""The public names: few at the top, the rest in namespaces, each listed once and documented."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from scripts.api_page import NAMESPACES, api_page, public_names

import rankgauge

NAMES = """
Comparison Conventions Document IRMetrics InputError MeasureError MetricsCache MetricsCalculator Qrels
RankgaugeError RankgaugeWarning Reading ReportAggregator RetrievalEvaluator RetrievalMetricsSuite Run Scores Settings
Statistics UsageError batch_evaluate_metrics calculate_confidence_interval compare convert evaluate
evaluate_retrieval_batch evaluate_retriever evaluate_runs fuse gate hit_at_k load_settings mean_reciprocal_rank
measure ndcg_at_k parse_measure read_corpus read_qrels read_queries read_run run_benchmark
statistical_significance_test validate_qrels validate_run
"""
ROOT = Path(__file__).parents[1]


def test_the_public_names_are_exactly_the_intended_ones() -> None:
    assert rankgauge.__all__ == sorted(NAMES.split())
    assert len(rankgauge.__all__) <= 45
    assert set(dir(rankgauge)) == {*rankgauge.__all__, "__version__"}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_public_name_can_be_used_and_is_documented(namespace: str) -> None:
    module = import_module(namespace)
    page = api_page("")
    for name in public_names(namespace):
        value = getattr(module, name)
        assert inspect.getdoc(value), f"{namespace}.{name} has no docstring"
        assert f"### {name}\n" in page, f"{namespace}.{name} is not on the page of the API"


def test_the_examples_of_docstrings_are_code_on_the_page_of_the_api() -> None:
    lines = api_page("").splitlines()
    examples = [number for number, line in enumerate(lines) if line.startswith(">>> ")]
    assert len(examples) > 15
    for number in examples:
        fences = [line for line in lines[:number] if line.startswith("```")]
        assert fences[-1] == "```pycon"
    assert lines[lines.index('>>> hit_at_k(["doc1", "doc3", "doc5"], ["doc2", "doc1", "doc4"], k=3)') + 2] == "```"


@pytest.mark.parametrize("namespace", [name for name in NAMESPACES if name != "rankgauge.errors"])
def test_a_public_name_is_not_hidden_by_a_module_of_the_same_name(namespace: str) -> None:
    module = import_module(namespace)
    folder = Path(str(module.__file__)).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not modules & set(module.__all__)


@pytest.mark.parametrize("namespace", [name for name in NAMESPACES if name != "rankgauge.errors"])
def test_each_name_is_listed_once_in_its_namespace(namespace: str) -> None:
    stub = Path(str(import_module(namespace).__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = [line.split(" as ")[-1] for line in stub.splitlines() if " as " in line]
    assert len(listed) == len(set(listed))
    assert set(listed) >= set(public_names(namespace))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(rankgauge, "nonsense")
    with pytest.raises(AttributeError, match=r"module 'rankgauge\.lists' has no attribute 'nonsense'"):
        _ = import_module("rankgauge.lists").nonsense


def test_names_can_be_imported_whatever_was_imported_before() -> None:
    code = (
        "import rankgauge.evaluation.evaluate, rankgauge.comparison.compare\nfrom rankgauge import evaluate, compare\n"
    )
    code += "assert callable(evaluate) and callable(compare)"
    subprocess.run([sys.executable, "-c", code], check=True)
