"""The public names: few at the top, the rest in namespaces, each listed once and documented."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from scripts.api_page import NAMESPACES, api_page, public_names

import rankgauge
from rankgauge.core import public_names as name_lookup

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


SPECIFIED = """
IRMetrics MetricsCache MetricsCalculator ReportAggregator RetrievalEvaluator RetrievalMetricsSuite Document
average_precision_at_k batch_evaluate_metrics calculate_confidence_interval count_hits evaluate_retrieval_batch f1_at_k
first_relevant_position gate_efficiency hit_at_k mean_average_precision mean_reciprocal_rank ndcg_at_k precision_at_k
recall_at_k reciprocal_rank reranking_improvement retrieval_quality routing_accuracy statistical_significance_test
"""
PACKAGES = [name for name in NAMESPACES if name != "rankgauge.errors"]


@pytest.mark.parametrize("name", SPECIFIED.split())
def test_a_specified_name_is_imported_or_the_error_says_how(name: str) -> None:
    for package in PACKAGES:
        statement, found = f"from {package} import {name}", dict[str, object]()
        if name not in import_module(package).__all__:
            with pytest.raises(ImportError) as caught:
                exec(statement, found)
            assert caught.value.name == package
            start, _, statement = str(caught.value).strip("`").partition(": write `")
            assert start == f"cannot import name '{name}' from '{package}'"
        exec(statement, found)
        assert getattr(found[name], "__name__", None) == name


def test_every_public_name_says_where_it_is() -> None:
    for home in PACKAGES:
        for name in public_names(home):
            for package in PACKAGES:
                module = import_module(package)
                folder = Path(str(module.__file__)).parent
                if name in module.__all__ or (folder / f"{name}.py").exists() or (folder / name).is_dir():
                    continue
                with pytest.raises(ImportError) as caught:
                    getattr(module, name)
                suggested = re.findall(rf"write `from ([\w.]+) import {name}`$", str(caught.value))[0]
                assert name in import_module(suggested).__all__
                assert len(suggested.split(".")) <= len(home.split("."))


def test_a_module_is_imported_although_another_package_lists_its_name() -> None:
    code = (
        "from rankgauge.measures import measure\nfrom rankgauge.stats import rater_agreement\n"
        "from rankgauge import lists\nfrom rankgauge.lists import suite\n"
        "assert measure.__file__ and rater_agreement.__file__ and lists.suite is suite\n"
        "assert not hasattr(lists, 'nonsense') and not hasattr(lists, '_private')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("package", "module"), [("rankgauge", "lists"), ("rankgauge", "secrets"), ("rankgauge.lists", "suite")]
)
def test_no_stub_is_read_to_import_a_module(package: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(name_lookup, "package_of", looked_up.append)
    get_attribute = import_module(package).__getattr__
    for name in (module, "_private", "nonsense"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            get_attribute(name)
    assert looked_up == ["nonsense"]


def test_names_can_be_imported_whatever_was_imported_before() -> None:
    code = (
        "import rankgauge.evaluation.evaluate, rankgauge.comparison.compare\nfrom rankgauge import evaluate, compare\n"
    )
    code += "assert callable(evaluate) and callable(compare)"
    subprocess.run([sys.executable, "-c", code], check=True)
