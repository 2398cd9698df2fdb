"""A command that only reads files has one thread, and nothing else changes the process it runs in."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from rankgauge.cli import main
from rankgauge.cli.command_tree import cli

Command = Callable[..., Any]


@pytest.mark.parametrize("name", cli.lazy)
def test_the_one_line_helps_are_those_of_the_commands(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert (command.help or "").splitlines()[0] == cli.one_line_helps()[name]


def test_help_lists_every_command(command: Command) -> None:
    outcome = command("--help")
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert all(text in said for text in cli.one_line_helps().values())


def test_a_misspelt_command_gets_a_suggestion(command: Command) -> None:
    outcome = command("evalute")
    assert outcome.code == 64
    assert outcome.err == "error: no command 'evalute'; did you mean evaluate?\nhint: rankgauge --help\n"


@pytest.mark.parametrize(
    ("arguments", "named", "usage"),
    [
        (("gate", "q", "a", "b"), "(b)", ["usage: rankgauge gate [OPTIONS] LABELS [RESULTS]"]),
        (("convert", "q", "-o", "x"), "-o", ["usage: rankgauge convert [OPTIONS] IN OUT"]),
        (("evaluate", "q", "r", "-l", "two"), "expected a number of at least 0, found 'two'", []),
    ],
)
def test_a_wrong_call_shows_how_to_call_the_command(
    arguments: tuple[str, ...], named: str, usage: list[str], command: Command
) -> None:
    outcome = command(*arguments)
    assert outcome.code == 64
    message, *rest = map(str.rstrip, outcome.err.splitlines())
    assert message.startswith("error: ")
    assert named in message  # the sentence is click's
    assert rest == [*usage, f"hint: rankgauge {arguments[0]} --help"]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("compare a b --baseline a --baseline b", "--baseline is given 2 times", ""),
        ("evaluate a b --queries c --queries d --queries e", "--queries is given 3 times", ""),
        ("gate a --config a.yaml --config b.yaml", "--config is given 2 times", ""),
    ],
)
def test_an_input_that_is_named_twice_is_refused_because_only_the_last_would_be_read(
    arguments: str, message: str, hint: str, command: Command
) -> None:
    outcome = command(*arguments.split())
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith(f"error: {message}, and takes one\n{hint}")


def test_measures_are_listed_and_explained(command: Command) -> None:
    listed = command("measures").out
    assert "Bpref" in listed
    explained = command("measures", "ndcg_cut").out
    for part in ("formula", "parameters  cutoff=none", "'linear' or 'exp'", "reference", "trec_eval   ndcg, ndcg_cut"):
        assert part in explained
    assert "P@cutoff" in command("measures", "Precision").out
    assert "IPrec@recall" in command("measures", "iprec").out
    assert "NumRelRet" in command("measures", "hits").out
    assert command("measures", "rag").code == 64
    outcome = command("measures", "ndgc")
    assert outcome.code == 64
    assert "did you mean" in outcome.err


def test_a_closed_pipe_ends_quietly() -> None:
    code = (
        "import os, subprocess, sys\n"
        "pipe = subprocess.PIPE\n"
        "p = subprocess.Popen([sys.executable, '-m', 'rankgauge', 'measures'], stdout=pipe, stderr=pipe)\n"
        "p.stdout.close()\n"
        "err = p.stderr.read()\n"
        "print(p.wait(), err)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "141 b''\n"


def test_an_interrupt_exits_130(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import rankgauge.cli.commands.measures as module

    def interrupted() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "listing", interrupted)
    assert command("measures").code == 130


def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "rankgauge", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rankgauge ")


def test_the_verbose_version_names_the_scanner(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankgauge.core import compiled

    assert command("--version").out.count("\n") == 1
    found = command("--verbose", "--version")
    assert found.out.splitlines()[1] == f"scanner: {compiled.describe()}"
    assert command("--version", "--verbose").out == found.out
    monkeypatch.setattr(compiled, "scanner", None)
    monkeypatch.setattr(compiled, "_reason", "no C compiler was found when rankgauge was installed")
    assert "scanner: python (no C compiler was found" in command("--version", "--verbose").out
    assert command("--verbose", "measures").code == 64


@pytest.mark.parametrize("choice", ["python", ""])
def test_an_environment_variable_forces_the_scanner_of_python(choice: str) -> None:
    environment = {**os.environ, "RANKGAUGE_SCANNER": choice}
    code = "from rankgauge.core import compiled; print(compiled.scanner is None, compiled.describe())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("True python (RANKGAUGE_SCANNER=python)") == (choice == "python")


def test_an_extension_of_another_version_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import ModuleType

    from rankgauge.core import compiled

    stale = ModuleType("rankgauge.core.compiled._scanner")
    monkeypatch.setitem(sys.modules, stale.__name__, stale)
    monkeypatch.setattr(compiled, "_scanner", stale, raising=False)
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    assert compiled._load() == (None, "the compiled one is of another version: install rankgauge again")


@pytest.fixture(autouse=True)
def _collection() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in main.THREAD_VARIABLES:
        monkeypatch.setenv(name, "")  # so that it is restored whatever a test does
        monkeypatch.delenv(name)


def values() -> list[str | None]:
    return [os.environ.get(name) for name in main.THREAD_VARIABLES]


@pytest.mark.parametrize(
    "words", ["evaluate q r", "trec_eval -q q r", "runs validate r", "runs validate --labels q", "convert a b"]
)
def test_commands_that_read_files_have_one_thread(words: str) -> None:
    main.start_fast(words.split())
    assert values() == ["1", "1"]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--help",
        "benchmark run",
        "runs fetch x",
        "compare q a b",
        "gate q a b",
        "demo",
        "evaluate c m:f",
        "evaluate c search.yaml",
    ],
)
def test_retrievers_and_resampling_keep_their_threads(words: str) -> None:
    main.start_fast(words.split())
    assert values() == [None, None]


def test_the_choice_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    main.start_fast(["evaluate", "q", "r"])
    assert values() == ["4", "1"]


def test_a_command_rarely_searches_for_cycles() -> None:
    main.start_fast(["evaluate", "q", "r"])
    assert gc.isenabled()
    assert gc.get_threshold()[0] == main.COLLECTION_THRESHOLD


def test_the_library_leaves_threads_alone() -> None:
    use = "import os, rankgauge; rankgauge.evaluate({'1': {'a': 1}}, {'1': {'a': 1.0}}, ['RR'])"
    code = f"{use}; print([os.environ.get(name) for name in {main.THREAD_VARIABLES!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[None, None]\n"
