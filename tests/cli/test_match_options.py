"""How labels are matched, on the command line: evaluate, compare, gate, benchmark run, files of settings and logs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Outcome

Command = Callable[..., Outcome]
RESULTS = {"q1": ["docs/x/a.md", "docs/b.md"], "q2": ["z/c.md", "docs/b.md"]}
TEXTS = {"docs/x/a.md": "encryption at rest", "docs/b.md": "30 days", "z/c.md": "nothing"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{query} 0 {doc} {rank} {9 - rank} t" for query, docs in RESULTS.items() for rank, doc in enumerate(docs)]
    for name in ("old.run", "new.run"):
        Path(name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("qrels.txt").write_text("q1 0 x/a.md 1\nq2 0 b.md 1\n", encoding="utf-8")
    write("chunks.jsonl", [{"_id": doc, "text": text} for doc, text in TEXTS.items()])
    expected = {"q1": {"must_contain": ["encrypt"]}, "q2": {"expect_any": ["30 DAYS", "never"]}}
    write("cases.jsonl", [{"id": query, "query": "?", **keys} for query, keys in expected.items()])
    return tmp_path


def write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rr_of(outcome: Outcome) -> float:
    assert outcome.code == 0, outcome.err
    return float(json.loads(outcome.out)["runs"][0]["measures"]["RR"]["value"])


EVALUATE = ("evaluate", "qrels.txt", "old.run", "-m", "RR", "--format", "json")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", [("--match", "suffix"), ("--set", "reading.match=suffix"), ("--config", "own.yaml")])
def test_an_option_a_key_and_a_file_mean_the_same(command: Command, option: tuple[str, str]) -> None:
    Path("own.yaml").write_text("reading: {match: suffix}\n", encoding="utf-8")
    assert rr_of(command(*EVALUATE)) == 0.0
    outcome = command(*EVALUATE, *option)
    assert rr_of(outcome) == 0.75
    assert json.loads(outcome.out)["conventions"]["match"] == "suffix"


@pytest.mark.usefixtures("folder")
def test_the_note_names_an_option_that_works(command: Command) -> None:
    assert "2 of 2 labels would match a result by the end of a path" in command(*EVALUATE).err
    assert "would match" not in command(*EVALUATE, "--match", "suffix").err


@pytest.mark.usefixtures("folder")
def test_text_takes_the_chunks_of_results_without_texts(command: Command) -> None:
    text = ("evaluate", "cases.jsonl", "old.run", "-m", "RR", "--format", "json", "--match", "text")
    assert "has no texts" in command(*text).err
    assert rr_of(command(*text, "--set", "reading.chunks=chunks.jsonl")) == 0.5
    assert rr_of(command(*text, "--set", "reading.chunks=chunks.jsonl", "--ignore-case")) == 0.75


@pytest.mark.usefixtures("folder")
def test_compare_and_gate_match_labels_of_every_run(command: Command) -> None:
    compared = command("compare", "qrels.txt", "old.run", "new.run", "-m", "RR", "--match", "suffix")
    assert compared.code == 0
    assert "0.7500" in compared.out
    scores = command("evaluate", "qrels.txt", "old.run", "-m", "RR", "--match", "suffix", "-q", "--format", "json")
    Path("base.json").write_text(scores.out)
    gate = ("gate", "qrels.txt", "old.run", "-m", "RR")
    same = command(*gate, "--match", "suffix", "--baseline", "base.json")
    assert same.code == 0, same.err
    other = command(*gate, "--baseline", "base.json")
    assert other.code == 2
    assert "may have been scored in another way: labels matched by suffix" in other.err
    required = ("gate", "qrels.txt", "old.run", "--match", "suffix", "--require")
    assert command(*required, "RR>=0.7").code == 0
    assert command(*required, "RR>=0.8").code == 1


@pytest.mark.usefixtures("folder")
def test_evaluate_compare_and_gate_tell_the_chunks_of_a_file_apart_by_text(command: Command) -> None:
    texts = {"old.jsonl": ["shipping", "never", "30 days"], "new.jsonl": ["shipping", "30 days", "never"]}
    for name, chunks in texts.items():
        results = [{"id": "docs/a.md", "text": text} for text in chunks]
        row = {"query": "?", "must_contain": ["30 days"], "retrieved": results}
        write(name, [{**row, "id": "q1"}, {**row, "id": "q2", "retrieved": results[1:]}])
    options = ("-m", "RR", "--match", "text")
    assert rr_of(command("evaluate", "old.jsonl", *options, "--format", "json")) == pytest.approx((1 / 3 + 1 / 2) / 2)
    compared = command("compare", "old.jsonl", "new.jsonl", *options)
    assert compared.code == 0
    assert "0.4167" in compared.out
    assert "0.7500" in compared.out
    gate = command("gate", "new.jsonl", "--baseline", "old.jsonl", *options)
    assert gate.code == 0, gate.err


@pytest.mark.usefixtures("folder")
def test_a_log_of_labels_with_several_fields(command: Command) -> None:
    results = [{"doc_id": "D1", "meta": {"clause": n}} for n in (1, 2, 3)]
    write("log.jsonl", [{"query": "?", "relevant": [{"doc_id": "D1", "clause": 3}], "retrieved": results}])
    refused = command("evaluate", "log.jsonl", "-m", "RR", "--format", "json")
    assert refused.code != 0
    assert "--match-field doc_id,clause " in refused.err
    fields = ("--match-field", "doc_id", "--match-field", "clause=meta.clause")
    assert rr_of(command("evaluate", "log.jsonl", "-m", "RR", "--format", "json", *fields)) == pytest.approx(1 / 3)


@pytest.mark.usefixtures("folder")
def test_a_benchmark_keeps_the_rule_and_verifies_with_it(command: Command) -> None:
    write("queries.jsonl", [{"_id": query, "text": query} for query in RESULTS])
    Path("own.py").write_text(f"def search(query, k):\n    return {RESULTS!r}[query]\n", encoding="utf-8")
    config = {
        "collection": {"name": "t", "queries": "queries.jsonl", "qrels": "qrels.txt"},
        "measures": {"names": ["RR"]},
        "reading": {"match": "suffix"},
        "retrievers": {"mine": {"mode": "./own.py:search"}},
    }
    Path("rankgauge.yaml").write_text(json.dumps(config), encoding="utf-8")
    outcome = command("benchmark", "run", "rankgauge.yaml", "-o", "out")
    assert outcome.code == 0, outcome.err
    assert "0.7500" in outcome.out
    assert command("benchmark", "verify", "out").code == 0
    refused = command("benchmark", "run", "rankgauge.yaml", "-o", "out2", "--match", "text")
    assert "--match text needs test cases that expect text, found judgments of documents" in refused.err
