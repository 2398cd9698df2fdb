"""The public names of ``rankgauge.retrieval``."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import rankgauge
from rankgauge import retrieval


def test_every_public_name_is_documented_and_lives_where_the_table_says() -> None:
    assert retrieval.__all__ == sorted(retrieval._HOMES)
    assert dir(retrieval) == sorted(retrieval.__all__)
    for name in retrieval.__all__:
        value = getattr(retrieval, name)
        assert inspect.getdoc(value), name
        assert value.__module__ == f"rankgauge.retrieval.{retrieval._HOMES[name]}", name


def test_no_public_name_is_hidden_by_a_module_of_the_same_name() -> None:
    for name in retrieval.__all__:
        assert find_spec(f"rankgauge.retrieval.{name}") is None, name


def test_names_of_this_package_that_are_public_at_the_top_are_public_here() -> None:
    for name, home in rankgauge._HOMES.items():
        if home.startswith("rankgauge.retrieval.") and ".corpus" not in home and not home.endswith(".trec"):
            assert getattr(retrieval, name) is getattr(import_module(home), name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'rankgauge\.retrieval' has no attribute 'nonsense'"):
        _ = retrieval.nonsense


def test_importing_the_namespace_does_not_import_numpy() -> None:
    code = "import sys, rankgauge.retrieval; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
