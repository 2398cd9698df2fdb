"""Every hint that names an option is true: the same command takes that option, and then it works."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import rankgauge
from rankgauge.cli.command_tree import cli
from rankgauge.cli.printing import flags_of, with_owners_of_options
from rankgauge.config.schema import Config
from tests.cli.test_help import COMMANDS
from tests.conftest import Outcome

LATER = {"--match"}  # comparing labels with texts is an option of its own
CASE = {"query": "how?", "relevant_ids": ["d1"]}
FILES: dict[str, Any] = {
    "best.json": [{"query": "how?", "best": "d1"}],
    "two.json": [{"query": "how?", "expected_files": ["d1"], "expected_symbols": ["d1"]}],
    "answer.json": [{"query": "how?", "expected": "d1"}],
    "nested.json": [{"query": "how?", "expected": {"top_message": "d1", "relevant_messages": ["d1"]}}],
    "lists.json": {"en": [CASE], "de": [CASE]},
    "suites.json": {"suites": [{"cases": [CASE]}]},
    "unused.json": [{**CASE, "forbidden": ["d9"], "known_miss": True, "k": 3, "max_rank": 2}],
    "text.json": [{"query": "how?", "must_contain": ["x"]}],
    "odd.csv": "query_no,doc_id,stars\nhow?,d1,3\n",
    "lines.jsonl": '{"query": "how?", "doc_id": "d1", "stars": 2}\n',
}
PLACEHOLDERS = {"relevant=KEY": "relevant=doc_id", "query=NAME": "query=query_no", "grade=NAME": "grade=stars"}
RUN = {"how?": {"d9": 2.0, "d1": 1.0}}
OPTION = re.compile(r"(--?[a-z][a-z-]*)[ =]([^\s,;`]+)")


def options_in(hint: str) -> list[tuple[str, str]]:
    """The options that a hint names, with a value in place of a placeholder."""
    pairs = [(flag, value.strip("'\"")) for flag, value in OPTION.findall(hint) if flag not in LATER]
    return [(flag, PLACEHOLDERS.get(value, value)) for flag, value in pairs]


def follow(words: list[str], command: Callable[..., Outcome]) -> None:
    """Run a command, and again with the option that its hint names, until it works."""
    for _ in range(3):
        outcome = command(*words)
        if outcome.code == 0:
            return
        hint = next(line for line in outcome.err.splitlines() if "hint: " in line)
        words = [*words, *(word for pair in options_in(hint)[:1] for word in pair)]
    raise AssertionError(outcome.err)


@pytest.mark.parametrize("name", FILES)
def test_a_hint_that_names_an_option_works_with_the_command_that_prints_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    content = FILES[name]
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    Path("run.json").write_text(json.dumps(RUN))
    for words in (["evaluate"], ["compare", "--labels", name, "run.json"]):
        labels = [name] if words == ["evaluate"] else []
        outcome = command(*words, *labels, "run.json")
        hints = [line for line in outcome.err.splitlines() if re.search(r"hint: |to .*: -", line)]
        if outcome.code:
            assert hints, outcome.err
        for hint in hints:
            if files := re.findall(r"'([^' ]+#[^']+)'", hint):
                changed = [files[0] if word == name else word for word in (*words, *labels)]
                assert command(*changed, "run.json").code == 0
            for flag, value in options_in(hint.partition("; if ")[0]):  # what holds for other results only is not tried
                follow([*words, *labels, "run.json", flag, value], command)


# Every hint in the source that names an option. Readers do not know which command reads, so the command says of an
# option that it lacks which command has it (``with_owners_of_options``); the option must exist somewhere.

SOURCE = Path(rankgauge.__file__).parent
ALL_FLAGS = {name: flags_of(command) for name, command in COMMANDS.items()}
FLAG_AND_VALUE = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)(?: ([a-z_]+\.[a-z_]+)=)?")
OTHER_PROGRAMS = {"--archives": "spark-submit", "--compat": "also trec_eval's own parser", "--batch": "judge"}


def text_of(node: ast.expr, names: dict[str, str]) -> str:
    """The text of an expression: constants, templates with {} for values, choices one after the other."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(text_of(value, names) or "{}" for value in values)
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.IfExp(body=body, orelse=orelse):
            return f"{text_of(body, names)}\n{text_of(orelse, names)}"
        case ast.BinOp(left=left, right=right):
            return text_of(left, names) + text_of(right, names)
        case ast.BoolOp(values=values):
            return "\n".join(text_of(value, names) for value in values)
    return ""


