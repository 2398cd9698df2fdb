"""Completion: what comes next, asked for directly and by real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripts.completion_data import completion_data, measure_names

from rankgauge.cli.commands.completion import candidates
from rankgauge.measures.names import parse_measures
from tests.needs import require

Command = Callable[..., Any]
DATA = Path(__file__).parents[2] / "src" / "rankgauge" / "data"


def words(line: str) -> list[str]:
    """The candidates for the end of a line."""
    return [word for word, _ in candidates(line.split(" ")[1:])]


@pytest.fixture(autouse=True)
def in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\n")
    Path("my.run").write_text("q1 Q0 a 1 1 mine\n")
    Path("queries.jsonl").write_text('{"_id": "q1", "text": "a", "category": "x", "difficulty": "easy"}\n')
    Path("rankgauge.yaml").write_text(
        "collection: {queries: q.jsonl}\n\nretrievers:  # two\n  lexical:\n    mode: lexical\n  'mine': {mode: x}\n"
    )


def test_the_data_are_those_of_the_commands() -> None:
    stored = (DATA / "completion.json").read_text(encoding="utf-8")
    assert stored == completion_data(), "run make docs"


def test_every_measure_that_is_offered_can_be_parsed() -> None:
    names = measure_names()
    for name in (*names["plain"], *(f"{family}@10" for family in names["cutoff"])):
        assert parse_measures(name)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankgauge ev", ["evaluate"]),
        ("rankgauge runs ", ["fetch", "validate"]),
        ("rankgauge history tr", ["trend"]),
        ("rankgauge evaluate --per", ["--per-query"]),
        ("rankgauge evaluate qrels.txt my.run --format j", ["json", "jsonl"]),
        ("rankgauge evaluate --format=j", ["--format=json", "--format=jsonl"]),
        ("rankgauge evaluate --format nosuch", []),
        ("rankgauge evaluate -m nDCG@1", ["nDCG@1", "nDCG@10", "nDCG@100", "nDCG@1000"]),
        ("rankgauge evaluate -m nDCG@5,1", ["nDCG@5,1", "nDCG@5,10", "nDCG@5,100", "nDCG@5,1000"]),
        ("rankgauge evaluate -m offi", ["official"]),
        ("rankgauge evaluate -m ndcg", ["nDCG", "nDCG@", "nDCGRel"]),
        ("rankgauge measures Bp", ["Bpref"]),
        ("rankgauge evaluate q", [":files"]),
        ("rankgauge evaluate --config ", [":files"]),
        ("rankgauge benchmark run -o ", [":folders"]),
        ("rankgauge convert a b --to tr", ["trec"]),
        ("rankgauge runs fetch --config rankgauge.yaml --retriever ", ["lexical", "mine", "vector", "hybrid"]),
        ("rankgauge benchmark run rankgauge.yaml --retriever m", ["mine"]),
        ("rankgauge benchmark run other.yaml --retriever m", [":files"]),
        ("rankgauge runs fetch --retriever v", ["vector"]),
        ("rankgauge runs fetch --retriever ./s", [":files"]),
        ("rankgauge compare q a b --queries queries.jsonl --by ", ["category", "difficulty"]),
        ("rankgauge completion ", ["bash", "zsh", "fish"]),
        ("rankgauge evaluate --seed ", [":files"]),  # evaluate has no --seed, so this is a file
        ("rankgauge compare --seed ", []),
        ("rankgauge nosuch ", []),
    ],
)
def test_what_comes_next(line: str, expected: list[str]) -> None:
    assert words(line) == expected


def test_entries_and_tags_of_the_history_are_offered(command: Command) -> None:
    assert words("rankgauge history show ") == []
    done = command("evaluate", "qrels.txt", "my.run", "--save", "--tag", "first", "--date", "2026-11-02")
    assert done.code == 0, done.err
    assert words("rankgauge history show ") == ["2026-11-02", "first", "latest"]
    assert words("rankgauge history list --tag f") == ["first"]
    assert words("rankgauge history list --system ") == ["mine"]
    Path(".rankgauge/history.db").write_bytes(b"not a database")
    assert words("rankgauge history show ") == []


def test_completing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from rankgauge.cli.main import run\n"
        "run(['completion', 'candidates', '--', 'evaluate', '-m', 'n'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"numpy", "scipy", "yaml", "pydantic", "rich"}
    assert done.stdout.startswith("nDCG")


def test_a_script_is_printed_for_each_shell(command: Command) -> None:
    for shell in ("bash", "zsh", "fish"):
        done = command("completion", shell)
        assert done.code == 0
        assert "completion candidates --" in done.out
    assert command("completion", "tcsh").code == 64
    assert command("completion", "bash", "zsh").code == 64


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which rankgauge is a program."""
    program = tmp_path / "bin" / "rankgauge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rankgauge "$@"\n')
    program.chmod(0o755)
    (tmp_path / "my documents").mkdir()
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "TERM": "dumb"}


BASH = """
source <(rankgauge completion bash)
COMP_LINE="$1"; COMP_POINT=${#COMP_LINE}
_rankgauge_complete 2> /dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rankgauge eval", ["evaluate"]),
        ("rankgauge evaluate -m nDCG@10", ["10", "100", "1000"]),  # bash keeps what is before the @
        ("rankgauge evaluate --format=cs", ["csv"]),
        ("rankgauge evaluate q", ["qrels.txt", "queries.jsonl"]),
        ("rankgauge benchmark run --out=my", ["my documents"]),
        ("rankgauge runs fetch --config rankgauge.yaml --retriever ", ["hybrid", "lexical", "mine", "vector"]),
    ],
)
def test_bash_completes(line: str, expected: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", line], env=environment, capture_output=True, text=True, check=False
    )
    assert sorted(done.stdout.splitlines()) == expected, done.stderr


def typed(shell: list[str], setup: str, keys: str, expected: str, environment: dict[str, str]) -> str:
    """What a shell on a terminal shows after some keys, up to what is expected or for ten seconds."""
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
    data, end = b"", time.monotonic() + 10
    while expected not in data.decode(errors="replace") and time.monotonic() < end:
        if select.select([handle], [], [], 0.1)[0]:
            data += os.read(handle, 4096)
    return data.decode(errors="replace")


def test_the_tab_key_works_in_bash(environment: dict[str, str]) -> None:
    shell = ["bash", "--norc", "--noprofile", "-i"]
    setup = "source <(rankgauge completion bash)"
    shown = typed(shell, setup, "rankgauge evaluate qre\t my.r\t --forma\tcs\t", "--format csv ", environment)
    assert "rankgauge evaluate qrels.txt  my.run  --format csv " in shown.replace("\x07", "")


def test_the_tab_key_works_in_zsh(environment: dict[str, str]) -> None:
    require("shells", shutil.which("zsh") is not None, remedy="`make test-deps` installs zsh and fish")
    setup = "autoload -Uz compinit && compinit -u && source <(rankgauge completion zsh)"
    shown = typed(["zsh", "-f", "-i"], setup, "rankgauge evaluate --forma\tcs\t", "csv", environment)
    assert "--format" in shown
    assert "csv" in shown


@pytest.mark.parametrize(
    ("line", "expected"), [("rankgauge eval", "evaluate"), ("rankgauge evaluate --format cs", "csv")]
)
def test_fish_completes(line: str, expected: str, environment: dict[str, str]) -> None:
    require("shells", shutil.which("fish") is not None, remedy="`make test-deps` installs zsh and fish")
    script = f"rankgauge completion fish | source; complete -C '{line}'"
    done = subprocess.run(["fish", "-N", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split("\t")[0].strip() == expected, done.stderr
