"""A command that only reads files has one thread, and nothing else changes the process it runs in."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from rankgauge.cli import startup


@pytest.fixture(autouse=True)
def _collection() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in startup.THREAD_VARIABLES:
        monkeypatch.setenv(name, "")  # so that it is restored whatever a test does
        monkeypatch.delenv(name)


def values() -> list[str | None]:
    return [os.environ.get(name) for name in startup.THREAD_VARIABLES]


@pytest.mark.parametrize(
    "words", ["evaluate q r", "trec_eval -q q r", "runs validate r", "qrels validate q", "convert a b"]
)
def test_commands_that_read_files_have_one_thread(words: str) -> None:
    startup.prepare(words.split())
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
        "evaluate --retriever m:f --cases c",
        "evaluate --retriever=m:f --cases c",
    ],
)
def test_retrievers_and_resampling_keep_their_threads(words: str) -> None:
    startup.prepare(words.split())
    assert values() == [None, None]


def test_the_choice_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    startup.prepare(["evaluate", "q", "r"])
    assert values() == ["4", "1"]


def test_a_command_rarely_searches_for_cycles() -> None:
    startup.prepare(["evaluate", "q", "r"])
    assert gc.isenabled()
    assert gc.get_threshold()[0] == startup.COLLECTION_THRESHOLD


def test_the_library_leaves_threads_alone() -> None:
    use = "import os, rankgauge; rankgauge.evaluate({'1': {'a': 1}}, {'1': {'a': 1.0}}, ['RR'])"
    code = f"{use}; print([os.environ.get(name) for name in {startup.THREAD_VARIABLES!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[None, None]\n"
