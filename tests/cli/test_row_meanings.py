"""What a row means, through every way in: nothing that a file says is ignored, and no gate passes on what it lacks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rankgauge import (
    Conventions,
    InputError,
    RankgaugeWarning,
    Reading,
    Run,
    compare,
    evaluate,
    evaluate_runs,
    read_qrels,
    read_run,
)
from rankgauge.errors import InputTypeError
from rankgauge.io.formats.log_writer import write_log
from rankgauge.io.formats.trec import write_run
from rankgauge.retrieval import fuse
from tests.conftest import Outcome

Command = Callable[..., Outcome]
pytestmark = pytest.mark.filterwarnings(f"ignore::{RankgaugeWarning.__module__}.{RankgaugeWarning.__name__}")


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def found(query: str, *docs: Any, **others: Any) -> dict[str, Any]:
    return {"query_id": query, "retrieved": list(docs), **others}


def scored(**scores: float) -> list[dict[str, Any]]:
    return [{"id": doc, "score": score} for doc, score in scores.items()]


def values(outcome: Any) -> dict[str, Any]:
    assert outcome.code in (0, 1), outcome.err
    return dict(json.loads(outcome.out)["runs"][0]["measures"])


# -- the order of a list, and its scores ----------------------------------------------------------------------------

TIED = [("a", 1.0), ("b", 1.0), ("c", 1.0)]  # the rule for ties would have c first
RISING = [("a", 0.1), ("b", 0.2), ("c", 0.3)]


@pytest.mark.parametrize("results", [TIED, RISING], ids=["tied", "rising"])
def test_the_order_of_a_list_is_the_ranking_through_every_way_in(
    tmp_path: Path, results: list[tuple[str, float]]
) -> None:
    objects = [{"id": doc, "score": score} for doc, score in results]
    log = lines(tmp_path / "log.jsonl", {**found("q", *objects), "relevant": ["a"]})
    split = [{"query_id": "q", "relevant": ["a"], "retrieved": list("abc"), "scores": [score for _, score in results]}]
    mapping = tmp_path / "run.json"
    mapping.write_text(json.dumps({"q": objects}), encoding="utf-8")
    assert evaluate(log, measures="RR")["RR"] == 1
    assert evaluate(lines(tmp_path / "split.jsonl", *split), measures="RR")["RR"] == 1
    assert evaluate({"q": ["a"]}, mapping, "RR")["RR"] == 1
    assert evaluate({"q": ["a"]}, {"q": results}, "RR")["RR"] == 1
    assert evaluate_runs({"q": ["a"]}, [lambda _: objects], "RR", queries={"q": "text"}).scores[0]["RR"] == 1
    assert evaluate({"q": ["a"]}, {"q": dict(results)}, "RR")["RR"] == 1 / 3  # scores have no order of their own


def test_scores_that_do_not_give_the_order_are_kept_beside_it(tmp_path: Path) -> None:
    run = Run.from_lists({"q": TIED, "p": [("b", 2.0), ("a", 1.0)]})
    assert run.scores.tolist() == [3.0, 2.0, 1.0, 2.0, 1.0]
    assert run.extras is not None
    assert run.extras.given == {"q": dict(TIED)}
    write_log(tmp_path / "log.jsonl", run)
    (tied, plain) = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert tied["retrieved"] == [{"id": doc, "score": 1} for doc in "abc"]
    assert plain["retrieved"] == [{"id": "b", "score": 2}, {"id": "a", "score": 1}]
    back = read_run(tmp_path / "log.jsonl")
    assert back.docs.to_text() == ["a", "b", "c", "b", "a"]
    with pytest.warns(RankgaugeWarning, match="the scores of 1 list that do not give the order are replaced"):
        write_run(run, tmp_path / "run.trec")


def test_a_threshold_sees_the_given_scores_live_and_in_the_log_of_the_same_answers(
    tmp_path: Path, command: Command
) -> None:
    lines(tmp_path / "cases.jsonl", {"query": "one", "relevant": ["a"]}, {"query": "two", "answerable": False})
    (tmp_path / "tied_search.py").write_text(
        'def search(query): return [{"id": "a", "score": 0.4}, {"id": "b", "score": 0.4}]\n', encoding="utf-8"
    )
    asked = command(
        *("evaluate", tmp_path / "cases.jsonl", f"{tmp_path}/tied_search.py:search", "-m", "FalseAnswer"),
        *("--set", "measures.min_score=0.5", "--format", "json", "-o", tmp_path / "out.jsonl"),
    )
    again = command(
        *("evaluate", tmp_path / "out.jsonl", "-m", "FalseAnswer", "--set", "measures.min_score=0.5"),
        *("--format", "json"),
    )
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["retrieved"][0]["score"] == 0.4
    assert (asked.code, again.code) == (0, 0)
    rows = [json.loads(outcome.out)["runs"][0]["measures"]["FalseAnswer"] for outcome in (asked, again)]
    assert [row["value"] if isinstance(row, dict) else row for row in rows] == [0, 0]


def test_a_threshold_on_scores_that_rise_is_refused(tmp_path: Path) -> None:
    rows = [{**found("q", *scored(a=0.1, b=0.9)), "relevant": []}, {**found("p", *scored(a=0.3)), "relevant": ["a"]}]
    with pytest.raises(InputError, match="those of 1 list rise"):
        evaluate(lines(tmp_path / "log.jsonl", *rows), measures="FalseAnswer", conventions=Conventions(min_score=0.5))


# -- answers and refusals -------------------------------------------------------------------------------------------


def test_a_release_that_stops_refusing_fails(tmp_path: Path, command: Command) -> None:
    def log(name: str, refusing: int) -> Path:
        rows = [{**found(f"q{n}", "a"), "relevant": ["a"]} for n in range(10)]
        nothing = [{**found(f"n{n}", *([] if n < refusing else ["a"])), "answerable": False} for n in range(10)]
        return lines(tmp_path / name, *rows, *nothing)

    before, after = log("before.jsonl", 9), log("after.jsonl", 0)
    failed = command("gate", after, "--baseline", before, "-m", "FalseAnswer")
    assert failed.code == 1, failed.out
    assert command("gate", after, "--require", "FalseAnswer<=0.5").code == 1
    assert command("gate", before, "--require", "FalseAnswer<=0.5").code == 0


@pytest.mark.parametrize("no", [False, "false", "no", 0, "0", "No", "FALSE"])
def test_a_flag_decides_whether_an_answer_exists(tmp_path: Path, no: object) -> None:
    row = {**found("q", "a"), "relevant": ["a"], "answerable": no}
    other = {**found("p", "a"), "relevant": ["a"]}
    assert evaluate(lines(tmp_path / "log.jsonl", row, other), measures="FalseAnswer")["FalseAnswer"] == 1
    cases = [{"query_id": "q", "relevant": ["a"], "answerable": no}, {"query_id": "p", "relevant": ["a"]}]
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    results = {"q": ["a"], "p": ["a"]}
    assert evaluate(tmp_path / "cases.json", results, "FalseAnswer")["FalseAnswer"] == 1


@pytest.mark.parametrize(("key", "value"), [("answerable", "maybe"), ("refused", "perhaps"), ("cost", "1,5")])
def test_a_value_that_is_neither_is_an_error_with_its_line(
    tmp_path: Path, command: Command, key: str, value: str
) -> None:
    path = lines(
        tmp_path / "log.jsonl", found("p", "a", relevant=["a"]), found("q", "a", relevant=["a"], **{key: value})
    )
    failed = command("evaluate", path)
    assert failed.code == 2
    assert "log.jsonl:2" in failed.err
    assert value in failed.err


def test_an_answer_without_relevant_documents_is_an_error(tmp_path: Path, command: Command) -> None:
    path = lines(tmp_path / "log.jsonl", found("p", "a", relevant=["a"]), found("q", "a", relevant=[], answerable=True))
    failed = command("evaluate", path)
    assert (failed.code, "log.jsonl:2" in failed.err) == (2, True)


# -- leaks and lost queries -----------------------------------------------------------------------------------------


def test_a_run_that_lacks_the_leaking_queries_is_not_free_of_leaks(tmp_path: Path, command: Command) -> None:
    cases = [{"query_id": f"q{n}", "relevant": ["a"], "forbidden": ["z"]} for n in range(3)]
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    log = lines(tmp_path / "log.jsonl", found("q0", "a"), found("q1", "a"))
    failed = command("gate", tmp_path / "cases.json", log, "--no-leaks")
    assert failed.code == 2
    assert "q2" in failed.out + failed.err


def test_queries_of_one_side_are_not_paired_and_lost_ones_stop_a_pass(tmp_path: Path, command: Command) -> None:
    def log(name: str, first: int, last: int, doc: str) -> Path:
        return lines(tmp_path / name, *({**found(f"q{n:02}", doc), "relevant": ["a"]} for n in range(first, last)))

    baseline, grown = log("baseline.jsonl", 0, 20, "a"), log("grown.jsonl", 0, 20, "b")
    easy = log("easy.jsonl", 20, 40, "a")
    with grown.open("a") as file:
        file.write(easy.read_text())
    assert command("gate", grown, "--baseline", baseline, "-m", "RR").code == 1
    lost = command("gate", log("lost.jsonl", 0, 10, "a"), "--baseline", baseline, "-m", "RR")
    assert lost.code == 1
    assert "q10" in lost.out + lost.err


def test_a_measure_without_a_paired_query_is_not_comparable() -> None:
    one, other = {"q1": {"a": 1.0}}, {"q2": {"b": 1.0}}
    compared = compare({"q1": {"a": 1}, "q2": {"b": 1}}, {"one": one, "other": other}, measures="RR")
    (row,) = compared.differences
    assert (row.n, row.difference, row.outcome(compared.alpha)) == (0, None, "not comparable")
    assert "+0.000" not in str(compared)


# -- Python ---------------------------------------------------------------------------------------------------------


def test_texts_of_queries_are_a_dict_or_a_clear_error() -> None:
    labels, results = {"q": ["a"]}, {"one": {"q": ["a"]}, "other": {"q": ["b"]}}
    assert compare(labels, results, measures="RR", queries={"q": "a text"}).texts == {"q": "a text"}
    with pytest.raises(InputTypeError, match="queries must be a file, or texts by id"):
        compare(labels, results, measures="RR", queries=7)


def test_each_query_of_a_dict_is_read_by_its_own_form() -> None:
    labels = {"q": ["a"], "p": {"a": 0, "b": 3}}
    assert evaluate(labels, {"q": ["a"], "p": ["a", "b"]}, "RR")["RR"] == (1 + 1 / 2) / 2
    assert evaluate(dict(reversed(labels.items())), {"q": ["a"], "p": ["a", "b"]}, "RR")["RR"] == (1 + 1 / 2) / 2
    results = {"q": ["x", "a"], "p": {"a": 1.0, "b": 2.0}}
    for mixed in (results, dict(reversed(results.items()))):
        assert evaluate(labels, mixed, "RR")["RR"] == (1 / 2 + 1) / 2


# -- what code of the user does -------------------------------------------------------------------------------------

CODE = """
import os, sys

