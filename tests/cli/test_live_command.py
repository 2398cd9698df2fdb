from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
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
    return command("evaluate", cases, retriever, *options)


def test_too_many_failures_exit_with_1(folder: Path, command: Command) -> None:
    done = live(command, "--k", "2", cases="broken.jsonl")
    assert done.code == 1
    assert "1 failed (q4: OSError: gone)" in done.out
    assert "averaged over 1 of 2 queries" in done.out
    assert live(command, "--k", "2", "--max-failures", "1", cases="broken.jsonl").code == 0


def test_json_has_the_schema_of_scores_with_latency_and_failures(folder: Path, command: Command) -> None:
    done = live(command, "--k", "2", "-m", "RR@1", "--format", "json", "--by", "kind", "--ci", "-q")
    data = json.loads(done.out)
    assert data["schema"] == "rankgauge.scores/1"
    (run,) = data["runs"]
    assert {name: row["value"] for name, row in run["measures"].items()} == {"RR@1": pytest.approx(1 / 3)}
    assert list(run["per_query"]) == ["q1", "q2", "q3"]
    assert (run["calls"]["requested_k"], run["calls"]["errors"]) == (2, {})
    assert 0 < run["calls"]["latency_ms"]["p50"] <= run["calls"]["latency_ms"]["max"]
    assert {group["label"] for group in run["by"]} == {"x", "y"}


def test_k_is_the_deepest_cutoff_or_100(folder: Path, command: Command) -> None:
    for measures, k in ((["RR@1", "nDCG@7"], 7), (["RR@1", "AP"], 100), ([], 10)):
        words = [word for name in measures for word in ("-m", name)]
        run = json.loads(live(command, *words, "--format", "json").out)["runs"][0]
        assert run["calls"]["requested_k"] == k


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_live_app", "hint: results are a run, a log, a folder, a table, scores, history:NAME, or a live"),
        ("my_live_app:", "hint: results are a run, a log"),
        ("https://search.example.org", "hint: describe the server in a YAML file, and name that file"),
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
    options = "--k 1 --set retriever.id=id --set retriever.concurrency=2".split()
    options += "--set retriever.timeout=5 --set retriever.retries=1".split()
    options += "--max-failures 1 --format json".split()
    data = json.loads(live(command, *options, cases="broken.jsonl").out)
    assert data["runs"][0]["calls"]["requested_k"] == 1
    assert sys.modules["my_live_app"].asked.count("broken") == 2


def test_the_options_of_a_file_are_defaults(folder: Path, command: Command) -> None:
    (folder / "mine.yaml").write_text("call: my_live_app:make\nparams: {best: a}\nunit: document\n")
    refused = live(command, retriever="mine.yaml")
    done = live(command, "--set", "retriever.unit=chunk", "-m", "Success@1", "--format", "trec", retriever="mine.yaml")
    assert (refused.code, done.code, done.out.split()[2]) == (0, 0, "0.3333"), refused.err + done.err


def without_depth(text: str) -> list[dict[str, str]]:
    """The rows of CSV without how deep results are: a TREC run does not say how many were asked for."""
    return [{name: cell for name, cell in row.items() if name != "depth"} for row in csv.DictReader(text.splitlines())]


def test_the_written_run_has_the_same_scores_as_the_live_result(folder: Path, command: Command) -> None:
    done = live(command, "-o", "run.trec", "-m", "RR", "-m", "nDCG@5", "--format", "csv", "-q")
    assert done.code == 0
    assert "wrote run.trec" in done.err
    assert (folder / "run.trec").read_text().splitlines()[:2] == ["q1 Q0 a 1 0.25 index", "q1 Q0 b 2 0.125 index"]
    from_file = command("evaluate", "cases.jsonl", "run.trec", "-m", "RR", "-m", "nDCG@5", "--format", "csv", "-q")
    rows = [without_depth(text) for text in (from_file.out.replace("run.trec", "index"), done.out)]
    assert rows[0] == rows[1]
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
    words = ["evaluate", "gold.jsonl", "my_live_app:with_texts", "-m", "ERR_IA@5", "-q", "--format", "csv"]
    assert command(*words, "-o", "run.trec").code == 130
    journal = (folder / "run.trec.journal").read_text()
    assert journal.count("choose Security") == 1  # each text once
    done = command(*words, "-o", "run.trec")
    assert (done.code, sys.modules["my_live_app"].asked) == (0, ["fine", "second", "third", "third"]), done.err
    assert done.out == command(*words).out
    assert not (folder / "run.trec.journal").exists()


