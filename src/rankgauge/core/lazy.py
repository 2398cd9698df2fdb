"""Public names that are imported on first use, so that importing a package costs next to nothing.

A package lists its public names once, in its ``__init__.pyi``, one line per name, which type checkers read too:

    from rankgauge.comparison.compare import compare as compare
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

LINE = re.compile(r"^from (?P<module>[\w.]+) import (?P<name>\w+) as (?P=name)$", re.MULTILINE)


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the stub beside its ``__init__.py``."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {match["name"]: match["module"] for match in LINE.finditer(stub)}
    names = sorted(homes)

    def get_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return get_attribute, lambda: names, names
