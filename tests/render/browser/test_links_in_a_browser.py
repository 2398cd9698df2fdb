"""The state of the explorer in the address, and the tables that can be sorted and copied."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankgauge.render.html import as_html
from tests.render.browser.conftest import Open
from tests.render.browser.test_report_in_a_browser import chooser, lines
from tests.render.html.reports import report

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("links") / "three.html"
    path.write_text(as_html(report(3, 60)), encoding="utf-8")
    return path


def state(page: Page) -> dict[str, str]:
    """What a reader sees of the explorer."""
    controls = {name: chooser(page, name).input_value() for name in ("Measure", "Before", "After", "Show", "kind")}
    opened = page.locator("#list .query[aria-expanded=true] .id").all_inner_texts()
    return {
        **controls,
        "search": page.get_by_label("Search").input_value(),
        "count": page.locator("#count").inner_text(),
        "caption": page.locator("#waterfall-caption").inner_text(),
        "opened": " ".join(opened),
    }


@pytest.mark.slow
def test_a_link_opens_the_same_state_and_going_back_undoes_one_step(open_page: Open, three: Path) -> None:
    page = open_page(three)
    states = [state(page)]
    chooser(page, "Measure").select_option(label="RR")
    states.append(state(page))
    chooser(page, "After").select_option(label="vector")
    states.append(state(page))
    chooser(page, "Show").select_option("better")
    chooser(page, "kind").select_option(label="spec")
    states.append(state(page))
    lines(page).first.click()
    states.append(state(page))
    assert len({str(seen) for seen in states}) == len(states)
    link = page.evaluate("location.hash")
    assert "measure=RR&after=vector&show=better&by.kind=spec&query=q" in link
    page.go_back()
    assert state(page) == states[3]
    page.go_back()
    page.go_back()
    assert state(page) == states[2]
    page.go_forward()
    page.go_forward()
    page.go_forward()
    assert state(page) == states[4]
    pasted = page.context.new_page()
    pasted.goto(f"{three.as_uri()}{link}")
    pasted.wait_for_selector("html[data-ready]")
    assert state(pasted) == states[4]
    assert pasted.evaluate("document.activeElement.querySelector('.id').textContent") == states[4]["opened"]
    pasted.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "fragment",
    [
        "#measure=no&after=7&show=x&query=none&by.kind=%zz",
        "#%%%=&=&&",
        "#queries",
        "#=__proto__&toString=1",
        "#search=",
    ],
)
def test_a_malformed_fragment_is_ignored(open_page: Open, three: Path, fragment: str) -> None:
    page = open_page(three)
    before = state(page)
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    page.wait_for_timeout(100)
    assert state(page) == before


@pytest.mark.slow
def test_a_section_in_the_address_leaves_the_filters_alone(open_page: Open, three: Path) -> None:
    page = open_page(three)
    chooser(page, "Show").select_option("worse")
    before = state(page)
    page.get_by_role("link", name="Charts").click()
    page.wait_for_timeout(100)
    assert state(page) == before


@pytest.mark.slow
def test_empty_results_offer_to_clear_the_filters(open_page: Open, three: Path) -> None:
    page = open_page(three)
    clear = page.get_by_role("button", name="Clear filters")
    assert not clear.is_visible()
    page.get_by_label("Search").fill("nothing has this")
    chooser(page, "kind").select_option(label="spec")
    assert page.locator("#count").inner_text() == "0 of 60 queries"
    clear.press("Enter")
    assert page.locator("#count").inner_text() == "60 of 60 queries"
    assert not clear.is_visible()
    assert page.evaluate("location.hash") == ""
    assert page.evaluate("document.activeElement.id") == "search"


@pytest.mark.slow
def test_the_table_sorts_by_click_and_by_keyboard(open_page: Open, three: Path) -> None:
    page = open_page(three)
    column = page.locator(".results tbody").first.locator("tr:not(.head) .value")
    original = column.all_inner_texts()
    head = page.locator(".results").get_by_role("columnheader", name="value", exact=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    values = [float(text) for text in column.all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert column.all_inner_texts() == original  # the best first, already
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert [float(text) for text in column.all_inner_texts()] == values[::-1]
    head.get_by_role("button").press("Enter")
    assert column.all_inner_texts() == original
    page.locator(".results").get_by_role("columnheader", name="p (").get_by_role("button").click()
    systems = page.locator(".results tbody").first.locator(".system").all_inner_texts()
    assert systems[-1].strip() == "bm25"  # the baseline has no p


@pytest.mark.slow
def test_the_table_is_copied_as_it_is_shown(open_page: Open, three: Path) -> None:
    page = open_page(three, permissions=["clipboard-read", "clipboard-write"])
    copied = {}
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="win/tie/loss").uncheck()
    assert not page.locator(".results .tally").first.is_visible()
    for name in ("Markdown", "LaTeX", "CSV"):
        page.get_by_role("button", name=f"Copy the table as {name}").click()
        page.get_by_text(f"{name} copied.").wait_for()
        copied[name] = page.evaluate("navigator.clipboard.readText()")
    first = [text.strip() for text in page.locator(".results .value").all_inner_texts()]
    assert copied["Markdown"].splitlines()[0].startswith("| measure | system | value | 95% CI | Δ |")
    assert copied["Markdown"].splitlines()[2].startswith(f"| nDCG@10 | hybrid | {first[0]} |")
    assert copied["CSV"].splitlines()[1].startswith(f"nDCG@10,hybrid,{first[0]},")
    assert copied["LaTeX"].count("nDCG@10 & ") == 3
    assert "tie" not in "".join(copied.values())
    rows = list(csv.reader(copied["CSV"].splitlines()))
    assert len(rows) == len(first) + 1
    assert {*map(len, rows)} == {len(rows[0])}