@pytest.mark.parametrize(
    ("key", "values", "is_by_text"),
    [
        ("gold", ["Open Settings and choose Security."], True),
        ("relevant_ids", ["Open Settings and choose Security."], False),
        ("gold", ["b"], False),
    ],
)
def test_labels_by_text_are_recognized_by_their_records(
    folder: Path, command: Command, key: str, values: list[str], is_by_text: bool
) -> None:
    (folder / "labels.jsonl").write_text(json.dumps({"query_id": "q1", "query": "fine", key: values}) + "\n")
    done = live(command, cases="labels.jsonl", retriever="my_live_app:with_texts")
    assert (done.code, "a passage is found at coverage" in done.out) == (0, is_by_text), done.err


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


def test_several_live_retrievers_are_written_as_one_log(folder: Path, command: Command) -> None:
    words = ("evaluate", "cases.jsonl", "my_live_app:index", "my_live_app:with_texts", "-m", "RR", "--format", "csv")
    refused = command(*words, "-o", "both.trec")
    assert (refused.code, "-o results.jsonl" in refused.err) == (64, True), refused.err
    assert "my_live_app" not in sys.modules or not sys.modules["my_live_app"].asked
    done = command(*words, "-o", "both.jsonl")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in (folder / "both.jsonl").read_text().splitlines()]
    assert [row["system"] for row in rows] == ["index"] * 3 + ["with_texts"] * 3
    assert rows[3]["retrieved"][0]["text"] == "Open Settings and choose Security."
    assert command("evaluate", "both.jsonl", "-m", "RR", "--format", "csv").out == done.out
    chosen = command("evaluate", "both.jsonl#with_texts", "-m", "RR", "--format", "csv")
    assert chosen.out.splitlines()[1] in done.out.splitlines()


def test_answers_of_one_retriever_are_kept_if_another_is_interrupted(folder: Path, command: Command) -> None:
    (folder / "made.yaml").write_text("call: my_live_app:make\n")
    words = ("evaluate", "cases.jsonl", "made.yaml", "my_live_app:with_texts", "-m", "RR", "-o", "both.jsonl")
    assert command(*words).code == 130
    names = sorted(path.name for path in folder.glob("*.journal"))
    assert names == ["both.jsonl.made.yaml.journal", "both.jsonl.my_live_app-with_texts.journal"]
    done = command(*words)
    assert (done.code, sys.modules["my_live_app"].asked) == (0, ["fine", "second", "third", "third"]), done.err
    assert "3 answers reused from the journal" in done.err
    assert "2 answers reused from the journal" in done.err
    assert not list(folder.glob("*.journal"))


