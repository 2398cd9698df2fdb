"""What a release consists of agrees with itself."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from scripts.release_check import ROOT, released_version

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
