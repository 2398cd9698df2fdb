"""Views of a notebook in a real browser: their styles, their colors and the embedded page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankgauge import Reading, compare
from rankgauge.render import explorer
from tests.render.browser.conftest import Open
from tests.render.formats.results import MEASURES, NEW, OLD, QRELS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOTEBOOK = """<!doctype html><html lang="en" data-ready><meta charset="utf-8"><title>notebook</title>
<style>.jp table {{ margin: 40px; }} .jp tbody tr:nth-child(odd) {{ background: rgb(1, 2, 3); }}</style>
<body class="jp" {body}><table id="other"><tr><td>x</td></tr></table>{views}</body></html>"""
BACKGROUND = "getComputedStyle(document.querySelector('.rankgauge-view')).backgroundColor"
LIGHT, DARK = "rgb(251, 251, 249)", "rgb(20, 23, 26)"


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("notebooks")
    compared = compare(QRELS, [OLD, NEW], MEASURES, reading=Reading(keep_rankings=True))
    pages = {
        "plain": NOTEBOOK.format(body="", views=compared._repr_html_()),
        "jupyter-light": NOTEBOOK.format(body='data-jp-theme-light="true"', views=compared._repr_html_()),
        "jupyter-dark": NOTEBOOK.format(body='data-jp-theme-light="false"', views=compared._repr_html_()),
        "explorer": NOTEBOOK.format(body="", views=explorer(compared)._repr_html_()),
        "explorer-dark": NOTEBOOK.format(body='data-jp-theme-light="false"', views=explorer(compared)._repr_html_()),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    code = NOTEBOOK.format(body="", views=compared._repr_html_()).replace('class="jp"', 'class="jp vscode-dark"')
    (folder / "vscode-dark.html").write_text(code, encoding="utf-8")
    return {path.stem: path for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dark", "color"),
    [
        ("plain", False, LIGHT),
        ("plain", True, DARK),
        ("jupyter-light", True, LIGHT),
        ("jupyter-dark", False, DARK),
        ("vscode-dark", False, DARK),
    ],
)
def test_a_view_follows_the_theme_of_the_notebook(
    open_page: Open, notebooks: dict[str, Path], screenshots: Path, name: str, dark: bool, color: str
) -> None:
    page = open_page(notebooks[name], dark=dark)
    assert page.evaluate(BACKGROUND) == color
    page.screenshot(path=screenshots / f"notebook-{name}-{dark}.png")


@pytest.mark.slow
def test_styles_do_not_leak_in_either_direction(open_page: Open, notebooks: dict[str, Path]) -> None:
    page = open_page(notebooks["plain"], width=360)
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert page.evaluate(style.format("#other", "marginTop")) == "40px"
    assert page.evaluate(style.format("#other tr", "backgroundColor")) == "rgb(1, 2, 3)"
    assert page.evaluate(style.format(".rankgauge-view table", "marginTop")) == "6px"
    assert page.evaluate(style.format(".rankgauge-view tbody tr", "backgroundColor")) == "rgba(0, 0, 0, 0)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_the_explorer_works_in_its_frame(open_page: Open, notebooks: dict[str, Path], screenshots: Path) -> None:
    page = open_page(notebooks["explorer"])
    inside = page.frame_locator("iframe")
    inside.locator("html[data-ready]").wait_for()
    inside.locator("#list .query").first.click()
    inside.locator(".docs").first.wait_for()
    inside.get_by_label("Search").fill("q07")
    assert inside.locator("#list .query").count() == 1
    page.screenshot(path=screenshots / "notebook-explorer.png", full_page=True)


@pytest.mark.slow
def test_the_explorer_follows_the_theme_of_the_notebook(browser: Browser, notebooks: dict[str, Path]) -> None:
    context = browser.new_context(color_scheme="null")  # of the operating system, which is light
    for name, color in (("explorer", LIGHT), ("explorer-dark", DARK)):
        page = context.new_page()
        page.goto(notebooks[name].as_uri())
        inside = page.frame_locator("iframe")
        inside.locator("html[data-ready]").wait_for()
        assert inside.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == color
    context.close()
