"""The page in a real browser, opened from a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankgauge.render.html import as_html
from tests.render.browser.conftest import Open
from tests.render.html.reports import CLOSING, report
from tests.render.html.test_html_direction import one_sided

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    reports = {
        "three": report(3, 60),
        "alone": report(1, 8),
        "hostile": report(3, 5, hostile=True),
        "bare": report(2, 3, by=(), texts=False),
        "many": report(5, 400, resamples=50),
        "lower": one_sided("FirstRel"),
        "neutral": one_sided("NumRet"),
    }
    for name, made in reports.items():
        (folder / f"{name}.html").write_text(as_html(made), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in reports}


def lines(page: Page) -> Locator:
    return page.locator("#list .query")


def chooser(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["three", "alone", "hostile", "bare", "many"])
def test_it_opens_without_messages_and_never_scrolls_sideways(
    open_page: Open, files: dict[str, Path], screenshots: Path, name: str, width: int
) -> None:
    page = open_page(files[name], width=width, dark=width == 360)
    lines(page).first.click()
    page.wait_for_selector(".docs")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=screenshots / f"{name}-{width}.png", full_page=True)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1200])
def test_names_are_above_their_values_and_words_stay_whole(open_page: Open, files: dict[str, Path], width: int) -> None:
    page = open_page(files["many"], width=width)
    right = "(selector) => Math.round(document.querySelector(selector).getBoundingClientRect().right)"
    for column in ("before", "after", "gap"):
        assert page.evaluate(right, f"#heads .{column}") == page.evaluate(right, f"#list .query .{column}")
    heights = page.locator(".matrix tbody th").evaluate_all("cells => cells.map((cell) => cell.offsetHeight)")
    assert max(heights) < 45  # one line
    selects = page.locator("#choice label").evaluate_all("all => all.map((one) => one.offsetWidth)")
    inner = page.locator("#choice select").evaluate_all("all => all.map((one) => one.offsetWidth)")
    assert inner == selects


@pytest.mark.slow
def test_text_from_data_is_not_interpreted(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["hostile"])
    lines(page).first.click()
    assert page.locator(".docs .name").first.inner_text().startswith("<script>")
    assert CLOSING in lines(page).first.inner_text()
    assert "report · 3 systems: <script>" in page.title()
    assert page.locator("#injected, img").count() == 0


@pytest.mark.slow
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
    chooser(page, "Sort").select_option("loss")
    gaps = [float(text.replace("−", "-")) for text in page.locator("#list .gap").all_inner_texts()]
    assert gaps == sorted(gaps)
    assert lines(page).count() == 20
    page.get_by_role("button", name="Show more").click()
    assert lines(page).count() == 60


@pytest.mark.slow
def test_colors_filters_and_order_mean_better_where_lower_is_better(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["lower"])
    assert page.locator("#waterfall .better").get_attribute("d")
    assert (
        page.locator("#waterfall-readout").inner_text().startswith("new is better than old on 29 queries, worse on 1")
    )
    assert "below the diagonal, new is better" in page.locator("#scatter-caption").inner_text()
    chooser(page, "Sort").select_option("loss")
    assert lines(page).first.locator(".gap").inner_text() == "+1.000"
    assert lines(page).first.locator(".gap.worse, .bar.worse").count() == 2
    chooser(page, "Show").select_option("better")
    assert page.locator("#count").inner_text() == "29 of 30 queries"
    gaps = page.locator("#list .gap").all_inner_texts()
    assert all(gap.startswith("−") for gap in gaps)
    assert page.locator("#list .gap.better").count() == page.locator("#list .bar.better").count() == len(gaps)
    assert page.locator("#list .gap.worse, #list .bar.worse").count() == 0
    lines(page).first.click()
    page.wait_for_selector(".sides > svg path")
    for element in (".contribution", ".contributions td", ".sides > svg path"):
        assert page.locator(f"{element}.better").count() == 1
        assert page.locator(f"{element}.worse").count() == 0


@pytest.mark.slow
def test_a_measure_without_a_direction_has_no_colors(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["neutral"])
    assert page.locator("#waterfall .neutral").count() == 1
    assert page.locator("#list .bar.neutral").count() > 0
    assert page.locator("#list .better, #list .worse").count() == 0
    assert chooser(page, "Show").locator("option").all_inner_texts() == ["all queries", "higher", "equal", "lower"]
    assert "largest increase first" in chooser(page, "Sort").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "deep"), [("nDCG@10", False), ("AP@100", True)])
def test_the_contributions_of_documents_add_up_to_the_difference(
    open_page: Open, files: dict[str, Path], measure: str, deep: bool
) -> None:
    page = open_page(files["three"])
    chooser(page, "Measure").select_option(label=measure)
    for index in range(20):
        lines(page).nth(index).click()
        opened = page.locator("#list > li").nth(index)
        contributions = opened.locator(".contributions tbody td:last-child").all_inner_texts()
        assert contributions[-1] == opened.locator(".gap").inner_text()
        numbers = [float(text.replace("−", "-")) for text in contributions]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.0006 * len(numbers))
    assert bool(page.get_by_text("below rank 20").count()) == deep


@pytest.mark.slow
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
    assert page.locator(".sides > svg path").count() > 0
    assert page.locator(".docs .text").count() > 0
    heights = [page.locator(name).bounding_box() for name in (".sides", ".side.before", ".side.after")]
    both, *sides = [box["height"] for box in heights if box]
    assert both == pytest.approx(max(sides), abs=2)
    line.click()
    assert page.locator(".open").count() == 0


@pytest.mark.slow
def test_lines_join_the_same_document_on_both_sides(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    lines(page).first.click()
    page.wait_for_selector(".sides > svg path")
    path = page.locator(".sides > svg path").first
    doc, d = path.get_attribute("data-doc"), path.get_attribute("d") or ""
    top = page.locator(".sides > svg").bounding_box()
    assert top
    ends = [float(d.split("C")[0].split()[1]), float(d.split()[-1])]
    for side, end in zip(("before", "after"), ends, strict=True):
        row = page.locator(f".side.{side} [data-doc='{doc}']").bounding_box()
        assert row
        assert row["y"] <= top["y"] + end <= row["y"] + row["height"]


@pytest.mark.slow
def test_other_systems_and_measures_change_charts_and_list(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])

    def drawn() -> list[str | None]:
        return [
            page.locator("#waterfall .better").get_attribute("d"),
            page.locator("#scatter .points path").first.get_attribute("d"),
        ]

    first = drawn()
    chooser(page, "Measure").select_option(label="AP@100")
    second = drawn()
    chooser(page, "After").select_option(label="vector")
    third = drawn()
    assert all(a != b for a, b in zip(first + second, second + third, strict=True))
    assert "vector − bm25 on AP@100" in page.locator("#waterfall-caption").inner_text()
    assert page.locator("#scatter-title").inner_text() == "Per-query scores: vector vs. bm25"
    chooser(page, "After").select_option(label="bm25")
    assert set(page.locator("#list .gap").all_inner_texts()) == {"+0.000"}


@pytest.mark.slow
def test_the_script_draws_the_same_as_the_page_without_a_script(open_page: Open, files: dict[str, Path]) -> None:
    static = open_page(files["three"], javascript=False)
    live = open_page(files["three"])
    for shape in ("#waterfall .better", "#waterfall .worse"):
        paths = [page.locator(shape).get_attribute("d") or "" for page in (static, live)]
        numbers = [[float(number) for number in re.findall(r"[\d.]+", path)] for path in paths]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.11)
    for shape in ("#scatter .n0", "#scatter .n1"):
        points = [sorted((page.locator(shape).get_attribute("d") or "").split("M")) for page in (static, live)]
        numbers = [[float(number) for point in one for number in re.findall(r"[\d.]+", point)] for one in points]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.11)
    for chart in ("#waterfall", "#scatter"):
        written = [sorted(page.locator(f"{chart} text").all_text_contents()) for page in (static, live)]
        assert written[0] == written[1]


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["waterfall", "scatter"])
def test_a_click_on_a_chart_opens_that_query(open_page: Open, files: dict[str, Path], chart: str) -> None:
    page = open_page(files["many"])
    page.locator("#search").fill("nothing has this")
    page.locator(f"#{chart}").click(position={"x": 120, "y": 60})
    query = page.locator(f"#{chart} .tip b").text_content()
    assert page.locator("#list .query[aria-expanded=true] .id").all_inner_texts() == [query]
    assert page.evaluate("document.activeElement.querySelector('.id').textContent") == query


@pytest.mark.slow
def test_the_keyboard_is_enough(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    slider = page.locator("#waterfall[role=slider]")
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


@pytest.mark.slow
def test_every_control_has_a_name(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["three"])
    lines(page).first.click()
    tree = page.locator("body").aria_snapshot()
    nodes = [line.strip(" -'") for line in tree.splitlines()]
    for role in ("button", "combobox", "searchbox", "slider", "img", "link", "region", "table", "figure"):
        matching = [node for node in nodes if re.match(rf"{role}\b", node)]
        assert matching, role
        assert not [node for node in matching if re.fullmatch(rf"{role}:?", node)], role
    assert page.get_by_role("heading", level=1).count() == 1
    for name in ("Sections", "Results by measure", "Filter queries"):
        assert page.get_by_label(name, exact=True).count() == 1


@pytest.mark.slow
def test_without_a_script_the_answer_the_tables_and_the_charts_are_there(
    open_page: Open, files: dict[str, Path], screenshots: Path
) -> None:
    page = open_page(files["three"], javascript=False)
    assert page.locator(".answer").first.is_visible()
    assert page.locator(".verdict").first.is_visible()
    assert page.locator(".coverage").is_visible()
    assert page.locator(".tools, .sort").count() == 0
    assert page.locator(".results tbody tr").count() >= 12
    assert page.locator(".groups").first.is_visible()
    assert page.locator(".panel svg").first.is_visible()
    assert page.locator(".changes").first.is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#explorer").is_visible()
    assert not page.locator("#theme").is_visible()
    page.screenshot(path=screenshots / "without-script.png", full_page=True)


@pytest.mark.slow
def test_the_theme_follows_the_system_until_the_reader_chooses_one(open_page: Open, files: dict[str, Path]) -> None:
    def brightness(page: Page) -> int:
        color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", color)[:3])

    light, dark = (open_page(files["bare"], dark=dark) for dark in (False, True))
    assert brightness(light) > 700
    assert brightness(dark) < 100
    dark.get_by_role("button", name="Switch between light and dark theme").click()
    assert brightness(dark) > 700


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast(open_page: Open, files: dict[str, Path], dark: bool) -> None:
    page = open_page(files["many"], dark=dark)
    lines(page).first.click()
    weak = page.evaluate(CONTRAST)
    assert weak == []


# Text whose contrast is below that of WCAG AA (4.5 to 1) against the background of the nearest ancestor that has one.
CONTRAST = """() => {
  const parts = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const background = (element) => {
    for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
      const color = parts(getComputedStyle(ancestor).backgroundColor);
      if (color.length === 3) return color;
      if (color[3] > 0) return null; // translucent: checked by people
    }
    return [255, 255, 255];
  };
  const weak = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.getClientRects().length || ['SCRIPT', 'STYLE', 'OPTION'].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const behind = background(element);
    if (!behind) continue;
    const [a, b] = [light(parts(element.closest('svg') ? style.fill : style.color)), light(behind)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) weak.push(`${element.tagName}.${element.getAttribute('class')}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(weak)];
}"""


@pytest.mark.slow
def test_no_label_of_a_chart_is_cut_off(open_page: Open, files: dict[str, Path]) -> None:
    for name in ("many", "hostile"):
        page = open_page(files[name], width=360)
        outside = page.evaluate(
            """() => [...document.querySelectorAll('.panel svg text')].filter((text) => {
              const [inner, outer] = [text.getBoundingClientRect(), text.closest('.panel').getBoundingClientRect()];
              return inner.left < outer.left || inner.right > outer.right;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


@pytest.mark.slow
def test_a_printed_page_has_no_controls_and_open_details(
    open_page: Open, files: dict[str, Path], screenshots: Path
) -> None:
    page = open_page(files["three"], width=718, dark=True)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, #theme:visible, #explorer:visible").count() == 0
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.pdf(path=screenshots / "three.pdf", format="A4")
    page.screenshot(path=screenshots / "printed.png", full_page=True)
