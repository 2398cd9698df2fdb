from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def workshop(tmp_path: Path, command: Command) -> Path:
    command("demo", "--copy", tmp_path / "w")
    return tmp_path / "w"
