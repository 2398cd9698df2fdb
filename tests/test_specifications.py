"""Every row of docs/reference/specifications.md is true: its example runs and gives what the row says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripts.examples import ROOT, TableExample, save_files, table_examples

import rankgauge
import rankgauge.adapters
import rankgauge.evaluation
import rankgauge.lists
import rankgauge.rag
from rankgauge.errors import RankgaugeError
from tests.conftest import Outcome

PAGE = ROOT / "docs" / "reference" / "specifications.md"
DOCUMENTS = table_examples(PAGE)
PACKAGES = (rankgauge, rankgauge.lists, rankgauge.rag, rankgauge.adapters, rankgauge.evaluation)
Command = Callable[..., Outcome]
STARTS = ("retrieval-metrics-001", "ds18", "spec-003", "retrieval-evaluator", "kpi-trec-2025")  # a page per document
MAX_WORDS = 400


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_give_what_their_rows_say(
    document: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    command("demo", "--copy", ".")
    save_files(PAGE, tmp_path)
    rows = [row for row in DOCUMENTS[document] if row.example]
    assert len(rows) >= 11
    wrong = [f"{row.row}: {problem}" for row in rows if (problem := problem_of(row, command))]
    assert not wrong, "\n".join(wrong)


def test_every_row_says_what_answers_it() -> None:
    assert len(DOCUMENTS) == 5
    for rows in DOCUMENTS.values():
        assert all(row.row and row.answer for row in rows)
        assert [row for row in rows if row.result and not row.example] == []


@pytest.mark.parametrize("start", STARTS)
def test_the_page_of_a_document_is_short_and_linked(start: str) -> None:
    page = f"coming-from/{start}.md"
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert len(text.split()) <= MAX_WORDS
    assert "../reference/specifications.md#" in text
    assert "What differs, and why" in text
    assert f"docs/{page}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_that_a_row_names_exists() -> None:
    names = {word for rows in DOCUMENTS.values() for row in rows for word in row.answer.replace("`", " ").split()}
    files = {name.rstrip(";,:") for name in names if name.startswith("tests/")}
    assert len(files) > 2
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("example", "result"),
    [
        ("rankgauge measures nDCG@10", "`not printed`"),
        ("rankgauge measures nDCG@10", "exit 1"),
        ("rankgauge measures nothing", ""),
        ("hit_at_k(['a'], ['a'])", "`0.0`"),
        ("hit_at_k(['a'], ['a'])", ""),
        ("hit_at_k(['a'], ['a'])", "error `k`"),
        ("evaluate({}, {}, 'foo')", "error `another message`"),
        ("evaluate({}, {}, 'foo')", "`1.0`"),
    ],
)
def test_a_wrong_row_is_found(example: str, result: str, command: Command) -> None:
    assert problem_of(TableExample("row", "answer", example, result), command)


def problem_of(row: TableExample, command: Command) -> str | None:
    """What is wrong with a row; None if it is right."""
    return _problem_of_command(row, command) if row.example.startswith("rankgauge ") else _problem_of_expression(row)


def _problem_of_command(row: TableExample, command: Command) -> str | None:
    outcome = command(*shlex.split(row.example)[1:])
    if outcome.code != row.exit_code:
        return f"exit code {outcome.code}: {outcome.err}"
    printed = " ".join((outcome.out + outcome.err).split())
    missing = [code for code in row.codes if code not in printed]
    return f"{missing} not in {printed}" if missing else None


def _problem_of_expression(row: TableExample) -> str | None:
    names: dict[str, Any] = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}
    try:
        value = eval(row.example, {**names, "Path": Path, "json": json})
    except RankgaugeError as error:
        is_expected = row.result.startswith("error ") and all(code in str(error) for code in row.codes)
        return None if is_expected else f"raised {error}"
    return None if row.result == f"`{value!r}`" else f"{value!r}"
