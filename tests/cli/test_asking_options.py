"""``runs fetch`` and ``benchmark run`` ask a retriever with the options of ``evaluate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.cli.commands.benchmark import benchmark_run_command
from rankgauge.cli.commands.evaluate import evaluate_command
from rankgauge.cli.commands.fetch import runs_fetch_command
from tests.conftest import Outcome

Command = Callable[..., Outcome]
MODULE = """
attempts = {}

class Chunk:
    def __init__(self, document, number, score):
        self.id, self.metadata, self.score = None, {"source": document, "page": f"{document}-{number}"}, score

def chunks(query, k):
    pages = [("x", 0), ("x", 1), ("y", 0), (f"d{query[1:]}", 0)]
    return [Chunk(document, number, rank / 10) for rank, (document, number) in enumerate(pages[:k])]

def shaky(query):
    attempts[query] = attempts.get(query, 0) + 1
    if query == "q1" and attempts[query] < 3:
        raise ConnectionError("down")
    return ["d" + query[1:]]

def dead(query):
    return None if query == "q1" else ["d" + query[1:]]

def good(query):
    return ["x", "d" + query[1:]]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_asked_app.py").write_text(MODULE)
    names = [f"q{number}" for number in range(4)]
    tables: dict[str, list[dict[str, Any]]] = {
        "queries.jsonl": [{"_id": name, "text": name} for name in names],
        "cases.jsonl": [{"id": name, "query": name, "relevant_ids": [f"d{name[1:]}"]} for name in names],
        "corpus.jsonl": [{"_id": f"d{name[1:]}", "text": name} for name in names],
    }
    for file, rows in tables.items():
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels").write_text("".join(f"{name} 0 d{name[1:]} 1\n" for name in names))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_asked_app", raising=False)
    monkeypatch.setattr("rankgauge.retrieval.asking.failures.FIRST_PAUSE", 0.001)
    return tmp_path


def live(command: Command, function: str, *options: str) -> dict[str, Any]:
    words = ["cases.jsonl", f"my_asked_app:{function}", "--format", "json", "-m", "RR"]
    done = command("evaluate", *words, *options)
    return dict(json.loads(done.out)["runs"][0])


def fetch(command: Command, function: str, *options: str) -> Outcome:
    words = ["--retriever", f"my_asked_app:{function}", "--queries", "queries.jsonl", "-o", "run.trec"]
    return command("runs", "fetch", *words, *options)


