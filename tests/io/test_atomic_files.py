"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError
from rankgauge.errors import StorageError
from rankgauge.io import conversion
from rankgauge.io.atomic_files import write_atomically, write_together

Command = Callable[..., Any]


def test_the_target_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with write_atomically(path) as out:
        out.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_no_trace(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def failing() -> None:
        with write_atomically(path) as out:
            out.write(b"half")
            raise failure

    with pytest.raises(failure):
        failing()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="out: cannot write: No space left on device"),
        write_atomically(tmp_path / "out"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_the_mode_of_a_file_and_a_link_to_it_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    with write_atomically(link) as out:
        out.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("target", ["nowhere/out", "."])
def test_a_target_that_cannot_be_is_an_error_before_the_work_starts(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match="cannot write"), write_atomically(tmp_path / target):
        pytest.fail("the work started")


def test_a_folder_that_cannot_be_written_to_is_an_error_before_the_input_is_read(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").write_bytes(b"q Q0 a 1 1 x\n")
    original = os.open

    def refused(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and "locked" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(path, flags, *more, **named)

    def untouched(*_: object, **__: object) -> None:
        pytest.fail("the input was read")

    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "open", refused)  # root may write anywhere, so the mode alone tests nothing
    monkeypatch.setattr(conversion, "read_rows", untouched)
    monkeypatch.setattr(conversion, "read_bytes", untouched)
    outcome = command("convert", tmp_path / "in", tmp_path / "locked" / "out.json")
    assert outcome.code == 2
    assert "cannot write: Permission denied" in outcome.err


def test_a_device_without_room_is_an_error(tmp_path: Path, command: Command) -> None:
    (tmp_path / "in").write_bytes(b"q Q0 a 1 1 x\n")
    outcome = command("convert", tmp_path / "in", "/dev/full", "--to", "csv")
    assert outcome.code == 71
    assert "/dev/full: cannot write: No space left on device" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "tr_TR.UTF-8"}])
def test_the_locale_changes_nothing(tmp_path: Path, locale: dict[str, str]) -> None:
    (tmp_path / "in").write_bytes(b"QID,docno,score\ncaf\xe9,I\xc4\xb0,1\n")
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", "convert", "in", "/dev/stdout", "--to", "trec"],
        cwd=tmp_path, env={**os.environ, **locale}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout == b"caf\xe9 Q0 I\xc4\xb0 1 1 in\n", done.stderr


def test_two_writers_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "out"
    barrier = threading.Barrier(4)

    def write(letter: bytes) -> None:
        with write_atomically(path) as out:
            barrier.wait()
            for _ in range(100):
                out.write(letter * 100)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in [letter * 10_000 for letter in (b"a", b"b", b"c", b"d")]
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    with write_atomically("/dev/null") as out:
        out.write(b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    os.mkfifo(tmp_path / "pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with write_atomically(tmp_path / "pipe") as out:
        out.write(b"through")
    reader.join()
    assert found == [b"through"]


def test_an_interrupt_in_mid_write_exits_130_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"q Q0 a 1 1 x\n")
    code = (
        "import sys\nfrom rankgauge.cli.main import run\nfrom rankgauge.io.formats import delimited\n"
        "def stop(*_, **__):\n    raise KeyboardInterrupt\n"
        "delimited.write_table = stop\n"
        f"sys.exit(run(['convert', {str(tmp_path / 'in')!r}, {str(tmp_path / 'out.csv')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "in"]


def full_disk_from(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the disk be full from the nth synced file on."""
    real, calls = os.fsync, iter(range(1000))

    def fsync(descriptor: int) -> None:
        if next(calls) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_of_several_files_all_are_written_or_none_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {tmp_path / "a/b/one": b"1", tmp_path / "a/two": b"2", tmp_path / "three": b"3"}
    write_together(contents)
    assert {path: path.read_bytes() for path in contents} == contents
    full_disk_from(monkeypatch, 1)
    with pytest.raises(StorageError, match="two: cannot write: No space left on device\nhint: free space"):
        write_together({tmp_path / "new/one": b"1", tmp_path / "new/two": b"2"})
    assert not (tmp_path / "new").exists()


def test_a_copy_of_the_collection_that_failed_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    with monkeypatch.context() as patched:
        full_disk_from(patched, 3)
        done = command("demo", "--copy", tmp_path / "w")
        assert (done.code, "cannot write: No space left on device" in done.err) == (71, True)
        assert list(tmp_path.iterdir()) == []
    assert command("demo", "--copy", tmp_path / "w").code == 0
    (tmp_path / "w/corpus.jsonl").unlink()  # as if it had been killed
    assert command("demo", "--copy", tmp_path / "w").code == 0
    assert (tmp_path / "w/corpus.jsonl").exists()
    (tmp_path / "w/qrels.trec").write_text("mine\n")
    done = command("demo", "--copy", tmp_path / "w")
    assert (done.code, "exists and is not empty" in done.err) == (2, True)
    assert (tmp_path / "w/qrels.trec").read_text() == "mine\n"


def test_a_benchmark_on_a_full_disk_names_the_file_and_blames_no_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    (tmp_path / "qrels.trec").write_text("q1 0 d1 1\n")
    (tmp_path / "full_disk_search.py").write_text("def find(text, k):\n    return ['d1']\n")
    (tmp_path / "b.yaml").write_text(
        "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\n"
        'retrievers: {one: {mode: "full_disk_search:find"}, two: {mode: "full_disk_search:find"}}\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    full_disk_from(monkeypatch, 4)  # after the copies of the inputs
    done = command("benchmark", "run", "b.yaml", "-o", "out", "--latency", 0)
    assert done.code == 71
    error = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert "/out.partial/runs/one.jsonl.journal: cannot write: No space left on device" in error[0]
    assert "two" not in done.err
    assert not (tmp_path / "out").exists()
