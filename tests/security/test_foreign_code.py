"""The modules that a user names: what is wrong in them is reported with its line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("x = 1\ny = undefined", "mine.py:2: NameError: name 'undefined' is not defined"),
        ("def find(:", "mine.py:1: SyntaxError: invalid syntax"),
        ("import sys\nsys.exit('gone')", "mine.py:2: SystemExit: gone"),
        ("find = 3", "a retriever must be a function"),
    ],
)
@pytest.mark.parametrize("name", ["./mine.py:find", "mine:find"])
def test_an_error_in_the_users_module_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, source: str, problem: str, name: str
) -> None:
    (tmp_path / "mine.py").write_text(source)
    (tmp_path / "cases.jsonl").write_text('{"query": "one", "relevant_ids": ["d1"]}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    outcome = command("evaluate", "--retriever", name, "--cases", "cases.jsonl")
    sys.modules.pop("mine", None)
    assert problem in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.code in (2, 64)
