"""The public names of ``rankgauge.retrieval``."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.util import find_spec

import pytest

from rankgauge import retrieval

NAMES = """
Bm25Parameters CallableEmbedder CallableReranker CallableRetriever CentroidRouter Decisions DocumentTexts Embedder
FetchOptions FetchResult FusionChoice GatedRetriever Hybrid Latency Lexical QueryBatch RerankedRetriever Reranker
Retriever RetrieverSettings RoutedRetriever TuningResult Vector embedder fetch_run fuse latency_percentiles
make_retriever measure_latency retrieve_run tune
"""


def test_the_public_names_are_exactly_the_intended_ones_and_documented() -> None:
    assert vars(retrieval)["__all__"] == dir(retrieval) == sorted(NAMES.split())
    for name in NAMES.split():
        assert inspect.getdoc(getattr(retrieval, name)), name


def test_no_public_name_is_hidden_by_a_module_of_the_same_name() -> None:
    for name in NAMES.split():
        assert find_spec(f"rankgauge.retrieval.{name}") is None, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'rankgauge\.retrieval' has no attribute 'nonsense'"):
        getattr(retrieval, "nonsense")  # noqa: B009 - a plain attribute is refused by the type checker


def test_importing_the_namespace_does_not_import_numpy() -> None:
    code = "import sys, rankgauge.retrieval; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
