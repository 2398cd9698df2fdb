from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import rankgauge
from rankgauge import lists


def test_every_public_name_is_found_in_its_home() -> None:
    assert sorted(lists.__all__) == lists.__all__ == dir(lists)
    for name in lists.__all__:
        assert inspect.getmodule(getattr(lists, name)).__name__.startswith("rankgauge.lists.")  # type: ignore[union-attr]  # every name has a module
    with pytest.raises(AttributeError, match=r"module 'rankgauge.lists' has no attribute 'nothing'"):
        lists.nothing  # noqa: B018 - the access is what is tested


def test_names_that_both_namespaces_have_are_the_same_objects() -> None:
    for name in set(lists.__all__) & set(rankgauge.__all__):
        assert getattr(lists, name) is getattr(rankgauge, name)


def test_importing_the_namespace_imports_nothing_else() -> None:
    code = "import sys, rankgauge.lists; print([m for m in sys.modules if m.startswith('rankgauge.') or m == 'numpy'])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "['rankgauge._version', 'rankgauge.lists']"
