from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from rankgauge import gate
from rankgauge.comparison import GateRule

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


# -- the same answer, however a gate is asked --------------------------------------------------------------------------

SITUATIONS: dict[str, tuple[dict[str, Any], int]] = {  # the keys of the gate's section, and the exit code
    "passes": ({"require": ["Success@5>=0.9"]}, 0),
    "misses a mean": ({"require": ["RR>=0.6", "Success@5>=0.5"]}, 1),
    "misses of queries": ({"require_each": ["Success@5>=1"]}, 1),
    "an allowed miss": ({"require_each": ["Success@5>=1"], "allow": "allowed.txt"}, 0),
    "a known miss": ({"require_each": ["Success@5>=1"], "baseline": "lost.jsonl"}, 0),
    "groups": ({"require": ["RR>=0.1"], "by": ["kind"], "requirements": {"b": ["Success@5>=1"]}}, 1),
    "undecided": ({"baseline": "full.jsonl", "measures": ["Success@5"], "margin": 0.0}, 0),
    "undecided fails": ({"baseline": "full.jsonl", "measures": ["Success@5"], "undecided": "fail"}, 1),
    "shallow": ({"baseline": "short.jsonl", "measures": ["Success@5"]}, 2),
}


RULE_KEYS = ("by", "requirements", "allow", "margin", "undecided")


@pytest.fixture
def golden_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cases, and results that have all of their documents, one fewer, or only the first two of each."""
    monkeypatch.chdir(tmp_path)
    cases = [{"id": f"q{n}", "query": f"text {n}", "relevant_ids": [f"d{n}"], "kind": "ab"[n % 2]} for n in range(4)]
    full = [{"id": f"q{n}", "retrieved": ["x", f"d{n}", "y", "z", "w"]} for n in range(4)]
    lost = [{**row, "retrieved": ["x", "v", "y", "z", "w"]} if row["id"] == "q1" else row for row in full]
    short = [{**row, "retrieved": row["retrieved"][:2]} for row in full]
    for name, rows in (("golden", cases), ("full", full), ("lost", lost), ("short", short)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("allowed.txt").write_text("q1 # not indexed yet\n")


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.usefixtures("golden_folder")
def test_the_command_a_file_python_and_the_fixture_give_the_same_answer(
    situation: str, command: Callable[..., Any], retrieval_gate: Any
) -> None:
    keys, code = SITUATIONS[situation]
    run = "full.jsonl" if situation == "passes" else "lost.jsonl"
    Path("rankgauge.yaml").write_text(json.dumps({"gate": keys}))
    files = ("golden.jsonl", run, "--format", "json")
    configured = command("gate", *files, "--config", "rankgauge.yaml")
    options: list[str] = []
    for key, value in keys.items():
        flag = {"measures": "-m"}.get(key, f"--{key.replace('_', '-')}")
        if key in ("requirements", "allow", "undecided"):
            options += ["--set", f"gate.{key}={value if isinstance(value, str) else json.dumps(value)}"]
        else:
            options += [word for one in (value if isinstance(value, list) else [value]) for word in (flag, str(one))]
    typed = command("gate", *files, *options)
    of_rule = {key: value for key, value in keys.items() if key in RULE_KEYS}
    arguments = {key: value for key, value in keys.items() if key not in RULE_KEYS} | {"rule": GateRule(**of_rule)}
    result = gate("golden.jsonl", run, **arguments)
    assert [configured.code, typed.code, result.exit_code] == [code] * 3, configured.err + typed.err
    sentences = [json.loads(done.out)["gate"]["sentence"] for done in (configured, typed)]
    assert sentences == [result.sentence] * 2
    if result.passed:
        assert retrieval_gate("golden.jsonl", run, **arguments).sentence == result.sentence
        return
    with pytest.raises(pytest.skip.Exception if result.verdict == "undecided" else pytest.fail.Exception) as caught:
        retrieval_gate("golden.jsonl", run, **arguments)
    assert str(caught.value).partition("\n")[0] == result.sentence
