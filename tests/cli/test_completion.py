"""Completion: what comes next, asked for as a shell asks, and by the Tab key of real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from rankgauge.cli.command_tree import cli
from rankgauge.cli.main import COMPLETION_VARIABLE
from tests.needs import require


def next_words(line: str) -> list[str]:
    """What the last word of a line can become, as click tells every shell; a path is ``:file``."""
    *before, current = line.split(" ")[1:]
    items = ShellComplete(cli, {}, "rankgauge", COMPLETION_VARIABLE).get_completions(before, current)
    return [item.value if item.type == "plain" else f":{item.type}" for item in items]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankgauge ev", ["evaluate"]),
        ("rankgauge runs ", ["fetch", "validate"]),
        ("rankgauge history tr", ["trend"]),
        ("rankgauge evaluate --per", ["--per-query"]),
        ("rankgauge evaluate qrels.txt my.run --format j", ["json", "jsonl"]),
        ("rankgauge evaluate --format=j", ["json", "jsonl"]),
        ("rankgauge evaluate --format nosuch", []),
        ("rankgauge evaluate q", [":file"]),
        ("rankgauge evaluate --config ", [":file"]),
        ("rankgauge compare --queries a --queries b --format lat", ["latex"]),  # given twice, which is an error
        ("rankgauge trec_eval q", [":file"]),
        ("rankgauge --ver", ["--version"]),
        ("rankgauge --version ev", ["evaluate"]),
        ("rankgauge pool --seed ", []),
        ("rankgauge nosuch --", ["--version", "--help"]),
    ],
)
def test_what_comes_next(line: str, expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert next_words(line) == expected
    assert capsys.readouterr().out == ""


def test_completing_a_command_imports_none() -> None:
    code = "import sys; from rankgauge.cli.main import run; run(); print(*sys.modules, file=sys.stderr)"
    asked = {COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": "rankgauge ev", "COMP_CWORD": "1"}
    environment = {**os.environ, **asked}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"numpy", "scipy", "yaml", "pydantic", "rich"}
    assert not [name for name in loaded if name.startswith("rankgauge.cli.commands.")]
    assert done.stdout.split() == ["plain,evaluate"]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment in which rankgauge is a program, in a folder with two files."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\n")
    Path("my.run").write_text("q1 Q0 a 1 1 mine\n")
    program = tmp_path / "bin" / "rankgauge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rankgauge "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "TERM": "dumb"}


def typed(shell: list[str], setup: str, keys: str, expected: str, environment: dict[str, str]) -> str:
    """What a shell on a terminal shows after some keys, up to what is expected or for twenty seconds."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        shell, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        os.write(ours, f"{setup}; echo rea''dy\n".encode())
        read_until(ours, "ready\r\n")
        os.write(ours, keys.encode())
        return read_until(ours, expected)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(handle: int, expected: str) -> str:
    data, end = b"", time.monotonic() + 20
    while expected not in data.decode(errors="replace") and time.monotonic() < end:
        if select.select([handle], [], [], 0.1)[0]:
            data += os.read(handle, 4096)
    return data.decode(errors="replace")


def test_the_tab_key_works_in_bash(environment: dict[str, str]) -> None:
    shell = ["bash", "--norc", "--noprofile", "-i"]
    setup = 'eval "$(_RANKGAUGE_COMPLETE=bash_source rankgauge)"'
    keys = "rankgauge eval\tqre\tmy.r\t--forma\tcs\t"
    shown = typed(shell, setup, keys, "--format csv ", environment)
    assert "rankgauge evaluate qrels.txt my.run --format csv " in shown.replace("\x07", "")


def test_the_tab_key_works_in_zsh(environment: dict[str, str]) -> None:
    require("shells", shutil.which("zsh") is not None, remedy="`make test-deps` installs zsh and fish")
    setup = 'autoload -Uz compinit && compinit -u && eval "$(_RANKGAUGE_COMPLETE=zsh_source rankgauge)"'
    shown = typed(["zsh", "-f", "-i"], setup, "rankgauge evaluate --forma\tcs\t", "csv", environment)
    assert "--format" in shown
    assert "csv" in shown


@pytest.mark.parametrize(
    ("line", "expected"), [("rankgauge eval", "evaluate"), ("rankgauge evaluate --format cs", "csv")]
)
def test_fish_completes(line: str, expected: str, environment: dict[str, str]) -> None:
    require("shells", shutil.which("fish") is not None, remedy="`make test-deps` installs zsh and fish")
    script = f"_RANKGAUGE_COMPLETE=fish_source rankgauge | source; complete -C '{line}'"
    done = subprocess.run(["fish", "-N", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split("\t")[0].strip() == expected, done.stderr
