from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import rankgauge as rg
from rankgauge.cli.options.live import LiveOptions, live_options
from rankgauge.rag import RetrieverCalls
from rankgauge.rag.scoring import DEFAULT_K
from rankgauge.render.html import as_html
from tests.conftest import Outcome
from tests.render.html.unpacking import data_of

Command = Callable[..., Outcome]
MODULE = """
asked = []

class Index:
    def retrieve(self, query, k):
        asked.append(query)
        if query == "broken":
            raise OSError("gone")
        return [{"id": "a", "score": 0.25}, {"id": "b", "score": 0.125}][:k]

index = Index()

def make(best="b"):
    return lambda query: [best]

def unfinished(query):
    asked.append(query)
    if query == "third" and len(asked) == 3:
        raise KeyboardInterrupt
    return ["b"]

TEXTS = {"a": "Open Settings and choose Security.", "b": "Invoices come on the first day of each month."}

def with_texts(query):
    asked.append(query)
    if query == "third" and len(asked) == 3:
        raise KeyboardInterrupt
    best = "ba" if query == "second" else "ab"
    return [{"id": name, "text": TEXTS[name]} for name in best]
"""
GOLD: list[dict[str, Any]] = [
    {"query_id": "q1", "query": "fine", "gold": ["Open Settings and choose Security."]},
    {"query_id": "q2", "query": "second", "gold": ["Open Settings and choose Security."]},
    {"query_id": "q3", "query": "third", "gold": ["Invoices come on the first day of each month."]},
]
ROWS: list[dict[str, Any]] = [
    {"id": "q1", "query": "fine", "relevant_ids": ["b"], "kind": "x"},
    {"id": "q2", "query": "second", "relevant_ids": ["a"], "kind": "x"},
    {"id": "q3", "query": "third", "relevant_ids": ["b", "c"], "kind": "y"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_live_app.py").write_text(MODULE)
    broken = {"id": "q4", "query": "broken", "relevant_ids": ["a"]}
    for name, rows in {"cases.jsonl": ROWS, "broken.jsonl": [*ROWS[:1], broken]}.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_live_app", raising=False)
    return tmp_path


def live(command: Command, *options: str, cases: str = "cases.jsonl", retriever: str = "my_live_app:index") -> Outcome:
    return command("evaluate", "--retriever", retriever, "--cases", cases, *options)


def test_too_many_failures_exit_with_1(folder: Path, command: Command) -> None:
    done = live(command, "--k", "2", cases="broken.jsonl")
    assert done.code == 1
    assert "RR 0.50   nDCG@2 0.63   2 queries, 1 failed (q4: OSError: gone)" in done.out
    assert live(command, "--k", "2", "--max-failures", "1", cases="broken.jsonl").code == 0


def test_json_holds_every_query_and_the_evaluation(folder: Path, command: Command) -> None:
    done = live(command, "--k", "2", "-m", "RR@1", "--format", "json", "--by", "kind", "--ci")
    data = json.loads(done.out)
    assert data["measures"]["RR@1"]["value"] == pytest.approx(1 / 3)
    assert [row["status"] for row in data["per_query"]] == ["answered"] * 3
    assert data["per_query"][0]["scores"] == [0.25, 0.125]
    assert data["load"] == "closed loop, 1 call at once"
    assert {group["label"] for group in data["evaluation"]["runs"][0]["by"]} == {"x", "y"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_live_app", "retriever must be module:callable, found 'my_live_app'"),
        ("my_live_app:", "retriever must be module:callable"),
        ("no_such_app:index", "cannot import no_such_app: No module named 'no_such_app'"),
        ("my_live_app:nothing", "my_live_app has no nothing"),
        ("nowhere.yaml", "nowhere.yaml: cannot read"),
    ],
)
def test_an_object_that_cannot_be_loaded_is_a_usage_error(
    folder: Path, command: Command, spec: str, message: str
) -> None:
    done = live(command, retriever=spec)
    assert done.code in (2, 64)
    assert message in done.err


def test_the_options_reach_the_retriever(folder: Path, command: Command) -> None:
    options = "--k 1 --id id --concurrency 2 --timeout 5 --retries 1 --max-failures 1 --format json".split()
    data = json.loads(live(command, *options, cases="broken.jsonl").out)
    assert [(row["k"], row["attempts"]) for row in data["per_query"]] == [(1, 1), (1, 2)]


def test_the_options_of_a_file_are_defaults(folder: Path, command: Command) -> None:
    (folder / "mine.yaml").write_text("call: my_live_app:make\nparams: {best: a}\nconcurrency: 3\nretries: 1\n")
    data = json.loads(live(command, "--format", "json", retriever="mine.yaml").out)
    assert data["load"] == "closed loop, 3 calls at once"
    assert [row["retrieved"] for row in data["per_query"]] == [["a"]] * 3
    data = json.loads(live(command, "--format", "json", "--rate", "500", retriever="mine.yaml").out)
    assert data["load"] == "open loop, 500 queries per second"
    assert data["response_ms"]["p50"] >= data["latency_ms"]["p50"]


def test_the_written_run_has_the_same_scores_as_the_live_result(folder: Path, command: Command) -> None:
    done = live(command, "-o", "run.trec", "-m", "RR", "-m", "nDCG@5", "--format", "csv", "-q")
    assert done.code == 0
    assert "wrote run.trec" in done.err
    assert (folder / "run.trec").read_text().splitlines()[:2] == ["q1 Q0 a 1 0.25 index", "q1 Q0 b 2 0.125 index"]
    from_file = command("evaluate", "cases.jsonl", "run.trec", "-m", "RR", "-m", "nDCG@5", "--format", "csv", "-q")
    assert from_file.out.replace("run.trec", "index") == done.out
    assert sorted(path.name for path in folder.iterdir() if "journal" in path.name) == []


def test_an_interrupted_evaluation_resumes(folder: Path, command: Command) -> None:
    assert live(command, "-o", "run.trec", retriever="my_live_app:unfinished").code == 130
    assert (folder / "run.trec.journal").exists()
    assert not (folder / "run.trec").exists()
    done = live(command, "-o", "run.trec", retriever="my_live_app:unfinished")
    assert (done.code, sys.modules["my_live_app"].asked) == (0, ["fine", "second", "third", "third"]), done.err
    assert len((folder / "run.trec").read_text().splitlines()) == 3
    assert not (folder / "run.trec.journal").exists()


def test_an_interrupted_evaluation_on_gold_resumes_with_the_same_numbers(folder: Path, command: Command) -> None:
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    words = ["evaluate", "--retriever", "my_live_app:with_texts", "--gold", "gold.jsonl", "-m", "ERR_IA@5", "-q"]
    assert command(*words, "-o", "run.trec").code == 130
    journal = (folder / "run.trec.journal").read_text()
    assert journal.count("choose Security") == 1  # each text once
    done = command(*words, "-o", "run.trec")
    assert (done.code, sys.modules["my_live_app"].asked) == (0, ["fine", "second", "third", "third"]), done.err
    assert done.out == command(*words).out
    assert not (folder / "run.trec.journal").exists()


@pytest.mark.parametrize(
    ("key", "values", "is_refused"),
    [
        ("gold", ["Open Settings and choose Security."], True),
        ("expected", ["two words"], True),
        ("relevant_ids", ["Open Settings and choose Security."], False),
        ("gold", ["b"], False),
    ],
)
def test_cases_with_quotes_are_not_scored_as_ids(
    folder: Path, command: Command, key: str, values: list[str], is_refused: bool
) -> None:
    (folder / "quotes.jsonl").write_text(json.dumps({"query_id": "q1", "query": "fine", key: values}) + "\n")
    done = live(command, cases="quotes.jsonl")
    assert (done.code == 2) == is_refused, done.err
    if is_refused:
        assert "error: quotes.jsonl: expected the ids of relevant documents for query 'q1', found text" in done.err
        assert "--gold in place of --cases" in done.err


def test_ids_with_white_space_are_ids_if_they_are_retrieved() -> None:
    cases = [{"query": "one", "gold": ["My notes.md"]}, {"query": "two", "gold": ["Other notes.md"]}]
    result = rg.evaluate_retriever(lambda query: ["My notes.md", "b"], cases)
    assert result.mean_recall_at_k == 0.5
    missed = rg.evaluate_retriever(lambda query: ["Third notes.md"], cases)
    assert missed.mean_recall_at_k == 0
    sentence = [{"query": "one", "gold": ["My notes are in the other folder."]}]
    with pytest.raises(rg.InputError, match="the id of no result"):
        rg.evaluate_retriever(lambda query: ["Third notes.md"], sentence)


def test_failed_queries_keep_the_journal_and_write_no_run(folder: Path, command: Command) -> None:
    done = live(command, "-o", "run.trec", cases="broken.jsonl")
    assert done.code == 1
    assert "hint: the answers are saved: evaluate again to ask only the failed queries" in done.err
    assert (folder / "run.trec.journal").exists()
    assert not (folder / "run.trec").exists()
    live(command, "-o", "run.trec", cases="broken.jsonl")
    assert sys.modules["my_live_app"].asked == ["fine", "broken", "broken"]


def test_ids_that_a_run_cannot_hold_are_refused_before_anything_is_asked(folder: Path, command: Command) -> None:
    (folder / "texts.jsonl").write_text('{"query": "two words", "relevant_ids": ["a"]}\n')
    done = live(command, "-o", "run.trec", cases="texts.jsonl")
    assert (done.code, "my_live_app" in sys.modules) == (2, False)
    assert 'hint: give each case an "id" without white space' in done.err


def test_a_live_result_is_shown_like_any_run(folder: Path, command: Command) -> None:
    done = live(command, "-m", "RR", "--ci", "--by", "kind", "-q", "--audit", "--plot", "--html", "page.html")
    assert done.code == 0
    for part in (
        "latency   p50",
        "per attempt; closed loop, 1 call at once",
        "95% CI",
        "by kind",
        "q3",
        "unjudged: index",
    ):
        assert part in done.out, part
    assert "second" in json.dumps(data_of((folder / "page.html").read_text()))  # the text of a query
    assert "| index |" in live(command, "--format", "markdown").out
    assert live(command, "-m", "RR", "--format", "trec").out.split()[:3] == ["RR", "all", "0.6667"]


def test_a_live_result_has_a_page_and_passes_a_gate() -> None:
    result = rg.evaluate_retriever(lambda query: ["b"], ROWS)
    assert "third" in json.dumps(data_of(as_html(result)))
    assert rg.gate(result.qrels, result, require=["RR>=0.5"]).passed


def test_a_gate_fails_if_the_retriever_failed() -> None:
    def search(query: str) -> list[str] | None:
        return None if query == "third" else ["b"]

    result = rg.evaluate_retriever(search, ROWS, max_failures=None)
    gated = rg.gate(result.qrels, result, require=["RR>=0.1"])
    assert gated.failed
    assert gated.sentence.startswith("fail: the retriever failed for 1 query (q3); 1 requirement is met")
    assert gated.to_dict()["failed_queries"] == ["q3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retriever", "my_live_app:index"], "--retriever needs either --cases or --gold"),
        (["--cases", "x"], "--cases is for a --retriever"),
        (["--retriever", "a:b", "--cases", "x", "--gold", "x"], "--retriever needs either --cases or --gold"),
        (["qrels", "run", "--coverage", "1"], "--coverage applies to labels by text"),
        (["qrels", "--retriever", "my_live_app:index", "--cases", "x"], "cannot be combined with files"),
        (["qrels", "run", "--rate", "3"], "--rate applies to a live retriever"),
        (["qrels", "run", "-o", "x"], "--out applies to a live retriever"),
        (["--retriever", "a:b", "--cases", "x", "--rel", "2"], "--rel applies to runs in files"),
        (["--retriever", "a:b", "--cases", "x", "--queries", "x"], "--queries applies to runs in files"),
        (["--retriever", "a:b", "--cases", "x", "-o", "x"], "would overwrite the input x"),
    ],
)
def test_wrong_combinations_are_usage_errors(
    folder: Path, command: Command, arguments: list[str], message: str
) -> None:
    done = command("evaluate", *arguments)
    assert done.code in (2, 64)
    assert message in done.err


def test_the_default_k_is_that_of_the_library() -> None:
    @click.command()
    @live_options
    def small(live: LiveOptions | None) -> None:
        """A command."""

    defaults = {option.name: option.default for option in small.params}
    assert defaults["k"] == DEFAULT_K == LiveOptions("a:b", "c", RetrieverCalls()).k
