"""A file of another kind is named as what it is, in every command; no reader reports the errors of another format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome

Command = Callable[..., Outcome]
CASES = [{"id": "q1", "query": "how?", "relevant": ["d1"]}]
NOTEBOOK = {"cells": [{"cell_type": "code", "source": ["x"]}], "metadata": {}, "nbformat": 4}
KINDS: dict[str, tuple[bytes, str]] = {
    "book.xlsx": (b"PK\x03\x04\x14\0\6\0[Content_Types].xml xl/workbook.xml", "this is an Excel workbook"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "this is an Excel workbook"),
    "archive.zip": (b"PK\x03\x04\x14\0\6\0qrels.txt", "this is a zip archive"),
    "history.sqlite": (b"SQLite format 3\0" + bytes(100), "this is a SQLite database"),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", "this is a PDF file"),
    "chart.png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "this is an image"),
    "page.json": (b"\n<!DOCTYPE html>\n<html><head><title>404</title></head></html>", "this is an HTML page"),
    "topics.xml": (b'<?xml version="1.0"?>\n<topics></topics>\n', "this is an XML file"),
    "error.json": (b'{"error": {"code": 404, "message": "not found"}}', "this is the error of a server"),
    "answer.json": (b'{"took": 3, "hits": {"total": 1, "hits": [{"_id": "d1"}]}}', "one response of Elasticsearch"),
    "solr.json": (b'{"responseHeader": {"status": 0}, "response": {"docs": []}}', "this is one response of Solr"),
    "python.json": (b"[{'query': 'how?', 'relevant': ['d1']}]\n", "this is Python, not JSON"),
    "ids.json": (b'["d1", "d2"]\n', "this is a JSON list of texts or numbers"),
    "number.json": (b"3.5\n", "this is a single JSON value"),
    "notebook.ipynb": (json.dumps(NOTEBOOK, indent=1).encode(), "this is a Jupyter notebook"),
    "cases.toml": (b'[[cases]]\nquery = "how?"\n', "this is a TOML file"),
    "notes.md": (b"# Test set\n\n- how do I reset? -> kb-1\n", "this is a Markdown file"),
    "metrics.json": (b'{"recall@5": 0.7, "mrr": 0.4}', "this looks like a file of metrics"),
    "comma.jsonl": (b'{"query": "how?", "relevant": ["d1"],}\n', "not JSON: a comma before }"),
    "wide.txt": ("q1 0 d1 1\n".encode("utf-16"), "looks like UTF-16, expected UTF-8"),
    "short.gz": (gzip.compress(b"q1 0 d1 1\n" * 999)[:40], "compressed stream ends early"),
    "empty.txt": (b"", "empty"),
    "other.yaml": (b"server:\n  url: x\n", "other.yaml"),
}
FOREIGN = ("expected 4 columns", "expected 6 columns", "as grade, found", "as score, found", "Traceback", "UTF-16")
COMMANDS = {
    "labels of evaluate": ["evaluate", "FILE", "run.txt"],
    "results of evaluate": ["evaluate", "qrels.txt", "FILE"],
    "labels of compare": ["compare", "FILE", "run.txt", "run.txt"],
    "labels of gate": ["gate", "FILE", "run.txt", "--require", "RR>=0"],
    "labels of runs validate": ["runs", "validate", "--labels", "FILE"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\n", encoding="utf-8")
    Path("run.txt").write_text("q1 Q0 d1 1 2.0 t\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", KINDS)
def test_a_file_of_another_kind_is_named_in_every_command(name: str, command: Command) -> None:
    content, message = KINDS[name]
    Path(name).write_bytes(content)
    for words in COMMANDS.values():
        outcome = command(*(name if word == "FILE" else word for word in words))
        text = outcome.out + outcome.err
        assert outcome.code not in (0, 70), text
        assert message in text
        assert not [found for found in FOREIGN if found in text and found not in message]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cases.json", json.dumps(CASES), "cases.json: holds labels, and results are expected"),
        ("cases.yaml", "- query: how?\n  relevant: [d1]\n", "cases.yaml: holds labels, and results are expected"),
        ("cases.txt", "- query: how?\n  relevant: [d1]\n", "cases.txt: this looks like YAML, and holds no results"),
        ("answers.csv", "question,answer\nhow?,so\n", "answers.csv: expected a column for the doc"),
        ("labels.trec", "q1 0 d1 1\n", "expected a run (query Q0 document rank score tag), found judgments"),
    ],
)
def test_labels_in_the_place_of_results_are_named(name: str, content: str, message: str, command: Command) -> None:
    Path(name).write_text(content, encoding="utf-8")
    outcome = command("evaluate", "qrels.txt", name)
    assert outcome.code == 2
    assert message in outcome.err
    assert "expected 6 columns" not in outcome.err


@pytest.mark.usefixtures("folder")
def test_the_columns_of_a_table_with_other_names_are_named_with_the_option_of_the_hint(command: Command) -> None:
    rows = "Case ID,Query Text,Doc ID,Doc Position,Rating\n1,q1,d1,1,3\n"
    Path("export.csv").write_text(rows, encoding="utf-8")
    words = ["evaluate", "export.csv", "run.txt", "-m", "RR"]
    for flag, value in (("query=NAME", "query=Query Text"), ("doc=NAME", "doc=Doc ID"), ("grade=NAME", "grade=Rating")):
        outcome = command(*words)
        if outcome.code == 0:
            break
        assert f"--column {flag}" in outcome.err
        words += ["--column", value]
    assert command(*words).code == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.jsonl", '{"error": "timeout", "query": "how?", "retrieved": [], "relevant": ["d1"]}\n'),
        ("judgments.json", '{"hits": {"d1": 1}, "q1": {"d1": 1}}'),
        ("numbers.txt", "301 0 d1 1\nq1 0 d1 1\n"),
    ],
)
def test_what_only_looks_like_another_kind_is_read(name: str, content: str, command: Command) -> None:
    Path(name).write_text(content, encoding="utf-8")
    outcome = command("runs", "validate", "--labels", name)
    assert outcome.code == 0, outcome.out