def benchmark(command: Command, *options: str) -> tuple[Outcome, dict[str, Any]]:
    inputs = ["--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "--qrels", "qrels", "--latency", "0"]
    done = command("benchmark", "run", *inputs, "-m", "RR", "-o", "out", *options)
    path = Path("out/BenchmarkReport.json")
    runs = json.loads(path.read_bytes())["scores"]["runs"] if path.exists() else []
    return done, {run["name"]: run for run in runs}


def test_the_three_commands_have_the_same_options_of_asking() -> None:
    names = ("id", "unit", "scores", "fetch", "concurrency", "timeout", "retries", "max_failures")
    options = [
        {option.name: (option.opts, option.default, option.type.name) for option in command.params}
        for command in (evaluate_command, runs_fetch_command, benchmark_run_command)
    ]
    for name in names:
        assert options[0][name] == options[1][name] == options[2][name]


def test_ids_units_and_scores_are_read_alike(files: Path, command: Command) -> None:
    documents = ("--set", "retriever.id=metadata.source", "--set", "retriever.unit=document")
    for keys, expected in (
        (("retriever.fetch=4",), 1 / 3),
        (("retriever.fetch=4", "reading.scores=similarity"), 1.0),
        (("retriever.fetch=2",), 0.0),
        (("retriever.fetch=4", "reading.scores=distance"), 1 / 3),
    ):
        options = (*documents, *(word for key in keys for word in ("--set", key)))
        assert live(command, "chunks", "--k", "3", *options)["measures"]["RR"]["value"] == expected
        assert fetch(command, "chunks", "--k", "3", *options).code == 0
        done = command("evaluate", "qrels", "run.trec", "-m", "RR", "--format", "json")
        assert json.loads(done.out)["runs"][0]["measures"]["RR"]["value"] == expected
        _, runs = benchmark(command, "--retriever", "my_asked_app:chunks", "--k", "3", *options)
        if expected:
            assert runs["chunks"]["measures"]["RR"]["value"] == expected
    refused = fetch(command, "chunks")
    assert (refused.code, "id='metadata.source'" in refused.err) == (2, True), refused.err


def test_contradicting_scores_and_collapsed_chunks_are_reported(files: Path, command: Command) -> None:
    done = fetch(
        command, "chunks", "--k", "4", "--set", "retriever.id=metadata.source", "--set", "retriever.unit=document"
    )
    assert "warning: scores ascend in 4 of 4 queries, as distances do" in done.err
    assert "[score-order]" in done.err
    assert "warning: 16 chunks collapsed into 12 documents: 4 dropped [chunks-collapsed]" in done.err


def test_retries_succeed_in_every_command(files: Path, command: Command) -> None:
    assert live(command, "shaky", "--set", "retriever.retries=2")["queries"]["failed"] == 0
    sys.modules.pop("my_asked_app")
    assert fetch(command, "shaky", "--set", "retriever.retries=2").code == 0
    sys.modules.pop("my_asked_app")
    done, runs = benchmark(command, "--retriever", "my_asked_app:shaky", "--set", "retriever.retries=2")
    assert done.code is None or done.code == 0, done.err
    assert runs["shaky"]["measures"]["RR"]["value"] == 1


def test_failures_are_refused_or_allowed_in_every_command(files: Path, command: Command) -> None:
    reason = "returned None, expected a list of documents"
    assert live(command, "dead")["calls"]["errors"] == {"q1": reason}
    refused = fetch(command, "dead")
    assert refused.code == 1
    assert f"1 of the first 2 queries (of 4) failed, at most 0 may fail:\n  q1: {reason}\n" in refused.err
    assert not Path("run.trec").exists()
    allowed = fetch(command, "dead", "--max-failures", "1", "--manifest", "manifest.json")
    assert allowed.code == 0
    assert "wrote 3 results of 4 queries, 1 failed to run.trec; 1 answer reused from the journal" in allowed.err
    assert "[queries-failed]" in allowed.err
    assert json.loads(Path("manifest.json").read_bytes())["failed"] == {"q1": reason}
    both = ("--retriever", "my_asked_app:good", "--retriever", "my_asked_app:dead")
    done, runs = benchmark(command, *both)
    assert (done.code, list(runs)) == (2, ["good"])
    assert f"q1: {reason}" in done.out


def test_a_benchmark_stores_which_queries_failed(files: Path, command: Command) -> None:
    both = ("--retriever", "my_asked_app:good", "--retriever", "my_asked_app:dead")
    done, runs = benchmark(command, *both, "--max-failures", "1")
    assert done.code == 0, done.err
    assert "1 query failed: not averaged: 'q1'" in done.out
    assert runs["dead"]["queries"] == {"averaged": 3, "missing": 0, "failed": 1, "without_relevant": 0}
    assert (
        runs["dead"]["measures"]["RR"] | {"value": 1.0, "n": 3, "failed_as_zero": 0.75}
        == runs["dead"]["measures"]["RR"]
    )
    assert "failed_as_zero" not in runs["good"]["measures"]["RR"]
    assert command("benchmark", "verify", "out").code == 0


def test_a_configuration_has_the_same_keys(files: Path, command: Command) -> None:
    Path("rankgauge.yaml").write_text(
        "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels}\n"
        "retrievers:\n"
        "  pages: {mode: 'my_asked_app:chunks', id: metadata.page, scores: distance, concurrency: 2, timeout: 9}\n"
        "  shaky: {mode: 'my_asked_app:dead', retries: 1}\n"
        "benchmark: {latency: 0, max_failures: 1}\n"
    )
    assert command("benchmark", "run", "rankgauge.yaml", "-o", "out").code == 0
    manifest = json.loads(Path("out/ExperimentManifest.json").read_bytes())
    pages, shaky = manifest["method"]["retrieval"]
    assert (pages["params"]["id"], pages["params"]["scores"], pages["failed queries"]) == (
        "metadata.page",
        "distance",
        {},
    )
    assert list(shaky["failed queries"]) == ["q1"]
    assert command("runs", "fetch", "--config", "rankgauge.yaml", "--retriever", "pages", "-o", "pages.trec").code == 0
    assert Path("pages.trec").read_text().splitlines()[0].startswith("q0 Q0 x-0 1 ")
    refused = command("benchmark", "run", "rankgauge.yaml", "--set", "retriever.retries=2", "-o", "out")
    assert (refused.code, "--set retriever.retries cannot be combined with a configuration" in refused.err) == (
        64,
        True,
    )


@pytest.mark.parametrize(
    "option",
    [
        ("--set", "retriever.unit=document"),
        ("--set", "reading.scores=ignore"),
        ("--set", "retriever.retries=1"),
        ("--set", "retriever.id=x"),
    ],
)
def test_an_option_of_asking_applies_to_a_callable_only(files: Path, command: Command, option: tuple[str, str]) -> None:
    for words in (
        ("runs", "fetch", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "-o", "run.trec"),
        ("benchmark", "run", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "--qrels", "qrels", "-o", "out"),
    ):
        done = command(*words, *option)
        name = f"--set {option[1].partition('=')[0]}"
        assert (done.code, f"{name} applies to a retriever of your own" in done.err) == (64, True), done.err
