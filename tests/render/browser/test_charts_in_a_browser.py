"""The charts in a real browser: legible at every width, nothing over anything else, every point within reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.history.entries import entry_label
from rankgauge.render.html import as_html
from rankgauge.render.html.charts.differences import SCATTER_AREA
from tests.render.browser.conftest import Open
from tests.render.html.histories import CHANGE, filled
from tests.render.html.reports import report

pytestmark = pytest.mark.slow
MIN_TEXT = 12  # CSS pixels

# For each visible label of a chart: its text, its real size, and its box.
LABELS = """() => [...document.querySelectorAll('.chart')].map((chart) => ({
  title: chart.closest('figure').querySelector('b').textContent,
  stage: chart.closest('.stage').getBoundingClientRect().toJSON(),
  labels: [...chart.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().width).map((text) => {
    const matrix = text.getScreenCTM();
    return {
      text: text.textContent,
      size: parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.a, matrix.b),
      box: text.getBoundingClientRect().toJSON(),
    };
  }),
}))"""

# The words around the drawings.
SMALL_WORDS = """(least) => [...document.querySelectorAll('.panel figcaption *, .panel .key *, .panel .readout, .tip')]
  .filter((element) => element.textContent.trim() && parseFloat(getComputedStyle(element).fontSize) < least)
  .map((element) => element.textContent)"""

# For each row of cards, how far it is from filling its grid.
ROWS = """() => [...document.querySelectorAll('.panels')].flatMap((grid) => {
  const outer = grid.getBoundingClientRect();
  const boxes = [...grid.children].map((card) => card.getBoundingClientRect()).filter((box) => box.width);
  const rows = Map.groupBy(boxes, (box) => box.top);
  return [...rows.values()].map((cards) => outer.right - Math.max(...cards.map((box) => box.right)));
})"""


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("charts")
    reports = {
        "two": report(2, 48, resamples=50),
        "twelve": report(12, 30, resamples=50),
        "dense": report(2, 1_000, resamples=50, measures=("nDCG@10", "P@5"), by=(), depth=10),
    }
    for name, made in reports.items():
        (folder / f"{name}.html").write_text(as_html(made), encoding="utf-8")
    history = filled(folder / "history")
    (folder / "history.html").write_text(as_html(history), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in (*reports, "history")}


def overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    """Whether two boxes have more than a line of pixels in common."""
    return all(
        min(a[end], b[end]) - max(a[start], b[start]) > 1 for start, end in (("left", "right"), ("top", "bottom"))
    )


@pytest.mark.parametrize(
    ("name", "width"),
    [("two", 360), ("two", 720), ("two", 1200), ("twelve", 360), ("twelve", 1200), ("history", 360), ("history", 1200)],
)
def test_labels_are_legible_and_apart_and_cards_fill_their_rows(
    open_page: Open, files: dict[str, Path], screenshots: Path, name: str, width: int
) -> None:
    page = open_page(files[name], width=width, dark=width == 360)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    charts = page.evaluate(LABELS)
    assert sum(len(chart["labels"]) for chart in charts) > 20
    for chart in charts:
        stage, labels = chart["stage"], chart["labels"]
        assert [label for label in labels if label["size"] < MIN_TEXT] == [], chart["title"]
        outside = [
            label["text"]
            for label in labels
            if label["box"]["left"] < stage["left"] - 1
            or label["box"]["right"] > stage["right"] + 1
            or label["box"]["top"] < stage["top"] - 4
            or label["box"]["bottom"] > stage["bottom"] + 4
        ]
        assert outside == [], chart["title"]
        pairs = [(a, b) for n, a in enumerate(labels) for b in labels[:n] if overlap(a["box"], b["box"])]
        assert [(a["text"], b["text"]) for a, b in pairs] == [], chart["title"]
    assert page.evaluate(SMALL_WORDS, MIN_TEXT) == []
    assert [gap for gap in page.evaluate(ROWS) if abs(gap) > 1] == []
    page.screenshot(path=screenshots / f"charts-{name}-{width}.png", full_page=True)


def test_a_chart_is_one_tab_stop_and_its_points_open_queries(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["two"])
    stages = page.locator(".stage[role=slider]")
    assert stages.count() == 4  # two groups, differences, scores
    assert page.locator(".stage [tabindex], .stage a, .stage button").count() == 0
    for index in range(stages.count()):
        stage = stages.nth(index)
        stage.focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        assert stage.locator(".tip").is_visible()
        query = stage.locator(".tip b").inner_text()
        assert (stage.get_attribute("aria-valuetext") or "").startswith(f"{query}: ")
        page.keyboard.press("Enter")
        focused = page.evaluate("document.activeElement.closest('#list .query').querySelector('.id').textContent")
        assert focused == query
        assert not stage.locator(".tip").is_visible()


FOCUSED = """() => {
  const focused = document.activeElement;
  if (focused === document.body) return null;
  const style = getComputedStyle(focused);
  const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return [focused.id || focused.className || focused.textContent, outlined];
}"""


def test_the_tab_key_walks_through_the_page_with_a_visible_focus(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["two"], width=360)
    stops: list[tuple[str, bool]] = []
    while len(stops) < 200:
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            break
        stops.append((stop[0], stop[1]))
    names = [name for name, _ in stops]
    assert len(stops) < 100  # 48 queries in four charts are not stops
    assert [name for name in names if name in ("waterfall", "scatter", "search")] == ["waterfall", "scatter", "search"]
    assert sum("live" in name for name in names) == 2  # the charts of groups
    assert names.count("query") == 20
    assert [name for name, visible in stops if not visible] == []


def test_a_tick_of_a_group_opens_its_query(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["two"])
    chart = page.locator(".chart[data-rows]").first
    chart.locator("rect.box").nth(1).hover()
    tip = page.locator(".stage", has=page.locator("[data-rows]")).first.locator(".tip")
    assert tip.is_visible()
    assert "vector: " in tip.inner_text()
    query = tip.locator("b").inner_text()
    chart.locator("rect.box").nth(1).click()
    assert page.locator("#list .query[aria-expanded=true] .id").all_inner_texts() == [query]


def test_queries_at_one_place_of_a_dense_scatter_are_opened_one_after_the_other(
    open_page: Open, files: dict[str, Path]
) -> None:
    page = open_page(files["dense"])
    page.get_by_role("combobox", name="Measure").select_option(label="P@5")  # six values: many queries share a place
    assert "the stronger the color, the more queries" in page.locator("#scatter-caption").inner_text()
    for _ in range(3):
        page.locator("#scatter .plot").click(position={"x": 1, "y": SCATTER_AREA.bottom})
    opened = page.evaluate("[...explorer.opened]")
    assert len(opened) == 3
    values = "(query) => [0, 1].map((system) => report.value(system, 1, query)).join()"
    assert len({page.evaluate(values, query) for query in opened}) == 1


def test_the_keyboard_opens_an_entry_from_a_chart_over_time(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["history"])
    stage = page.locator("#trends .stage").first
    stage.focus()
    for _ in range(CHANGE):
        page.keyboard.press("ArrowRight")
    entry = stage.locator(".tip b").inner_text()
    page.keyboard.press("Enter")
    opened = page.locator("#list .query[aria-expanded=true] .id").all_inner_texts()
    assert [*map(entry_label, opened)] == [entry]


def test_a_scenario_never_looks_like_a_confidence_interval(open_page: Open, files: dict[str, Path]) -> None:
    page = open_page(files["two"])
    unjudged = page.locator("#judgments .panel", has_text="unjudged documents")
    assert unjudged.locator(".chart .range").count() == 0
    assert unjudged.locator(".chart .scenario").count() == 2
    assert "not a confidence interval" in unjudged.locator(".key").inner_text()
    style = "(element) => getComputedStyle(element).strokeDasharray"
    assert unjudged.locator(".chart .scenario").first.evaluate(style) != "none"
    assert page.locator("#charts .chart .range").first.evaluate(style) == "none"
    assert page.locator("#charts .chart .scenario").count() == 0


@pytest.mark.parametrize("name", ["twelve", "history"])
def test_a_printed_chart_is_legible(open_page: Open, files: dict[str, Path], screenshots: Path, name: str) -> None:
    page = open_page(files[name], width=718, dark=True)
    page.emulate_media(media="print")
    for chart in page.evaluate(LABELS):
        assert all(label["size"] >= MIN_TEXT for label in chart["labels"]), chart["title"]
        assert all(label["box"]["right"] <= chart["stage"]["right"] + 1 for label in chart["labels"]), chart["title"]
    assert page.evaluate(SMALL_WORDS, MIN_TEXT) == []
    assert [gap for gap in page.evaluate(ROWS) if abs(gap) > 1] == []
    page.screenshot(path=screenshots / f"charts-printed-{name}.png", full_page=True)
