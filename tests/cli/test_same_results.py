"""The same results through each kind give the same numbers, notes and exit code, whatever the data."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.cli.test_any_results import json_lines, scored, trec
from tests.conftest import Outcome

Command = Callable[..., Outcome]
MEASURES = ("-m", "RR", "-m", "nDCG@2", "-m", "R@3")
MODULE = """
import json
from pathlib import Path

def search(query, k):
    return json.loads(Path("answers.json").read_text())[query][:k]
"""
# The kinds that hold the rankings, by what names them. An entry is written from the run.
KINDS = ("my.run", "table.csv", "rows.jsonl", "log.jsonl", "log.json", "cases.json", "history:whole",
         "same_search:search", "./same_search.py:search", "search.yaml")  # fmt: skip
# A kind that a command refuses, and why. Everything else must be taken.
REFUSED = {
    "values.csv": "rankings are needed",
    "history:values": "rankings are needed",
}
NEED_RANKINGS = ("diff", "fuse", "pool", "tune", "agreement")
# As deep as the deepest cutoff: the k that a live retriever is asked for is known, that of a file is not.
documents = st.lists(st.sampled_from(["d1", "d2", "d3", "d4", "ü5", "x 6"]), min_size=3, max_size=4, unique=True)


class Drawn(NamedTuple):
    """Judgments and the rankings of two systems."""

    relevant: dict[str, dict[str, int]]
    old: dict[str, list[str]]
    new: dict[str, list[str]]


@st.composite
def collections(draw: st.DrawFn) -> Drawn:
    queries = [f"q{number}" for number in range(1, draw(st.integers(2, 5)) + 1)]
    docs = documents.map(lambda names: [name.replace(" ", "") for name in names])  # a TREC file has no spaces in ids
    relevant = {query: dict.fromkeys(draw(docs), draw(st.integers(0, 2))) for query in queries}
    relevant[queries[0]] = {"d1": 1}  # at least one query has a relevant document
    return Drawn(relevant, {query: draw(docs) for query in queries}, {query: draw(docs) for query in queries})


def write_kinds(drawn: Drawn, command: Command) -> None:
    """The files of one collection, in every kind."""
    texts = {query: f"text of {query}" for query in drawn.relevant}
    rows = [{"query": query, "doc": doc, "score": score} for query, doc, _, score in scored(drawn.new)]
    log = [
        {
            "query_id": query,
            "query": texts[query],
            "retrieved": [{"id": doc, "score": len(docs) - rank} for rank, doc in enumerate(docs)],
            "relevant": drawn.relevant[query],
        }
        for query, docs in drawn.new.items()
    ]
    lists = {text: list(drawn.new[query]) for query, text in texts.items()}
    files = {
        "qrels.txt": "".join(
            f"{q} 0 {doc} {grade}\n" for q, row in drawn.relevant.items() for doc, grade in row.items()
        ),
        "labels.jsonl": json_lines(
            [{"id": query, "query": texts[query], "relevant": row} for query, row in drawn.relevant.items()]
        ),
        "queries.jsonl": json_lines([{"_id": query, "text": text} for query, text in texts.items()]),
        "my.run": trec(drawn.new, "my"),
        "old.run": trec(drawn.old, "old"),
        "table.csv": "query,doc,score\n" + "".join(f"{r['query']},{r['doc']},{r['score']}\n" for r in rows),
        "rows.jsonl": json_lines(rows),
        "log.jsonl": json_lines(log),
        "log.json": json.dumps(log),
        "cases.json": json.dumps({"cases": log}),
        "answers.json": json.dumps(lists),
        "same_search.py": MODULE,
        "search.yaml": "mode: ./same_search.py:search\n",
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    shutil.rmtree("history", ignore_errors=True)
    evaluate = ("evaluate", "qrels.txt", "my.run", *MEASURES)
    Path("values.csv").write_text(command(*evaluate, "-q", "--format", "csv").out, encoding="utf-8")
    assert command(*evaluate, "--save", "--system", "values").code == 0
    assert command(*evaluate, "--save", "--save-run", "--system", "whole").code == 0


def without(data: Any, *keys: str) -> Any:
    """JSON without what names a source: its name, its hash, and what only a live one has."""
    if isinstance(data, dict):
        return {key: without(value, *keys) for key, value in data.items() if key not in keys}
    return [without(value, *keys) for value in data] if isinstance(data, list) else data


def notes_of(outcome: Outcome) -> list[str]:
    codes = [line.rpartition("[")[2] for line in outcome.err.splitlines() if line.startswith("warning:")]
    return sorted(code for code in codes if code != "depths-differ]")  # the k of a live retriever is known


def evaluated(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    words = ("--format", "json", "-q", "--queries", "queries.jsonl")
    done = command("evaluate", labels, results, *MEASURES, *words)
    run = json.loads(done.out)["runs"][0]
    return done.code, notes_of(done), run["measures"], run["queries"], run["per_query"]


def compared(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    words = ("--format", "json", "--set", "statistics.resamples=50", "--queries", "queries.jsonl")
    done = command("compare", labels, "old.run", results, *MEASURES, *words)
    comparison = json.loads(done.out)["comparison"]
    return done.code, notes_of(done), without(comparison["differences"], "system")


def gated(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    words = (
        "--require",
        "RR>=0.5",
        "--set",
        "statistics.resamples=50",
        "--format",
        "json",
        "--queries",
        "queries.jsonl",
    )
    done = command("gate", labels, results, "--baseline", "old.run", *MEASURES, *words)
    data = json.loads(done.out)["gate"]
    return done.code, notes_of(done), data["verdict"], data["required"], without(data["compared"], "detectable")


def fused(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    done = command("fuse", "old.run", results, "--queries", "queries.jsonl", "-o", "fused.run")
    return done.code, notes_of(done), Path("fused.run").read_bytes() if done.code == 0 else done.err


def pooled(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    done = command("pool", "old.run", results, "--queries", "queries.jsonl", "--depth", "2", "-o", "pool.jsonl")
    return done.code, notes_of(done), Path("pool.jsonl").read_bytes() if done.code == 0 else done.err


def differing(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    done = command("diff", "old.run", results, "--queries", "queries.jsonl", "--format", "json")
    data = json.loads(done.out) if done.code == 0 else done.err
    return done.code, notes_of(done), without(data, "runs", "names", "first", "second", "sha256", "missing")


def agreed(command: Command, labels: str, results: str) -> tuple[Any, ...]:
    words = ("old.run", results, "--queries", "queries.jsonl", *MEASURES, "--format", "json")
    done = command("agreement", labels, "qrels.txt", *words)
    rows = json.loads(done.out)["measures"] if done.code == 0 else []
    return done.code, notes_of(done), [(row["tau"], *row["values"].values()) for row in rows] or done.err


COMMANDS = {
    "evaluate": evaluated, "compare": compared, "gate": gated, "fuse": fused, "pool": pooled, "diff": differing,
    "agreement": agreed,
}  # fmt: skip


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],  # a failure names the kind; to find a smaller one takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(drawn=collections(), kinds=st.permutations(KINDS), is_judged=st.booleans())
def test_the_same_results_through_each_kind_give_the_same_numbers_notes_and_exit_code(
    drawn: Drawn,
    kinds: list[str],
    is_judged: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Command,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "same_search", raising=False)
    monkeypatch.setenv("RANKGAUGE_HISTORY", str(tmp_path / "history"))
    write_kinds(drawn, command)
    labels = "qrels.txt" if is_judged else "labels.jsonl"
    for name, run in COMMANDS.items():
        expected = run(command, "qrels.txt", "my.run")
        for kind in kinds[:3]:  # tests/cli/test_any_results.py has the whole matrix, on one collection
            assert run(command, labels, kind) == expected, (name, labels, kind)
        kinds = [*kinds[3:], *kinds[:3]]
        if name in NEED_RANKINGS:
            kind, reason = list(REFUSED.items())[is_judged]
            code, _, error = run(command, labels, kind)
            assert (code, reason in error) == (2, True)
