"""The page of a history in a real browser, opened from a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankgauge.history.entries import entry_label
from rankgauge.render.html import as_html
from tests.render.browser.conftest import Open
from tests.render.browser.test_report_in_a_browser import CONTRAST, chooser, lines
from tests.render.html.histories import CHANGE, filled, multiply
from tests.render.html.reports import IMAGE, SCRIPT

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("histories")
    for name in ("plain", "hostile", "many"):
        history = filled(folder / name, hostile=name == "hostile")
        if name == "many":
            multiply(history, 10_000)
        (folder / f"{name}.html").write_text(as_html(history), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in ("plain", "hostile", "many")}


def opened(page: Page) -> list[str]:
    return page.locator("#list .query[aria-expanded=true] .id").all_inner_texts()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_it_opens_without_messages_and_never_scrolls_sideways(
    open_page: Open, files: dict[str, Path], screenshots: Path, name: str, width: int
) -> None:
    page = open_page(files[name], width=width, dark=width == 360)
    lines(page).first.click()
    page.locator("details summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=screenshots / f"history-{name}-{width}.png", full_page=True)


def test_names_are_not_interpreted(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["hostile"])
    lines(page).nth(1).click()
    assert lines(page).nth(1).inner_text().count(SCRIPT) == 1
    assert IMAGE in page.locator(".entry-facts").inner_text()
    assert page.title() == "Results over time"
    assert page.locator("#injected, img").count() == 0


def test_search_filters_and_sorting_choose_entries(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"])
    count = page.locator("#count")
    assert count.inner_text() == "19 of 19 entries"
    page.get_by_label("Search").fill("0000005a")
    assert count.inner_text() == "2 of 19 entries"
    page.get_by_label("Search").fill("")
    chooser(page, "Collection").select_option(label="faq")
    assert count.inner_text() == "1 of 19 entries"
    chooser(page, "Collection").select_option(label="all")
    chooser(page, "Branch").select_option(label="main")
    assert count.inner_text() == "18 of 19 entries"
    chooser(page, "Measure").select_option(label="RR")
    for order, sign in (("highest", -1), ("lowest", 1)):
        chooser(page, "Sort").select_option(order)
        values = [sign * float(text) for text in page.locator("#list .after").all_inner_texts()]
        assert values == sorted(values)
    chooser(page, "Sort").select_option("oldest")
    assert lines(page).first.locator(".id").inner_text().startswith("2026-11-01")


def test_the_table_and_the_charts_open_an_entry_with_its_scores(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"])
    page.get_by_label("Search").fill("nothing has this")
    page.get_by_role("button", name="Clear filters").click()
    assert lines(page).count() > 1
    page.get_by_label("Search").fill("nothing has this")
    link = page.locator("#latest a[data-entry]").first
    name = link.inner_text()
    shown = page.locator(".latest tbody tr").first.locator("td.n").first.inner_text()
    link.click()
    assert [*map(entry_label, opened(page))] == [name]
    assert page.locator(".scores tbody td").first.inner_text() == shown
    measures = page.locator(".scores").first.locator("tbody th").all_inner_texts()
    assert measures[:3] == ["nDCG@10", "RR", "NumRet"]  # the queries of the entry follow
    assert "hybrid" in page.locator(".entry-facts").inner_text()
    point = page.locator("#trends svg [data-entry]").nth(CHANGE)
    described = point.locator("title").text_content() or ""
    point.locator("circle").click()
    assert entry_label(opened(page)[-1]) == described.split(": ")[0]
    assert page.evaluate("document.activeElement.querySelector('.id').textContent") == opened(page)[-1]


def test_a_change_point_is_marked(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"])
    chart = page.locator("#trends .panel", has=page.locator(".change")).first
    mark, points = chart.locator(".change").bounding_box(), chart.locator("circle")
    neighbors = [points.nth(index).bounding_box() for index in (CHANGE - 1, CHANGE)]
    assert mark
    assert neighbors[0]
    assert neighbors[1]
    assert neighbors[0]["x"] < mark["x"] < neighbors[1]["x"] + neighbors[1]["width"]
    assert re.search(r"Change at commit 0000005a.*: \+0\.\d+ \(p < 0\.001; after 2026-11-05", chart.inner_text())


def test_the_keyboard_is_enough(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"])
    page.locator("#latest a[data-entry]").first.focus()
    page.keyboard.press("Enter")
    assert len(opened(page)) == 1
    page.keyboard.press("Enter")  # the line has the focus now
    assert opened(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "query single"


def test_every_control_has_a_name(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"])
    lines(page).first.click()
    nodes = [line.strip(" -'") for line in page.locator("body").aria_snapshot().splitlines()]
    for role in ("button", "combobox", "searchbox", "img", "link", "region", "table", "figure"):
        matching = [node for node in nodes if re.match(rf"{role}\b", node)]
        assert matching, role
        assert not [node for node in matching if re.fullmatch(rf"{role}:?", node)], role
    assert page.get_by_role("heading", level=1).count() == 1


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast(open_page: Open, files: dict[str, Path], dark: bool) -> None:
    page = open_page(files["plain"], dark=dark)
    lines(page).first.click()
    assert page.evaluate(CONTRAST) == []


def test_without_a_script_the_results_and_the_charts_are_there(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["plain"], javascript=False)
    assert page.locator(".latest").first.is_visible()
    assert page.locator(".panel svg").first.is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#explorer").is_visible()


def test_ten_thousand_entries_are_listed_a_few_at_a_time(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["many"])
    assert page.locator("#count").inner_text() == "10,000 of 10,000 entries"
    assert lines(page).count() == 20
    assert page.evaluate("document.querySelectorAll('*').length") < 5_000
    took = page.evaluate(
        """() => {
          const begin = performance.now();
          byId('search').value = '0000005a';
          byId('search').dispatchEvent(new Event('input'));
          document.body.offsetHeight;
          return performance.now() - begin;
        }"""
    )
    assert page.locator("#count").inner_text() == "2 of 10,000 entries"
    assert took < 1_000
    page.get_by_label("Search").fill("")
    page.get_by_role("button", name="Show more").click()
    assert lines(page).count() == 120
