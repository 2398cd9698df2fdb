from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest

from rankgauge import stats


@pytest.mark.parametrize("name", stats.__all__)
def test_a_public_name_is_the_object_of_its_module_even_after_every_module_was_imported(name: str) -> None:
    """A module with the name of a function would hide the function as soon as it is imported."""
    for file in set(stats._MODULES.values()):
        import_module(f"rankgauge.stats.{file}")
    module = import_module(f"rankgauge.stats.{stats._MODULES[name]}")
    assert getattr(stats, name) is getattr(module, name)


def test_every_listed_name_has_a_module_and_is_in_the_docstring_if_it_is_a_function() -> None:
    assert sorted(stats._MODULES) == sorted(stats.__all__) == sorted(dir(stats))
    documented = set(re.findall(r"\w+", stats.__doc__ or ""))
    results = {"Agreement", "Effect", "Power"}
    assert {*stats.__all__} - results <= documented
    with pytest.raises(AttributeError, match="no attribute 'anova'"):
        _ = stats.anova


def test_importing_the_namespace_imports_none_of_its_modules() -> None:
    code = (
        "import sys, rankgauge.stats\n"
        "sys.exit(any(name.startswith('rankgauge.stats.') for name in sys.modules) or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