def all_hints() -> dict[str, str]:
    """The hints of all errors and faults, by file and line."""
    hints: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            node.targets[0].id: text_of(node.value, {})
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            for keyword in node.keywords:
                if keyword.arg in ("hint", "action") and "--" in (text := text_of(keyword.value, names)):
                    hints[f"{path.relative_to(SOURCE).as_posix()}:{node.lineno}"] = text
    return hints


HINTS = all_hints()


def test_many_hints_name_options() -> None:
    assert len(HINTS) > 100


@pytest.mark.parametrize("place", HINTS)
def test_an_option_in_a_hint_exists_and_so_does_its_key(place: str) -> None:
    for flag, key in FLAG_AND_VALUE.findall(HINTS[place]):
        owners = [name for name, flags in ALL_FLAGS.items() if flag in flags]
        assert owners or flag in OTHER_PROGRAMS, flag
        file = place.partition(":")[0]
        if file.startswith("cli/commands/") and "rankgauge " not in HINTS[place]:
            own = [name for name in owners if COMMANDS[name].callback.__module__.endswith(Path(file).stem)]
            assert own, f"{flag} is no option of a command in {file}"
        if flag == "--set" and key and "NAME" not in HINTS[place]:
            section, _, name = key.partition(".")
            assert name in Config.model_fields[section].annotation.model_fields  # type: ignore[union-attr]  # a section


@pytest.mark.parametrize("text", ["name it: --column relevant=KEY", "--match text", "leave out --by"])
def test_a_hint_with_an_option_that_the_command_lacks_names_the_command_that_has_it(text: str) -> None:
    flag = text[text.index("--") :].split()[0]
    for name, command in COMMANDS.items():
        root = click.Context(cli, info_name="rankgauge")
        hint = with_owners_of_options(text, click.Context(command, parent=root, info_name=name))
        if flag in ALL_FLAGS[name]:
            assert hint == text
        else:
            owner = re.fullmatch(rf"{re.escape(text)}; {flag} is an option of `rankgauge (.*)`", hint)
            assert owner is not None, name
            assert flag in ALL_FLAGS[owner[1]]


def test_what_a_hint_says_of_another_command_is_left_alone() -> None:
    root = click.Context(cli, info_name="rankgauge")
    context = click.Context(COMMANDS["runs validate"], parent=root, info_name="validate")
    for text in ("`rankgauge gate LABELS RESULTS --baseline FILE`", "rankgauge gate a b --baseline c"):
        assert with_owners_of_options(text, context) == text


# Inputs that trigger hints, end to end: with what the hint says, the command no longer fails for the same reason.

