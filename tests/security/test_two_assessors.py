"""Two assessors on one file of judgments: every decision of both is kept, each line whole, and each sees only theirs.

What must hold: both are accepted, nothing is lost or half-written, what one does is no reason for a message to the
other, and what cannot be written, or is not such a file, is refused with one message and stays as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge.cli.main import run as run_command
from rankgauge.errors import InputError
from rankgauge.io.formats.judgment_lines import current_judgments
from rankgauge.labels import JudgmentFile, read_judgments
from rankgauge.labels.judging_session import Assessor, JudgingSession
from tests.labels.pools import items, judgment, pool_file
from tests.needs import ROOT

DOCUMENTS = 40
WRITER = """
import sys
from pathlib import Path
from rankgauge.labels import Judgment, JudgmentFile
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
file = JudgmentFile(path)
print("ready", flush=True)
sys.stdin.readline()  # both begin at once
for number in range(count):
    file.add(Judgment("q", f"d{number}", number % 4, name, "terminal", note=name * 2000))
"""


def test_two_assessors_who_judge_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(DOCUMENTS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ann", "bob")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    for writer in writers:
        writer.communicate()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 2 * DOCUMENTS
    assert all(isinstance(json.loads(line), dict) for line in lines)
    rows = {(row.assessor, row.doc): row.grade for row in read_judgments(path)}
    assert rows == {(name, f"d{n}"): n % 4 for name in ("ann", "bob") for n in range(DOCUMENTS)}


def test_the_commands_of_two_assessors_each_resume_their_own_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_file(tmp_path)
    for name, grade in (("ann", 1), ("bob", 2)):
        Path(f"{name}.py").write_text(f"def judge(query, text):\n    return {grade}\n")
        command = ["judge", "pool.jsonl", "-o", "j.jsonl", "--assessor", name, "--judge", f"./{name}.py:judge"]
        assert run_command(command) == 0
    for name in ("ann", "bob"):
        command = ["judge", "pool.jsonl", "-o", "j.jsonl", "--assessor", name, "--judge", f"./{name}.py:judge"]
        assert run_command(command) == 0
        assert "judged 0 documents with 0 calls; 6 already judged" in capsys.readouterr().err
    kept = current_judgments(read_judgments("j.jsonl"))
    assert sorted((one.assessor, one.grade) for one in kept) == [("ann", 1)] * 6 + [("bob", 2)] * 6


def test_a_session_that_began_first_does_not_overwrite_the_other(tmp_path: Path) -> None:
    path = tmp_path / "j"
    ann, bob = (JudgingSession(items(), JudgmentFile(path), Assessor(name)) for name in ("ann", "bob"))
    for _ in range(3):
        ann.grade(1)
        bob.grade(2)
    ann.undo()
    assert [one.assessor for one in read_judgments(path)] == ["ann", "bob"] * 3 + ["ann"]
    assert len([one for one in current_judgments(read_judgments(path)) if one.assessor == "bob"]) == 3


def test_a_half_line_of_one_assessor_does_not_damage_the_next_line_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "j"
    bob = JudgmentFile(path)
    bob.add(judgment("q", "d1", 1, "bob"))
    whole = path.read_bytes()
    for size in (1, 5, 30, len(whole) - 1):
        path.write_bytes(whole + whole[:size])  # the process of the other one was killed
        bob.add(judgment("q", "d2", 2, "bob"))
        assert [one.doc for one in read_judgments(path)] == ["d1", "d2"]
        assert [one.doc for one in JudgmentFile(path).judgments] == ["d1", "d2"]


def test_a_file_that_is_replaced_by_something_else_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "j"
    bob = JudgmentFile(path)
    bob.add(judgment("q", "d1", 1, "bob"))
    path.write_bytes(b"my notes")
    with pytest.raises(InputError, match="not a file of judgments"):
        bob.add(judgment("q", "d2", 1, "bob"))
    assert path.read_bytes() == b"my notes"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_only_one_of_them_may_write_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "j"
    JudgmentFile(path).add(judgment("q", "d1", 1, "ann"))
    path.chmod(0o400)
    with pytest.raises(InputError, match="cannot write: Permission denied"):
        JudgmentFile(path)
