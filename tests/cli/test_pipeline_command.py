from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
ROWS = [
    {"query_id": "q1", "expert": "auth", "optimal_expert": "auth", "skipped": False, "needs_retrieval": True,
     "retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"]},
    {"query_id": "q2", "expert": "auth", "optimal_expert": "billing", "skipped": True, "needs_retrieval": True,
     "retrieved_ids": ["c", "d"], "reranked_ids": ["c", "d"]},
]  # fmt: skip


def files(folder: Path) -> tuple[Path, Path]:
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (folder / "qrels").write_text("q1 0 b 1\nq2 0 c 1\n")
    return folder / "log.jsonl", folder / "qrels"


def test_the_table_has_a_line_for_each_step_and_the_confusions(command: Command, tmp_path: Path) -> None:
    log, qrels = files(tmp_path)
    outcome = command("pipeline", log, "--qrels", qrels, "-m", "RR")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "log.jsonl: 2 queries"
    assert [line.split()[0] for line in lines[1:4]] == ["routing", "gate", "rerank"]
    assert lines[5].split() == ["best", "\\", "chosen", "auth", "billing", "recall", "precision"]
    assert lines[-1] == "wrongly skipped: q2"


def test_json_holds_all_three(command: Command, tmp_path: Path) -> None:
    log, qrels = files(tmp_path)
    data = json.loads(command("pipeline", log, "--qrels", qrels, "--format", "json").out)
    assert data["schema"] == "rankgauge.pipeline/1"
    assert data["routing"]["confusion"] == {"auth": {"auth": 1}, "billing": {"auth": 1}}
    assert data["gate"]["wrongly_skipped"] == ["q2"]
    assert data["rerank"]["n"] == 2


def test_without_judgments_the_reranker_is_left_out(command: Command, tmp_path: Path) -> None:
    log, _ = files(tmp_path)
    outcome = command("pipeline", log)
    assert outcome.code == 0
    assert "rerank    –: there are no judgments" in outcome.out


def test_a_file_that_is_no_log_is_bad_input(command: Command, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1 0 a 1\n")
    assert command("pipeline", tmp_path / "x").code == 2
    assert command("pipeline", tmp_path / "nowhere").code == 2
