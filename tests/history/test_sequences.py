"""Sequences of builds: each is counted once, under one promise, by however many processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge.errors import InputError, UsageError
from rankgauge.history import History
from rankgauge.history.tables import HISTORY_KIND, VERSION_1

CLAIM = """
import sys
from rankgauge.history import History
print("ready", flush=True)
sys.stdin.readline()
with History.open(sys.argv[1]) as history:
    sequence = history.online("main", "labels", builds=1000, control="lond")
    for number in range(40):
        build = sequence.claim(f"{sys.argv[2]}-{number}", 0.05)
        print(build.number, flush=True)
        sequence.record(build, failed=number % 10 == 0)
    print(sequence.claim("shared", 0.05).number)
"""


def test_builds_are_numbered_and_the_same_one_spends_nothing(history: History) -> None:
    sequence = history.online("main", "labels")
    first, second = (sequence.claim(key, 0.05) for key in "ab")
    again = sequence.claim("a", 0.05)
    assert (first.number, second.number, again.number) == (1, 2, 1)
    assert (first.repeated, again.repeated) == (False, True)
    assert first.level == again.level == 0.05 / 200
    assert history.online("other", "labels").claim("a", 0.05).number == 1
    assert history.online("main", "other").claim("a", 0.05).number == 1
    assert history.online("main", "labels").claim("c", 0.05).number == 3  # of another object, as in another process


def test_levels_grow_with_recorded_alarms_of_the_period(history: History) -> None:
    sequence = history.online("main", "labels", builds=4, control="lond")
    levels = []
    for number in range(9):
        build = sequence.claim(str(number), 0.04)
        levels.append(round(build.level, 12))
        sequence.record(build, failed=number in (0, 1, 5))
    assert levels == [0.01, 0.02, 0.03, 0.03, 0.01, 0.01, 0.02, 0.02, 0.01]
    build = sequence.claim("next", 0.04)
    assert (build.period, build.number, build.alarms) == (3, 2, 0)
    assert "build 2 of 4 of period 3" in build.describe()
    assert sequence.claim("1", 0.04).level == 0.02  # as it was


def test_a_build_that_never_ended_has_spent_its_number_and_is_no_alarm(history: History) -> None:
    sequence = history.online("main", "labels", builds=4, control="lond")
    sequence.claim("killed", 0.04)
    assert sequence.claim("next", 0.04).number == 2
    assert sequence.claim("next", 0.04).alarms == 0
    assert sequence.claim("killed", 0.04).number == 1


def test_a_promise_cannot_change_on_the_way(history: History) -> None:
    history.online("main", "labels").claim("a", 0.05)
    for options, alpha in (({"builds": 100}, 0.05), ({"control": "lond"}, 0.05), ({}, 0.01)):
        with pytest.raises(InputError, match=r"periods of 200 builds, alpha 0\.05 and the control any"):
            history.online("main", "labels", **options).claim("b", alpha)
    restarted = history.online("main", "labels", builds=100, restart=True)
    assert [restarted.claim(key, 0.05).number for key in ("a", "b")] == [1, 2]
    assert history.online("main", "labels", builds=100).claim("c", 0.05).number == 3
    with pytest.raises(UsageError):
        history.online("main", "labels", builds=0)
    with pytest.raises(UsageError, match="one of any, lond, e-lond"):
        history.online("main", "labels", control="saffron")


def test_a_history_of_the_first_version_gets_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        for statement in VERSION_1:
            old.execute(statement)
        old.execute(f"PRAGMA application_id = {HISTORY_KIND.application_id}")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with History.open(path) as history:
        assert history.online("main", "labels").claim("a", 0.05).number == 1
        assert history.database.query("PRAGMA user_version") == [(HISTORY_KIND.version,)]


@pytest.mark.slow
def test_two_processes_share_a_sequence(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", CLAIM, str(path), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in "ab"
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    ended = [process.communicate("\n", timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], [err for _, err in ended]
    numbers = [[int(line) for line in out.split()] for out, _ in ended]
    assert numbers[0][-1] == numbers[1][-1]  # the same test is one build
    assert sorted({number for own in numbers for number in own}) == list(range(1, 82))
    with History.open(path) as history:
        build = history.online("main", "labels", builds=1000, control="lond").claim("last", 0.05)
        assert (build.number, build.alarms) == (82, 8)
        assert build.level == pytest.approx(9 * 0.05 / 1000)
