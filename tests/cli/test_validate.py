from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from rankgauge.cli.command_tree import LazyGroup, cli
from tests.validation.generated import insert, put, qrels_lines, run_lines, text, then

Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    Path("run").write_bytes(text(run_lines()))
    Path("qrels").write_bytes(text(qrels_lines()))
    return "run", "qrels"


def test_a_clean_file_is_one_line(command: Command, files: tuple[str, str]) -> None:
    outcome = command("runs", "validate", "run", "--labels", "qrels", "--max-depth", "100")
    both = "run: clean, 36 rows, 3 queries\nqrels: clean, 36 rows, 3 queries\n2 files: no errors\n"
    assert (outcome.code, outcome.out, outcome.err) == (0, both, "")
    assert command("runs", "validate", "--labels", "qrels").out == "qrels: clean, 36 rows, 3 queries\n"


def test_the_trec_preset_demands_at_most_100_results_and_every_query(command: Command, files: tuple[str, str]) -> None:
    preset = ("--preset", "trec-2025", "--labels", "qrels")
    assert command("runs", "validate", "run", *preset).code == 0
    lines = [f"{query} Q0 d{rank} {rank} {200 - rank} t\n" for query in ("q1", "q2") for rank in range(1, 102)]
    Path("deep").write_text("".join(lines), encoding="utf-8")
    done = command("runs", "validate", "deep", *preset)
    assert done.code == 1
    assert "error too-deep (2): " in done.out
    assert "error queries-missing (1): " in done.out
    plain = command("runs", "validate", "deep", "--labels", "qrels").out
    assert "too-deep" not in plain
    assert "too-deep" not in command("runs", "validate", "deep", *preset, "--max-depth", "1000").out
    Path("run.csv").write_text("query,doc,score\nq1,d1,1\n", encoding="utf-8")
    assert command("runs", "validate", "run.csv", *preset).code != 0
    done = command("runs", "validate", "run", "--preset", "trec-2025")
    assert (done.code, "add --queries or --labels" in done.err) == (64, True)


def test_the_answer_comes_first_then_faults_with_places_and_actions(command: Command, files: tuple[str, str]) -> None:
    lines = then(put(6, 4, "5"), put(7, 4, "5"), put(20, 6, "other"))(run_lines())
    Path("run").write_bytes(text(lines))
    outcome = command("runs", "validate", "run")
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        "run: 2 errors, 1 warning in 36 rows, 3 queries",
        "",
        "error duplicate-rank (2): a rank that appears twice in the ranking of a query",
        "  expected  each rank once per query",
        "  found     run:6  rank 5 of query 'q1' again (first on line 5)",
        "            run:7  rank 5 of query 'q1' again (first on line 6)",
        "  action    check the order, then number the results of each query 1, 2, 3, …",
        "  --fix     the ranks of the query are renumbered in the order of its scores",
        "",
        "warning mixed-tags (1): more than one run tag",
        "  expected  one tag, 'bm25'",
        "  found     run:20  'other'",
        "  action    check that the file contains one run, then write one tag",
    ]


def test_a_few_places_are_shown_and_all_are_in_json(command: Command, files: tuple[str, str]) -> None:
    Path("run").write_bytes(text(["q1 Q0 a"] * 30))
    shown = command("runs", "validate", "run")
    assert shown.code == 1
    assert shown.out.startswith("run: 30 errors\n")
    assert shown.out.count("run:") == 6
    assert "            … 25 more\n" in shown.out
    data = json.loads(command("runs", "validate", "run", "--format", "json").out)
    assert [place["line"] for place in data["files"][0]["faults"][0]["places"]] == list(range(1, 31))


def test_json_has_the_documented_schema(command: Command, files: tuple[str, str]) -> None:
    Path("run").write_bytes(text(then(put(3, 5, "1,5"), put(20, 6, "other"))(run_lines())))
    outcome = command("runs", "validate", "run", "qrels", "--format", "json")
    data = json.loads(outcome.out)
    assert outcome.code == 1
    assert list(data) == ["schema", "files", "errors", "warnings"]
    assert (data["schema"], data["errors"], data["warnings"]) == ("rankgauge.validation/1", 2, 1)
    first, second = data["files"]
    assert list(first) == ["file", "format", "sha256", "rows", "queries", "faults"]
    assert (first["file"], first["format"], first["rows"], first["queries"]) == ("run", "trec", 35, 3)
    assert list(first["faults"][0]) == ["code", "severity", "count", "message", "expected", "action", "places"]
    assert first["faults"][0]["places"] == [
        {"line": 3, "found": "'1,5'", "hint": "a decimal comma? write a decimal point"}
    ]
    assert [fault["code"] for fault in second["faults"]] == ["swapped"]


