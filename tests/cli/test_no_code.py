"""Code that a name refers to is announced before it is loaded, and refused with --no-code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import rankgauge.cli.commands
from rankgauge.retrieval.named_code import load_object

Command = Callable[..., Any]
MODULE = """
from pathlib import Path

Path("loaded").touch()  # whoever imports this runs it

def find(query, k=10):
    return ["d1"]

def embed(texts):
    return [[1.0] for _ in texts]

def rerank(query, documents):
    return [1.0 for _ in documents]

def grade(query, text):
    return 1
"""
CONFIG = """
collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}
retrievers:
  ours: {mode: "named_code:find"}
"""
FETCH = ("runs", "fetch", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "-o", "run.trec")
CALLS = {
    "a configured benchmark": ("benchmark", "run", "rankgauge.yaml", "-o", "out"),
    "a benchmark": ("benchmark", "run", "--corpus", ".", "--retriever", "named_code:find", "-o", "out"),
    "a configured fetch": ("runs", "fetch", "--config", "rankgauge.yaml", "-o", "run.trec"),
    "an embedder": (*FETCH, "--retriever", "vector", "--embedder", "named_code:embed"),
    "a reranker": (*FETCH, "--rerank", "named_code:rerank"),
    "a file": ("runs", "fetch", "--retriever", "./named_code.py:find", "--queries", "queries.jsonl", "-o", "run.trec"),
    "a retriever file": ("evaluate", "cases.jsonl", "retriever.yaml"),
    "a difference": ("diff", "old.trec", "named_code:find", "--queries", "queries.jsonl"),
    "a pool": ("pool", "named_code:find", "--queries", "queries.jsonl", "-o", "pool.jsonl"),
    "a judge": ("judge", "given.jsonl", "-o", "judgments.jsonl", "--judge", "named_code:grade"),
    "a live retriever": ("evaluate", "cases.jsonl", "named_code:find"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection with code beside it, which has not been loaded yet."""
    (tmp_path / "named_code.py").write_text(MODULE)
    (tmp_path / "rankgauge.yaml").write_text(CONFIG)
    (tmp_path / "retriever.yaml").write_text('mode: "named_code:find"\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "two"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n')
    (tmp_path / "qrels.trec").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "old.trec").write_text("q1 Q0 d1 1 1 old\n")
    (tmp_path / "given.jsonl").write_text('{"query_id": "q1", "doc_id": "d1", "query": "one", "text": "one"}\n')
    (tmp_path / "cases.jsonl").write_text(json.dumps({"query": "one", "relevant_ids": ["d1"]}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "named_code", raising=False)
    monkeypatch.delitem(sys.modules, "named_code.py", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", CALLS)
def test_code_is_announced_once(name: str, folder: Path, command: Command) -> None:
    done = command(*CALLS[name])
    place = f" from the working folder: {'./named_code.py:find' if name == 'a file' else 'named_code:'}"
    assert done.err.count(f"loading code{place}") == done.err.count("loading code") == 1, done.err
    assert (folder / "loaded").exists()


@pytest.mark.parametrize("name", CALLS)
def test_code_is_refused_with_no_code(name: str, folder: Path, command: Command) -> None:
    done = command(*CALLS[name], "--no-code")
    assert done.code == 64
    assert "is code, which --no-code refuses" in done.err
    assert "Traceback" not in done.err
    assert not (folder / "loaded").exists()
    assert "named_code" not in sys.modules


def test_built_in_retrievers_load_no_code(folder: Path, command: Command) -> None:
    done = command(*FETCH, "--no-code")
    assert done.code == 0, done.err
    assert "loading code" not in done.err


def test_python_code_that_names_code_may_load_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert load_object("named_code:find", "retriever")("one") == ["d1"]
    assert capsys.readouterr().err == ""


LOADERS = (
    "rankgauge.rag.live",
    "rankgauge.retrieval.engines.postgres_index",
    "rankgauge.retrieval.open_retriever",
    "rankgauge.retrieval.named_code",
    "rankgauge.retrieval.open_retriever",
)


def test_every_command_that_can_load_code_has_the_option() -> None:
    folder = Path(rankgauge.cli.commands.__file__).parent
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    loading = {name for name, source in sources.items() if any(f"from {loader} import" in source for loader in LOADERS)}
    names = {"benchmark": "benchmark_run", "fetch": "runs_fetch", "index": "index"}
    assert loading == {*names}
    names |= {name: name for name in ("evaluate", "compare", "gate", "diff", "pool", "agreement")} | {"fusion": "fuse"}
    for module, name in names.items():
        command = getattr(import_module(f"rankgauge.cli.commands.{module}"), f"{name}_command")
        assert "no_code" in {parameter.name for parameter in command.params}, name
