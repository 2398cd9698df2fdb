"""A manifest reads nothing outside of its folder, and no message shows the content of another file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import run_benchmark
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.plan import BenchmarkPlan
from rankgauge.config.settings import Settings
from rankgauge.report import manifest as manifests
from rankgauge.report.manifest import is_inside

Command = Callable[..., Any]
SECRET = "hunter2 is the password"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small benchmark."""
    folder = tmp_path_factory.mktemp("benchmark")
    (folder / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    plan = BenchmarkPlan(
        "small",
        None,
        str(folder / "queries.tsv"),
        str(folder / "qrels"),
        {"find": lambda query, k: ["d1"], "seek": lambda query, k: ["d2"]},
        settings=Settings(measures=("RR",)),
        latency=0,
    )
    run_benchmark(plan, folder / "out")
    return folder / "out"


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it, with a file beside it that must not be read."""
    (tmp_path / "secret.txt").write_text(SECRET)
    return Path(shutil.copytree(original, tmp_path / "out"))


def change(folder: Path, path: tuple[Any, ...], value: Any) -> None:
    """Change a field of the manifest, and its hash with it."""
    data = json.loads((folder / MANIFEST).read_bytes())
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    (folder / MANIFEST).write_bytes(manifests.to_bytes(data))


PATHS = [
    ("data", "test collection", "qrels", "path"),
    ("data", "test collection", "topics", "path"),
    ("method", "retrieval", 0, "run", "path"),
]


@pytest.mark.parametrize("outside", ["../secret.txt", "ABSOLUTE", "runs/../../secret.txt", "./../secret.txt", "..", ""])
@pytest.mark.parametrize("field", PATHS)
@pytest.mark.parametrize("more", [(), ("--html", "page.html")])
def test_a_path_that_leads_out_of_the_folder_is_refused(
    folder: Path, command: Command, field: tuple[Any, ...], outside: str, more: tuple[str, ...]
) -> None:
    change(folder, field, str(folder.parent / "secret.txt") if outside == "ABSOLUTE" else outside)
    outcome = command("benchmark", "verify", folder, *more)
    assert outcome.code == 2
    assert "expected a path inside the folder" in outcome.err
    assert "hunter2" not in outcome.out + outcome.err


@pytest.mark.parametrize("name", ["inputs/qrels", "runs/find.jsonl", "BenchmarkReport.json", "evaluations"])
def test_a_link_in_the_folder_is_refused(folder: Path, command: Command, name: str) -> None:
    path = folder / name
    target = folder.parent / "secret.txt"
    if path.is_dir():
        target = folder.parent / "elsewhere"
        path.rename(target)
    else:
        path.unlink()
    path.symlink_to(target)
    outcome = command("benchmark", "verify", folder)
    assert outcome.code == 2
    assert "is a symbolic link, and a benchmark has none" in outcome.err
    assert "hunter2" not in outcome.out + outcome.err


def test_the_name_of_a_system_leads_nowhere(folder: Path, command: Command) -> None:
    (folder.parent / "secret.EvaluationReport.json").write_text(json.dumps({"password": SECRET}))
    change(folder, ("method", "retrieval", 0, "name"), "../../secret")
    outcome = command("benchmark", "verify", folder)
    assert outcome.code == 2
    assert "expected the name of a system" in outcome.err
    assert "hunter2" not in outcome.out + outcome.err


def test_paths_inside_and_outside() -> None:
    assert all(map(is_inside, ("a", "a/b.c", "..a/b", "a=1,b.trec", "ü/é")))
    assert not any(map(is_inside, ("", ".", "..", "/a", "a/..", "../a", "a/../b", "./a", "a//b", "a/", "a\0b")))
    assert not any(map(is_inside, ("C:/a", "C:a", "\\a", "a\\..\\b")))
