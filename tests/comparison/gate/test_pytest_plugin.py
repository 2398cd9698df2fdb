from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

Ranked = Callable[..., dict[str, dict[str, float]]]


def test_the_fixture_gives_the_result_of_a_gate_that_passes(retrieval_gate: Any, judged: Any, ranked: Ranked) -> None:
    assert retrieval_gate(judged, ranked(), require=["RR>=0.9"], baseline=ranked()).passed


def test_the_fixture_fails_with_the_gates_text(retrieval_gate: Any, judged: Any, ranked: Ranked) -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        retrieval_gate(judged, ranked(bad=range(12)), require=["RR>=0.9"], baseline=ranked())
    assert str(caught.value).startswith("fail: this run is worse than the baseline on RR")
    assert "MISSED" in str(caught.value)


def test_the_fixture_skips_if_the_gate_is_undecided_and_fails_if_it_cannot_decide(
    retrieval_gate: Any, ranked: Ranked
) -> None:
    with pytest.raises(pytest.skip.Exception, match="undecided: 1 of 1 query got worse on RR"):
        retrieval_gate({"q": {"a": 1}}, {"q": ["x", "a"]}, measures="RR", baseline={"q": ["a", "x"]})
    with pytest.raises(pytest.fail.Exception, match="nothing to judge: no query"):
        retrieval_gate({}, ranked(), require="RR>=0.9")


def test_the_plugin_is_registered_and_imports_nothing_but_pytest() -> None:
    assert [entry.value for entry in entry_points(group="pytest11", name="rankgauge")] == ["rankgauge.pytest_plugin"]
    code = "import sys, pytest; old = set(sys.modules); import rankgauge.pytest_plugin; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lazy = {"rankgauge", "rankgauge._version", "rankgauge.core", "rankgauge.core.public_names"}  # names on first use
    assert set(done.stdout.split()) == {*lazy, "rankgauge.pytest_plugin"}


@pytest.mark.slow
def test_a_team_can_write_its_gate_as_a_test(tmp_path: Path) -> None:
    (tmp_path / "test_search.py").write_text(
        "def test_good(retrieval_gate):\n"
        "    retrieval_gate({'q': {'a': 1}}, {'q': ['a']}, require='RR>=1')\n"
        "def test_bad(retrieval_gate):\n"
        "    retrieval_gate({'q': {'a': 1}}, {'q': ['b', 'a']}, require='RR>=1')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_search.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "fail: missed RR >= 1 (0.5000)." in done.stdout
    assert "Traceback" not in done.stdout
