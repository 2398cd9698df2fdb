"""What a release consists of agrees with itself."""

from __future__ import annotations

import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts.release_check import ROOT, released_version, wheel_faults

from rankgauge import __version__

LOCK = ROOT / ".ci/requirements.txt"
LOCKED = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+)(?: ; [^\\]+)? \\(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+\n"
)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+")
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
    assert all(not line or re.match(r"# |## |### |- |  \| |  \|-|[A-Z]", line) for line in lines)


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


def workflows() -> list[Path]:
    """Our own workflows, and those that `init` writes."""
    return [
        *sorted((ROOT / ".github/workflows").glob("*.yml")),
        *sorted((ROOT / "src/rankgauge/data/starter").glob("*.yml")),
    ]


def test_every_action_is_pinned_by_the_hash_of_a_commit() -> None:
    used = [line.partition("uses:")[2].strip() for path in workflows() for line in path.read_text().splitlines()]
    actions = [action for action in used if action]
    assert len(actions) > 10
    assert [action for action in actions if not PINNED.fullmatch(action)] == []


@pytest.mark.parametrize("action", ["actions/checkout@v4", "actions/checkout@34e1148", "actions/checkout@" + "a" * 40])
def test_a_tag_a_short_hash_and_a_hash_without_its_version_are_no_pin(action: str) -> None:
    assert PINNED.fullmatch(action) is None


@pytest.mark.skipif(not LOCK.exists(), reason="the source distribution has no files of CI")
def test_ci_installs_only_files_whose_hashes_are_locked() -> None:
    text = LOCK.read_text()
    assert LOCKED.sub("", text) == ""  # no index, no address, no package without a hash
    locked = {match["name"] for match in LOCKED.finditer(text)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    extras = project["project"]["optional-dependencies"]
    groups = ["test"]
    for group in groups:  # grows while it is walked
        wanted += [line for line in extras[group] if not line.startswith("rankgauge[")]
        groups += [name for line in extras[group] if line.startswith("rankgauge[") for name in Requirement(line).extras]
    requirements = [Requirement(line) for line in wanted]
    assert {canonicalize_name(requirement.name) for requirement in requirements} <= locked  # else: make lock
    for requirement in requirements:
        versions = [
            match["version"] for match in LOCKED.finditer(text) if match["name"] == canonicalize_name(requirement.name)
        ]
        assert any(requirement.specifier.contains(version) for version in versions), requirement
