"""A plain run is scanned in blocks; any other one is read as trec_eval reads it, and the output is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.adapters.trec_eval import report
from tests.adapters.trec_eval.test_cases import CASES, VERSIONS, arguments

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 d 1 2 x\n2 Q0 c 2 1 x\n"
Command = Callable[..., Any]


def never(*args: object, **names: object) -> Any:
    raise AssertionError("called")


def no_scan(path: str, qrels: object, compat: str) -> None:
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_scanned_and_read_runs_give_the_same_output(
    command: Command, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    scanned = [command(*arguments(case, version)) for case in CASES[::6]]
    monkeypatch.setattr(report, "_scan", no_scan)
    for case, outcome in zip(CASES[::6], scanned, strict=True):
        read = command(*arguments(case, version))
        assert (read.code, read.out, read.err) == (outcome.code, outcome.out, outcome.err)


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace("\n", "\r\n"),
        RUN.replace(" ", "\t"),
        RUN.replace("1 x", "1e0 x"),
        RUN.replace("a 1 2", "a 2 2"),
        RUN.replace("d 1", "d\u200b 1"),
        "\n" + RUN + "\n",
    ],
)
def test_a_plain_run_is_not_read_as_a_whole(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(report, "read_run", never)
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(text)
    outcome = command("trec_eval", "-m", "map", "-m", "runid", tmp_path / "q", tmp_path / "r")
    assert outcome.out == "runid                 \tall\tx\nmap                   \tall\t0.7500\n", outcome.err


@pytest.mark.parametrize(
    ("text", "compat", "value"),
    [
        ("\ufeff" + RUN, "trec_eval-9", "0.2500"),  # the mark is a part of the first query id
        (RUN.replace("2 1 x", "2 1x x"), "trec_eval-9", "0.7500"),
        (RUN.replace("1 2 x", "1 inf x"), "trec_eval-9", "0.7500"),
        (RUN.replace("\n", " more\n"), "trec_eval-9", "0.7500"),
        (RUN + "# Q0 a 1 2 y\n", "trec_eval-10", "0.7500"),
        (RUN + "2 Q0 d 9 0 y\n", "trec_eval-10", None),
    ],
)
def test_an_odd_run_is_read_as_trec_eval_reads_it(
    command: Command, tmp_path: Path, text: str, compat: str, value: str | None
) -> None:
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(text)
    outcome = command("trec_eval", "--compat", compat, "-m", "map", "-m", "runid", tmp_path / "q", tmp_path / "r")
    if value is None:
        assert outcome.code == 4
    else:
        assert f"map                   \tall\t{value}\n" in outcome.out
        assert "all\tx\n" in outcome.out


def test_standard_input_is_read_once(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    (tmp_path / "q").write_text(QRELS)
    for text in (RUN, RUN.replace("2 1 x", "2 1x x")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        outcome = command("trec_eval", "--compat", "trec_eval-10", "-m", "map", tmp_path / "q", "-")
        assert outcome.out == "map                   \tall\t0.7500\n", outcome.err
