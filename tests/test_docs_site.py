"""The documentation site: it builds without a warning, its pages are linked, and it needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from scripts.site_pages import DOCS, navigation, prepare

from tests.needs import ROOT, require

CHROMIUM = Path("/usr/bin/chromium")
LOADING = {"script": "src", "link": "href", "img": "src", "source": "srcset", "iframe": "src", "object": "data"}
ELSEWHERE = re.compile(r"(?:https?:)?//")
SECTIONS = ["Tutorial", "How-to guides", "Concepts", "Reference", "Coming from", "Help"]


class Loaded(HTMLParser):
    """The addresses that a browser loads for a page by itself, and the classes of its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.classes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag in LOADING and (address := values.get(LOADING[tag])):
            self.addresses.append(address)
        if tag == "img":
            self.classes += (values.get("class") or "").split()


def build(source: Path, target: Path, *options: str) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(DOCS), "-d", f"{target}-cache", *options]
    done = subprocess.run([*command, str(source), str(target)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    for page in site.rglob("*.html"):
        for address in Loaded(page.read_text(encoding="utf-8")).addresses:
            if ELSEWHERE.match(address):
                yield f"{page.name}: {address}"
    for sheet in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = sheet.read_text(encoding="utf-8")
        yield from (
            f"{sheet.name}: {address}" for address in re.findall(r"(?:url\(|@import )\W?(?:https?:)?//.*", text)
        )


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    build(DOCS, tmp_path / "site", "-W", "--keep-going", "-n", "-j", "auto")
    assert not list(loaded_from_elsewhere(tmp_path / "site"))
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<p class="caption"[^>]*><span class="caption-text">([^<]+)</span>', front) == SECTIONS
    assert {"only-light", "only-dark"} <= set(Loaded(front).classes)
    glossary = (tmp_path / "site" / "glossary.html").read_text(encoding="utf-8")
    assert 'id="term-qrels"' in glossary


@pytest.mark.slow
def test_the_search_works_in_a_browser_from_a_disk_without_the_network(tmp_path: Path) -> None:
    require("browser", CHROMIUM.exists())
    from playwright.sync_api import sync_playwright

    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text("# Two pages\n\n## Help\n\n- [Glossary](glossary.md)\n", encoding="utf-8")
    (source / "glossary.md").write_text("# Glossary\n\n**qrels**: A file of judgments.\n", encoding="utf-8")
    build(source, tmp_path / "site")
    requests: list[str] = []
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = chromium.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.goto((tmp_path / "site" / "search.html").as_uri() + "?q=qrels")
        page.wait_for_selector("#search-results li a")
        assert "glossary.html" in str(page.locator("#search-results li a").first.get_attribute("href"))
        chromium.close()
    assert requests
    assert all(request.startswith(("file:", "data:")) for request in requests)


def test_lists_of_links_are_the_navigation() -> None:
    text = "# Title\n\n- [a](a.md): one\n\n## Second\n\nSee [b](b.md).\n\n- [c](c.md)\n- not a link\n"
    assert list(navigation(text)) == [("", [("a", "a")]), ("Second", [("c", "c")])]
    assert ":caption: Second\n\nc <c>\n" in prepare("index", text)
    assert prepare("concepts/trust", text) == text


def test_a_picture_is_shown_in_the_theme_it_was_taken_in() -> None:
    text = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="d.png">\n'
        '  <img alt="A page" src="l.png">\n</picture>'
    )
    prepared = prepare("faq", text)
    assert "```{image} l.png\n:alt: A page\n:class: only-light\n```" in prepared
    assert "```{image} d.png\n:alt: A page\n:class: only-dark\n```" in prepared


def test_a_link_that_leaves_the_documentation_becomes_a_name() -> None:
    text = "[measured](../../benchmarks/README.md#retrieval), [why](../concepts/trust.md)"
    assert prepare("guides/retrieve", text) == "measured (`benchmarks/README.md`), [why](../concepts/trust.md)"


@pytest.mark.parametrize("picture", sorted((DOCS / "images").iterdir()), ids=lambda path: path.name)
def test_a_picture_is_small_and_has_its_other_theme(picture: Path) -> None:
    assert picture.stat().st_size <= 250_000
    name, theme = picture.stem.rsplit("-", 1)
    other = {"light": "dark", "dark": "light"}[theme]
    assert picture.with_name(f"{name}-{other}{picture.suffix}").exists()


def test_a_terminal_is_drawn_as_it_is_and_loads_no_font() -> None:
    pytest.importorskip("pty")
    from rich.terminal_theme import DIMMED_MONOKAI
    from scripts.terminal_picture import on_a_terminal, svg

    program = "import os, sys; print(sys.stdout.isatty(), os.get_terminal_size().columns, '\\033[1mbold\\033[0m')"
    output = on_a_terminal([sys.executable, "-c", program], 72)
    assert output == "True 72 \x1b[1mbold\x1b[0m\n"
    drawn = svg(["program"], output, 72, DIMMED_MONOKAI)
    assert "$&#160;program" in drawn
    assert "bold" in drawn
    assert not re.search(r"font-face|url\(http", drawn)
