"""What a retriever's error quotes reaches no file that is shared, and no terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT

CANARY = "CANARY0"
SEARCH = """
import os

def find(query, k=10):
    if "brake" in query:
        raise RuntimeError(
            "401 refused: {'Authorization': 'Bearer sk-CANARY0', 'X-Api-Key': 'CANARY0'} Authorization: Bearer CANARY0"
            " https://me:CANARY0@host/v1?api_key=CANARY0 " + os.environ["SEARCH_ACCESS"] + chr(10) + "body CANARY0"
        )
    return ["kb-001", "kb-002"]

def broken(query, k=10):
    raise SystemExit("500 refused: {'Authorization': 'Bearer sk-CANARY0'} token=CANARY0 " + os.environ["SEARCH_ACCESS"])
"""
CONFIG = """
collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}
# the header of a server: ${SEARCH_ACCESS}
measures: [nDCG@10]
retrievers:
  lexical: {mode: lexical}
  find: {mode: "canary_search:find"}
  broken: {mode: "canary_search:broken"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small collection, a module whose retrievers fail, and a configuration that names a variable."""
    documents = [{"_id": f"kb-00{n}", "text": text} for n, text in enumerate(["brake pads", "chain oil", "tire"], 1)]
    queries = [{"_id": f"q{n}", "text": text} for n, text in enumerate(["brake noise", "chain", "tire", "oil"], 1)]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.trec").write_text("q1 0 kb-001 1\nq2 0 kb-002 1\nq3 0 kb-003 1\nq4 0 kb-002 1\n")
    (tmp_path / "canary_search.py").write_text(SEARCH)
    (tmp_path / "rankgauge.yaml").write_text(CONFIG)
    monkeypatch.setenv("SEARCH_ACCESS", f"{CANARY}-of-the-environment")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_secret_of_an_error_reaches_a_report(folder: Path, command: Callable[..., Any]) -> None:
    done = command("benchmark", "run", "rankgauge.yaml", "--max-failures", 9, "-o", "out")
    assert done.code == 2, done.err
    for name in (MANIFEST, REPORT, COMPARISON, PAGE):
        text = (folder / "out" / name).read_text(encoding="utf-8")
        assert "500 refused" in text, name
        assert "401 refused" in text or name in (REPORT, COMPARISON), name
    for path in (folder / "out").rglob("*"):
        assert path.is_dir() or CANARY not in path.read_text(encoding="utf-8"), path
    assert CANARY not in done.out + done.err


def test_no_secret_of_an_error_reaches_the_files_of_a_fetch(folder: Path, command: Callable[..., Any]) -> None:
    arguments = ["runs", "fetch", "--config", "rankgauge.yaml", "--retriever", "find", "-o", "run.trec"]
    done = command(*arguments)
    assert done.code == 1
    journal = (folder / "run.trec.journal").read_text(encoding="utf-8")
    assert "401 refused" in journal
    finished = command(*arguments, "--max-failures", 9, "--manifest", "fetch.json")
    assert finished.code == 0
    manifest = (folder / "fetch.json").read_text(encoding="utf-8")
    assert "401 refused" in manifest
    assert CANARY not in journal + manifest + done.out + done.err + finished.out + finished.err


def test_no_secret_of_an_error_reaches_the_result_of_a_live_retriever(
    folder: Path, command: Callable[..., Any]
) -> None:
    command(
        "runs", "fetch", "--config", "rankgauge.yaml", "--retriever", "lexical", "-o", "run.trec"
    )  # reads the config
    cases = [{"query": "brake noise", "relevant_ids": ["kb-001"]}, {"query": "oil", "relevant_ids": ["kb-002"]}]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for form in ("table", "json"):
        done = command("evaluate", "cases.jsonl", "canary_search:find", "--format", form)
        assert done.code == 1
        assert "401 refused" in done.out
        assert CANARY not in done.out + done.err
