"""Routing, gate and reranking from a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, MeasureError
from rankgauge.adapters import evaluate_pipeline

ROWS: list[dict[str, Any]] = [
    {"query_id": "q1", "expert": "auth", "optimal_expert": "auth", "skipped": False, "needs_retrieval": True,
     "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"], "relevant_ids": ["b"]},
    {"query_id": "q2", "expert": ["auth", "billing"], "optimal_expert": "billing", "skipped": True,
     "needs_retrieval": True, "retrieved_ids": ["c"], "relevant_ids": ["c"]},
    {"query_id": "q3", "expert": "chat", "optimal_expert": "chat", "skipped": True, "needs_retrieval": False},
]  # fmt: skip


def log(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_all_three_steps_are_read(tmp_path: Path) -> None:
    found = evaluate_pipeline(log(tmp_path, *ROWS))
    assert found.routing is not None
    assert found.gate is not None
    assert found.rerank is not None
    assert found.routing.top == {1: pytest.approx(2 / 3), 2: 1.0}
    assert found.gate.efficiency == pytest.approx(100 / 3)
    assert found.gate.wrongly_skipped == ("q2",)
    assert found.gate.quality_lost is not None
    assert found.gate.quality_lost.n == 2
    assert (found.rerank.reranked, found.rerank.effect.n) == (1.0, 1)
    assert found.absent == {}
    assert [line.split()[0] for line in str(found).splitlines()] == ["routing", "gate", "rerank"]


def test_a_missing_step_is_left_out_with_the_reason(tmp_path: Path) -> None:
    found = evaluate_pipeline(log(tmp_path, {"query": "q", "expert": "a", "optimal_expert": "a"}))
    assert found.routing is not None
    assert found.absent == {"gate": "no row has skipped", "rerank": "no row has reranked_ids"}
    assert "rerank    –: no row has reranked_ids" in str(found)
    assert found.to_dict()["gate"] is None


def test_without_the_key_judgments_determine_which_queries_need_retrieval(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q1", "skipped": True},
        {"query_id": "q2", "skipped": True},
        {"query_id": "q9", "skipped": True},
    ]
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    found = evaluate_pipeline(log(tmp_path, *rows), qrels=qrels)
    assert found.gate is not None
    assert (found.gate.n, found.gate.saved, found.gate.wrongly_skipped) == (2, 1, ("q1",))
    with pytest.raises(InputError, match="which queries need retrieval"):
        evaluate_pipeline(log(tmp_path, *rows))


def test_reranking_uses_judgments_from_a_file(tmp_path: Path) -> None:
    rows = [{"query_id": "q1", "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"]}]
    (tmp_path / "qrels").write_text("q1 0 b 1\n")
    found = evaluate_pipeline(log(tmp_path, *rows), qrels=str(tmp_path / "qrels"), measure="RR")
    assert found.rerank is not None
    assert (found.rerank.improvement, found.rerank.measure) == (100.0, "RR")
    with pytest.raises(InputError, match="there are no judgments"):
        evaluate_pipeline(log(tmp_path, *rows))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "q", "skipped": "yes", "needs_retrieval": True}, "expected true or false as skipped of query 'q'"),
        ({"query": "q", "retrieved_ids": ["a"]}, "the log has no step of a pipeline"),
        ({"query": "q", "expert": "a", "route": "b"}, "expected one key for route, found 2"),
        ({"query": "q", "retrieved_ids": [None], "reranked_ids": ["a"], "relevant_ids": ["a"]}, "log.jsonl:1: "),
    ],
)
def test_a_wrong_log_is_an_error(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_pipeline(log(tmp_path, row))


def test_a_wrong_measure_is_found_before_the_log_is_read() -> None:
    with pytest.raises(MeasureError, match="unknown measure"):
        evaluate_pipeline("nowhere.jsonl", measure="ndgc@5")
