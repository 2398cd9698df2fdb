from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.adapters import retrieval_quality
from rankgauge.render.documents.pipelines import story_document
from rankgauge.render.formats.terminal import Layout, as_text
from tests.adapters.story.stories import BUNDLED

Command = Callable[..., Any]
STORY, QUERIES = BUNDLED / "story.md", BUNDLED / "queries.jsonl"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "s.md").write_text("## Scene 1: Storm\nAnna\n## Scene 2: Calm\nBerta\n")
    (tmp_path / "q.jsonl").write_text('{"id": "q1", "text": "storm", "relevant": ["scene-2"]}\n')
    return tmp_path / "s.md", tmp_path / "q.jsonl"


def test_the_bundled_story_passes_and_prints_one_row_per_query(command: Command) -> None:
    done = command("rq", STORY, QUERIES)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("RQ passed: MRR 0.7508, above 0.6; recall@k")
    assert len(lines) == 3 + 12


@pytest.mark.parametrize("profile", ["vsa", "bow"])
def test_json_is_the_result_of_the_function(command: Command, profile: str) -> None:
    done = command("rq", STORY, QUERIES, "--profile", profile, "--k", "2", "--threshold", "0.5", "--format", "json")
    expected = retrieval_quality(STORY, QUERIES, profile=profile, k=2, threshold=0.5)
    assert json.loads(done.out) == expected.to_dict()
    assert list(json.loads(done.out)) == [
        "metric", "value", "pass", "threshold", "profile", "k", "recall_at_k", "queries",
    ]  # fmt: skip


def test_a_value_that_is_not_above_the_threshold_exits_1(command: Command, files: tuple[Path, Path]) -> None:
    done = command("rq", *files, "--threshold", "0.5", "--profile", "bow")
    assert done.code == 1
    assert done.out.startswith("RQ FAILED: MRR 0.5000, not above 0.5; recall@5 1.0000; 1 query over 2 scenes, bow\n")
    assert command("rq", *files, "--threshold", "0.49", "--profile", "bow").code == 0


@pytest.mark.parametrize("text", ["", "[]", '{"text": "storm"}\n'])
def test_without_labeled_queries_it_is_skipped_and_exits_0(
    command: Command, files: tuple[Path, Path], text: str
) -> None:
    files[1].write_text(text)
    done = command("rq", *files)
    assert (done.code, done.out) == (0, "RQ skipped: no labeled queries\n")
    made = json.loads(command("rq", *files, "--format", "json").out)
    assert (made["value"], made["pass"], made["skipped"]) == (None, None, "no labeled queries")


def test_an_unknown_scene_exits_2_with_its_id(command: Command, files: tuple[Path, Path]) -> None:
    files[1].write_text('\n{"text": "storm", "relevant": ["scene-22"]}\n')
    done = command("rq", *files)
    assert (done.code, done.out) == (2, "")
    assert f"{files[1]}:2: expected a scene of the story as relevant to query '1', found 'scene-22'" in done.err
    assert "hint: did you mean scene-2?" in done.err


def test_warnings_go_to_standard_error(command: Command, files: tuple[Path, Path]) -> None:
    files[1].write_text('{"text": "storm", "relevant": ["scene-1"]}\n{"text": "calm"}\n')
    done = command("rq", *files)
    assert done.code == 0
    assert done.err == f"warning: {files[1]}: 1 query has no relevant scenes and is not counted [input]\n"


@pytest.mark.parametrize(
    "wrong",
    [["--profile", "wordllama"], ["--k", "0"], ["--threshold", "2"], ["--threshold", "nan"], ["--format", "xml"]],
)
def test_a_usage_error_exits_64(command: Command, files: tuple[Path, Path], wrong: list[str]) -> None:
    assert command("rq", *files, *wrong).code == 64


def test_only_one_of_the_files_can_be_standard_input(command: Command) -> None:
    done = command("rq", "-", "-")
    assert (done.code, done.err) == (64, "error: only one of the files can be standard input\n")


def test_a_missing_file_exits_2(command: Command, files: tuple[Path, Path]) -> None:
    assert command("rq", files[0], files[0].parent / "nowhere").code == 2


def test_the_verdict_has_a_color() -> None:
    found = retrieval_quality({"a": "storm"}, [{"text": "storm", "relevant": ["a"]}])
    assert as_text(story_document(found), Layout(color=True)).startswith("\x1b[32mRQ passed\x1b[0m: MRR 1.0000")


def test_control_characters_do_not_reach_the_terminal(command: Command, files: tuple[Path, Path]) -> None:
    files[1].write_text(json.dumps({"text": "storm \x1b[31m", "relevant": ["scene-1"]}))
    assert "\x1b" not in command("rq", *files).out