RUN_LINES = "q1 Q0 d9 1 2.0 t\nq1 Q0 d1 2 1.0 t\n"
CLAUSE = {"doc_id": "a", "clause": 1}
TRIGGERS: dict[str, tuple[dict[str, Any], list[str], str, list[str]]] = {  # files, command, error, what the hint says
    "no key of documents": (
        {"c.json": [{"query": "q1", "best": "d1"}]},
        ["evaluate", "c.json", "run.txt"],
        "without a key for the relevant documents",
        ["--column", "relevant=best"],
    ),
    "two keys of documents": (
        {"c.json": [{"query": "q1", "expected_files": ["d1"], "expected_symbols": ["x"]}]},
        ["compare", "c.json", "run.txt", "run.txt"],
        "choose one: --column relevant=",
        ["--column", "relevant=expected_files"],
    ),
    "an answer": (
        {"c.json": [{"query": "q1", "expected": "d1"}]},
        ["gate", "c.json", "run.txt", "--require", "RR>=0"],
        "looks like an answer",
        ["--column", "relevant=expected"],
    ),
    "text": (
        {
            "c.json": [{"query": "q1", "must_contain": ["x"]}],
            "r.jsonl": {"id": "q1", "retrieved": [{"id": "a", "text": "x"}]},
        },
        ["evaluate", "c.json", "r.jsonl"],
        "--match text",
        ["--match", "text"],
    ),
    "fields": (
        {
            "c.jsonl": {
                "query": "q1",
                "relevant": [{"doc_id": "a", "clause": 1}],
                "retrieved": [{"doc_id": "a", "clause": 1}],
            }
        },
        ["evaluate", "c.jsonl"],
        "--match-field doc_id,clause (FIELD=PATH says where)",
        ["--match-field", "doc_id,clause"],
    ),
    "fields in a benchmark": (
        {
            "c.jsonl": {
                "query": "q1",
                "relevant": [{"doc_id": "a", "clause": 1}],
                "retrieved": [{"doc_id": "a", "clause": 1}],
            }
        },
        ["benchmark", "run", "c.jsonl", "-o", "b"],
        "--match-field doc_id,clause (FIELD=PATH says where)",
        ["--match-field", "doc_id,clause"],
    ),
    "the key of a benchmark's documents": (
        {"c.json": [{"query": "q1", "best": "d1"}]},
        ["benchmark", "run", "c.json", "run.txt", "-o", "b"],
        "without a key for the relevant documents",
        ["--column", "relevant=best"],
    ),
    "the key of tuned documents": (
        {
            "c.json": [{"query": "q1", "best": "d1"}, {"query": "q2", "best": "d2"}],
            "two.txt": RUN_LINES + "q2 Q0 d2 1 1 t\n",
        },
        ["tune", "c.json", "two.txt", "two.txt"],
        "without a key for the relevant documents",
        ["--column", "relevant=best"],
    ),
    "columns of a table": (
        {"q.csv": "query_no,doc_id,stars\nq1,d1,3\n"},
        ["runs", "validate", "--labels", "q.csv"],
        "--column query=NAME",
        ["--column", "query=query_no", "--column", "grade=stars"],
    ),
    "queries without texts": (
        {"q.txt": "q1 0 d1 1\n", "s.py": "def find(query, k):\n    return ['d1']\n", "t.tsv": "q1\thow\n"},
        ["evaluate", "q.txt", "./s.py:find"],
        "--queries FILE",
        ["--queries", "t.tsv"],
    ),
    "a long line": (
        {"q.txt": "q1 0 " + "d" * (2 << 20) + " 1\n"},
        ["evaluate", "q.txt", "run.txt"],
        "--set reading.max_line=SIZE",
        ["--set", "reading.max_line=4MiB"],
    ),
    "duplicates": (
        {"r.txt": RUN_LINES + "q1 Q0 d1 3 0.5 t\n", "q.txt": "q1 0 d1 1\n"},
        ["evaluate", "q.txt", "r.txt"],
        "--set reading.on_duplicate=first",
        ["--set", "reading.on_duplicate=first"],
    ),
    "values that latex lacks": (
        {"q.txt": "q1 0 d1 1\n"},
        ["evaluate", "q.txt", "run.txt", "--per-query", "--format", "latex"],
        "use --format csv or markdown",
        ["--format", "csv"],
    ),
    "a confidence of nothing": (
        {"q.txt": "q1 0 d1 1\n"},
        ["evaluate", "q.txt", "run.txt", "--confidence", "0.9"],
        "show intervals with --ci",
        ["--ci"],
    ),
    "a gate of nothing": (
        {"q.txt": "q1 0 d1 1\n"},
        ["gate", "q.txt", "run.txt"],
        '--require "nDCG@10>=0.35"',
        ["--require", "nDCG@10>=0.35"],
    ),
}
NOT_TRIGGERED = {  # kinds of hints that are not tried here, and why
    "history/": "they need a history; tests/history tries --save and --history",
    "labels/": "they need pools and assessors; tests/labels tries them",
    "retrieval/": "they need servers or interrupted fetches; tests/retrieval tries --resume and --restart",
    "io/pipeline/": "they need a disk that is full",
    "io/byte_streams.py": "they need a file of gigabytes",
    "distributed/": "they need a cluster",
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_what_a_hint_says_helps(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    files, words, message, option = TRIGGERS[name]
    for file, content in {"run.txt": RUN_LINES, **files}.items():
        Path(file).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    refused = command(*words)
    assert refused.code != 0
    assert message in refused.err + refused.out
    helped = command(*words, *option)
    assert helped.code in (0, 1), helped.err
    assert message not in helped.err


def test_the_hints_that_are_not_triggered_are_still_there() -> None:
    for start in NOT_TRIGGERED:
        assert any(place.startswith(start) for place in HINTS), start