def test_strict_fails_on_a_warning(command: Command, files: tuple[str, str]) -> None:
    Path("run").write_bytes(text(put(20, 6, "other")(run_lines())))
    assert command("runs", "validate", "run").code == 0
    strict = command("runs", "validate", "run", "--strict")
    assert strict.code == 1
    assert strict.out.startswith("run: 1 error in ")


@pytest.mark.parametrize("data", [None, b"\xff\xfe1\0", b"1 Q0 a\0 1 1 x\n", b"\x1f\x8b\x08broken"])
def test_a_file_that_cannot_be_read_exits_2_and_the_others_are_validated(
    command: Command, files: tuple[str, str], data: bytes | None
) -> None:
    if data is not None:
        Path("odd").write_bytes(data)
    outcome = command("runs", "validate", "odd", "run")
    assert outcome.code == 2
    assert outcome.out.startswith("odd: cannot be read\n\nerror unreadable (1): ")
    assert outcome.out.endswith("\n\nrun: clean, 36 rows, 3 queries\n\n2 files: 1 error\n")
    assert json.loads(command("runs", "validate", "odd", "--format", "json").out)["errors"] == 1


def test_judgments_or_topics_that_cannot_be_read_are_bad_input(command: Command, files: tuple[str, str]) -> None:
    outcome = command("runs", "validate", "run", "--labels", "nowhere")
    assert outcome.code == 2
    assert outcome.out == ""
    assert command("runs", "validate", "run", "--queries", "nowhere").code == 2
    assert command("runs", "validate", "--labels", "qrels", "nowhere").code == 2


def test_topics_name_the_queries_that_must_be_answered(command: Command, files: tuple[str, str]) -> None:
    Path("topics.tsv").write_text("q1\ta\nq2\tb\nq3\tc\nq4\td\n")
    outcome = command("runs", "validate", "run", "--queries", "topics.tsv")
    assert outcome.code == 1
    assert "none for query 'q4'" in outcome.out
    assert command("runs", "validate", "--labels", "qrels", "--queries", "topics.tsv").code == 0


def test_fix_writes_a_copy_and_says_what_it_did(command: Command, files: tuple[str, str]) -> None:
    broken = text(then(put(6, 4, "5"), put(20, 6, "other"), insert(9, ""))(run_lines()))
    Path("run").write_bytes(broken)
    outcome = command("runs", "validate", "run", "--fix", "fixed")
    assert outcome.code == 1  # the file that was given has an error
    assert outcome.err.splitlines() == [
        "wrote fixed: no errors, 1 warning in 36 rows, 3 queries",
        "  repaired  duplicate-rank (1): the ranks of the query are renumbered in the order of its scores",
        "  repaired  blank-line (1): the line is removed",
        "  remaining mixed-tags (1): more than one run tag",
    ]
    assert Path("run").read_bytes() == broken
    assert Path("fixed").read_bytes() == text(put(20, 6, "other")(run_lines()))
    assert command("runs", "validate", "fixed").code == 0


def test_fix_cuts_every_query_at_the_depth(command: Command, files: tuple[str, str]) -> None:
    assert command("runs", "validate", "run", "--max-depth", "5", "--fix", "fixed").code == 1
    assert Path("fixed").read_bytes() == text(run_lines(depth=5))


def test_fix_repairs_judgments(command: Command, files: tuple[str, str]) -> None:
    Path("qrels").write_bytes(b"\xef\xbb\xbfqid iter docid grade\r\n" + text(qrels_lines()).replace(b"\n", b"\r\n"))
    assert command("runs", "validate", "--labels", "qrels", "--fix", "fixed").code == 1
    assert Path("fixed").read_bytes() == text(qrels_lines())


def test_fix_never_overwrites_an_input(command: Command, files: tuple[str, str]) -> None:
    Path("link").symlink_to("run")
    before = {name: Path(name).read_bytes() for name in files}
    for out in ("run", "link", "qrels", "./run"):
        outcome = command("runs", "validate", "run", "--labels", "qrels", "--fix", out)
        assert outcome.code == 2
        assert "would overwrite the input" in outcome.err
    assert {name: Path(name).read_bytes() for name in files} == before


