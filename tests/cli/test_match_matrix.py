"""Every rule by which labels are matched, in every command that takes labels and results, and in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Reading, compare, evaluate, evaluate_retriever, gate
from rankgauge.benchmark.label_inputs import read_label_file
from rankgauge.benchmark.plan import plan_of_results
from rankgauge.benchmark.run import run_benchmark
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import LoadedFile, load_file
from rankgauge.rag.cases import read_cases
from rankgauge.retrieval.tuning import tune
from tests.conftest import Outcome

Command = Callable[..., Outcome]
QUERIES = [f"q{number}" for number in range(1, 7)]
OWN = """
def results(query, first):
    name = query.split()[-1]
    chunks = [
        {"id": f"docs/x/{name}.md", "text": f"encryption of {name} at rest", "clause": 1},
        {"id": f"docs/x/{name}.md" if SAME else f"docs/b/{name}-b.md", "text": f"{name}: 30 days", "clause": 2},
        {"id": f"docs/c/c-{name[1:]}", "text": "nothing", "clause": 3},
    ]
    return chunks[first:] + chunks[:first]

def old(query, k):
    return results(query, 1)

def new(query, k):
    return results(query, 0)
"""
# The labels of a query and the options: each means the first result of new, which is the third of old.
RULES: dict[str, tuple[Callable[[int, str], dict[str, Any]], list[str], Reading]] = {
    "suffix": (lambda n, q: {"relevant": [f"x/{q}.md"]}, ["--match", "suffix"], Reading(match="suffix")),
    "contains": (lambda n, q: {"relevant": [f"x/{q}"]}, ["--match", "contains"], Reading(match="contains")),
    "ignore case": (
        lambda n, q: {"relevant": [f"X/{q}.MD"]},
        ["--match", "suffix", "--ignore-case"],
        Reading(match="suffix", ignore_case=True),
    ),
    "text": (lambda n, q: {"must_contain": ["encrypt", q]}, ["--match", "text"], Reading(match="text")),
    "fields": (
        lambda n, q: {"relevant": [{"path": f"docs/x/{q}.md", "clause": 1}]},
        ["--match-field", "path=id", "--match-field", "clause"],
        Reading(match_fields=("path=id", "clause")),
    ),
    "own rules": (
        lambda n, q: (
            {"relevant": [f"x/{q}.md"], "match": "suffix"}
            if n % 3 == 0
            else {"must_contain": "encrypt", "match": "text"}
            if n % 3 == 1
            else {"relevant": [f"docs/x/{q}.md"]}
        ),
        [],
        Reading(),
    ),
}
RESULTS = {"files": ("old.jsonl", "new.jsonl"), "live": ("./own.py:old", "./own.py:new")}
COMMANDS: dict[str, Callable[[list[str], list[str]], list[str]]] = {
    "evaluate": lambda runs, options: ["evaluate", "cases.jsonl", *runs, "-m", "RR", *options],
    "compare": lambda runs, options: ["compare", "cases.jsonl", *runs, "-m", "RR", *options],
    "gate": lambda runs, options: ["gate", "cases.jsonl", runs[1], "--baseline", runs[0], "-m", "RR", *options],
    "tune": lambda runs, options: ["tune", "cases.jsonl", *runs, "-m", "RR", *options],
    "benchmark run": lambda runs, options: ["benchmark", "run", "cases.jsonl", *runs, "-m", "RR", "-o", "b", *options],
}


def write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files("suffix", same=False)
    return tmp_path


def write_files(rule: str, *, same: bool) -> dict[str, Any]:
    """The files of a rule: test cases, a module with two searches, and the logs of what they return."""
    labels = RULES[rule][0]
    write("cases.jsonl", [{"id": q, "query": f"about {q}", **labels(n, q)} for n, q in enumerate(QUERIES)])
    source = f"SAME = {same}\n{OWN}"
    Path("own.py").write_text(source, encoding="utf-8")
    module: dict[str, Any] = {}
    exec(source, module)  # the searches of this file
    for name in ("old", "new"):
        found = [(q, module[name](q, 3)) for q in QUERIES]
        write(f"{name}.jsonl", [{"id": q, "query": f"about {q}", "retrieved": results} for q, results in found])
    return module


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_means_the_same_in_every_command(command: Command, rule: str, name: str) -> None:
    kind = "live" if (list(RULES).index(rule) + list(COMMANDS).index(name)) % 2 else "files"
    write_files(rule, same=rule == "text")
    outcome = command(*COMMANDS[name](list(RESULTS[kind]), RULES[rule][1]))
    assert outcome.code == 0, outcome.err
    assert "0.333" in outcome.out
    assert "1.000" in outcome.out
    if name == "benchmark run":
        verified = command("benchmark", "verify", "b")
        assert verified.code == 0, verified.err + verified.out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_means_the_same_in_yaml(command: Command, rule: str) -> None:
    write_files(rule, same=False)
    reading = RULES[rule][2]
    keys = {"match": reading.match, "ignore_case": reading.ignore_case, "match_fields": list(reading.match_fields)}
    write("queries.jsonl", [{"_id": q, "text": f"about {q}"} for q in QUERIES])
    config = {
        "reading": keys,
        "measures": {"names": ["RR"]},
        "collection": {"name": "t", "queries": "queries.jsonl", "qrels": "cases.jsonl"},
        "retrievers": {"old": {"mode": "./own.py:old"}, "new": {"mode": "./own.py:new"}},
    }
    Path("rankgauge.yaml").write_text(json.dumps(config), encoding="utf-8")
    for words in (
        ["benchmark", "run", "rankgauge.yaml", "-o", "b"],
        ["compare", "cases.jsonl", "old.jsonl", "new.jsonl", "--config", "rankgauge.yaml"],
    ):
        outcome = command(*words)
        assert outcome.code == 0, outcome.err
        assert "0.3333" in outcome.out
        assert "1.0000" in outcome.out
    assert command("benchmark", "verify", "b").code == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_means_the_same_in_python(rule: str) -> None:
    module = write_files(rule, same=rule == "text")
    reading = RULES[rule][2]
    third = pytest.approx(1 / 3)
    assert evaluate("cases.jsonl", "old.jsonl", ["RR"], reading=reading)["RR"] == third
    assert evaluate("cases.jsonl", module["old"], ["RR"], reading=reading)["RR"] == third
    compared = compare("cases.jsonl", ["old.jsonl", module["new"]], ["RR"], reading=reading)
    assert [scores["RR"] for scores in compared.scores] == [third, 1.0]
    result = gate("cases.jsonl", "new.jsonl", baseline="old.jsonl", measures=["RR"], reading=reading)
    assert str(result.verdict) == "pass"
    tuned = tune("cases.jsonl", ["old.jsonl", "new.jsonl"], measure="RR", reading=reading)
    assert [(score.dev, score.test) for score in tuned.scores[:2]] == [(third, third), (1.0, 1.0)]
    live = evaluate_retriever(module["old"], read_cases("cases.jsonl", reading=reading), k=3)
    assert [live.mean_mrr, live.mean_hit_rate] == [third, 1.0]
    report = run_benchmark(plan_of_results("cases.jsonl", ["old.jsonl", module["new"]], reading=reading), "b")
    assert [scores["RR@10"] for scores in report.evaluation.scores] == [third, 1.0]


@pytest.mark.usefixtures("folder")
def test_a_benchmark_by_text_takes_the_texts_of_the_corpus(command: Command) -> None:
    write_files("text", same=False)
    texts = [(result["id"], result["text"]) for q in QUERIES for result in own_results(q)]
    write("corpus.jsonl", [{"_id": doc, "text": text} for doc, text in dict(texts).items()])
    write("cases.jsonl", [{"id": q, "query": f"encryption {q}", "must_contain": ["encrypt", q]} for q in QUERIES])
    words = ["benchmark", "run", "cases.jsonl", "--retriever", "lexical", "--corpus", "corpus.jsonl", "-m", "RR"]
    outcome = command(*words, "-o", "b", "--match", "text")
    assert outcome.code == 0, outcome.err
    assert "1.0000" in outcome.out
    assert command("benchmark", "verify", "b").code == 0


def own_results(query: str) -> list[dict[str, Any]]:
    module: dict[str, Any] = {}
    exec(Path("own.py").read_text(encoding="utf-8"), module)
    results: list[dict[str, Any]] = module["new"](query, 3)
    return results


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"match": "text"', '"match": "near"'), "labels.jsonl:2: expected a rule at match"),
        (('"ignore_case": false', '"ignore_case": 1'), "labels.jsonl:1: expected true or false at ignore_case"),
        (('"grade": 1.0', '"grade": "1"'), "labels.jsonl:2: expected a number at labels[0].grade"),
    ],
)
def test_damaged_labels_of_a_benchmark_are_named(command: Command, change: tuple[str, str], message: str) -> None:
    write_files("text", same=False)
    assert command(*COMMANDS["benchmark run"](["old.jsonl"], ["--match", "text"])).code == 0
    stored = load_file("b/inputs/labels.jsonl").stored
    assert read_label_file(LoadedFile("labels.jsonl", stored), "t").to_bytes() == stored
    with pytest.raises(InputError, match=re.escape(message)):
        read_label_file(LoadedFile("labels.jsonl", stored.decode().replace(*change).encode()), "t")
