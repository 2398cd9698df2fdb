"""Every example in the documentation runs as written and prints what the page says; the reference is up to date."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import site_pages
from scripts.examples import ROOT, blocks, environment, pages, printed, save_files, session, sessions, shown

from tests.warm_process import WarmProcess

PAGES = pages()
LIBRARY_PAGES = ROOT / "docs" / "guides" / "retrievers"  # run by tests/libraries, in the libraries' environment
SPARK_PAGE = ROOT / "docs" / "guides" / "spark.md"  # run by tests/distributed, in the environment of Spark
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)[^)]*\)")
PICTURE = re.compile(r'src(?:set)?="([^"]+)"')
SOURCE = ROOT / "src" / "rankgauge"
MAPS = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "concepts" / "architecture.md"]
NAMED_PATH = re.compile(r"`([a-z_]\w*(?:/[\w.-]*)+|\w+\.(?:py|c|h))`")  # `core/run.py`, `core/`, `run.py`
PACKAGE_ROW = re.compile(r"(?m)^\| `(\w+)/` \| (.*) \|$")
NAMED_MODULE = re.compile(r"`([a-z_]+)/?`")
LISTED_MODULE = re.compile(r"(?m)^ {0,4}([a-z_]+(?:, [a-z_]+)*)/? {2,}\S")  # in the docstring of a package


@pytest.mark.slow
@pytest.mark.parametrize(
    "session_pages",
    [pages for pages in sessions() if pages[0].parent != LIBRARY_PAGES and pages[0] != SPARK_PAGE],
    ids=lambda pages: str(pages[0].relative_to(ROOT)),
)
def test_examples_run_and_print_what_the_page_says(
    session_pages: list[Path],
    tmp_path: Path,
    warm_python: WarmProcess,
    warm_rankgauge: WarmProcess,
    request: pytest.FixtureRequest,
) -> None:
    variables = warm_rankgauge.on_path(environment())
    for page in session_pages:
        save_files(page, tmp_path)
        if "${DATABASE_URL}" in page.read_text(encoding="utf-8"):
            variables["DATABASE_URL"] = request.getfixturevalue("postgres_server").new_database()
        for command, expected in (pair for text in blocks(page, "console") for pair in session(text)):
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            assert not expected or expected.rstrip() == shown(expected, done.stdout, done.stderr).rstrip(), command
        outputs = printed(page)
        for code in blocks(page, "python"):
            done = warm_python.run(code, cwd=tmp_path, env=variables, on_warning="error")
            assert done.returncode == 0, (code, done.stderr)
            assert code not in outputs or outputs[code].rstrip() == done.stdout.rstrip(), code


API_PAGE = "reference/api.md"  # made by make docs, and by the site


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text) + PICTURE.findall(text):
        if not target.startswith("http") and target != API_PAGE:
            assert (page.parent / target).exists(), target


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, "-m", "scripts.write_reference", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_navigation_exactly_once() -> None:
    docs = ROOT / "docs"
    written = {str(page.relative_to(docs).with_suffix("")) for page in [*docs.rglob("*.md"), docs / API_PAGE]}
    assert sorted(site_pages.pages()) == sorted(written)


@pytest.mark.parametrize("page", MAPS, ids=lambda page: page.name)
def test_every_file_that_a_map_of_the_code_names_exists(page: Path) -> None:
    paths = NAMED_PATH.findall(page.read_text(encoding="utf-8"))
    assert len(paths) > 30
    names = {path.name for path in SOURCE.rglob("*")}
    missing = [path for path in paths if not any((folder / path).exists() for folder in (ROOT, SOURCE))]
    assert [path for path in missing if path.removesuffix("/") not in names] == []


def test_every_module_in_the_table_of_packages_is_in_its_package() -> None:
    rows = dict(PACKAGE_ROW.findall(MAPS[1].read_text(encoding="utf-8")))
    assert set(rows) == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    for package, contents in rows.items():
        assert set(NAMED_MODULE.findall(contents)) - module_names(SOURCE / package, "**/*") == set(), package


def test_a_package_that_lists_its_modules_lists_them_all_and_no_others() -> None:
    listing = 0
    for path in SOURCE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        listed = {name for names in LISTED_MODULE.findall(text) for name in names.split(", ")}
        if listed:
            listing += 1
            modules = module_names(path.parent, "*")
            assert listed - modules == set(), path
            assert {name for name in modules if not re.search(rf"\b{name}\b", text)} == set(), path
    assert listing > 10


def module_names(folder: Path, pattern: str) -> set[str]:
    """The modules and folders of a package."""
    found = [path for path in folder.glob(pattern) if path.suffix == ".py" or path.is_dir()]
    return {path.stem for path in found} - {"__init__", "__pycache__"}