def leaves(query): sys.exit(0)
def prints(query):
    print("noise")
    os.write(1, b"more noise\\n")
    return ["a"]
def moves(query):
    os.makedirs("elsewhere", exist_ok=True)
    os.chdir("elsewhere")
    return ["a"]
"""


def called(folder: Path, function: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "users_code.py").write_text(CODE, encoding="utf-8")
    lines(folder / "cases.jsonl", {"query": "one", "relevant": ["a"]}, {"query": "two", "relevant": ["a"]})
    line = [sys.executable, "-m", "rankgauge", *words[:1], "cases.jsonl", f"./users_code.py:{function}", *words[1:]]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_code_that_ends_the_process_never_passes(tmp_path: Path) -> None:
    done = called(tmp_path, "leaves", "gate", "--require", "RR>=0")
    assert done.returncode not in (0, 130), done.stdout


def test_what_code_prints_is_no_part_of_the_output(tmp_path: Path) -> None:
    done = called(tmp_path, "prints", "evaluate", "-m", "RR", "--format", "json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "noise" in done.stderr
    assert "more noise" in done.stderr


def test_code_that_changes_the_folder_moves_no_output(tmp_path: Path) -> None:
    done = called(tmp_path, "moves", "evaluate", "-m", "RR", "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.jsonl").is_file()
    assert not list(tmp_path.rglob("*.journal"))


# -- text from data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["trec", "csv"])
def test_an_id_with_a_line_break_forges_no_row(tmp_path: Path, command: Command, format: str) -> None:
    forged = "q\nRR all 1.0000"
    path = lines(tmp_path / "log.jsonl", found(forged, "b", relevant=["a"]))
    failed = command("evaluate", path, "-m", "RR", "-q", "--format", format)
    assert failed.code == 2
    assert "all 1.0000" not in failed.out


@pytest.mark.parametrize("words", [("-q", "--format", "csv"), ("-q",), ("--by", "kind")])
@pytest.mark.parametrize("command_text", ["::error::x", "##[error]x", "  ::error::x"])
def test_no_line_of_a_table_is_one_that_a_runner_executes(
    tmp_path: Path, command: Command, words: tuple[str, ...], command_text: str
) -> None:
    path = lines(tmp_path / "log.jsonl", found(command_text, "a", relevant=["a"], kind=command_text))
    done = command("evaluate", path, "-m", "RR", *words)
    assert done.code == 0
    assert not any(line.lstrip().startswith(("::", "##[")) for line in done.out.splitlines())
    (tmp_path / "labels.json").write_text(json.dumps({command_text: {"a": 1}}))
    done = command("convert", tmp_path / "labels.json", "-", "--to", "csv", "--kind", "qrels")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    assert not any(line.lstrip().startswith(("::", "##[")) for line in done.out.splitlines())
    (tmp_path / "again.csv").write_text(done.out)
    assert read_qrels(tmp_path / "again.csv").queries.to_text() == [command_text]


def test_the_cases_of_a_file_are_its_list(tmp_path: Path, command: Command) -> None:
    tests = [{"question": f"q{n}", "expected_sources": ["a"]} for n in range(3)]
    document = {"defaults": {"question": "other", "expected_sources": ["b"]}, "tests": tests}
    (tmp_path / "cases.json").write_text(json.dumps(document), encoding="utf-8")
    results = lines(tmp_path / "log.jsonl", *({"query": f"q{n}", "retrieved": ["a"]} for n in range(3)))
    done = command("evaluate", tmp_path / "cases.json", results, "-m", "RR", "--format", "json")
    assert done.code == 0, done.err
    assert "defaults" in done.err + done.out


def test_merged_keys_of_yaml_are_keys(tmp_path: Path, command: Command) -> None:
    (tmp_path / "cases.yaml").write_text(
        "base: &base\n  forbidden: [z]\ncases:\n  - <<: *base\n    query_id: q\n    relevant: [a]\n", encoding="utf-8"
    )
    log = lines(tmp_path / "log.jsonl", found("q", "a", "z"))
    assert command("gate", tmp_path / "cases.yaml", log, "--no-leaks").code == 1


def test_a_leak_of_a_query_without_labels_fails(tmp_path: Path, command: Command) -> None:
    labeled = [found(f"q{n}", "a", relevant=["a"], forbidden=["z"]) for n in range(3)]
    path = lines(tmp_path / "log.jsonl", *labeled, found("other", "b", "z", forbidden=["z"]))
    failed = command("gate", path, "--no-leaks")
    assert failed.code == 1
    assert "1 of 4" in failed.out
    scores = evaluate(path, measures="RR Leak")
    assert (scores["RR"], scores["Leak"]) == (1, 1 / 4)
    clean = lines(tmp_path / "clean.jsonl", *labeled, found("other", "b", forbidden=["z"]))
    assert command("gate", clean, "--no-leaks").code == 0
    pairs = tmp_path / "forbidden.txt"
    pairs.write_text("other b\n", encoding="utf-8")
    results = {"q": ["a"], "other": ["b"]}
    reading = Reading(forbidden=str(pairs))
    assert evaluate({"q": ["a"]}, results, "RR Leak", reading=reading)["Leak"] == 1


def test_a_row_without_labels_expects_neither_something_nor_nothing(tmp_path: Path) -> None:
    rows = [found("q", "a", relevant=["a"]), found("p", "a", answerable=False), found("o", "b", forbidden=["z"])]
    scores = evaluate(lines(tmp_path / "log.jsonl", *rows), measures="RR FalseAnswer Leak")
    assert (scores["RR"], scores["FalseAnswer"], scores["Leak"]) == (1, 1, 0)
    assert scores.class_sizes == (1, 1)


def test_a_rule_applies_to_queries_without_labels(tmp_path: Path, command: Command) -> None:
    documents = [{"id": "x", "tenant": "a"}, {"id": "y", "tenant": "b"}]
    rows = [
        found("q", documents[0], relevant=["x"], tenant="a"),
        found("p", documents[0], tenant="b"),
        found("o", documents[1], tenant="b"),
    ]
    path = lines(tmp_path / "log.jsonl", *rows)
    failed = command("gate", path, "--no-leaks", "--forbid", "tenant != case.tenant")
    assert failed.code == 1
    assert "1 of 3" in failed.out
    scores = evaluate(path, measures="RR Leak", conventions=Conventions(forbid=("tenant != case.tenant",)))
    assert (scores["RR"], scores["Leak"]) == (1, 1 / 3)
    lines(path, *rows[:1], *rows[2:])
    assert command("gate", path, "--no-leaks", "--forbid", "tenant != case.tenant").code == 0


def test_questions_get_ids_that_a_run_can_hold(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.txt").write_text("How do I reset it?\nWhere is my invoice?\n", encoding="utf-8")
    (tmp_path / "plain_search.py").write_text("def find(query): return ['a', 'b']\n", encoding="utf-8")
    words = ("runs", "fetch", "--retriever", "./plain_search.py:find", "--queries", "questions.txt", "-o")
    done = command(*words, "run.trec")
    assert done.code == 0, done.err
    assert "questions are named q1 to q2" in done.err
    assert read_run("run.trec").queries.to_text() == ["q1", "q2"]
    texts = [json.loads(line) for line in (tmp_path / "run.trec.queries.jsonl").read_text().splitlines()]
    assert texts == [{"_id": "q1", "text": "How do I reset it?"}, {"_id": "q2", "text": "Where is my invoice?"}]
    done = command(*words, "run.trec", "--restart")
    assert done.code == 0, done.err  # the same ids again
    (tmp_path / "mine.trec.queries.jsonl").write_text("mine\n")
    (tmp_path / "other").write_text("other\n")
    (tmp_path / "linked.trec.queries.jsonl").symlink_to(tmp_path / "other")
    for name, kept, content in (
        ("mine.trec", "mine.trec.queries.jsonl", "mine\n"),
        ("linked.trec", "other", "other\n"),
    ):
        done = command(*words, name)
        assert (done.code, "already there, and the ids of the questions would go into it" in done.err) == (2, True)
        assert (tmp_path / kept).read_text() == content
        assert not (tmp_path / name).exists()
    assert command(*words, "run.jsonl").code == 0  # a log holds questions as they are
    assert read_run("run.jsonl").queries.to_text() == ["How do I reset it?", "Where is my invoice?"]


def test_quotes_that_are_in_no_chunk_stay_in_the_denominator(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chunks = [
        {"_id": f"c{n}", "text": f"the {word} cat sat on the {word} mat"} for n, word in enumerate(("red", "blue"))
    ]
    lines(tmp_path / "chunks.jsonl", *chunks)
    quotes = [["the red cat sat"], ["a quote of nothing here"], ["the blue cat sat", "another text of nowhere"]]
    labels = [{"query_id": f"q{n}", "query": f"q{n}", "gold": texts} for n, texts in enumerate(quotes)]
    lines(tmp_path / "gold.jsonl", *labels)
    results = {f"q{n}": {"c0": 2.0, "c1": 1.0} for n in range(3)}
    (tmp_path / "run.json").write_text(json.dumps(results), encoding="utf-8")
    done = command("labels", "resolve", "gold.jsonl", "--chunks", "chunks.jsonl", "-o", "out.qrels")
    assert done.code == 0, done.err
    assert "2 in no chunk, written as labels that nothing matches" in done.err
    resolved = evaluate("out.qrels", "run.json", "StRecall@5", reading=Reading(qrels_format="ndeval"))
    direct = command(
        *("evaluate", "gold.jsonl", "run.json", "--set", "reading.chunks=chunks.jsonl", "-m", "StRecall@5"),
        *("--format", "json"),
    )
    assert direct.code == 0, direct.err
    value = json.loads(direct.out)["runs"][0]["measures"]["StRecall@5"]
    assert resolved["StRecall@5"] == (1 + 0 + 1 / 2) / 3 == (value["value"] if isinstance(value, dict) else value)


def test_an_entry_that_ends_in_a_slash_is_a_folder(tmp_path: Path, command: Command) -> None:
    row = found("q", "a", "beta/z.md", relevant=["a"], forbidden=["beta/"])
    failed = command("gate", lines(tmp_path / "log.jsonl", row), "--no-leaks")
    assert failed.code == 1
    assert "beta/z.md" in failed.out


def test_forbidden_entries_that_match_no_id_are_counted(tmp_path: Path, command: Command) -> None:
    path = lines(tmp_path / "log.jsonl", found("q", "a", "b", relevant=["a"], forbidden=["nowhere", "x/"]))
    done = command("gate", path, "--no-leaks", "--forbid", "id under doc/beta/")
    assert done.code == 0
    assert "3 of 3 forbidden entries and rules match no id seen: 'nowhere', 'x/', 'id under doc/beta/'" in done.out


@pytest.mark.parametrize("entry", ["Docs/A.md", "/docs/a.md", "docs/a", "docs/a.md/"])
def test_an_entry_that_is_nearly_an_id_is_an_error(tmp_path: Path, command: Command, entry: str) -> None:
    path = lines(tmp_path / "log.jsonl", found("q", "x", "docs/a.md", relevant=["x"], forbidden=[entry]))
    failed = command("gate", path, "--no-leaks")
    assert failed.code == 2
    assert "'docs/a.md' is nearly the same" in failed.err


def test_documents_with_other_extensions_are_other_documents(tmp_path: Path, command: Command) -> None:
    path = lines(tmp_path / "log.jsonl", found("q", "x", "docs/a.md", relevant=["x"], forbidden=["docs/a.txt"]))
    assert command("gate", path, "--no-leaks").code == 0


GATE = ("gate", "--require", "RR>=0")


@pytest.mark.parametrize("retriever", ["./search.py:find", "search:find"])
@pytest.mark.parametrize(
    ("verb", "option"),
    [*((("evaluate",), one) for one in ("-o", "--html")), *((GATE, one) for one in ("-o", "--html", "--summary"))],
)
def test_no_output_replaces_the_code_of_a_retriever_or_the_configuration(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    retriever: str,
    verb: tuple[str, ...],
    option: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code = "def find(query): return ['a']\n"
    (tmp_path / "search.py").write_text(code)
    (tmp_path / "c.yaml").write_text("measures: [RR]\n")
    lines(tmp_path / "cases.jsonl", {"query": "one", "relevant_ids": ["a"]})
    for path in ("search.py", "c.yaml", "cases.jsonl"):
        before = Path(path).read_text()
        done = command(verb[0], "cases.jsonl", retriever, *verb[1:], "--config", "c.yaml", option, path)
        assert (done.code, "would overwrite the input" in done.err) == (2, True), done.err
        assert Path(path).read_text() == before


# -- numbers by name that are no documents ---------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 1])
def test_names_that_every_query_has_and_no_label_are_no_documents(
    tmp_path: Path, command: Command, indent: int | None
) -> None:
    labels = {f"q{number}": {"a": 1, "b": 0} for number in range(4)}
    values = {query: {"faithfulness": 0.5, "relevancy": 0.1} for query in labels}
    for name, data in (("labels.json", labels), ("values.json", values)):
        (tmp_path / name).write_text(json.dumps(data, indent=indent))
    files = tmp_path / "labels.json", tmp_path / "values.json"
    done = command("evaluate", *files, "-m", "RR")
    expected = (
        "every query has a number of 'faithfulness', 'relevancy', and no label has such an id: expected documents"
    )
    assert (done.code, done.err.splitlines()[0]) == (2, f"error: run 'values.json': {expected}")
    assert command("gate", *files, "--require", "RR>=0").code == 2
    assert command("compare", *files, files[1]).code == 2
    with pytest.raises(InputError, match="no label has such an id"):
        evaluate(labels, values, "RR")
    one_of_them = {**labels, "q1": {"relevancy": 1}}
    assert evaluate(one_of_them, values, "RR")["RR"] == 1 / 8
    assert evaluate(labels, {query: ["x", "y"] for query in labels}, "RR")["RR"] == 0  # lists are of documents
    assert evaluate(labels, {query: {"A": 2.0, "B": 1.0} for query in labels}, "RR")["RR"] == 0  # they differ in case


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_object_of_our_measures_is_scores_on_one_line_too(
    tmp_path: Path, command: Command, indent: int | None
) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({f"q{n}": {"nDCG@10": n / 10, "RR": 1.0} for n in range(5)}, indent=indent))
    found = values(command("evaluate", path, "--format", "json"))
    assert {name: value["value"] for name, value in found.items()} == {"nDCG@10": 0.2, "RR": 1.0}


# -- nothing is expected, and grades that are fractions ----------------------------------------------------------------


def written(folder: Path, labels: dict[str, Any], results: dict[str, Any]) -> dict[str, tuple[Path, ...]]:
    """The same labels and results as files of each kind that can hold them."""
    ways: dict[str, tuple[Path, ...]] = {}
    for name, data in (("labels", labels), ("results", results)):
        (folder / f"{name}.json").write_text(json.dumps(data))
        (folder / f"{name}-indented.json").write_text(json.dumps(data, indent=1))
    ways["json"] = folder / "labels.json", folder / "results.json"
    ways["indented"] = folder / "labels-indented.json", folder / "results-indented.json"
    key = {True: "grades", False: "relevant"}
    given = {query: {key[isinstance(docs, dict) and bool(docs)]: docs} for query, docs in labels.items()}
    rows = [{"query_id": query, "retrieved": results[query], **own} for query, own in given.items()]
    ways["log"] = (lines(folder / "log.jsonl", *rows),)
    cases = [{"question": query, **own} for query, own in given.items()]
    (folder / "cases.json").write_text(json.dumps(cases))
    ways["cases"] = folder / "cases.json", folder / "results.json"
    (folder / "cases.yaml").write_text(yaml.safe_dump({"tests": cases}))
    ways["yaml"] = folder / "cases.yaml", folder / "results.json"
    return ways


@pytest.mark.parametrize("nothing", [[], {}, None], ids=repr)
@pytest.mark.parametrize("is_graded", [False, True])
def test_an_empty_list_means_the_same_whatever_holds_it(
    tmp_path: Path, command: Command, nothing: Any, is_graded: bool
) -> None:
    labels = {"q": {"a": 2, "b": 0} if is_graded else ["a"], "p": nothing, "r": {"b": 0}}
    results = {"q": ["a"], "p": ["a"], "r": ["b"]}
    for name, words in written(tmp_path, labels, results).items():
        for setting, expected in (((), 0.5), (("--set", "measures.no_relevant=zero"), 1 / 3)):
            done = command("evaluate", *words, "-m", "RR", "--format", "json", *setting)
            assert values(done)["RR"]["value"] == pytest.approx(expected), name
    for call in (labels, {query: docs for query, docs in labels.items() if query != "r"}):
        with pytest.warns(RankgaugeWarning, match="1 case expects nothing, not averaged"):
            found = evaluate(call, results, "RR")
        assert found["RR"] == (0.5 if "r" in call else 1.0)
        zero = evaluate(call, results, "RR", conventions=Conventions(no_relevant="zero"))
        assert zero["RR"] == pytest.approx(1 / len(call))


@pytest.mark.parametrize("measure", ["RR", "Success@5", "P@2", "R@5", "AP", "Q"])
def test_grades_between_0_and_1_need_a_grade_of_relevance(tmp_path: Path, command: Command, measure: str) -> None:
    labels, results = {"q": {"a": 0.4, "b": 0.9}, "p": {"c": 0.2}}, {"q": ["b", "a"], "p": ["c"]}
    csv = tmp_path / "labels.csv"
    csv.write_text("query,doc,grade\nq,a,0.4\nq,b,0.9\np,c,0.2\n")
    ways = {**written(tmp_path, labels, results), "csv": (csv, tmp_path / "results.json")}
    for name, words in ways.items():
        done = command("evaluate", *words, "-m", measure)
        assert done.code == 2, name
        assert "3 grades between 0 and 1" in done.err, name
        assert "--rel 0.5" in done.err, name
        assert command("gate", *words, "--require", f"{measure}>=0").code == 2, name
        assert command("evaluate", *words, "-m", "nDCG@10", "--format", "json").code == 0, name
        found = values(command("evaluate", *words, "-m", measure, "--rel", "0.3", "--format", "json"))
        assert next(iter(found.values()))["value"] is not None, name
    for data in (labels, csv):
        with pytest.raises(InputError, match="3 grades between 0 and 1"):
            evaluate(data, results, measure)
        assert evaluate(data, results, measure, conventions=Conventions(rel=1))[f"{measure}"] == 0  # as it is said
    with pytest.raises(InputError, match="3 grades between 0 and 1"):
        compare(labels, [results, results])


# -- forbidden documents: cells with several, near misses, unused keys -------------------------------------------------


@pytest.mark.parametrize("cell", ["y;z", "y, z", "y|z", '"[""y"", ""z""]"'])
def test_a_cell_of_forbidden_documents_is_split_as_one_of_relevant_ones(
    tmp_path: Path, command: Command, cell: str
) -> None:
    rows = f"question,relevant,forbidden\nt1,a,{cell if cell[0] == chr(34) else chr(34) + cell + chr(34)}\nt0,a,z\n"
    (tmp_path / "cases.csv").write_text(rows)
    (tmp_path / "run.json").write_text(json.dumps({"t1": ["b", "z"], "t0": ["a"]}))
    done = command("gate", tmp_path / "cases.csv", tmp_path / "run.json", "--no-leaks", "--format", "json")
    assert (done.code, json.loads(done.out)["gate"]["verdict"]) == (1, "fail")


NEAR = ["Beta/", "/beta/", "BETA/", "beta", "./beta/x.md", "beta\\x.md", "beta/X.md", "/beta/x.md", "beta/x"]
NEAR_RULES = ["id = beta/X.md", "id under /beta/", "id under Beta/", "status = Retired"]


@pytest.mark.parametrize("entry", NEAR)
def test_a_forbidden_entry_that_is_nearly_an_id_or_a_folder_is_an_error(
    tmp_path: Path, command: Command, entry: str
) -> None:
    row = found("q", "docs/a.md", "beta/x.md", relevant=["docs/a.md"], forbidden=[entry])
    done = command("gate", lines(tmp_path / "log.jsonl", row), "--no-leaks")
    assert (done.code, "is nearly the same" in done.err) == (2, True)
    row["forbidden"] = ["gamma/", "delta.md"]
    done = command("gate", lines(tmp_path / "log.jsonl", row), "--no-leaks")
    assert (done.code, "2 of 2 forbidden entries and rules match no id seen" in done.out + done.err) == (0, True)


@pytest.mark.parametrize("rule", NEAR_RULES)
def test_a_rule_that_nearly_forbids_a_result_is_an_error(tmp_path: Path, command: Command, rule: str) -> None:
    results = [
        {"id": "docs/a.md", "metadata": {"status": "live"}},
        {"id": "beta/x.md", "metadata": {"status": "retired"}},
    ]
    path = lines(tmp_path / "log.jsonl", {"query_id": "q", "relevant": ["docs/a.md"], "retrieved": results})
    done = command("gate", path, "--no-leaks", "--forbid", rule)
    assert (done.code, "is nearly the same" in done.err) == (2, True)
    assert command("gate", path, "--no-leaks", "--forbid", rule.lower().replace("/beta/", "beta/")).code == 1
    assert command("gate", path, "--no-leaks", "--forbid", "status = secret").code == 0


def test_a_key_of_forbidden_documents_that_is_not_used_is_named_in_a_log_too(tmp_path: Path, command: Command) -> None:
    row = found("q", "a", "z", relevant=["a"], must_not_retrieve=["z"])
    path = lines(tmp_path / "log.jsonl", row, {**row, "query_id": "p"})
    done = command("evaluate", path, "-m", "RR")
    assert (done.code, "must_not_retrieve is not used" in done.err) == (0, True)
    with pytest.warns(RankgaugeWarning, match="must_not_retrieve is not used"):
        evaluate(path, measures="RR")


# -- flags ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [{"grades": {}}, {"evidence": []}, {"relevant": []}, {"relevant": None}])
def test_a_case_with_an_answer_needs_labels_under_whatever_key(
    tmp_path: Path, command: Command, labels: dict[str, Any]
) -> None:
    rows = [found("p", "a", relevant=["a"]), found("q", "a", answerable=True, **labels)]
    for order in (rows, rows[::-1]):
        if "relevant" not in labels:
            order = [
                {
                    **row,
                    **(
                        {next(iter(labels)): [["a"]] if "evidence" in labels else {"a": 1}} if "relevant" in row else {}
                    ),
                }
                for row in order
            ]
        done = command("evaluate", lines(tmp_path / "log.jsonl", *order), "-m", "RR")
        assert (done.code, "which has an answer by its flag" in done.err) == (2, True), done.err


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_flag_alone_makes_a_case_whatever_its_place(
    tmp_path: Path, command: Command, is_first: bool, suffix: str
) -> None:
    cases = [{"query_id": "p", "relevant": ["a"]}, {"query_id": "q", "answerable": False}]
    cases = cases[::-1] if is_first else cases
    path = tmp_path / f"cases.{suffix}"
    path.write_text(json.dumps(cases) if suffix == "json" else "".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "run.json").write_text(json.dumps({"p": ["a"], "q": ["a"]}))
    done = command("evaluate", path, tmp_path / "run.json", "-m", "FalseAnswer", "-m", "RR", "--format", "json")
    measured = values(done)
    assert (measured["FalseAnswer"]["value"], measured["RR"]["value"]) == (1.0, 1.0)


def test_a_flag_wins_in_a_log_that_is_matched_by_text(tmp_path: Path, command: Command) -> None:
    results = [{"id": "1", "text": "the reset of a device"}]
    rows: list[dict[str, Any]] = [
        {"query_id": "p", "retrieved": results, "must_contain": ["reset"]},
        {"query_id": "q", "retrieved": results, "must_contain": ["reset"], "answerable": False},
    ]
    path = lines(tmp_path / "log.jsonl", *rows)
    done = command("evaluate", path, "--match", "text", "-m", "FalseAnswer", "-m", "RR", "--format", "json")
    measured = values(done)
    assert (measured["FalseAnswer"]["value"], measured["RR"]["value"], measured["RR"]["n"]) == (1.0, 1.0, 1)


CASES = [{"question": f"t{number}", "expected_sources": ["a"]} for number in range(3)]


@pytest.mark.parametrize(
    "around",
    [{"suites": [{"name": "s", "cases": CASES}]}, {"groups": {"x": CASES}}, {"suite": {"tests": CASES}}],
)
def test_an_object_beside_a_nested_list_never_replaces_the_cases(
    tmp_path: Path, command: Command, around: dict[str, Any]
) -> None:
    document = {"defaults": {"question": "other", "expected_sources": ["b"]}, **around}
    (tmp_path / "run.json").write_text(json.dumps({"other": ["b"], **{case["question"]: ["x"] for case in CASES}}))
    for name, text in (("cases.json", json.dumps(document)), ("cases.yaml", yaml.safe_dump(document))):
        (tmp_path / name).write_text(text)
        done = command("gate", tmp_path / name, tmp_path / "run.json", "--require", "RR>=1")
        assert done.code in (1, 2), done.out


def test_unseen_entries_are_beside_the_verdict_and_listed(tmp_path: Path, command: Command) -> None:
    entries = [f"gone/{number}.md" for number in range(12)]
    path = lines(tmp_path / "log.jsonl", found("q", "a", relevant=["a"], forbidden=entries))
    done = command("gate", path, "--no-leaks")
    assert (done.code, "note: 12 of 12 forbidden entries and rules match no id seen" in done.out) == (0, True)
    data = json.loads(command("gate", path, "--no-leaks", "--format", "json").out)["gate"]
    assert data["forbidden_unseen"] == entries


def test_queries_that_may_leak_are_a_failure_of_junit(tmp_path: Path, command: Command) -> None:
    (tmp_path / "labels.json").write_text(
        json.dumps([{"id": q, "query": q, "relevant": ["a"], "forbidden": ["z"]} for q in "pq"])
    )
    log = lines(tmp_path / "log.jsonl", found("p", "a"))
    done = command("gate", tmp_path / "labels.json", log, "--no-leaks", "--format", "junit")
    assert (done.code, 'failures="1"' in done.out, "1 labeled query not in the results may leak" in done.out) == (
        2,
        True,
        True,
    )


# -- scores that were given, and numbers that only give the order ------------------------------------------------------


def test_rank_numbers_beside_scores_are_no_scores(tmp_path: Path, command: Command) -> None:
    """A run made of a log has rank numbers where scores are equal; a threshold on them would be one on ranks."""
    rows = [
        {"query_id": "q", "relevant": ["a"], "retrieved": scored(a=0.8, b=0.4)},
        {"query_id": "n", "relevant": [], "retrieved": scored(a=0.4, b=0.4)},
    ]
    log, run = lines(tmp_path / "log.jsonl", *rows), tmp_path / "run.trec"
    threshold = ("-m", "FalseAnswer", "--set", "measures.min_score=0.5", "--format", "json")
    assert values(command("evaluate", log, *threshold))["FalseAnswer"]["value"] == 0
    write_run(read_run(log), run)
    done = command("evaluate", log, run, *threshold)
    assert (done.code, "rank numbers in their place ('n')" in done.err) == (2, True)


def test_fusion_sums_the_scores_that_were_given(tmp_path: Path) -> None:
    first = lines(tmp_path / "first.jsonl", {"query_id": "n", "retrieved": scored(a=0.4, b=0.4)})
    second = lines(tmp_path / "second.jsonl", {"query_id": "n", "retrieved": scored(c=0.9, b=0.5)})
    fused = fuse([read_run(first), read_run(second)], "combsum", normalization="none")
    assert dict(zip(fused.docs.to_text(), fused.scores.tolist(), strict=True)) == pytest.approx(
        {"a": 0.4, "b": 0.9, "c": 0.9}
    )


def test_a_query_that_a_baseline_run_never_had_is_not_lost(tmp_path: Path, command: Command) -> None:
    names = [f"q{number:02}" for number in range(12)]
    (tmp_path / "cases.json").write_text(json.dumps([{"id": q, "query": q, "relevant": ["a"]} for q in names]))
    (tmp_path / "before.trec").write_text("".join(f"{q} Q0 a 1 1 x\n" for q in names[:6]))
    now = lines(tmp_path / "now.jsonl", *(found(q, "a") for q in names[:6]))
    done = command("gate", tmp_path / "cases.json", now, "--baseline", tmp_path / "before.trec", "-m", "RR")
    assert done.code == 0, done.out
    fewer = lines(tmp_path / "fewer.jsonl", *(found(q, "a") for q in names[:5]))
    done = command("gate", tmp_path / "cases.json", fewer, "--baseline", tmp_path / "before.trec", "-m", "RR")
    assert (done.code, "1 query of the baseline has no value now (q05)" in done.out) == (1, True)


@pytest.mark.parametrize("measure", ["FalseAnswer", "WrongRefusal", "RightRefusal", "RightAnswer@5", "faithfulness"])
def test_a_benchmark_shows_measures_that_no_document_makes_up(tmp_path: Path, command: Command, measure: str) -> None:
    rows = [
        found("q1", "a", "b", question="one", relevant=["a"], faithfulness=0.5),
        found("q2", "b", "a", question="two", relevant=["a"], faithfulness=0.75),
        found("q3", "b", question="three", relevant=[], faithfulness=1),
    ]
    log = lines(tmp_path / "log.jsonl", *rows)
    done = command("benchmark", "run", log, "-o", tmp_path / "out", "-m", measure, "-m", "nDCG@10")
    assert done.code == 0, done.err
    assert command("benchmark", "verify", tmp_path / "out").code == 0


def test_compare_says_how_many_queries_were_not_paired(tmp_path: Path, command: Command) -> None:
    names = [f"q{number:02}" for number in range(40)]
    (tmp_path / "cases.json").write_text(json.dumps([{"id": q, "query": q, "relevant": ["a"]} for q in names]))
    both = lines(tmp_path / "both.jsonl", *(found(q, *(["a"] if n % 2 else ["b", "a"])) for n, q in enumerate(names)))
    half = lines(tmp_path / "half.jsonl", *(found(q, "a") for q in names[:20]))
    done = command("compare", tmp_path / "cases.json", both, half, "-m", "RR")
    assert "20 queries not asked of every system: not paired, and 0 in the scores" in done.out
    whole = command("compare", tmp_path / "cases.json", both, both, "-m", "RR")
    assert "not asked" not in whole.out


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_forbidden_documents_of_results_beside_labels_are_named(tmp_path: Path, command: Command, form: str) -> None:
    cases = [{"id": q, "query": q, "relevant": ["a"], "forbidden": ["y"]} for q in "pq"]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    rows = [found("p", "a"), found("q", "a", "z", forbidden=["z"])]
    path = lines(tmp_path / "log.jsonl", *rows)
    if form == "json":
        (path := tmp_path / "log.json").write_text(json.dumps(rows[::-1]))
    done = command("gate", tmp_path / "cases.json", path, "--no-leaks")
    assert f"{path.name}: 'forbidden' is not used: the forbidden documents of the labels apply" in done.err + done.out


@pytest.mark.parametrize(
    ("meaning", "expected"), [("similarity", 1 / 3), ("distance", 1.0), ("ignore", 0.5), (None, 0.5)]
)
def test_what_scores_mean_can_be_said_of_every_list(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, meaning: str | None, expected: float
) -> None:
    """Of three results in the order b, a, c, the relevant one has the lowest score."""
    monkeypatch.chdir(tmp_path)
    results = scored(b=0.5, a=0.1, c=0.3)
    log = lines(tmp_path / "log.jsonl", {"query_id": "q", "query": "one", "relevant": ["a"], "retrieved": results})
    (tmp_path / "log.yaml").write_text(yaml.safe_dump([json.loads(log.read_text())]))
    (tmp_path / "labels.json").write_text(json.dumps({"q": ["a"]}))
    (tmp_path / "search.py").write_text(f"def find(query): return {results!r}\n")
    lines(tmp_path / "cases.jsonl", {"query": "one", "relevant": ["a"]})
    said = () if meaning is None else ("--set", f"reading.scores={meaning}")
    ways = [(log,), (tmp_path / "log.yaml",), (tmp_path / "labels.json", log), ("cases.jsonl", "./search.py:find")]
    for words in ways:
        done = command("evaluate", *words, "-m", "RR", "--format", "json", *said)
        assert values(done)["RR"]["value"] == pytest.approx(expected), words
    reading = Reading(scores=meaning)  # type: ignore[arg-type]  # a text from the table
    assert evaluate(log, measures="RR", reading=reading)["RR"] == pytest.approx(expected)
    pairs = {"q": [(one["id"], one["score"]) for one in results]}
    assert evaluate({"q": ["a"]}, pairs, "RR", reading=reading)["RR"] == pytest.approx(expected)
    assert evaluate({"q": ["a"]}, {"q": ["b", "a"]}, "RR", reading=reading)["RR"] == 0.5  # a list without scores


def test_what_scores_mean_is_refused_where_there_is_no_list(tmp_path: Path, command: Command) -> None:
    (tmp_path / "qrels.trec").write_text("q 0 a 1\n")
    (tmp_path / "run.trec").write_text("q Q0 a 1 1 x\n")
    log = lines(tmp_path / "log.jsonl", found("q", "a", relevant=["a"]))
    said = ("--set", "reading.scores=distance")
    assert command("evaluate", tmp_path / "qrels.trec", tmp_path / "run.trec", *said).code == 64
    done = command("compare", tmp_path / "qrels.trec", tmp_path / "run.trec", log, *said)
    assert (done.code, "reading.scores applies to lists of results" in done.err) == (64, True)


def test_a_threshold_on_distances_counts_from_below(tmp_path: Path, command: Command) -> None:
    rows = [
        {"query_id": "q", "relevant": ["a"], "retrieved": scored(a=0.1, b=0.4)},
        {"query_id": "n", "relevant": [], "retrieved": scored(a=0.7, b=0.9)},
    ]
    words = ("-m", "FalseAnswer", "-m", "RightAnswer@5", "--set", "measures.min_score=-0.5", "--format", "json")
    path = lines(tmp_path / "log.jsonl", *rows)
    measured = values(command("evaluate", path, *words, "--set", "reading.scores=distance"))
    assert (measured["FalseAnswer"]["value"], measured["RightAnswer@5"]["value"]) == (0.0, 1.0)
    assert command("evaluate", path, *words).code == 2


@pytest.mark.parametrize(("closing", "code"), [("sys.__stdout__.close()", 2), ("sys.stdout.close()", 0), ("pass", 0)])
def test_a_retriever_that_closes_standard_output_is_an_error_or_harms_nothing(
    tmp_path: Path, closing: str, code: int
) -> None:
    (tmp_path / "search.py").write_text(f"import sys\ndef find(query):\n    {closing}\n    return ['a']\n")
    lines(tmp_path / "cases.jsonl", {"query": "one", "relevant_ids": ["a"]}, {"query": "two", "relevant_ids": ["a"]})
    words = ("gate", "cases.jsonl", "./search.py:find", "--require", "RR>=0", "--format", "json")
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["gate"]["verdict"] == "pass"
    assert ("closed standard output" in done.stderr) == (code == 2)
    assert "Traceback" not in done.stderr


def test_labels_that_do_not_apply_need_not_be_complete(tmp_path: Path, command: Command) -> None:
    wrong = found("p", "a", answerable=True, relevant=[])
    now = lines(tmp_path / "now.jsonl", found("q", "a", relevant=["a"]), found("p", "a", relevant=["a"]))
    before = lines(tmp_path / "before.jsonl", found("q", "a", relevant=["a"]), wrong)
    assert command("gate", now, "--baseline", before, "-m", "RR").code == 0
    assert command("compare", before, now, "-m", "RR").code == 0
    assert command("gate", before, "--baseline", now, "-m", "RR").code == 2
    assert command("compare", now, before, "-m", "RR").code == 2
    assert command("evaluate", before, "-m", "RR").code == 2


def test_pairs_of_documents_and_grades_are_grades_in_python_and_json(tmp_path: Path, command: Command) -> None:
    labels: dict[str, Any] = {"q": ["a"], "p": [["a", 0], ["b", 3]]}
    results = {"q": ["a"], "p": ["a", "b"]}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    (tmp_path / "run.json").write_text(json.dumps(results))
    done = command("evaluate", tmp_path / "labels.json", tmp_path / "run.json", "-m", "RR", "--format", "json")
    assert values(done)["RR"]["value"] == 0.75
    assert evaluate(labels, results, "RR")["RR"] == 0.75
    assert evaluate({"q": ["a"], "p": [("a", 0), ("b", 3)]}, results, "RR")["RR"] == 0.75
    with pytest.raises(InputTypeError, match="grade of document 'a' for query 'p' must be a number"):
        evaluate({"q": ["a"], "p": [("a", "high")]}, results, "RR")


def test_queries_that_a_format_cannot_hold_empty_are_named_beside_the_verdict(tmp_path: Path, command: Command) -> None:
    cases = [{"id": q, "query": q, "relevant": ["a"], "forbidden": ["z"]} for q in ("p", "q")]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "run.trec").write_text("p Q0 a 1 1 x\np Q0 y 2 0.5 x\n")
    done = command("gate", tmp_path / "cases.json", tmp_path / "run.trec", "--no-leaks")
    assert (done.code, "note: 1 query judged but not in the run: 'q'" in done.out) == (0, True)
    assert "judged but not in the run" not in done.err
    done = command("gate", tmp_path / "cases.json", tmp_path / "run.trec", "--require", "RR>=0.1")
    assert "judged but not in the run: 'q'" in done.err


@pytest.mark.parametrize("meaning", ["similarity", "distance", "ignore"])
def test_what_scores_mean_holds_in_every_command_that_reads_lists(
    tmp_path: Path, command: Command, meaning: str
) -> None:
    """Of b, a and c in this order, a has the lowest score and c the highest."""
    log = lines(tmp_path / "log.jsonl", {"query_id": "q", "retrieved": scored(b=0.5, a=0.1, c=0.9)})
    said = ("--set", f"reading.scores={meaning}")
    first = {"similarity": "c", "distance": "a", "ignore": "b"}[meaning]
    out = tmp_path / "out"
    done = command("fuse", log, log, "-o", out, *said)
    assert (done.code, "are they distances" in done.err) == (0, False), done.err
    assert out.read_text().split()[2] == first
    done = command("pool", log, "-o", out, "--depth", "1", *said)
    assert (done.code, json.loads(out.read_text().splitlines()[0])["doc_id"]) == (0, first), done.err
    (tmp_path / "run.trec").write_text(f"q Q0 {first} 1 9 x\n")
    assert command("diff", log, tmp_path / "run.trec", *said).code == 64
    (tmp_path / "scores.csv").write_text("query,RR\nq,0.5\n")
    assert command("evaluate", tmp_path / "scores.csv", *said).code == 64


@pytest.mark.parametrize("rule", ["suffix", "contains"])
def test_fractions_need_a_grade_of_relevance_however_labels_are_matched(
    tmp_path: Path, command: Command, rule: str
) -> None:
    path = lines(tmp_path / "log.jsonl", found("q", "docs/b.md", "docs/a.md", relevant={"a.md": 0.4, "b.md": 0.9}))
    done = command("evaluate", path, "-m", "RR", "--match", rule)
    assert (done.code, "2 grades between 0 and 1" in done.err) == (2, True)
    done = command("evaluate", path, "-m", "RR", "--match", rule, "--rel", "0.5", "--format", "json")
    assert next(iter(values(done).values()))["value"] == 1.0
    assert command("evaluate", path, "-m", "nDCG@10", "--match", rule).code == 0


def test_a_document_that_is_judged_twice_in_pairs_is_an_error() -> None:
    with pytest.raises(InputError, match="a document is judged twice for query 'p'"):
        evaluate({"q": ["a"], "p": [("a", 0), ("a", 3)]}, {"q": ["a"], "p": ["a"]}, "RR")
