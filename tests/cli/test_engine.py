"""``--engine``: nothing that an engine does not have is ignored silently."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from rankgauge.cli.main import run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "spark", "--audit"], "--engine spark cannot be combined with --audit"),
        (["--engine", "spark", "--html", "page.html"], "--engine spark cannot be combined with --html"),
        (["--engine", "spark", "--save"], "--engine spark cannot be combined with --save"),
        (["--engine", "spark", "--labels", "gold"], "--engine spark cannot be combined with --labels"),
        (
            ["--engine", "spark", "--set", "reading.on_duplicate=first"],
            "--engine spark cannot be combined with reading.on_duplicate=first",
        ),
        (["--engine", "spark", "--set", "spark.settings=cores"], "--set spark.settings: expected a valid dictionary"),
        (["--engine", "spark", "--format", "csv", "--ci"], "--format csv has no groups, intervals or tests"),
    ],
)
def test_an_option_of_the_other_engine_is_an_error(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    assert run(["evaluate", str(tmp_path / "q"), str(tmp_path / "q"), *options]) == 64
    assert f"error: {message}" in capsys.readouterr().err


def test_a_run_from_standard_input_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "q", "-", "--engine", "spark"]) == 64
    assert "cannot read a run from standard input" in capsys.readouterr().err
    assert run(["evaluate", "q", "--engine", "spark"]) == 64
    assert "--engine spark needs judgments and a run" in capsys.readouterr().err


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_pyspark_the_error_says_how_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    assert run(["evaluate", str(tmp_path / "q"), str(tmp_path / "r"), "--engine", "spark"]) == 64
    assert capsys.readouterr().err == ("error: Spark needs the library pyspark\nhint: pip install 'rankgauge[spark]'\n")
