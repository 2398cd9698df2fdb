"""What tests need that may be absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def require(what: str, present: bool, *, remedy: str | None = None) -> None:
    """Skip where something is absent, but fail where the environment says that it must be there."""
    if present:
        return
    advice = "" if remedy is None else f": {remedy}"
    if what in os.environ.get("REQUIRE", "").split():
        pytest.fail(f"{what} is required and not here{advice}")
    pytest.skip(f"{what} is not here{advice}")