def test_answers_are_kept_until_they_are_written(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise rg.InputError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("rankgauge.io.formats.log_writer.write_log", fail)
        assert "the disk is full" in live(command, "-o", "run.jsonl").err
    assert (folder / "run.jsonl.journal").exists()
    assert "3 answers reused" in live(command, "-o", "run.jsonl").err
    assert len(sys.modules["my_live_app"].asked) == 3


def test_old_answers_are_used_or_discarded_only_on_request(folder: Path, command: Command) -> None:
    assert live(command, "-o", "run.jsonl", retriever="my_live_app:unfinished").code == 130
    journal = folder / "run.jsonl.journal"
    journal.write_text(re.sub(r'"at":\d+', '"at":1000000000', journal.read_text()))
    stopped = live(command, "-o", "run.jsonl", retriever="my_live_app:unfinished")
    assert (stopped.code, "--resume" in stopped.err, "--restart" in stopped.err) == (2, True, True), stopped.err
    kept = journal.read_text()
    resumed = live(command, "-o", "run.jsonl", "--resume", retriever="my_live_app:unfinished")
    assert (resumed.code, "2 answers reused" in resumed.err) == (0, True), resumed.err
    journal.write_text(kept)
    again = live(command, "-o", "run.jsonl", "--restart", retriever="my_live_app:unfinished")
    assert (again.code, "reused" in again.err) == (0, False), again.err
    assert sys.modules["my_live_app"].asked[-3:] == ["fine", "second", "third"]


def test_ids_that_a_run_cannot_hold_are_refused_before_anything_is_asked(folder: Path, command: Command) -> None:
    (folder / "texts.jsonl").write_text('{"query": "two words", "relevant_ids": ["a"]}\n')
    done = live(command, "-o", "run.trec", cases="texts.jsonl")
    assert (done.code, "my_live_app" in sys.modules) == (2, False)
    assert 'hint: give each query an "id" without white space' in done.err


def test_a_live_result_is_shown_like_any_run(folder: Path, command: Command) -> None:
    done = live(command, "-m", "RR", "--ci", "--by", "kind", "-q", "--audit", "--plot", "--html", "page.html")
    assert done.code == 0
    for part in (
        "index: latency p50",
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
        (["my_live_app:index"], "my_live_app:index names a retriever, and labels come first"),
        (["cases.jsonl"], "a single file must be a log with retrieved and relevant ids"),
        (["qrels", "my_live_app:index"], "qrels: cannot read"),
        (
            ["cases.jsonl", "my_live_app:index", "--set", "reading.coverage=1"],
            "--set reading.coverage applies to labels by text",
        ),
        (["qrels", "run", "--set", "retriever.retries=3"], "--set retriever.retries applies to a live retriever"),
        (["qrels", "run", "-o", "x"], "--out applies to a live retriever"),
        (["cases.jsonl", "my_live_app:index", "-o", "cases.jsonl"], "would overwrite the input cases.jsonl"),
        (["cases.jsonl", "my_live_app:index", "my_live_app:make", "-o", "x"], "would be a TREC run"),
        (["cases.jsonl", "history:main"], "no history at .rankgauge/history"),
    ],
)
def test_wrong_combinations_are_usage_errors(
    folder: Path, command: Command, arguments: list[str], message: str
) -> None:
    done = command("evaluate", *arguments)
    assert done.code in (2, 64)
    assert message in done.err


def test_the_name_of_the_output_decides_whether_texts_are_kept(folder: Path, command: Command) -> None:
    texts = {"a": "Open Settings and choose Security.", "b": "Invoices"}
    Path("app.py").write_text(f"def search(query):\n    return [{{'id': n, 'text': t}} for n, t in {texts}.items()]\n")
    done = live(command, "-o", "run.trec", retriever="./app.py:search")
    assert "warning: run.trec: a TREC run holds ids and scores, not the texts of 2 documents" in done.err
    done = live(command, "-o", "results.jsonl", retriever="./app.py:search")
    assert (done.code, "TREC run" in done.err) == (0, False)
    rows = [json.loads(line) for line in Path("results.jsonl").read_text().splitlines()]
    assert [row["query"] for row in rows] == ["fine", "second", "third"]
    assert rows[0]["retrieved"][0]["text"] == "Open Settings and choose Security."
    assert (rows[0]["relevant"], rows[0]["kind"]) == (["b"], "x")
    again = json.loads(command("evaluate", "results.jsonl", "-m", "RR", "--format", "json").out)
    first = json.loads(command("evaluate", "cases.jsonl", "run.trec", "-m", "RR", "--format", "json").out)
    assert again["runs"][0]["measures"]["RR"]["value"] == first["runs"][0]["measures"]["RR"]["value"]


def test_answers_recorded_on_labels_by_text_can_be_scored_again_without_asking(folder: Path, command: Command) -> None:
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLD[:2]))
    words = ["-m", "StRecall@1", "-q", "--format", "json"]
    done = command("evaluate", "gold.jsonl", "my_live_app:with_texts", *words, "-o", "results.jsonl")
    assert done.code == 0, done.err
    asked = list(sys.modules["my_live_app"].asked)
    again = command("evaluate", "gold.jsonl", "results.jsonl", *words)
    assert (again.code, sys.modules["my_live_app"].asked) == (0, asked), again.err
    live_values, stored_values = (json.loads(one.out)["runs"][0]["measures"] for one in (done, again))
    assert live_values == stored_values
    assert stored_values["StRecall@1"]["value"] == 0.5


def test_ids_that_differ_between_two_requests_are_named_as_the_cause(folder: Path, command: Command) -> None:
    Path("app.py").write_text("made = []\n\ndef search(query):\n    made.append(query)\n    return [f'n{len(made)}']\n")
    done = command("evaluate", "cases.jsonl", "./app.py:search", "-m", "RR")
    assert done.code == 0
    assert "the same query, asked twice, had results with other ids" in done.err
    assert "--set retriever.id=metadata.source" in done.err
