"""A file or a folder that rankgauge did not make is never emptied, overwritten or deleted, not even through a link."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from rankgauge import InputError
from rankgauge.io import owned_files
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.owned_files import (
    LOCK_FILE,
    TEMPORARY_SUFFIX,
    _swept,
    lock_folder,
    open_locked,
    sweep,
    temporary_folder,
)
from rankgauge.retrieval.index_files import load_arrays, save_arrays
from rankgauge.retrieval.journal import JOURNAL_MAGIC, Journal

Command = Callable[..., Any]
READY = "    out.write(b'half')\n    out.flush()\n    print('ready', flush=True)\n"
PRECIOUS = b"precious, without a newline"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Iterator[Command]:
    """Fetch into ``run.trec`` in an otherwise empty folder."""
    (tmp_path / "search_here.py").write_text("def find(query, k):\n    return ['d1']\n")
    (tmp_path / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    words = ("runs", "fetch", "--retriever", "search_here:find", "--queries", "queries.tsv", "-o", "run.trec")
    yield lambda *more: command(*words, *more)
    sys.modules.pop("search_here", None)


@pytest.mark.parametrize("options", [(), ("--restart",)])
@pytest.mark.parametrize("content", [PRECIOUS, b"some\nlines\n", b"{}\n", b'{"journal":"another program\'s"}\n'])
def test_a_file_with_the_name_of_the_journal_stays_as_it_is(
    tmp_path: Path, fetch: Command, content: bytes, options: tuple[str, ...]
) -> None:
    journal = tmp_path / "run.trec.journal"
    journal.write_bytes(content)
    outcome = fetch(*options)
    assert outcome.code == 2
    assert "is not a journal that rankgauge wrote, so it is not touched" in outcome.err
    assert journal.read_bytes() == content
    assert not (tmp_path / "run.trec").exists()


@pytest.mark.parametrize("options", [(), ("--restart",)])
@pytest.mark.parametrize("content", [PRECIOUS, b"", JOURNAL_MAGIC])
def test_a_journal_is_not_opened_through_a_link(
    tmp_path: Path, fetch: Command, content: bytes, options: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "run.trec.journal").symlink_to("file")
    outcome = fetch(*options)
    assert outcome.code == 2
    assert "run.trec.journal: cannot write: it is a symbolic link" in outcome.err
    assert (tmp_path / "file").read_bytes() == content
    assert (tmp_path / "run.trec.journal").is_symlink()


def test_a_journal_that_is_not_a_file_is_refused(tmp_path: Path, fetch: Command) -> None:
    os.mkfifo(tmp_path / "run.trec.journal")
    outcome = fetch()
    assert outcome.code == 2
    assert "run.trec.journal: cannot write" in outcome.err


def test_restart_discards_a_journal_of_ours_unless_a_process_uses_it(tmp_path: Path, fetch: Command) -> None:
    with Journal(tmp_path / "run.trec.journal", {"k": 1}):
        assert "another process is using it" in fetch("--restart").err
    assert "belongs to another fetch" in fetch().err
    assert fetch("--restart").code == 0
    assert not (tmp_path / "run.trec.journal").exists()


def test_a_journal_that_was_replaced_while_it_was_open_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "r.journal"
    with Journal(path, {}) as journal:
        path.unlink()
        path.write_bytes(PRECIOUS)
        journal.remove()
    assert path.read_bytes() == PRECIOUS


@pytest.fixture
def benchmark(tmp_path: Path, fetch: Command, command: Command) -> Callable[..., Any]:
    """A benchmark into ``out``."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "one"}\n')
    words = ("benchmark", "run", "--corpus", "corpus.jsonl", "--queries", "queries.tsv", "--qrels", "qrels")
    return lambda *more: command(*words, "--retriever", "search_here:find", "--latency", "0", "-o", "out", *more)


def test_a_working_folder_that_no_benchmark_made_stays_as_it_is(tmp_path: Path, benchmark: Command) -> None:
    file = tmp_path / "out.partial" / "runs" / "precious"
    file.parent.mkdir(parents=True)
    file.write_bytes(PRECIOUS)
    outcome = benchmark()
    assert outcome.code == 2
    assert "out.partial: exists and was not made by an interrupted benchmark of yours" in outcome.err
    assert file.read_bytes() == PRECIOUS


def test_a_working_folder_is_not_used_through_a_link(tmp_path: Path, benchmark: Command) -> None:
    (tmp_path / "home" / "runs").mkdir(parents=True)
    (tmp_path / "home" / "runs" / "precious").write_bytes(PRECIOUS)
    (tmp_path / "out.partial").symlink_to("home")
    assert "out.partial: exists and is not a folder" in benchmark().err
    assert (tmp_path / "home" / "runs" / "precious").read_bytes() == PRECIOUS


