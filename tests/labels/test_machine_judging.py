"""A program that judges: every content once, through the code that asks retrievers."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankgauge.cli.main import run as run_command
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.io.formats.judgment_lines import current_judgments
from rankgauge.labels import JudgmentFile, MachineJudge, PoolItem, Verdict, judge_by_machine, open_judge, read_judgments
from rankgauge.labels.machine_answers import verdict_of
from rankgauge.labels.machine_judging import JudgingLimits
from rankgauge.retrieval.asking.failures import NoAnswer
from tests.labels.pools import DEPTH, items, pool_file


def machine(function: Callable[..., Any], version: str = "1", **options: Any) -> MachineJudge:
    return MachineJudge("robot", function, {"version": version}, **options)


def test_each_content_is_asked_once_and_kept(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def judge(query: str, text: str) -> tuple[int, str]:
        asked.append((query, text))
        return 2, "because"

    file = JudgmentFile(tmp_path / "j")
    cost = judge_by_machine(items(), file, machine(judge))
    assert (cost.judged, cost.calls, cost.reused) == (6, 6, 0)
    assert sorted(asked)[0] == ("query number 1", "Title text 1 of query 1")
    again = judge_by_machine(items(), JudgmentFile(tmp_path / "j"), machine(judge))
    assert (again.judged, again.calls, again.reused) == (0, 0, 6)
    assert len(asked) == 6
    row = read_judgments(tmp_path / "j")[0]
    assert (row.assessor, row.how, row.note, row.cost) == ("robot", "machine", "because", {"calls": 1})


def test_other_instructions_and_other_texts_are_asked_again(tmp_path: Path) -> None:
    file = JudgmentFile(tmp_path / "j")
    judge_by_machine(items(1, 2), file, machine(lambda query, text: 1))
    changed = judge_by_machine(items(1, 2), file, machine(lambda query, text: 3, version="2"))
    assert (changed.judged, changed.reused) == (2, 0)
    assert [one.grade for one in current_judgments(file.judgments)] == [3, 3]
    other_text = [PoolItem("q1", "d1", DEPTH, "query number 1", "", "new text"), *items(1, 2)[1:]]
    cost = judge_by_machine(other_text, file, machine(lambda query, text: 0, version="2"))
    assert (cost.judged, cost.reused) == (1, 1)
    back = judge_by_machine(items(1, 2), file, machine(lambda query, text: 9, version="1"))  # known from the first time
    assert (back.calls, back.reused) == (0, 2)
    assert [one.grade for one in current_judgments(file.judgments)] == [1, 1]


def test_a_text_that_two_documents_share_is_sent_once(tmp_path: Path) -> None:
    twins = [PoolItem("q", doc, DEPTH, "query", "", "the same text") for doc in ("a", "b")]
    cost = judge_by_machine(twins, JudgmentFile(tmp_path / "j"), machine(lambda query, text: 1))
    assert (cost.judged, cost.calls) == (2, 1)
    assert len(current_judgments(read_judgments(tmp_path / "j"))) == 2


def test_grades_of_another_file_are_reused(tmp_path: Path) -> None:
    judge_by_machine(items(), JudgmentFile(tmp_path / "old"), machine(lambda query, text: 2))
    cost = judge_by_machine(
        items(), JudgmentFile(tmp_path / "new"), machine(lambda query, text: 0), reuse=read_judgments(tmp_path / "old")
    )
    assert (cost.calls, cost.reused) == (0, 6)
    assert {one.grade for one in read_judgments(tmp_path / "new")} == {2}


def test_a_failed_call_is_retried_and_counted(tmp_path: Path) -> None:
    attempts: dict[str, int] = {}

    def judge(query: str, text: str) -> int:
        attempts[text] = attempts.get(text, 0) + 1
        if attempts[text] < 3:
            raise ConnectionError("busy")
        return 1

    cost = judge_by_machine(items(1, 2), JudgmentFile(tmp_path / "j"), machine(judge), calls=RetrieverCalls(retries=2))
    assert (cost.judged, cost.calls) == (2, 6)


def test_too_many_failures_stop_the_work_and_keep_what_is_done(tmp_path: Path) -> None:
    def judge(query: str, text: str) -> Any:
        return 1 if "text 1" in text else "maybe"

    file = JudgmentFile(tmp_path / "j")
    with pytest.raises(RetrieverError, match="1 of 3 judgments failed, at most 0 may fail:\n  q1 d2: returned 'maybe'"):
        judge_by_machine(items(1, 3), file, machine(judge))
    assert len(file.judgments) == 1
    cost = judge_by_machine(items(1, 3), file, machine(judge), limits=JudgingLimits(max_failures=None))
    assert list(cost.failures) == ["q1 d2", "q1 d3"]
    assert cost.reused == 1


@pytest.mark.parametrize("calls", [RetrieverCalls(), RetrieverCalls(concurrency=4)])
def test_coroutines_are_awaited(tmp_path: Path, calls: RetrieverCalls) -> None:
    async def judge(query: str, text: str) -> int:
        await asyncio.sleep(0)
        return 2

    cost = judge_by_machine(items(), JudgmentFile(tmp_path / "j"), machine(judge), calls=calls)
    assert cost.judged == 6
    plain = machine(lambda query, text: judge(query, text), version="2")
    assert judge_by_machine(items(), JudgmentFile(tmp_path / "j"), plain, calls=calls).judged == 6


def test_batches_are_lists(tmp_path: Path) -> None:
    sizes: list[int] = []

    def judge(queries: list[str], texts: list[str]) -> list[int]:
        sizes.append(len(texts))
        return [int(text.split()[2]) for text in texts]

    cost = judge_by_machine(items(), JudgmentFile(tmp_path / "j"), machine(judge, batch_size=4))
    assert sizes == [4, 2]
    assert (cost.judged, cost.calls) == (6, 2)
    assert {(one.doc, one.grade) for one in read_judgments(tmp_path / "j")} == {("d1", 1), ("d2", 2), ("d3", 3)}
    with pytest.raises(RetrieverError, match="expected a list of 6 grades, one for each text"):
        judge_by_machine(items(), JudgmentFile(tmp_path / "k"), machine(lambda q, t: [1], batch_size=9))


def test_tokens_are_added_up(tmp_path: Path) -> None:
    def judge(query: str, text: str) -> dict[str, Any]:
        return {"grade": 1, "reason": "x", "prompt_tokens": 100, "completion_tokens": 5}

    cost = judge_by_machine(items(), JudgmentFile(tmp_path / "j"), machine(judge))
    assert cost.tokens == {"prompt_tokens": 600, "completion_tokens": 30}
    assert read_judgments(tmp_path / "j")[0].cost == {"calls": 1, "prompt_tokens": 100, "completion_tokens": 5}


@pytest.mark.parametrize("value", [None, "2", True, -1, 4, float("nan"), [1], (1, 2, 3), {"reason": "x"}, object()])
def test_what_is_not_a_grade_is_no_answer(value: Any) -> None:
    with pytest.raises(NoAnswer, match="expected"):
        verdict_of(value, 3)


@pytest.mark.parametrize("value", [2, 2.0, (2, "why"), {"grade": 2, "reason": "why"}, Verdict(2, "why")])
def test_grades_have_several_forms(value: Any) -> None:
    assert verdict_of(value, 3).grade == 2


def test_a_pool_without_texts_is_an_error_before_any_call(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the document of \\('q', 'd'\\) has no text"):
        judge_by_machine([PoolItem("q", "d", DEPTH, "query")], JudgmentFile(tmp_path / "j"), machine(lambda q, t: 1))


def test_the_command_calls_only_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_file(tmp_path)
    Path("robot.py").write_text("def judge(query, text):\n    return 1, 'why'\n\nnumber = 5\n")
    command = ["judge", "pool.jsonl", "-o", "j.jsonl", "--judge"]
    assert run_command([*command, "./robot.py:judge", "--concurrency", "3"]) == 0
    assert "judged 6 documents with 6 calls; tokens not reported" in capsys.readouterr().err
    Path("robot.py").write_text("def judge(query, text):\n    return 2, 'a new prompt'\n\nnumber = 5\n")
    assert run_command([*command, "./robot.py:judge"]) == 0  # loaded once per process, but the file has another hash
    assert "judged 6 documents" in capsys.readouterr().err
    assert run_command([*command, "./robot.py:number"]) == 64
    assert "is not callable" in capsys.readouterr().err
    assert run_command([*command, "gpt-something"]) == 64
    assert "judge must be module:callable" in capsys.readouterr().err


def test_a_judge_of_code_is_known_by_its_file_and_the_note_says_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_file(tmp_path)
    Path("partial_robot.py").write_text(
        "from functools import partial\n\ndef grade(query, text, level):\n    return level\n\n"
        "judge = partial(grade, level=1)\n"
    )
    command = ["judge", "pool.jsonl", "-o", "j.jsonl", "--judge", "./partial_robot.py:judge"]
    assert run_command(command) == 0
    assert "imports" not in capsys.readouterr().err
    assert run_command(command) == 0
    err = capsys.readouterr().err
    assert "6 already judged" in err
    assert "note: judgments are reused if the judge's file is the same; what it imports is not compared" in err
    Path("partial_robot.py").write_text(Path("partial_robot.py").read_text().replace("level=1", "level=2"))
    assert run_command(command) == 0  # a partial call is defined in functools: only the named file shows the change
    assert "judged 6 documents with 6 calls" in capsys.readouterr().err


def test_code_without_a_file_is_never_taken_for_the_same() -> None:
    first, second = (open_judge("operator:eq") for _ in range(2))
    assert (first.key("q", "t") == second.key("q", "t")) == (Path(operator.__file__).suffix == ".py")
    assert open_judge("builtins:max").key("q", "t") != open_judge("builtins:max").key("q", "t")


@pytest.mark.parametrize("calls", [RetrieverCalls(), RetrieverCalls(concurrency=3)])
def test_no_call_is_made_after_the_limit(tmp_path: Path, calls: RetrieverCalls) -> None:
    asked: list[str] = []

    def judge(query: str, text: str) -> int:
        asked.append(text)
        if len(asked) == 1:
            raise ConnectionError("busy")
        return 1

    limits = JudgingLimits(max_calls=3)
    with pytest.raises(RetrieverError, match="stopped at the limit of 3 calls: 4 of 6 documents not judged; made 3"):
        judge_by_machine(
            items(), JudgmentFile(tmp_path / "j"), machine(judge), calls=replace(calls, retries=2), limits=limits
        )
    assert len(asked) == 3
    for name, value in (("max_calls", 0), ("max_tokens", -1), ("max_calls", True), ("max_failures", -1)):
        with pytest.raises(UsageError, match=f"{name}: expected a whole number of at least"):
            JudgingLimits(**{name: value})


def test_a_call_that_needs_an_event_loop_counts_once(tmp_path: Path) -> None:
    async def judge(query: str, text: str) -> int:
        return 1

    plain = machine(lambda query, text: judge(query, text))
    cost = judge_by_machine(items(), JudgmentFile(tmp_path / "j"), plain, limits=JudgingLimits(max_calls=6))
    assert (cost.judged, cost.calls) == (6, 6)
