"""Every example in the documentation runs as written and prints what the page says; the reference is up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LIBRARY_PAGES = ROOT / "docs" / "guides" / "retrievers"  # run by tests/libraries, in the libraries' environment
SPARK_PAGE = ROOT / "docs" / "guides" / "spark.md"  # run by tests/distributed, in the environment of Spark
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")


def blocks(page: Path, kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(page.read_text(encoding="utf-8")) if name == kind]


def session(text: str) -> list[tuple[str, str]]:
    """The commands of a console block and what each is said to print."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@pytest.fixture
def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # a parallel runner sets it
    return {**inherited, "PATH": path, "NO_COLOR": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent != LIBRARY_PAGES and page != SPARK_PAGE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_run_and_print_what_the_page_says(
    page: Path, tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    if "${DATABASE_URL}" in page.read_text(encoding="utf-8"):
        environment["DATABASE_URL"] = request.getfixturevalue("postgres_server").new_database()
    for text in blocks(page, "console"):
        for command, expected in session(text):
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            # What a page shows of standard error stands before or behind the output.
            shown = done.stdout if not expected or done.stdout else done.stderr
            if expected:
                assert expected.rstrip() == shown.rstrip(), command
    for text in blocks(page, "python"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (text, done.stderr)


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
