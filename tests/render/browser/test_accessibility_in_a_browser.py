"""axe-core finds no violation on any kind of page, in either theme, on a wide and on a narrow screen."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from rankgauge import compare
from rankgauge.cli.main import run
from rankgauge.render.html.history_page import history_page
from tests.needs import require
from tests.render.browser.conftest import Open
from tests.render.browser.test_notebook_in_a_browser import NOTEBOOK
from tests.render.html.histories import filled

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Colors depend on the theme alone, everything else on the width alone.
SCREENS: list[tuple[Literal["light", "dark"], int]] = [("light", 1200), ("dark", 360)]
OPEN_EVERYTHING = "for (const details of document.querySelectorAll('details')) details.open = true"
RUN = """([context, options]) => axe.run(context, options).then(({ passes, violations }) =>
  [passes.length, violations.flatMap((rule) => rule.nodes.map((node) => [rule.id, node.html]))])"""
LOW_CONTRAST = ".legend { color: light-dark(#aaa, #555) !important; }"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("accessible")
    demo = folder / "demo"
    qrels, lexical, vector = demo / "inputs/qrels.trec", demo / "runs/lexical.trec", demo / "runs/vector.trec"
    commands: list[tuple[list[object], int]] = [
        (["demo", "-o", demo], 0),
        (
            ["gate", qrels, lexical, "--baseline", vector, "--require", "nDCG@10>=0.9", "--html", folder / "gate.html"],
            1,
        ),
        (["diff", lexical, vector, "--html", folder / "difference.html"], 0),
    ]
    for words, code in commands:
        assert run([str(word) for word in words]) == code
    (folder / "history.html").write_text(history_page(filled(folder / "history")), encoding="utf-8")
    view = compare(qrels, [lexical, vector])._repr_html_()
    (folder / "notebook.html").write_text(NOTEBOOK.format(body="", views=view), encoding="utf-8")
    return {"demo": demo / "report.html", **{path.stem: path for path in folder.glob("*.html")}}


def violations(page: Page, name: str) -> list[str]:
    """What axe-core finds, one line per element; of a notebook only in the view."""
    require("axe", find_spec("axe_playwright_python") is not None)
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"], "preload": False}
    passed, found = page.evaluate(RUN, [".rankgauge-view" if name == "notebook" else "html", options])
    assert passed >= 5  # it looked
    return [f"{rule}: {element[:150]}" for rule, element in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "gate", "history", "difference", "notebook"])
def test_axe_finds_no_violation(open_page: Open, pages: dict[str, Path], name: str) -> None:
    page = open_page(pages[name], bypass_csp=True)
    if name != "notebook":
        page.locator("#list button.query").first.click()
    page.evaluate(OPEN_EVERYTHING)
    for theme, width in SCREENS:
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page, name) == [], (theme, width)


@pytest.mark.slow
def test_axe_would_find_low_contrast(open_page: Open, pages: dict[str, Path]) -> None:
    page = open_page(pages["difference"], bypass_csp=True)
    page.add_style_tag(content=LOW_CONTRAST)
    assert {found.split(":")[0] for found in violations(page, "difference")} == {"color-contrast"}
