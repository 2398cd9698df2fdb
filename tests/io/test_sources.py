"""A system of a log or a table is chosen by its name, ``FILE#NAME``, wherever results are named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankgauge as rg
from rankgauge.errors import InputError
from rankgauge.io import read_log
from tests.conftest import Outcome

Command = Callable[..., Outcome]
RELEVANT = {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}
SYSTEMS = {
    "lexical": {"q1": ["x", "d1"], "q2": ["d2"], "q3": ["x", "y", "d3"]},
    "hybrid": {"q1": ["d1"], "q2": ["x", "d2"], "q3": ["d3"]},
}
RECIPROCAL = {"lexical": (1 / 2 + 1 + 1 / 3) / 3, "hybrid": (1 + 1 / 2 + 1) / 3}


def rows_of(systems: dict[str, dict[str, list[str]]]) -> list[dict[str, Any]]:
    return [
        {"query": query, "mode": name, "retrieved": docs, "relevant": RELEVANT.get(query, ["d1"])}
        for name, rankings in systems.items()
        for query, docs in rankings.items()
    ]


def lines_of(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = rows_of(SYSTEMS)
    table = [
        f"{row['query']},{doc},{9 - rank},{row['mode']}" for row in rows for rank, doc in enumerate(row["retrieved"])
    ]
    (tmp_path / "log.jsonl").write_text(lines_of(rows))
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(lines_of(rows).encode()))
    (tmp_path / "list.json").write_text(json.dumps(rows))
    (tmp_path / "document.json").write_text(json.dumps({"cases": rows}))
    (tmp_path / "two.json").write_text(json.dumps({"hybrid": rows, "other": rows[:1]}))
    (tmp_path / "runs.csv").write_text("\n".join(["query,doc,score,run", *table]) + "\n")
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 {docs[0]} 1\n" for query, docs in RELEVANT.items()))
    return tmp_path


def reciprocal_of(outcome: Outcome) -> dict[str, float]:
    assert outcome.code == 0, outcome.err
    return {run["name"]: run["measures"]["RR"]["value"] for run in json.loads(outcome.out)["runs"]}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "file", ["log.jsonl", "log.jsonl.gz", "list.json", "document.json", "document.json#cases", "runs.csv"]
)
def test_a_system_is_chosen_by_its_name(folder: Path, command: Command, file: str, system: str) -> None:
    labels = () if file != "runs.csv" else ("qrels.txt",)
    done = command("evaluate", *labels, f"{file}#{system}", "-m", "RR", "--format", "json")
    assert reciprocal_of(done) == pytest.approx({system: RECIPROCAL[system]})
    beside = command("evaluate", "qrels.txt", f"{file}#{system}", "-m", "RR", "--format", "json")
    assert reciprocal_of(beside) == pytest.approx({system: RECIPROCAL[system]})
    assert rg.evaluate("qrels.txt", f"{file}#{system}", "RR")["RR"] == pytest.approx(RECIPROCAL[system])
    assert rg.read_run(f"{file}#{system}").name == system


def test_a_list_comes_before_a_system_of_the_same_name(folder: Path) -> None:
    assert rg.read_run("two.json#hybrid#lexical").name == "lexical"
    with pytest.raises(InputError, match="expected one system, found 'lexical', 'hybrid'"):
        rg.read_run("two.json#hybrid")


def test_a_name_with_the_mark_is_a_file_if_it_exists(folder: Path) -> None:
    Path("log.jsonl#hybrid").write_text(lines_of(rows_of({"only": SYSTEMS["lexical"]})))
    assert rg.evaluate("qrels.txt", "log.jsonl#hybrid", "RR")["RR"] == pytest.approx(RECIPROCAL["lexical"])


@pytest.mark.parametrize("file", ["log.jsonl", "runs.csv"])
def test_a_name_that_no_system_has_is_refused_with_those_there_are(folder: Path, command: Command, file: str) -> None:
    expected = "no system is called 'dense'; the systems are 'lexical', 'hybrid'"
    done = command("evaluate", "qrels.txt", f"{file}#dense")
    assert (done.code, f"{file}: {expected}" in done.err) == (2, True), done.err
    with pytest.raises(InputError, match=expected):
        rg.read_run(f"{file}#dense")


@pytest.mark.parametrize(("file", "labels"), [("log.jsonl", ()), ("runs.csv", ("qrels.txt",))])
def test_a_gate_names_the_choice_and_takes_it(
    folder: Path, command: Command, file: str, labels: tuple[str, ...]
) -> None:
    refused = command("gate", *labels, file, "--require", "RR>=0.7")
    assert (refused.code, "FILE#NAME" in refused.err) == (2, True)
    assert command("gate", *labels, f"{file}#lexical", "--require", "RR>=0.7").code == 1
    assert command("gate", *labels, f"{file}#hybrid", "--require", "RR>=0.7").code == 0
    words = ("-m", "RR", "--format", "json")
    same = command("gate", *labels, f"{file}#hybrid", "--baseline", file, *words)
    other = command("gate", *labels, f"{file}#hybrid", "--baseline", f"{file}#lexical", *words)
    changes = [json.loads(one.out)["gate"]["compared"][0]["change"] for one in (same, other)]
    assert changes == pytest.approx([0, RECIPROCAL["hybrid"] - RECIPROCAL["lexical"]])


def test_a_gate_in_python_and_in_a_test_takes_the_choice(folder: Path, retrieval_gate: Any) -> None:
    for gate in (rg.gate, retrieval_gate):
        assert gate("log.jsonl#hybrid", require="RR>=0.7").passed
        result = gate("qrels.txt", "runs.csv#hybrid", "RR", baseline="log.jsonl") if gate is rg.gate else None
        assert result is None or result.compared[0].change == pytest.approx(0)
    with pytest.raises(InputError, match="expected one run in each source") as raised:
        rg.gate("log.jsonl", require="RR>=0.7")
    assert "FILE#NAME" in str(raised.value.hint)


def test_other_commands_take_the_choice(folder: Path, command: Command) -> None:
    compared = command("compare", "log.jsonl#lexical", "log.jsonl#hybrid", "-m", "RR", "--format", "json")
    assert reciprocal_of(compared) == pytest.approx(RECIPROCAL)
    for words in ("diff log.jsonl#lexical runs.csv#hybrid", "pool log.jsonl#hybrid -o pool.jsonl"):
        assert command(*words.split()).code == 0
    assert command("convert", "log.jsonl#hybrid", "hybrid.trec").code == 0
    assert rg.evaluate("qrels.txt", "hybrid.trec", "RR")["RR"] == pytest.approx(RECIPROCAL["hybrid"])
    assert "would overwrite the input" in command("convert", "log.jsonl#hybrid", "log.jsonl").err
    Path("monday.jsonl").write_text(Path("log.jsonl").read_text())
    both = command("compare", "monday.jsonl#hybrid", "log.jsonl#hybrid", "-m", "RR", "--format", "json")
    assert list(reciprocal_of(both)) == ["monday.jsonl#hybrid", "log.jsonl#hybrid"]


def contents(run: rg.Run) -> tuple[list[str], list[str], list[int]]:
    return run.queries.to_text(), run.docs.to_text(), run.offsets.tolist()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    systems=st.dictionaries(
        st.sampled_from(["lexical", "hybrid", "dense v2", "ü"]),
        st.fixed_dictionaries({query: st.lists(st.sampled_from("abc"), unique=True, max_size=3) for query in "12"}),
        min_size=2,
    )
)
def test_a_chosen_system_is_the_log_of_its_rows_alone(systems: dict[str, dict[str, list[str]]], folder: Path) -> None:
    Path("all.jsonl").write_text(lines_of(rows_of(systems)))
    for name, rankings in systems.items():
        Path("one.jsonl").write_text(lines_of(rows_of({name: rankings})))
        (labels, chosen), (expected_labels, expected) = read_log(f"all.jsonl#{name}"), read_log("one.jsonl")
        assert contents(chosen) == contents(expected)
        assert labels.to_dict() == expected_labels.to_dict()
        assert chosen.name == name
