"""Inputs that end early, are damaged, cannot be read, or change: one error that names the file, in every reader.

A part of a file is never read as if it were the whole: no number comes of it.
"""

from __future__ import annotations

import builtins
import bz2
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import InputError, RankgaugeError, held_warnings
from rankgauge.io.byte_streams import LoadedFile, load_file, read_bytes, sha256_of_file
from tests.faults.readers import READERS, Reader, Seeds, make_seeds

zstandard = pytest.importorskip("zstandard")
Command = Callable[..., Any]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zstd without a checksum": zstandard.ZstdCompressor(write_checksum=False).compress,
}
MAGIC_BYTES = 6  # a shorter part is not recognized as compressed
READ_ALL_COMPRESSIONS = {
    "qrels", "run", "numbers", "qrels validation", "run validation", "queries", "query ids", "corpus", "scores",
    "manifest", "cases", "pipeline", "story", "labeled queries",
}  # fmt: skip
READ_IN_TURN = [*sorted(READ_ALL_COMPRESSIONS), "config", "bands", "journal", "vectors"]  # not copies
NOT_READ_AT_THEIR_PATH = ("benchmark", "index header", "index array", "history", "history trend")  # but copied to it
SHORT_READ = 64
compressions = pytest.mark.parametrize("compress", COMPRESS.values(), ids=COMPRESS)


def content(data: bytes) -> bytes:
    """What a file with these bytes contains."""
    return read_bytes(LoadedFile("input", data))[0]


@compressions
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=3), padding=st.integers(0, 9))
def test_all_members_of_a_compressed_file_are_read(
    compress: Callable[[bytes], bytes], parts: list[bytes], padding: int
) -> None:
    stored = b"".join(compress(part) + bytes(padding) for part in parts)
    assert content(stored) == b"".join(parts)


@compressions
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=3), share=st.floats(0, 1, exclude_max=True))
def test_a_part_of_a_compressed_file_is_never_read_as_the_whole(
    compress: Callable[[bytes], bytes], parts: list[bytes], share: float
) -> None:
    stored = [compress(part) for part in parts]
    whole = b"".join(stored)
    size = MAGIC_BYTES + int(share * (len(whole) - MAGIC_BYTES))
    ends = {sum(map(len, stored[:count])): b"".join(parts[:count]) for count in range(1, len(parts))}
    if size in ends:  # which is a complete file
        assert content(whole[:size]) == ends[size]
        return
    with pytest.raises(InputError, match=r"compressed stream (is damaged|ends early)") as caught:
        content(whole[:size])
    assert caught.value.hint


@compressions
@given(first=st.binary(max_size=300), rest=st.binary(min_size=1, max_size=30).filter(lambda rest: rest.strip(b"\0")))
def test_other_bytes_after_a_compressed_file_are_an_error(
    compress: Callable[[bytes], bytes], first: bytes, rest: bytes
) -> None:
    with pytest.raises(InputError, match=r"compressed stream (is damaged|ends early)"):
        content(compress(first) + rest)


