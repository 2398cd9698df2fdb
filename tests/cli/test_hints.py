"""Every hint that names an option is true: the same command takes that option, and then it works."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
            for flag, value in options_in(hint):
                follow([*words, *labels, "run.json", flag, value], command)
