"""TREC topics as NIST writes them, given to every command that reads queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

TOPICS = """\
<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  Engineering
<title> Topic:  wind tunnel
<desc> Description:
Document will report on tests in a wind tunnel,
in one paragraph or more.

<narr> Narrative:
A relevant document names the tunnel.
</top>

<top>
<head> Tipster Topic Description
<num> Number:  052
<dom> Domain:  Physics
<title> Topic:  heat transfer
<desc> Description:
Document will report on heat.
</top>


<top>
<num> Number: 301
<dom> Domain: Physics
<title> frozen pipes

<desc> Description:
Document will report on ice.

</top>
"""
CORPUS = {
    "a": "tests in a wind tunnel",
    "b": "a wind from the north",
    "c": "heat transfer in metal",
    "d": "pipes that were frozen",
}
QRELS = "051 0 a 1\n051 0 b 0\n052 0 c 1\n301 0 d 1\n"
RUN = "051 Q0 a 1 2 t\n051 Q0 b 2 1 t\n052 Q0 b 1 2 t\n052 Q0 c 2 1 t\n301 Q0 d 1 1 t\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    documents = [json.dumps({"_id": name, "text": text}) + "\n" for name, text in CORPUS.items()]
    files = {"topics": TOPICS, "corpus.jsonl": "".join(documents), "qrels": QRELS, "run": RUN}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_topics_of_an_evaluation(command: Command) -> None:
    done = command("evaluate", "qrels", "run", "--queries", "topics", "--by", "dom", "-m", "RR", "--set", "kpi=none")
    assert done.code == 0, done.err
    assert "\nEngineering  RR " in done.out
    assert "\nPhysics      RR " in done.out


def test_topics_of_a_comparison(command: Command) -> None:
    Path("worse").write_text(RUN.replace("051 Q0 a 1 2", "051 Q0 a 3 0"), encoding="utf-8")
    done = command(
        "compare", "qrels", "run", "worse", "--queries", "topics", "--by", "dom", "-m", "RR", "--set", "kpi=none"
    )
    assert done.code == 0, done.err
    assert "\nPhysics  RR " in done.out
    assert "051  “wind tunnel”" in done.out  # among the largest changes


def test_queries_of_a_fetched_run(command: Command) -> None:
    pytest.importorskip("bm25s")
    done = command("runs", "fetch", "--corpus", "corpus.jsonl", "--queries", "topics", "--k", 1, "-o", "made")
    assert done.code == 0, done.err
    assert [line.split()[:3] for line in Path("made").read_text().splitlines()] == [
        ["051", "Q0", "a"], ["052", "Q0", "c"], ["301", "Q0", "d"],
    ]  # fmt: skip


def test_queries_of_a_benchmark(command: Command) -> None:
    pytest.importorskip("bm25s")
    done = command(
        "benchmark", "run", "--corpus", "corpus.jsonl", "--queries", "topics", "--qrels", "qrels",
        "--retriever", "lexical", "--latency", 0, "-m", "RR@10", "--by", "dom", "-o", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "1.0000" in done.out
    assert command("benchmark", "verify", "out").code == 0


def test_queries_that_a_run_must_answer(command: Command) -> None:
    assert command("runs", "validate", "run", "--queries", "topics").out == "run: clean, 5 rows, 3 queries\n"
    Path("run").write_text(RUN.replace("052", "52"), encoding="utf-8")
    done = command("runs", "validate", "run", "--queries", "topics")
    assert done.code == 1
    assert "ids-zeros (1)" in done.out
    Path("run").write_text(RUN.replace("301", "302"), encoding="utf-8")
    done = command("runs", "validate", "run", "--queries", "topics")
    assert done.code == 1
    assert "queries-missing (1)" in done.out


def test_queries_that_judgments_are_for(command: Command) -> None:
    Path("qrels").write_text(QRELS + "999 0 a 1\n", encoding="utf-8")
    assert "queries-unknown (1)" in command("runs", "validate", "--labels", "qrels", "--queries", "topics").out
