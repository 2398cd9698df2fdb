"""What a release consists of agrees with itself."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts.release_check import ROOT, released_version

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
    assert all(not line or re.match(r"# |## |### |- |[A-Z]", line) for line in lines)


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
