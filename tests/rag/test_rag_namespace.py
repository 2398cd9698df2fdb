from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import rankgauge
from rankgauge import rag


def test_every_public_name_is_found_in_its_home() -> None:
    assert sorted(rag.__all__) == rag.__all__ == dir(rag)
    for name in rag.__all__:
        assert inspect.getmodule(getattr(rag, name)).__name__.startswith("rankgauge.rag.")  # type: ignore[union-attr]  # every name has a module
    with pytest.raises(AttributeError, match=r"module 'rankgauge.rag' has no attribute 'nothing'"):
        rag.nothing  # noqa: B018 - the access is what is tested


def test_names_that_both_namespaces_have_are_the_same_objects() -> None:
    for name in set(rag.__all__) & set(rankgauge.__all__):
        assert getattr(rag, name) is getattr(rankgauge, name)


def test_importing_the_namespace_imports_nothing_else() -> None:
    code = "import sys, rankgauge.rag; print([m for m in sys.modules if m.startswith('rankgauge.') or m == 'numpy'])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "['rankgauge._version', 'rankgauge.rag']"
