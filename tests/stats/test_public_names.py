from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rankgauge import measures, stats
from rankgauge.core.lazy import LINE

PACKAGES = {"stats": stats, "measures": measures}


def homes(package: str) -> dict[str, str]:
    """The module of each public name of a package, from its stub."""
    stub = Path(str(PACKAGES[package].__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    return {match["name"]: match["module"] for match in LINE.finditer(stub)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_name_is_the_object_of_its_module_even_after_every_module_was_imported(package: str) -> None:
    """A module with the name of a function would hide the function as soon as it is imported."""
    for module in set(homes(package).values()):
        import_module(module)
    for name, module in homes(package).items():
        assert getattr(PACKAGES[package], name) is getattr(import_module(module), name), name


def test_every_function_of_stats_is_in_its_docstring() -> None:
    documented = set(re.findall(r"\w+", stats.__doc__ or ""))
    assert set(homes("stats")) - {"Agreement", "Effect", "Power"} <= documented
    assert {"Interval", "TestResult", "Resampling", "paired_test", "mean_interval"} <= set(dir(stats))
    with pytest.raises(AttributeError, match="no attribute 'anova'"):
        _ = stats.anova  # type: ignore[attr-defined]  # it does not exist


def test_importing_stats_imports_none_of_its_modules() -> None:
    code = (
        "import sys, rankgauge.stats\n"
        "sys.exit(any(name.startswith('rankgauge.stats.') for name in sys.modules) or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
