"""Every example in the documentation runs as written and prints what the page says; the reference is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.examples import ROOT, blocks, environment, pages, printed, session, shown

PAGES = pages()
LIBRARY_PAGES = ROOT / "docs" / "guides" / "retrievers"  # run by tests/libraries, in the libraries' environment
SPARK_PAGE = ROOT / "docs" / "guides" / "spark.md"  # run by tests/distributed, in the environment of Spark
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent != LIBRARY_PAGES and page != SPARK_PAGE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_run_and_print_what_the_page_says(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    variables, outputs = environment(), printed(page)
    if "${DATABASE_URL}" in page.read_text(encoding="utf-8"):
        variables["DATABASE_URL"] = request.getfixturevalue("postgres_server").new_database()

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command[-1], done.stderr)
        return done

    for command, expected in (pair for text in blocks(page, "console") for pair in session(text)):
        done = run("bash", "-c", command)
        assert not expected or expected.rstrip() == shown(expected, done.stdout, done.stderr).rstrip(), command
    for code in blocks(page, "python"):
        done = run(sys.executable, "-W", "error", "-c", code)
        assert code not in outputs or outputs[code].rstrip() == done.stdout.rstrip(), code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "-m", "scripts.write_reference", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_page_can_be_reached_from_the_index() -> None:
    reached = {(ROOT / "docs" / target).resolve() for target in LINK.findall((ROOT / "docs" / "index.md").read_text())}
    assert {page.resolve() for page in (ROOT / "docs").rglob("*.md")} - reached == {
        (ROOT / "docs" / "index.md").resolve()
    }
