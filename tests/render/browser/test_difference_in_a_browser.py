"""The page of two runs without judgments in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge import Run
from rankgauge.comparison import diff_runs
from rankgauge.render.html.difference_page import difference_page
from tests.render.browser.conftest import Open

CLOSING = "</script><b>d1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    before = Run.from_lists({"q1": ["a", "b", CLOSING], "q2": ["a", "b"], "q3": []}, name="old <i>run</i>")
    after = Run.from_lists({"q1": ["b", "x"], "q2": ["a", "b"], "q3": []}, name="new")
    path = tmp_path / "diff.html"
    path.write_text(difference_page(diff_runs(before, after), {"q1": "what <b>moved"}, {"a": "text of a"}))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
def test_a_query_opens_with_both_rankings_and_no_grades(open_page: Open, file: Path, width: int) -> None:
    page = open_page(file, width=width)
    lines = page.locator("#list .query")
    assert lines.count() == 3
    assert "what <b>moved" in lines.first.inner_text()
    assert page.locator("#heads span").all_inner_texts()[2:] == ["RBO(p=0.9)", ""]  # one similarity, not two scores
    values = [float(text) for text in page.locator("#list .after").all_inner_texts() if text != "–"]
    assert values == sorted(values)
    lines.first.click()
    page.wait_for_selector(".docs")
    assert page.locator(".side.before .doc .name").all_inner_texts() == ["a", "b", CLOSING]
    assert page.locator(".side.after .doc .name").all_inner_texts() == ["b", "x"]
    assert page.locator(".side.before .doc .text").all_inner_texts() == ["text of a"]
    assert page.locator("#list .grade").count() == 0
    assert page.locator(".contributions").count() == 0
    assert page.locator("h1").inner_text() == "old <i>run</i> and new"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("combobox", name="Measure").select_option(label="overlap@10")
    assert page.locator("#count").inner_text() == "3 of 3 queries"
