"""A model behind a chat endpoint: what is sent, what is read, and what is never sent or shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.cli.main import run as run_command
from rankgauge.config.judges import JudgeSection
from rankgauge.config.reading import load_judge_section, load_section
from rankgauge.errors import InputError
from rankgauge.labels import read_judgments
from rankgauge.labels.http_judge import read_grade
from rankgauge.retrieval.asking.failures import NoAnswer
from tests.labels.pools import pool_file
from tests.retrieval.engines.loopback import Reply, Request, serving

pytest.importorskip("httpx")
SECRET = "sk-very-secret-key"


def completion(content: object, **extra: object) -> Reply:
    usage = {"prompt_tokens": 50, "completion_tokens": 4, "total_tokens": 54}
    return Reply(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}], "usage": usage, **extra}
    )


def write_judge(url: str, prompt: str = "Query: {query} Text: {text} Grade?", **keys: object) -> None:
    section = {"url": f"{url}/v1/chat/completions", "model": "tiny", "prompt": prompt, **keys}
    Path("judge.yaml").write_text(json.dumps(section))  # JSON is YAML


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    pool_file(tmp_path)
    return tmp_path


def judge(answer: Callable[[Request], Reply], *options: str, **keys: object) -> tuple[int, list[Request]]:
    """The exit code of a command, and what the server received."""
    requests: list[Request] = []

    def record(request: Request) -> Reply:
        requests.append(request)
        return answer(request)

    with serving(record) as url:
        write_judge(url, **keys)  # type: ignore[arg-type]  # the keys of a section
        return run_command(["judge", "pool.jsonl", "-o", "j.jsonl", "--judge", "judge.yaml", *options]), requests


def test_the_prompt_is_sent_and_the_grade_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    headers = {"Authorization": "Bearer ${JUDGE_KEY}"}
    code, requests = judge(
        lambda request: completion('{"grade": 2, "reason": "fits"}'),
        headers=headers,
        options={"temperature": 0, "stop": ["{x}"]},
        system="You grade {carefully}.",
    )
    assert code == 0
    assert len(requests) == 6
    first = requests[0]
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {SECRET}"
    assert first.body["model"] == "tiny"
    assert (first.body["temperature"], first.body["stop"]) == (0, ["{x}"])
    assert first.body["messages"] == [
        {"role": "system", "content": "You grade {carefully}."},
        {"role": "user", "content": "Query: query number 1 Text: Title text 1 of query 1 Grade?"},
    ]
    err = capsys.readouterr().err
    assert "judged 6 documents with 6 calls; 300 prompt tokens and 24 completion tokens" in err
    row = read_judgments("j.jsonl")[0]
    assert (row.grade, row.note, row.assessor) == (2, "fits", "tiny")
    assert row.cost == {"calls": 1, "prompt_tokens": 50, "completion_tokens": 4}


def test_another_prompt_is_asked_again_and_the_same_is_not(folder: Path) -> None:
    port = "http://127.0.0.1:9"  # nothing listens there: the second command must not call
    assert judge(lambda request: completion("1"))[0] == 0
    address = json.loads(Path("judge.yaml").read_text())["url"]
    assert run_command(["judge", "pool.jsonl", "-o", "j.jsonl", "--judge", "judge.yaml"]) == 0
    write_judge(port, prompt="Another {query} {text}")
    assert address not in Path("judge.yaml").read_text()
    assert run_command(["judge", "pool.jsonl", "-o", "j.jsonl", "--judge", "judge.yaml"]) == 1


def test_an_overloaded_server_is_asked_again(folder: Path) -> None:
    seen: list[int] = []

    def answer(request: Request) -> Reply:
        seen.append(1)
        busy = Reply({"error": "busy"}, status=429, headers={"Retry-After": "0"})
        return busy if len(seen) % 2 else completion("grade: 3")

    code, requests = judge(answer, "--retries", "2")
    assert code == 0
    assert len(requests) == 12
    assert {one.grade for one in read_judgments("j.jsonl")} == {3}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (completion("I cannot say"), "the answer has no grade: 'I cannot say'"),
        (completion("7"), "returned the grade 7, expected one from 0 to 3"),
        (completion(None), "expected text at choices"),
        (Reply({"results": []}), "not a chat completion"),
        (Reply({"error": SECRET}, status=401), "status 401"),
        (Reply(b"<html>"), "expected JSON"),
    ],
)
def test_an_answer_without_a_grade_fails_and_shows_no_secret(
    folder: Path, capsys: pytest.CaptureFixture[str], reply: Reply, message: str
) -> None:
    code, _ = judge(lambda request: reply, headers={"Authorization": "Bearer ${JUDGE_KEY}"})
    assert code == 1
    err = capsys.readouterr().err
    assert message in err
    assert SECRET not in err
    assert SECRET not in Path("j.jsonl").read_text()


@settings(max_examples=30)
@given(st.integers(0, 3), st.text(max_size=20))
def test_a_grade_is_found_in_every_usual_form(grade: int, text: str) -> None:
    reason = text.replace("{", "").replace("}", "")
    assert read_grade(f" {grade}\n") == (grade, None)
    assert read_grade(json.dumps({"reason": reason, "grade": grade}))[0] == grade
    assert read_grade(f"```json\n{json.dumps({'grade': grade})}\n```")[0] == grade
    assert read_grade(f"It could be grade 9. Final Grade: **{grade}**")[0] == grade


def test_text_without_a_grade_is_no_answer() -> None:
    for text in ("", "relevant", "{}", '{"grade": "two"}', "upgrade 3"):
        with pytest.raises(NoAnswer, match="has no grade"):
            read_grade(text)


def test_braces_in_a_text_are_text() -> None:
    section = load_section(JudgeSection, {"url": "http://x/y", "model": "m", "prompt": "{query}|{text}|{other}"})
    assert section.fill_prompt("{text}", "{query} ${HOME}") == "{text}|{query} ${HOME}|{other}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model: m\nprompt: '{query} {text}'\n", "expected the key 'url', found nothing"),
        ("url: http://x/y\nprompt: '{query} {text}'\n", "expected the key 'model', found nothing"),
        (
            "url: http://x/y\nmodel: m\nprompt: '{query}'\n",
            r"judge.yaml:3: expected \{text\} in the prompt, found none",
        ),
        ("url: ftp://x\nmodel: m\nprompt: '{query} {text}'\n", "neither http"),
        ("url: http://x\nmodel: m\nprompt: '{query} {text}'\noptions: {model: z}\n", "further keys of the request"),
        (
            "url: http://x\nmodel: m\nprompt: '{query} {text}'\nheaders: {Authorization: Bearer abc}\n",
            r"judge.yaml:4: expected \$\{NAME\}, an environment variable, as Authorization, found plain text",
        ),
        ("url: http://x\nmodel: m\nprompt: '{query} {text}'\nmodle: z\n", "did you mean 'model'"),
    ],
)
def test_a_file_that_is_wrong_is_an_error_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "judge.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        load_judge_section(path)


def test_a_batch_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_judge("http://127.0.0.1:9")
    assert run_command(["judge", "pool.jsonl", "-o", "j", "--judge", "judge.yaml", "--batch", "2"]) == 64
    assert "one text per call" in capsys.readouterr().err
