"""Everything that rankgauge does by default works without a network, and tries none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge.retrieval.embedders import model_files
from rankgauge.retrieval.embedders.model_files import OFFLINE, allow_downloads, stay_offline
from tests.needs import require

# Each use of a socket is an event of Python, whichever library makes it.
COMMANDS = """
import sys
attempts = []
sys.addaudithook(lambda name, details: attempts.append((name, details)) if name.startswith("socket.") else None)
from rankgauge.cli.main import run

def check(line):
    code = run(line.split())
    assert code == 0, (line, code)
    assert not attempts, (line, attempts)

check("demo --copy data")
check("demo -o demo")
check("benchmark verify demo")
check("benchmark verify demo --html page.html")
check("init --force")
for options in ("--retriever lexical", "--retriever vector", "--retriever hybrid --rerank sentences"):
    check(f"runs fetch --corpus data {options} -o run.trec --latency 2")
check("evaluate data/qrels.trec run.trec data/runs/lexical.trec --ci --html evaluated.html")
check("compare data/qrels.trec data/runs/lexical.trec data/runs/vector.trec")
check("gate data/qrels.trec run.trec --require nDCG@10>=0 --save --save-run")
check("gate data/qrels.trec run.trec --baseline history:hybrid+rerank")
check("history list")
check("history trend --html history.html")
check("tune data/qrels.trec data/runs/lexical.trec data/runs/vector.trec -o tuned.trec")
check("convert run.trec run.csv")
import os
assert os.environ["HF_HUB_OFFLINE"] == "1"
assert "huggingface_hub" not in sys.modules
print("no attempts")
"""


def without_network() -> list[str] | None:
    """The beginning of a command line that takes the network away; None if this machine does not allow it."""
    if shutil.which("unshare") is None:
        return None
    for words in (["unshare", "-n"], ["unshare", "-rn"]):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return None


def run_commands(folder: Path, *prefix: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != OFFLINE}
    done = subprocess.run(
        [*prefix, sys.executable, "-c", COMMANDS],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("no attempts\n"), done.stderr


@pytest.mark.slow
def test_default_paths_need_no_network_and_try_none(tmp_path: Path) -> None:
    pytest.importorskip("wordllama")
    prefix = without_network()
    run_commands(tmp_path, *(prefix or ()))  # with a network, too, nothing is tried
    require("network-namespace", prefix is not None)


def test_a_model_that_was_named_may_be_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OFFLINE, raising=False)
    monkeypatch.setattr(model_files, "_set_here", set())
    stay_offline()
    assert os.environ[OFFLINE] == "1"
    allow_downloads()
    assert OFFLINE not in os.environ


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_setting_of_the_user_has_precedence(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OFFLINE, value)
    monkeypatch.setattr(model_files, "_set_here", set())
    stay_offline()
    allow_downloads()
    assert os.environ[OFFLINE] == value
