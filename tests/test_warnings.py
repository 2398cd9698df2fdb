"""What is accepted with a caveat is said once, in one line, and only if it says something."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import RankgaugeWarning, RetrievalEvaluator, errors, evaluate, evaluate_retriever
from rankgauge.cli.process import warnings_as_lines
from rankgauge.errors import warn_user

SOURCE = Path(__file__).parents[1] / "src" / "rankgauge"
ODD_ID = "expected ids of visible characters, found document 'a\\xa0b'"
SCRIPT = """\
import rankgauge, warnings
for _ in range(2):
    rankgauge.evaluate("qrels", "run", "RR")
    warnings.filterwarnings("ignore", message="something else")  # as libraries do when they are imported
rankgauge.read_run("run")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 x\nq Q0 a\u00a0b 2 1 x\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_a_script_sees_each_message_once_at_its_own_call_without_source_code(folder: Path) -> None:
    assert python(folder, "script.py").stderr == f"<script.py>:3: RankgaugeWarning: run:2: {ODD_ID}\n"


def test_filters_decide_as_for_any_warning(folder: Path) -> None:
    assert python(folder, "-W", "always", "script.py").stderr.count(ODD_ID) == 3
    assert python(folder, "-W", "ignore", "script.py").stderr == ""
    failed = python(folder, "-W", "error", "script.py")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == f"rankgauge.errors.RankgaugeWarning: run:2: {ODD_ID}"


def test_the_command_line_is_the_same_if_python_makes_warnings_errors(folder: Path) -> None:
    plain, strict = (
        python(folder, *words, "-m", "rankgauge", "evaluate", "qrels", "run") for words in ((), ("-Werror",))
    )
    assert (strict.returncode, strict.stdout, strict.stderr) == (0, plain.stdout, plain.stderr)
    assert f"warning: run:2: {ODD_ID} [input]" in strict.stderr.splitlines()


def test_a_warning_that_no_command_collects_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings_as_lines():
        warnings.simplefilter("always")
        for _ in range(2):
            warnings.warn("of a\nlibrary", UserWarning, stacklevel=1)
            warn_user("of rankgauge")
    assert capfd.readouterr().err == "warning: of a\\nlibrary\nwarning: of rankgauge\n"


def test_a_command_prints_the_same_warning_once(folder: Path, command: Callable[..., Any]) -> None:
    run = folder / "run"
    done = command("compare", folder / "qrels", run, run, "-m", "RR")
    assert done.err.count(ODD_ID) == 1


def test_only_one_place_issues_warnings() -> None:
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit")
    ]
    assert found == ["errors.py"]


def codes(qrels: Any, run: Any) -> list[str]:
    return [note.code for note in evaluate(qrels, run, "RR").notes]


@pytest.mark.parametrize(("unjudged", "is_said"), [(0, False), (1, False), (9, False), (10, True), (500, True)])
def test_a_share_of_unjudged_documents_is_a_caveat_from_one_percent(unjudged: int, is_said: bool) -> None:
    documents = [f"d{number}" for number in range(10)]
    judged = {f"q{number}": dict.fromkeys(documents, 0) for number in range(100)}
    for number in range(unjudged):
        del judged[f"q{number % 100}"][documents[number // 100]]
    for grades in judged.values():
        grades["relevant"] = 1
    assert codes(judged, dict.fromkeys(judged, documents)) == (["unjudged"] if is_said else [])


def test_labels_that_list_only_relevant_documents_say_nothing_of_the_unjudged() -> None:
    run = {"q": ["a", "x", "y"], "r": ["z", "b"]}
    assert codes({"q": {"a": 1}, "r": {"b": 2}}, run) == []
    assert codes({"q": {"a": 1}, "r": {"b": 2, "z": 0}}, run) == ["unjudged"]
    assert codes({"q": {"a": 1}, "r": {"b": 2, "z": -1}}, run) == ["negative-grades", "unjudged"]
    assert codes({"q": {"1": 1}, "r": {"2": 2}}, run) == ["nothing-judged"]


def test_a_rag_evaluation_says_nothing_of_unjudged_documents() -> None:
    cases = [{"query": "one", "relevant_ids": ["a"]}, {"query": "two", "relevant_ids": ["b"]}]
    assert evaluate_retriever(lambda query: ["a", "b", "c"], cases, 3).remarks == ()


def test_a_loop_over_queries_warns_of_repeats_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_issued", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        for query in range(3):
            RetrievalEvaluator().evaluate_single(["a"] * (query + 2), ["a"], 5)
    assert len(caught) == 1
    assert caught[0].category is RankgaugeWarning


def raised(category: type[Warning], module: str, text: str = "old") -> bool:
    """Whether a warning that is attributed to a module fails a test."""
    with warnings.catch_warnings(record=True):
        try:
            warnings.warn_explicit(text, category, "file.py", 1, module)
        except category:
            return True
    return False


@pytest.mark.parametrize("module", ["rankgauge", "rankgauge.core.run", "tests.conftest", "scripts.examples", __name__])
@pytest.mark.parametrize("category", [DeprecationWarning, PendingDeprecationWarning, UserWarning, FutureWarning])
def test_a_warning_from_our_code_fails_a_test(category: type[Warning], module: str) -> None:
    assert raised(category, module)


@pytest.mark.parametrize("module", ["ir_measures.util", "multiprocessing.popen_fork", "rankgauges", "ast"])
def test_a_warning_from_another_library_fails_no_test(module: str) -> None:
    assert not raised(DeprecationWarning, module)
    assert not raised(UserWarning, module)
    assert not raised(pytest.PytestDeprecationWarning, module)


def test_what_our_code_causes_fails_a_test_wherever_it_is_noticed() -> None:
    assert raised(ResourceWarning, "sqlite3", "unclosed database")
    assert raised(pytest.PytestUnraisableExceptionWarning, "_pytest.unraisableexception")
    assert raised(pytest.PytestUnhandledThreadExceptionWarning, "_pytest.threadexception")
    assert raised(RuntimeWarning, "asyncio.events", "coroutine 'search' was never awaited")
    assert raised(RuntimeWarning, "numpy._core.fromnumeric", "Mean of empty slice.")
    assert raised(RankgaugeWarning, "concurrent.futures.thread")
