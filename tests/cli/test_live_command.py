from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from rankgauge import UsageError
from rankgauge.cli.commands.live import evaluate_live, load
from rankgauge.cli.options.live import Live, live_options

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


def test_more_failures_than_may_be_exit_1(cases: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert evaluate_live("my_live_app:index", cases, k=2) == 1
    assert b"RR 0.50   nDCG@2 0.63   2 queries, 1 failed (broken: OSError: gone)" in capfdbinary.readouterr().out
    assert evaluate_live("my_live_app:index", cases, k=2, max_failures=1) == 0


def test_json_holds_every_query(cases: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    evaluate_live("my_live_app:index.retrieve", cases, k=2, measures=["RR@1"], form="json")
    data = json.loads(capfdbinary.readouterr().out)
    assert data["measures"]["RR@1"]["value"] == 0
    assert [row["status"] for row in data["per_query"]] == ["answered", "failed"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("my_live_app", "takes MODULE:OBJECT"),
        ("my_live_app:", "takes MODULE:OBJECT"),
        ("no_such_app:index", "no module 'no_such_app'"),
        ("my_live_app:nothing", "has no 'nothing'"),
    ],
)
def test_what_cannot_be_loaded_is_a_usage_error(cases: str, spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load(spec)


@click.command()
@click.argument("qrels", required=False)
@live_options
def small(qrels: str | None, live: Live | None) -> int:
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
    ("arguments", "said"),
    [
        (["--retriever", "my_live_app:index"], "--retriever and --cases go together"),
        (["--cases", "x"], "--retriever and --cases go together"),
        (["qrels", "--retriever", "my_live_app:index", "--cases", "x"], "name no files beside it"),
    ],
)
def test_wrong_combinations_are_usage_errors(cases: str, arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        small.main(arguments, standalone_mode=False)


def test_a_live_retriever_has_no_three_columns() -> None:
    live = Live("a:b", "cases", 5, None, "chunk", None, 1, None, 0, 0)
    with pytest.raises(UsageError, match="has no --format trec"):
        live.run([None], (), "trec")
