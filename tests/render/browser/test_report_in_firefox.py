"""The page in Debian's Firefox ESR: it loads, the explorer and the charts work, and the console stays empty."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rankgauge.render.html import as_html
from tests.needs import require
from tests.render.browser.bidi import BidiPage, firefox_page
from tests.render.html.histories import filled
from tests.render.html.reports import report

pytestmark = pytest.mark.slow
FIREFOX = Path("/usr/bin/firefox-esr")
END, ENTER = "\ue010", "\ue007"  # of WebDriver


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BidiPage]:
    present = FIREFOX.exists() and find_spec("websockets") is not None
    require("firefox", present, remedy="`make test-deps` installs firefox-esr, the test extra websockets")
    with firefox_page(FIREFOX, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(firefox: BidiPage) -> Iterator[BidiPage]:
    """The tab; at the end of each test its console must be empty."""
    firefox.messages.clear()
    yield firefox
    firefox.evaluate("null")  # what the console said until now has arrived
    assert firefox.messages == []


def opened_queries(page: BidiPage) -> list[str]:
    script = "[...document.querySelectorAll('#list .query[aria-expanded=true] .id')].map((id) => id.textContent)"
    found: list[str] = page.evaluate(script)
    return found


def test_the_explorer_filters_and_opens_a_query(page: BidiPage, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(as_html(report(3, 40, resamples=50)), encoding="utf-8")
    page.open(file)
    page.wait_for("document.documentElement.dataset.ready === 'yes'")
    assert page.evaluate("document.querySelector('#count').textContent") == "40 of 40 queries"
    page.evaluate("document.querySelector('#search').focus()")
    page.press(*"q0007")
    page.wait_for("document.querySelector('#count').textContent === '1 of 40 queries'")
    page.evaluate("document.querySelector('#list .query').focus()")
    page.press(ENTER)
    page.wait_for("document.querySelectorAll('.docs').length === 2")
    assert opened_queries(page) == ["q0007"]
    page.evaluate("document.querySelector('#scatter').focus()")
    page.press(END, ENTER)
    page.wait_for("document.activeElement.matches('#list .query[aria-expanded=true]')")
    assert page.evaluate("document.querySelector('#count').textContent") == "40 of 40 queries"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_history_lists_entries(page: BidiPage, tmp_path: Path) -> None:
    file = tmp_path / "history.html"
    file.write_text(as_html(filled(tmp_path / "history")), encoding="utf-8")
    page.open(file)
    page.wait_for("document.documentElement.dataset.ready === 'yes'")
    page.evaluate("document.querySelector('#latest a[data-entry]').focus()")
    page.press(ENTER)
    page.wait_for("document.querySelectorAll('#list .query[aria-expanded=true]').length === 1")


def test_an_error_in_the_page_would_be_seen(firefox: BidiPage, tmp_path: Path) -> None:
    file = tmp_path / "broken.html"
    file.write_text("<!doctype html><meta charset=utf-8><title>broken</title><script>missing()</script>")
    firefox.messages.clear()
    firefox.open(file)
    firefox.evaluate("null")
    assert any("missing is not defined" in message for message in firefox.messages)