def test_nothing_is_written_where_nothing_can_be_repaired(command: Command, files: tuple[str, str]) -> None:
    Path("run").write_bytes(b"")
    outcome = command("runs", "validate", "run", "--fix", "fixed")
    assert outcome.code == 1
    assert outcome.err.startswith("fixed: not written")
    assert not Path("fixed").exists()
    assert command("runs", "validate", "nowhere", "--fix", "fixed").code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "run", "--fix", "fixed"],
        ["-", "--fix", "fixed"],
        ["run.json", "--fix", "fixed"],
        ["run", "--max-depth", "0"],
        ["run", "--run-format", "nonsense"],
        ["run", "--nonsense"],
        [],
    ],
)
def test_wrong_calls_exit_64(command: Command, files: tuple[str, str], arguments: list[str]) -> None:
    Path("run.json").write_text('{"q1": {"a": 1.0}}')
    assert command("runs", "validate", *arguments).code == 64
    assert not Path("fixed").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "expected a run, or labels"),
        ("run --labels qrels --labels qrels", "--labels is given 2 times"),
        ("run --corpus c.jsonl", "--corpus compares labels with documents"),
        ("--labels qrels --corpus c.jsonl --max-depth 3", "--max-depth does not apply"),
        ("--labels qrels --stamp s.jsonl", "name the documents: --corpus PATH"),
        ("--labels qrels --max-depth 3", "--max-depth applies to runs"),
        ("run --by-subtopic", "--by-subtopic applies to labels"),
        ("run --format csv", "--format csv lists labels that are compared with documents"),
        ("run run --labels qrels --fix fixed", "--fix takes one file"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    command: Command, files: tuple[str, str], words: str, message: str
) -> None:
    done = command("runs", "validate", *words.split())
    assert (done.code, message in done.err) == (64, True), done.err


def test_logs_and_test_cases_are_checked_by_their_readers(command: Command, files: tuple[str, str]) -> None:
    cases = {
        "log.jsonl": ('{"query": "one", "retrieved": ["d1", "d3"], "relevant": ["d1"]}\n', (), 0, "clean, 1 row"),
        "cases.csv": ("query,relevant\none,d1\n", (), 0, "clean, 1 row"),
        "cut.jsonl": ('{"query": "one", "relevant_ids": ["d1"]}\n{"query": "t', (), 2, "cut.jsonl:2  not JSON"),
        "no_id.jsonl": ('{"query": "one", "relevant_ids": ["d1"]}\n{"relevant_ids": ["d1"]}\n', (), 1, "no_id.jsonl:2"),
        "text.jsonl": ('{"query": "one", "must_contain": ["x"]}\n', ("--match", "text"), 0, "clean, 1 row"),
        "kind.jsonl": ('{"query": "one", "must_contain": {"a": 1}}\n', ("--match", "text"), 2, "kind.jsonl:1"),
    }
    for name, (content, options, code, expected) in cases.items():
        Path(name).write_text(content)
        done = command("runs", "validate", "--labels", name, *options)
        assert (done.code, expected in done.out) == (code, True), done.out
    Path("four.run").write_text("q1 Q0 d1 1\nq1 Q0 d2 2\n")  # a run that lost its last columns
    assert command("runs", "validate", "four.run").code == 1


def test_runs_and_labels_are_checked_against_each_other(command: Command, files: tuple[str, str]) -> None:
    Path("more").write_bytes(text([*qrels_lines(), "q3 0 never-retrieved 1"]))
    done = command("runs", "validate", "run", "run", "--labels", "more", "--format", "json")
    files_checked = json.loads(done.out)["files"]
    assert [file["file"] for file in files_checked] == ["run", "run", "more"]
    assert [fault["code"] for fault in files_checked[2]["faults"]] == ["judged-unretrieved"]
    assert command("runs", "validate", "--labels", "more").out.startswith("more: clean, ")


def test_groups_list_their_commands_and_suggest(command: Command) -> None:
    for group in ("runs", "benchmark"):
        listed, lazy = command(group, "--help").out, cli.lazy[group]
        assert isinstance(lazy, LazyGroup)
        for name, line in lazy.one_line_helps().items():
            assert line in listed
            found = lazy.get_command(click.Context(lazy), name)
            assert found is not None
            assert (found.name, (found.help or "").splitlines()[0]) == (name, line)
    misspelt = command("runs", "validat")
    assert misspelt.code == 64
    assert "did you mean validate?" in misspelt.err


def test_nothing_in_a_file_reaches_the_terminal_as_a_command(command: Command, files: tuple[str, str]) -> None:
    bad = then(put(3, 3, "\x1b[31mx"), put(4, 5, "\x1b]0;x\x07"), put(20, 6, "\x1b[1m"), put(30, 4, "\x1b[2J"))
    Path("run\x1b").write_bytes(text(bad(run_lines())))
    outcome = command("runs", "validate", "run\x1b", "--labels", "qrels", "--fix", "fixed")
    assert "\x1b" not in outcome.out + outcome.err
    assert "\x07" not in outcome.out + outcome.err
