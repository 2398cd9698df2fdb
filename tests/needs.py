"""What tests need that may be absent."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parents[1]


def require(what: str, present: bool, *, remedy: str | None = None) -> None:
    """Skip where something is absent, but fail where the environment says that it must be there."""
    if not present:
        _skip(what, f"{what} is not here" + ("" if remedy is None else f": {remedy}"))


def working_library(name: str, use: Callable[[Any], object]) -> Any:
    """Import a library and use it once; skip where it is absent or does not work with this Python, and say why."""
    try:
        library = importlib.import_module(name)
        use(library)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        _skip(name, f"{name} does not work with Python {platform.python_version()}: {problem}")
    return library


def _skip(what: str, reason: str) -> NoReturn:
    if what in os.environ.get("REQUIRE", "").split():
        pytest.fail(f"{what} is required: {reason}")
    pytest.skip(reason, allow_module_level=True)
