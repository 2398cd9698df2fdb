"""Guides with a real library in them run as written, and its objects are asked and read as the guides say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.needs import ROOT, require

PYTHON = ROOT / ".venv-libraries" / "bin" / "python"
HERE = Path(__file__).parent
PAGES = sorted((ROOT / "docs" / "guides" / "retrievers").glob("*.md"))
ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    # Nothing on these pages needs a network: a request would fail at once.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


def test_every_page_has_its_checks() -> None:
    assert [page.stem for page in PAGES] == sorted(path.stem for path in (HERE / "checks").glob("[!_]*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_real_library_is_asked_as_its_guide_says(page: Path, tmp_path: Path) -> None:
    require("libraries", PYTHON.exists(), remedy="`make test-deps` installs LangChain, LlamaIndex, Haystack and others")
    checks = HERE / "checks" / f"{page.stem}.py"
    done = subprocess.run(
        [str(PYTHON), "-W", "error", str(HERE / "run_page.py"), str(page), str(checks)],
        cwd=tmp_path,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = re.search(r"(\d+) examples, (\d+) checks passed", done.stdout)
    assert counts is not None, done.stdout
    assert all(int(count) > 0 for count in counts.groups()), done.stdout
