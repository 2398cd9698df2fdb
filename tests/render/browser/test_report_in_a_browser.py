"""The page in a real browser, opened from a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankgauge.render.html import as_html
from tests.render.browser.conftest import Open
from tests.render.html.reports import CLOSING, report

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "three": report(3, 60),
        "alone": report(1, 8),
        "hostile": report(3, 5, hostile=True),
        "bare": report(2, 3, by=(), texts=False),
        "many": report(5, 400, resamples=50),
    }
    for name, one in made.items():
        (folder / f"{name}.html").write_text(as_html(one), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def lines(page: Page) -> Locator:
    return page.locator("#list .query")


def chooser(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["three", "alone", "hostile", "bare", "many"])
def test_it_opens_without_a_word_and_never_scrolls_sideways(
    open_page: Open, files: dict[str, Path], artefacts: Path, name: str, width: int
) -> None:
    page = open_page(files[name], width=width, dark=width == 360)
    lines(page).first.click()
    page.wait_for_selector(".docs")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=artefacts / f"{name}-{width}.png", full_page=True)


def test_no_text_from_data_is_obeyed(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["hostile"])
    lines(page).first.click()
    assert page.locator(".docs .name").first.inner_text().startswith("<script>")
    assert CLOSING in lines(page).first.inner_text()
    assert page.title().endswith("report")
    assert page.locator("#obeyed, img").count() == 0


def test_search_filters_and_sorting_choose_queries(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    count = page.locator("#count")
    assert count.inner_text() == "60 of 60 queries"
    chooser(page, "Measure").select_option(label="RR")
    page.get_by_label("Search").fill("q0007")
    assert lines(page).count() == 1
    page.get_by_label("Search").fill("")
    shown = {}
    for outcome in ("better", "same", "worse"):
        chooser(page, "Show").select_option(outcome)
        shown[outcome] = int(count.inner_text().split()[0])
    assert sum(shown.values()) == 60
    assert all(shown.values())
    signs = page.locator("#list .gap").all_inner_texts()
    assert signs
    assert all(sign.startswith("−") for sign in signs)
    chooser(page, "Show").select_option("all")
    chooser(page, "kind").select_option(label="spec")
    assert 0 < int(count.inner_text().split()[0]) < 60
    chooser(page, "kind").select_option(label="all")
    chooser(page, "Sort").select_option("up")
    gaps = [float(text.replace("−", "-")) for text in page.locator("#list .gap").all_inner_texts()]
    assert gaps == sorted(gaps)
    assert lines(page).count() == 20
    page.get_by_role("button", name="Show more").click()
    assert lines(page).count() == 60


@pytest.mark.parametrize(("measure", "deep"), [("nDCG@10", False), ("AP@100", True)])
def test_the_shares_of_documents_sum_to_the_difference(
    open_page: Open, files: dict[str, Path], measure: str, deep: bool
) -> None:
    page = open_page(files["three"])
    chooser(page, "Measure").select_option(label=measure)
    for place in range(20):
        lines(page).nth(place).click()
        opened = page.locator("#list > li").nth(place)
        adds = opened.locator(".shares tbody td:last-child").all_inner_texts()
        assert adds[-1] == opened.locator(".gap").inner_text()
        numbers = [float(text.replace("−", "-")) for text in adds]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.0006 * len(numbers))
    assert bool(page.get_by_text("below rank 20").count()) == deep


def test_an_opened_query_shows_both_rankings(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    line = lines(page).first
    line.click()
    assert line.get_attribute("aria-expanded") == "true"
    assert page.locator(".side h4").all_inner_texts() == ["bm25", "hybrid"]
    assert page.locator(".side.before .doc:visible").count() == 10
    height = page.evaluate("document.querySelector('.sides').offsetHeight")
    page.get_by_role("button", name="Show the top 20").click()
    assert page.locator(".side.before .doc:visible").count() == 20
    assert height < page.evaluate("document.querySelector('.sides').offsetHeight")
    assert page.locator(".sides svg path").count() > 0
    assert page.locator(".docs .text").count() > 0
    heights = [page.locator(name).bounding_box() for name in (".sides", ".side.before", ".side.after")]
    whole, *sides = [box["height"] for box in heights if box]
    assert whole == pytest.approx(max(sides), abs=2)
    line.click()
    assert page.locator(".open").count() == 0


def test_lines_join_the_same_document_on_both_sides(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    lines(page).first.click()
    page.wait_for_selector(".sides svg path")
    path = page.locator(".sides svg path").first
    doc, d = path.get_attribute("data-doc"), path.get_attribute("d") or ""
    top = page.locator(".sides svg").bounding_box()
    assert top
    places = [float(d.split("C")[0].split()[1]), float(d.split()[-1])]
    for side, at in zip(("before", "after"), places, strict=True):
        row = page.locator(f".{side} [data-doc='{doc}']").bounding_box()
        assert row
        assert row["y"] <= top["y"] + at <= row["y"] + row["height"]


def test_other_systems_and_measures_change_pictures_and_list(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])

    def drawn() -> list[str | None]:
        return [page.locator("#waterfall .up").get_attribute("d"), page.locator("#scatter .points").get_attribute("d")]

    first = drawn()
    chooser(page, "Measure").select_option(label="AP@100")
    second = drawn()
    chooser(page, "After").select_option(label="vector")
    third = drawn()
    assert all(a != b for a, b in zip(first + second, second + third, strict=True))
    assert "vector − bm25 on AP@100" in page.locator("#waterfall-words").inner_text()
    chooser(page, "After").select_option(label="bm25")
    assert set(page.locator("#list .gap").all_inner_texts()) == {"+0.000"}


def test_the_script_draws_what_the_page_was_made_with(open_page: Open, files: dict[str, Path]) -> None:
    static = open_page(files["three"], javascript=False)
    live = open_page(files["three"])
    for shape in ("#waterfall .up", "#waterfall .down"):
        one, other = (page.locator(shape).get_attribute("d") or "" for page in (static, live))
        places = [[float(number) for number in re.findall(r"[\d.]+", path)] for path in (one, other)]
        assert places[0] == pytest.approx(places[1], abs=0.11)
    written = [sorted(page.locator("#scatter .frame text").all_text_contents()) for page in (static, live)]
    assert [text for text in written[0] if text] == written[1]


@pytest.mark.parametrize("picture", ["waterfall", "scatter"])
def test_a_click_into_a_picture_opens_that_query(open_page: Open, files: dict[str, Path], picture: str) -> None:
    page = open_page(files["many"])
    page.locator("#search").fill("nothing has this")
    page.locator(f"#{picture}").click(position={"x": 120, "y": 60})
    wanted = page.locator(f"#{picture}-readout b").inner_text()
    assert page.locator("#list .query[aria-expanded=true] .id").all_inner_texts() == [wanted]
    assert page.evaluate("document.activeElement.querySelector('.id').textContent") == wanted


def test_the_keyboard_is_enough(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuenow") == "59"
    assert re.match(r"q\d+: ", slider.get_attribute("aria-valuetext") or "")
    page.keyboard.press("Enter")
    assert page.locator("#list .query[aria-expanded=true]").count() == 1
    page.keyboard.press("Enter")  # the line has the focus now
    assert page.locator("#list .query[aria-expanded=true]").count() == 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "query"


def test_everything_that_can_be_used_has_a_name(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    lines(page).first.click()
    tree = page.locator("body").aria_snapshot()
    used = [line.strip(" -'") for line in tree.splitlines()]
    for role in ("button", "combobox", "searchbox", "slider", "img", "link", "region", "table", "figure"):
        found = [line for line in used if re.match(rf"{role}\b", line)]
        assert found, role
        assert not [line for line in found if re.fullmatch(rf"{role}:?", line)], role
    assert page.get_by_role("heading", level=1).count() == 1
    for name in ("Sections", "Results by measure", "Filter queries"):
        assert page.get_by_label(name, exact=True).count() == 1


def test_without_a_script_the_answer_the_tables_and_the_pictures_are_there(
    open_page: Open, files: dict[str, Path], artefacts: Path
) -> None:
    page = open_page(files["three"], javascript=False)
    assert page.locator(".answers").is_visible()
    assert page.locator(".results tbody tr").count() >= 12
    assert page.locator(".slices").first.is_visible()
    assert page.locator(".panel svg").first.is_visible()
    assert page.locator(".moved").first.is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#explorer").is_visible()
    assert not page.locator("#theme").is_visible()
    page.screenshot(path=artefacts / "without-a-script.png", full_page=True)


def test_light_and_dark_follow_the_system_until_the_button_says_otherwise(
    open_page: Open, files: dict[str, Path]
) -> None:
    def brightness(page: Page) -> int:
        colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3])

    light, dark = (open_page(files["bare"], dark=wanted) for wanted in (False, True))
    assert brightness(light) > 700
    assert brightness(dark) < 100
    dark.get_by_role("button", name="Switch between light and dark").click()
    assert brightness(dark) > 700


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_on_its_ground(open_page: Open, files: dict[str, Path], dark: bool) -> None:
    page = open_page(files["many"], dark=dark)
    lines(page).first.click()
    weak = page.evaluate(CONTRAST)
    assert weak == []


# Text whose contrast is below what WCAG asks for (4.5 to 1), with its ground looked up through the elements around it.
CONTRAST = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const found = parts(getComputedStyle(one).backgroundColor);
      if (found.length === 3) return found;
      if (found[3] > 0) return null; // half transparent: looked at by people
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.getClientRects().length || ['SCRIPT', 'STYLE', 'OPTION'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const under = ground(element);
    if (!under) continue;
    const [a, b] = [light(parts(element.closest('svg') ? style.fill : style.color)), light(under)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) weak.push(`${element.tagName}.${element.getAttribute('class')}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(weak)];
}"""


def test_no_label_of_a_picture_is_cut_off(open_page: Open, files: dict[str, Path]) -> None:
    for name in ("many", "hostile"):
        page = open_page(files[name], width=360)
        outside = page.evaluate(
            """() => [...document.querySelectorAll('.panel svg text')].filter((text) => {
              const [inner, outer] = [text.getBoundingClientRect(), text.closest('.panel').getBoundingClientRect()];
              return inner.left < outer.left || inner.right > outer.right;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


def test_on_paper_there_are_no_controls_and_details_are_open(
    open_page: Open, files: dict[str, Path], artefacts: Path
) -> None:
    page = open_page(files["three"], width=718, dark=True)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, #theme:visible, #explorer:visible").count() == 0
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.pdf(path=artefacts / "three.pdf", format="A4")
    page.screenshot(path=artefacts / "paper.png", full_page=True)
