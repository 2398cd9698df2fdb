"""The modules that a user names: what is wrong in them is reported with its line."""

from __future__ import annotations

import subprocess
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
    outcome = command("evaluate", "cases.jsonl", name)
    sys.modules.pop("mine", None)
    assert problem in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.code in (2, 64)


SHADOWED = [
    "rankgauge",
    "numpy",
    "json",
    "click",
    "yaml",
    "pydantic",
    "sqlite3",
    "csv",
    "hashlib",
    "fcntl",
    "zlib",
    "difflib",
]
TESTS = """
def test_anything():
    pass

def test_gate(retrieval_gate):
    retrieval_gate({"q": {"a": 1}}, {"q": ["a"]}, require="RR>=1")
    retrieval_gate("q.qrels", "r.trec", require="RR>=1", baseline="r.trec")
"""
HOSTILE = """
retrievers: {evil: {mode: "evil:find"}}
collection: {corpus: evil.py, queries: /etc/passwd, qrels: q.qrels}
"""


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["", TESTS], ids=["no tests", "tests that use the fixture"])
def test_the_pytest_plugin_imports_nothing_from_a_folder_that_shadows_its_modules(tmp_path: Path, tests: str) -> None:
    """What must hold: no file beside the tests is executed, the configuration there is not read, and a gate works.

    The command is ``pytest``: with ``python -m pytest``, Python itself puts the working folder on the path.
    """
    for name in [*SHADOWED, "evil"]:
        (tmp_path / f"{name}.py").write_text(f"open('executed-{name}', 'w').close()\n")
    (tmp_path / "rankgauge.yaml").write_text(HOSTILE)
    (tmp_path / "q.qrels").write_text("q 0 a 1\n")
    (tmp_path / "r.trec").write_text("q Q0 a 1 1 x\n")
    (tmp_path / "test_gate.py").write_text(tests)
    pytest_command = Path(sys.executable).with_name("pytest")
    done = subprocess.run(
        [sys.executable, pytest_command, "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(path.name for path in tmp_path.glob("executed-*")) == [], done.stdout
    assert done.returncode == (0 if tests else 5), done.stdout  # 5: no tests were collected
