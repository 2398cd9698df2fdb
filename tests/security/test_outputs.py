"""An output that cannot be written is an error before the work, and an input that cannot be read is bad input."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeError, Run, evaluate_runs
from rankgauge.errors import InputTypeError
from rankgauge.io import byte_streams

Command = Callable[..., Any]
COMMANDS = [
    ("evaluate", "qrels", "run", "--html", "OUT"),
    ("compare", "qrels", "run", "run2", "--html", "OUT"),
    ("gate", "qrels", "run", "--require", "RR>=0", "--html", "OUT"),
    ("gate", "qrels", "run", "--require", "RR>=0", "--summary", "OUT"),
    ("gate", "qrels", "run", "--baseline", "run2", "--html", "OUT"),
    ("gate", "qrels", "run", "--baseline", "run2", "--summary", "OUT"),
    ("fuse", "run", "run2", "-o", "OUT"),
    ("tune", "qrels", "run", "run2", "-o", "OUT"),
    ("convert", "run", "OUT", "--to", "csv"),
    ("runs", "validate", "run", "--fix", "OUT"),
    ("runs", "validate", "--labels", "qrels", "--fix", "OUT"),
]
REASONS = {
    "missing/out": "No such file or directory",
    "read-only/out": "the folder is not writable",
    "read-only/file": "Permission denied",
    "read-only": "it is a folder",
    "run/out": "Not a directory",
    "run": "would overwrite the input",
    "qrels": "would overwrite the input",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    for name in ("run", "run2"):
        (tmp_path / name).write_text("1 Q0 a 1 1 x\n2 Q0 a 1 1 x\n")
    (tmp_path / "read-only").mkdir()
    (tmp_path / "read-only" / "file").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if an input is opened."""

    def untouched(*_: object, **__: object) -> None:
        pytest.fail("the work started")

    monkeypatch.setattr(byte_streams.ByteStream, "__init__", untouched)


@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize(
    ("words", "out", "reason"),
    [
        pytest.param(words, out, reason, id=f"{out}-{' '.join(words)}")
        for words in COMMANDS
        for out, reason in REASONS.items()
        if out in words or out not in ("run", "qrels")
    ],
)
def test_an_output_that_cannot_be_written_is_noticed_before_the_work(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], out: str, reason: str
) -> None:
    real = os.access
    # The user of the tests may be root, who may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: "read-only" not in str(path) and real(path, mode))
    outcome = command(*(out if word == "OUT" else word for word in words))
    assert outcome.code == 2
    assert reason in outcome.err


@pytest.mark.usefixtures("nothing_is_read")
def test_two_outputs_are_two_files(command: Command) -> None:
    outcome = command("gate", "qrels", "run", "--require", "RR>=0", "--summary", "out", "--html", "./out")
    assert outcome.code == 2
    assert "two outputs cannot be the same file" in outcome.err


@pytest.mark.parametrize("line", ["evaluate qrels run", "fuse run run2 -o out", "runs validate run", "evaluate run"])
def test_a_file_that_may_not_be_read_is_bad_input(command: Command, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    real, real_open = os.access, Path.open

    def refused(path: Path, *more: Any, **named: Any) -> Any:
        if path.name == "run":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *more, **named)

    monkeypatch.setattr(os, "access", lambda path, mode, **more: Path(path).name != "run" and real(path, mode, **more))
    monkeypatch.setattr(Path, "open", refused)
    outcome = command(*line.split())
    assert outcome.code == 2
    assert "Permission denied" in outcome.err + outcome.out


ONE_RUN = {"q": {"d": 1.0}}


@pytest.mark.parametrize("runs", ["run", Path("run"), ONE_RUN, Run.from_dict(ONE_RUN), b"run", 3, None])
def test_one_run_in_the_place_of_a_list_is_a_type_error(runs: Any) -> None:
    with pytest.raises(InputTypeError, match="runs must be a list of runs, found") as error:
        evaluate_runs("qrels", runs, "RR")
    assert isinstance(error.value, TypeError)
    with pytest.raises(RankgaugeError):
        evaluate_runs("qrels", ["run", "missing"], "RR")


@pytest.mark.parametrize("name", ["a\0b", Path("a\0b")])
def test_a_name_with_a_nul_is_an_error_of_its_own(name: Any) -> None:
    from rankgauge import convert, evaluate, read_corpus, read_qrels

    for read in (read_qrels, lambda path: evaluate("qrels", path), lambda path: convert("run", path, to_format="csv")):
        with pytest.raises(InputError, match="the name contains a NUL character"):
            read(name)
    with pytest.raises(RankgaugeError):
        list(read_corpus(name))
