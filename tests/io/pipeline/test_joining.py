"""Ids that nearly match are told of, wherever the run comes from, and looked into only where few match."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, Run, Scores, evaluate
from rankgauge.io.pipeline import joining

JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
FOUND = {"q1": {"A": 2.0, "B": 1.0}, "q2": {"C": 1.0}}
SAID = "3 document ids of the run would match the judgments ignoring case: 'A' is 'a' there"


def said(scores: Scores, code: str = "ids-case") -> str | None:
    return {note.code: note.message for note in scores.notes}.get(code)


def trec(results: dict[str, dict[str, float]]) -> str:
    return "".join(
        f"{query} Q0 {doc} {rank} {score} t\n"
        for query, row in results.items()
        for rank, (doc, score) in enumerate(row.items(), start=1)
    )


@pytest.mark.parametrize("given", ["dict", "bytes", "lists", "run", "trec", "scattered", "json"])
def test_the_hint_is_the_same_whatever_the_run_was(tmp_path: Path, given: str) -> None:
    path = tmp_path / "run"
    lines = trec(FOUND).splitlines(keepends=True)
    path.write_text(
        {"json": json.dumps(FOUND), "scattered": "".join(lines[i] for i in (0, 2, 1))}.get(given, trec(FOUND))
    )
    runs: dict[str, Any] = {
        "dict": FOUND,
        "bytes": {query.encode(): {doc.encode(): score for doc, score in row.items()} for query, row in FOUND.items()},
        "lists": {query: list(row) for query, row in FOUND.items()},
        "run": Run.from_dict(FOUND),
    }
    assert said(evaluate(JUDGED, runs.get(given, path), "RR")) == SAID


def test_one_document_in_ten_is_enough_not_to_ask() -> None:
    judged = {"q": {f"d{n}": 1 for n in range(20)}}
    shouted = [f"D{n}" for n in range(20)]
    assert said(evaluate(judged, {"q": ["d0", *shouted[1:]]}, "RR")) is not None
    assert said(evaluate(judged, {"q": ["d0", "d1", *shouted[2:]]}, "RR")) is None


def test_a_shallow_run_is_not_suspect_because_much_is_judged() -> None:
    judged = {"q": {f"d{n}": 1 for n in range(500)}}
    assert said(evaluate(judged, {"q": ["d0", "D1"]}, "RR")) is None


def test_queries_are_examined_if_both_sides_have_an_unmatched_one() -> None:
    found = {"q1": {"a": 1.0}, "Q2": {"c": 1.0}}
    assert said(evaluate(JUDGED, found, "RR")) == (
        "1 query id of the run would match the judgments ignoring case: 'Q2' is 'q2' there"
    )
    assert said(evaluate({"q1": {"a": 1}}, found, "RR")) is None
    with pytest.raises(
        InputError, match="hint: 2 query ids of the run would match the judgments without quotation marks"
    ):
        evaluate(JUDGED, {'"q1"': {"a": 1.0}, '"q2"': {"c": 1.0}}, "RR")


@pytest.mark.parametrize("kind", ["file", "run", "dict"])
def test_of_long_results_only_the_first_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(joining, "EXAMINED_ROWS", 1)
    path = tmp_path / "run"
    path.write_text(trec(FOUND))
    given = {"file": path, "run": Run.from_dict(FOUND), "dict": FOUND}[kind]
    counted = {"file": "2 document ids ", "run": "2 document ids ", "dict": "2 document ids "}[kind]
    assert (said(evaluate(JUDGED, given, "RR")) or "").startswith(counted)


def test_nothing_is_imported_for_it_if_ids_match(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n2 Q0 A 1 1 x\n")
    code = "import sys; from rankgauge.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    arguments = [sys.executable, "-c", code, "evaluate", str(tmp_path / "q"), str(tmp_path / "r")]
    environment = dict(os.environ)  # without the COLUMNS that readline adds: text is not wrapped
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "rankgauge.io.pipeline.trec_scan" in loaded
    assert not loaded & {"rankgauge.core.id_overlap", "unicodedata"}