@compressions
def test_a_damaged_checksum_or_member_is_an_error(compress: Callable[[bytes], bytes], request: Any) -> None:
    text = b"".join(b"q%d Q0 d%d 1 %d.5 tag\n" % (n, n * 7919 % 1000, n) for n in range(300))
    stored = compress(text)
    second_header = stored + bytes([stored[0] ^ 0xFF]) + stored[1:]
    places = [len(stored) // 2] + ([] if "without" in request.node.name else [len(stored) - 2])
    for damaged in [second_header, *(stored[:at] + bytes([stored[at] ^ 0x55]) + stored[at + 1 :] for at in places)]:
        with pytest.raises(InputError, match=r"compressed stream (is damaged|ends early)"):
            content(damaged)


def test_memory_that_runs_out_is_not_reported_as_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(gzip.GzipFile, "readinto", exhausted, raising=False)
    with pytest.raises(MemoryError):
        content(gzip.compress(b"text"))


@pytest.mark.parametrize("kind", [ImportError, ModuleNotFoundError])
def test_a_library_is_missing_only_if_it_is_not_there(
    kind: type[ImportError], tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that cannot be loaded, for lack of memory for example, is an error of the system."""
    path = tmp_path / "qrels.zst"
    path.write_bytes(COMPRESS["zstd"](b"1 0 a 1\n"))
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "zstandard":
            raise kind("cannot map segment")
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    outcome = command("runs", "validate", "--labels", path)
    is_missing = kind is ModuleNotFoundError
    assert outcome.code == (64 if is_missing else 71)
    assert ("zstd needs the library zstandard" if is_missing else "cannot load a library: cannot map") in outcome.err


class Watched:
    """Opens one file in short reads, and calls a function with the position before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path: Path | None = None
        self.before_read: Callable[[int], None] = lambda _: None
        real_open, watched = io.open, self

        class WatchedFile(io.FileIO):
            def readinto(self, buffer: Any) -> Any:
                watched.before_read(self.tell())
                return super().readinto(memoryview(buffer).cast("B")[:SHORT_READ])

            def read(self, size: int | None = -1) -> bytes:
                if size is None or size < 0:
                    return self.readall()
                buffer = bytearray(size)
                return bytes(buffer[: self.readinto(buffer)])

            def readall(self) -> bytes:
                return b"".join(iter(lambda: self.read(SHORT_READ), b""))

        def open_watched(file: Any, mode: str = "r", buffering: int = -1, *options: Any, **named: Any) -> Any:
            if isinstance(file, int) or set(mode) & set("wax") or Path(file) != watched.path:
                return real_open(file, mode, buffering, *options, **named)
            is_changed = "+" in mode
            raw = WatchedFile(file, "r+" if is_changed else "r", named.pop("closefd", True), named.pop("opener", None))
            if buffering == 0:
                return raw
            binary: Any = io.BufferedRandom(raw) if is_changed else io.BufferedReader(raw, SHORT_READ)
            return binary if "b" in mode else io.TextIOWrapper(binary, *options, **named)

        monkeypatch.setattr(io, "open", open_watched)
        monkeypatch.setattr(builtins, "open", open_watched)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seeds]:
    return make_seeds(tmp_path_factory.mktemp("seeds"))


def error_of(reader: Reader, path: Path) -> str | None:
    """The message of a reader; None if it reads the file."""
    try:
        with held_warnings():
            reader.read(path)
    except RankgaugeError as error:
        return str(error)
    return None


@pytest.mark.slow
def test_every_reader_refuses_a_part_of_a_compressed_file(seeds: dict[str, Seeds], tmp_path: Path) -> None:
    accepting = set()
    for reader in (reader for reader in READERS.values() if reader.name not in NOT_READ_AT_THEIR_PATH):
        for suffix, data in seeds[reader.seeds]:
            for compress in COMPRESS.values():
                path, stored = tmp_path / f"input{suffix}", compress(data)
                path.write_bytes(stored)
                if error_of(reader, path) is not None:
                    continue
                accepting.add(reader.name)
                path.write_bytes(stored[: len(stored) * 2 // 3])
                message = error_of(reader, path)
                assert message is not None, (reader.name, data)
                place, _, rest = message.partition(": ")
                assert Path(place).is_relative_to(tmp_path), (reader.name, message)  # some readers copy their input
                assert rest.startswith("compressed stream ends early\nhint: "), (reader.name, message)
    assert accepting >= READ_ALL_COMPRESSIONS


@pytest.mark.slow
@pytest.mark.parametrize("name", READ_IN_TURN)
def test_an_error_in_the_middle_of_a_read_names_the_file(
    name: str, seeds: dict[str, Seeds], tmp_path: Path, watched: Watched
) -> None:
    reader = READERS[name]
    for suffix, data in seeds[reader.seeds]:
        watched.path = tmp_path / f"input{suffix}"

        def fail(position: int, size: int = len(data)) -> None:
            if position >= size // 2:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        watched.before_read = fail
        watched.path.write_bytes(data)
        message = error_of(reader, watched.path)
        assert message is not None, data
        assert message.startswith(f"{watched.path}: "), message
        assert "Input/output error" in message


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in READ_IN_TURN if name not in ("journal", "vectors")])
def test_a_file_that_shrinks_while_it_is_read_is_an_error(
    name: str, seeds: dict[str, Seeds], tmp_path: Path, watched: Watched
) -> None:
    """A journal is locked, and rankgauge writes it itself; vectors are mapped into memory."""
    reader = READERS[name]
    for suffix, data in seeds[reader.seeds]:
        path = watched.path = tmp_path / f"input{suffix}"
        if len(data) <= SHORT_READ:
            continue

        def shrink(position: int, path: Path = path) -> None:
            if position:
                os.truncate(path, SHORT_READ)

        watched.before_read = shrink
        path.write_bytes(data)
        message = error_of(reader, path)
        assert message is not None, data
        assert message.startswith(f"{path}: "), message
        is_table = data.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"))  # whose end comes first
        assert is_table or "changed while it was read" in message, message


@pytest.mark.parametrize("read", [load_file, read_bytes, sha256_of_file])
def test_a_file_that_is_replaced_in_place_while_it_is_read_is_an_error(
    read: Callable[[Path], object], tmp_path: Path, watched: Watched
) -> None:
    """Also if it has the same size afterwards: what was read would be the beginning of one file, the end of another."""
    path = watched.path = tmp_path / "input"
    path.write_bytes(b"a" * 200)
    os.utime(path, (1, 1))

    def replace(position: int) -> None:
        if position:
            descriptor = os.open(path, os.O_WRONLY)
            os.write(descriptor, b"b" * 200)
            os.close(descriptor)

    watched.before_read = replace
    with pytest.raises(InputError, match="input: it changed while it was read\nhint: try again when nothing writes"):
        read(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that the system refuses to read")
@pytest.mark.parametrize("words", [("evaluate", "FILE", "run"), ("evaluate", "qrels", "FILE"),
                                   ("evaluate", "qrels", "run", "--config", "FILE"), ("pipeline", "FILE"),
                                   ("gate", "qrels", "run", "--baseline", "FILE")])  # fmt: skip
def test_an_error_of_the_system_is_reported_with_the_file(tmp_path: Path, command: Command, words: Any) -> None:
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n")
    (tmp_path / "run").write_bytes(b"1 Q0 a 1 1 x\n")
    files = {"FILE": "/proc/self/mem", "qrels": str(tmp_path / "qrels"), "run": str(tmp_path / "run")}
    outcome = command(*(files.get(word, word) for word in words))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: /proc/self/mem: cannot read: Input/output error\n"


def test_a_pipe_that_closes_in_the_middle_of_a_compressed_run_is_an_error(tmp_path: Path) -> None:
    """Whether a pipe of plain text was closed early cannot be known, unless it ends within a line."""
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n")
    run = b"".join(b"1 Q0 d%d %d %d x\n" % (n * 7919 % 10**6, n, 1000 - n) for n in range(1000))
    for data, message in [
        (gzip.compress(run)[:-100], "error: -: compressed stream ends early\nhint: copy or download it again\n"),
        (run[: -len("1000 1 x\n")], "error: -:1000: "),
    ]:
        done = subprocess.run(
            [sys.executable, "-m", "rankgauge", "evaluate", "qrels", "-"],
            cwd=tmp_path, input=data, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().startswith(message)
