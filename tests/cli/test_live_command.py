from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from rankgauge import UsageError
from rankgauge.cli.commands.live import evaluate_live
from rankgauge.cli.options.live import LiveOptions, live_options
from rankgauge.rag import RetrieverCalls
from rankgauge.rag.scoring import DEFAULT_K

CALLS = RetrieverCalls()
MODULE = """
class Index:
    def retrieve(self, query, k):
        if query == "broken":
            raise OSError("gone")
        return [{"id": "a"}, {"id": "b"}][:k]

index = Index()
"""


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_live_app.py").write_text(MODULE)
    (tmp_path / "cases.jsonl").write_text(
        '{"query": "fine", "relevant_ids": ["b"]}\n{"query": "broken", "relevant_ids": ["a"]}\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return str(tmp_path / "cases.jsonl")


def test_too_many_failures_exit_with_1(cases: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert evaluate_live(LiveOptions("my_live_app:index", cases, CALLS, k=2)) == 1
    assert b"RR 0.50   nDCG@2 0.63   2 queries, 1 failed (broken: OSError: gone)" in capfdbinary.readouterr().out
    assert evaluate_live(LiveOptions("my_live_app:index", cases, CALLS, k=2, max_failures=1)) == 0


def test_json_holds_every_query(cases: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    evaluate_live(LiveOptions("my_live_app:index.retrieve", cases, CALLS, k=2), measures=["RR@1"], form="json")
    data = json.loads(capfdbinary.readouterr().out)
    assert data["measures"]["RR@1"]["value"] == 0
    assert [row["status"] for row in data["per_query"]] == ["answered", "failed"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_live_app", "--retriever must be module:callable, found 'my_live_app'"),
        ("my_live_app:", "--retriever must be module:callable"),
        ("no_such_app:index", "cannot import no_such_app: No module named 'no_such_app'"),
        ("my_live_app:nothing", "my_live_app has no nothing"),
    ],
)
def test_an_object_that_cannot_be_loaded_is_a_usage_error(cases: str, spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate_live(LiveOptions(spec, cases, CALLS))


@click.command()
@click.argument("qrels", required=False)
@live_options
def small(qrels: str | None, live: LiveOptions | None) -> int:
    """A command that takes files or a retriever."""
    return -1 if live is None else live.run([qrels], (), "json")


def test_the_options_reach_the_retriever(cases: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    options = [
        "--k",
        "1",
        "--id",
        "id",
        "--concurrency",
        "2",
        "--timeout",
        "5",
        "--retries",
        "1",
        "--max-failures",
        "1",
    ]
    arguments = ["--retriever", "my_live_app:index", "--cases", cases, *options]
    assert small.main(arguments, standalone_mode=False) == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert [(row["k"], row["attempts"]) for row in data["per_query"]] == [(1, 1), (1, 2)]
    assert small.main(["qrels"], standalone_mode=False) == -1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retriever", "my_live_app:index"], "--retriever and --cases must be used together"),
        (["--cases", "x"], "--retriever and --cases must be used together"),
        (["qrels", "--retriever", "my_live_app:index", "--cases", "x"], "cannot be combined with files"),
    ],
)
def test_wrong_combinations_are_usage_errors(cases: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        small.main(arguments, standalone_mode=False)


def test_a_live_retriever_has_no_trec_format() -> None:
    live = LiveOptions("a:b", "cases", CALLS)
    with pytest.raises(UsageError, match="has no --format trec"):
        live.run([None], (), "trec")


def test_the_default_k_is_that_of_the_library() -> None:
    @click.command()
    @live_options
    def command(live: LiveOptions | None) -> None:
        """A command."""

    assert (
        {option.name: option.default for option in command.params}["k"] == DEFAULT_K == LiveOptions("a:b", "c", CALLS).k
    )


def test_json_is_a_format_of_the_command(cases: str, command: Callable[..., Any]) -> None:
    arguments = ("--retriever", "my_live_app:index", "--cases", cases, "--format", "json", "--max-failures", "1")
    done = command("evaluate", *arguments)
    assert done.code == 0, done.err
    assert json.loads(done.out)["queries"]["failed"] == 1
