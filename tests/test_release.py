"""What a release consists of agrees with itself."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from scripts.release_check import ROOT, released_version, wheel_faults

from rankgauge import __version__

FILES = ("src/rankgauge/_version.py", "CITATION.cff", "CHANGELOG.md")


def test_code_citation_and_changelog_state_the_same_version() -> None:
    assert released_version(ROOT) == __version__


@pytest.mark.parametrize("changed", FILES)
def test_a_version_that_differs_stops_the_release(changed: str, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    path = tmp_path / changed
    path.write_text(path.read_text(encoding="utf-8").replace(__version__, "9.9.9", 1), encoding="utf-8")
    with pytest.raises(SystemExit, match="versions differ"):
        released_version(tmp_path)


def test_the_changelog_has_one_line_per_change() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert all(not line or re.match(r"# |## |### |- |[A-Z]", line) for line in lines)


def packed(root: Path, *, without: str = "", **extra: str) -> Path:
    """A wheel with the files of a package, without one of them, and with more."""
    wheel = root / "rankgauge-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted((root / "src").rglob("*")):
            name = path.relative_to(root / "src").as_posix()
            if path.is_file() and path.suffix != ".c" and name != without:
                archive.write(path, name)
        archive.writestr("rankgauge-1.dist-info/METADATA", "Name: rankgauge\n")
        for name, content in extra.items():
            archive.writestr(name, content)
    return wheel


def test_a_wheel_has_every_file_of_the_package_and_nothing_else(tmp_path: Path) -> None:
    """What must hold: no tests, no C sources, no caches, no secrets, no hidden files, and every data file."""
    package = tmp_path / "src" / "rankgauge"
    (package / "data").mkdir(parents=True)
    for name in ("__init__.py", "data/corpus.jsonl", "scan.c"):
        (package / name).write_text(f"# {name}\n")
    assert wheel_faults(packed(tmp_path), tmp_path) == []
    scanner = {"rankgauge/core/compiled/_scanner.abi3.so": "binary"}
    assert wheel_faults(packed(tmp_path, **scanner), tmp_path) == []
    missing = packed(tmp_path, without="rankgauge/data/corpus.jsonl")
    assert wheel_faults(missing, tmp_path) == ["rankgauge/data/corpus.jsonl: is missing"]
    for name in ("tests/test_a.py", "rankgauge/scan.c", "rankgauge/__pycache__/a.pyc", "rankgauge/.env"):
        assert wheel_faults(packed(tmp_path, **{name: "x"}), tmp_path) == [f"{name}: is not part of the package"]
    (package / ".env").write_text("TOKEN=ghp_" + "a1" * 18)
    faults = wheel_faults(packed(tmp_path), tmp_path)
    assert faults == [
        "rankgauge/.env: has what looks like a secret",
        "rankgauge/.env: is a hidden or a backup file",
    ]
    (package / ".env").unlink()
    wheel = packed(tmp_path)
    (package / "__init__.py").write_text(f"built = '{tmp_path}'\n")
    assert wheel_faults(wheel, tmp_path) == ["rankgauge/__init__.py: differs from the source"]
    assert wheel_faults(packed(tmp_path), tmp_path) == ["rankgauge/__init__.py: names the folder it was built in"]


@pytest.mark.slow
def test_the_wheel_of_this_tree_has_every_file_and_nothing_else(tmp_path: Path) -> None:
    """It is built from a copy that also has what a working tree can have: caches, tests and C sources."""
    builder = pytest.importorskip("hatchling.builders.wheel")
    for name in ("pyproject.toml", ".gitignore", "hatch_build.py", "README.md", "LICENSE", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("src", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name)
    cache = tmp_path / "src" / "rankgauge" / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "stale.cpython-311.pyc").write_bytes(b"cache")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("")
    wheel = Path(next(builder.WheelBuilder(str(tmp_path)).build(directory=str(tmp_path / "dist"))))
    assert wheel_faults(wheel, tmp_path) == []