def test_a_link_planted_in_a_working_folder_is_not_followed(tmp_path: Path, benchmark: Command) -> None:
    (tmp_path / "file").write_bytes(PRECIOUS)
    runs = tmp_path / "out.partial" / "runs"
    runs.mkdir(parents=True)
    with lock_folder(tmp_path / "out.partial"):
        (runs / "find.trec").symlink_to(tmp_path / "file")
    assert "find.trec: is a symbolic link, and a benchmark has none" in benchmark().err
    assert (tmp_path / "file").read_bytes() == PRECIOUS


def test_two_benchmarks_do_not_share_a_working_folder(tmp_path: Path, benchmark: Command) -> None:
    (tmp_path / "out.partial").mkdir()
    with lock_folder(tmp_path / "out.partial"):
        assert "another process is using it" in benchmark().err
    assert benchmark().code == 0
    assert LOCK_FILE not in names_in(tmp_path / "out")
    assert not (tmp_path / "out.partial").exists()


def test_a_benchmark_that_was_killed_while_it_took_its_place_loses_nothing(tmp_path: Path, benchmark: Command) -> None:
    assert benchmark().code == 0
    replaced = tmp_path / ".out.rankgauge-replaced"
    (tmp_path / "out").rename(replaced)  # killed between the two renames
    (tmp_path / "qrels").write_text("wrong\n")
    assert benchmark().code == 2
    assert not (tmp_path / "out").exists()  # invalid judgments are noticed before any folder is looked at
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    assert benchmark().code == 0
    assert not replaced.exists()


HEADER = {"format": "example"}


def save(folder: Path) -> None:
    save_arrays(folder, HEADER, {"a": np.arange(3)})


@pytest.mark.parametrize("name", ["header.json", "precious"])
def test_a_folder_that_holds_more_than_an_index_is_not_replaced(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "index"
    save(folder)
    (folder / name).write_bytes(PRECIOUS)
    with pytest.raises(InputError, match="exists and does not hold an index alone"):
        save(folder)
    assert (folder / name).read_bytes() == PRECIOUS
    assert names_in(tmp_path) == ["index"]


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../a", "A", "", 3, None])
def test_an_array_outside_of_the_folder_of_an_index_is_not_read(tmp_path: Path, name: object) -> None:
    import json

    folder = tmp_path / "index"
    save(folder)
    np.save(tmp_path / "a.npy", np.arange(3))
    assert load_arrays(folder, lambda: HEADER, lambda _: True) is not None
    (folder / "header.json").write_text(json.dumps({**HEADER, "arrays": [name]}))
    assert load_arrays(folder, lambda: HEADER, lambda _: True) is None


def swept(folder: Path) -> list[str]:
    """The hidden files of a folder after a new process wrote into it."""
    _swept.clear()
    sweep(folder)
    return [name for name in names_in(folder) if name.endswith(TEMPORARY_SUFFIX)]


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_uses_is_not(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom rankgauge.io.owned_files import temporary_folder\n"
        "from rankgauge.io.atomic_files import write_atomically\n"
        "with write_atomically(sys.argv[1]) as out, temporary_folder(Path(sys.argv[1])):\n"
        f"{READY}    sys.stdin.read()\n    os._exit(9)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "out")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(swept(tmp_path)) == 2  # a file and a folder in use
        process.communicate()
    with write_atomically(tmp_path / "other") as out, temporary_folder(tmp_path / "other"):
        out.write(b"x")
        assert len(swept(tmp_path)) == 2  # those of this process
    assert names_in(tmp_path) == ["other"]


def test_files_of_the_same_name_that_are_not_leftovers_of_ours_are_not_swept(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(PRECIOUS)
    (tmp_path / f"link{TEMPORARY_SUFFIX}").symlink_to("target")
    (tmp_path / f"folder{TEMPORARY_SUFFIX}").mkdir()
    (tmp_path / f"folder{TEMPORARY_SUFFIX}" / "precious").write_bytes(PRECIOUS)
    os.mkfifo(tmp_path / f"pipe{TEMPORARY_SUFFIX}")
    assert len(swept(tmp_path)) == 3
    assert (tmp_path / "target").read_bytes() == PRECIOUS


def test_a_folder_that_another_process_sweeps_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making a folder and locking it, a sweep of another process takes it for a leftover."""
    swept: list[Path] = []

    def open_after_sweep(path: Path, magic: bytes, kind: str) -> IO[bytes]:
        if not swept:
            path.touch()
            owned_files._remove_leftover(path.parent, is_folder=True)
            swept.append(path.parent)
            assert not path.parent.exists()
        return open_locked(path, magic, kind)

    monkeypatch.setattr(owned_files, "open_locked", open_after_sweep)
    with temporary_folder(tmp_path / "x") as folder:
        assert folder.is_dir()
        assert folder not in swept
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_locked_is_an_error_after_a_few_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, magic: bytes, kind: str) -> IO[bytes]:
        raise InputError.at(path, None, "cannot write")

    monkeypatch.setattr(owned_files, "open_locked", refuse)
    with pytest.raises(InputError, match="cannot write"), temporary_folder(tmp_path / "x"):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []
