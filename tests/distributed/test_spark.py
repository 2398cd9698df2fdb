"""The guide to Spark runs as written, and on Spark every bit is that of one machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts.examples import WIDTH, blocks, session, shown

from tests.needs import ROOT, require

ENVIRONMENT = Path(os.environ.get("RANKGAUGE_SPARK", ROOT / ".venv-spark"))
HERE = Path(__file__).parent
GUIDE = ROOT / "docs" / "guides" / "spark.md"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """As in a shell in which the environment of Spark is not activated: only the command itself can be found."""
    require("java", shutil.which("java") is not None, remedy="`make test-deps` installs Java 17")
    require("spark", (ENVIRONMENT / "bin" / "rankgauge").exists(), remedy="`make test-spark` installs pyspark")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "rankgauge").symlink_to(ENVIRONMENT / "bin" / "rankgauge")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    return {
        **kept,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # half the CPU of a session as short as this
        "NO_COLOR": "1",
        "COLUMNS": WIDTH,
    }


@pytest.mark.slow
def test_the_guide_and_the_checks_of_spark(tmp_path: Path, environment: dict[str, str]) -> None:
    command = [str(ENVIRONMENT / "bin" / "python"), str(ROOT / "tests" / "libraries" / "run_page.py")]
    done = subprocess.run(
        [*command, str(GUIDE), str(HERE / "spark_checks.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    counts = re.search(r"(\d+) examples, (\d+) checks passed", done.stdout)
    assert counts is not None, done.stdout
    assert all(int(count) > 0 for count in counts.groups()), done.stdout


@pytest.mark.slow
def test_the_commands_of_the_guide_need_no_activated_environment(tmp_path: Path, environment: dict[str, str]) -> None:
    commands = [pair for text in blocks(GUIDE, "console") for pair in session(text)]
    assert any("--engine spark" in command for command, _ in commands)
    for command, expected in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr[-4000:])
        assert not expected or expected.rstrip() == shown(expected, done.stdout, done.stderr).rstrip(), command
