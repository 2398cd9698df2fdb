"""What is absent or broken is skipped with its reason, and is a failure where it is required."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.needs import require, working_library

BROKEN = "import ast\nast.NoSuchNode\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a library that this Python cannot import."""
    (tmp_path / "broken_library.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("REQUIRE", raising=False)
    return "broken_library"


def divide_by_zero(_: Any) -> None:
    1 / 0  # noqa: B018 - the error is what is wanted


def test_a_library_that_cannot_be_imported_or_used_is_skipped_with_the_reason(library: str) -> None:
    python = f"does not work with Python {sys.version.split()[0]}: "
    with pytest.raises(pytest.skip.Exception, match=f"{library} {python}AttributeError: .*NoSuchNode"):
        working_library(library, str)
    with pytest.raises(pytest.skip.Exception, match=f"json {python}ZeroDivisionError"):
        working_library("json", divide_by_zero)
    assert working_library("json", str).loads("1") == 1


def test_what_is_required_fails_instead(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", f"java {library}")
    with pytest.raises(pytest.fail.Exception, match=f"{library} is required: .*NoSuchNode"):
        working_library(library, str)
    with pytest.raises(pytest.fail.Exception, match="java is required: java is not here: install it"):
        require("java", present=False, remedy="install it")
    require("java", present=True)
    with pytest.raises(pytest.skip.Exception, match=r"^browser is not here$"):
        require("browser", present=False)
