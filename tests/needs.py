"""What tests need that may be absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def require(what: str, present: bool, reason: str = "") -> None:
    """Skip where something is absent, but fail where the environment says that it must be there."""
    if present:
        return
    because = f": {reason}" if reason else ""
    if what in os.environ.get("REQUIRE", "").split():
        pytest.fail(f"{what} is required and not here{because}")
    pytest.skip(f"{what} is not here{because}")
