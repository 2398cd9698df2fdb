"""Take a screenshot of a report: ``python -m scripts.screenshot REPORT.html OUT.png [--dark] [--width N]``.

Without ``--height`` the whole page is captured; with it, one screen, from the element named by ``--at``, or from the
query that ``--open`` finds. Needs Debian's chromium and playwright (``make test-deps``, the test extra).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = "/usr/bin/chromium"
SCALES = (2, 1.75, 1.5, 1.25, 1)  # pixels per CSS pixel of one screen: the first that is small enough
MAX_BYTES = 250_000


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dark", action="store_true", help="use the dark theme")
    parser.add_argument("--width", type=int, default=1280, metavar="PIXELS", help="width of the screen")
    parser.add_argument("--height", type=int, metavar="PIXELS", help="capture only one screen of this height")
    parser.add_argument("--at", metavar="SELECTOR", help="start at this element, such as #queries")
    parser.add_argument("--open", metavar="TEXT", help="search the explorer for TEXT, open the first query found")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scale in SCALES if options.height else (1,):
            take(browser, options, scale)
            if options.out.stat().st_size <= MAX_BYTES:
                break
        browser.close()


def take(browser: Browser, options: argparse.Namespace, scale: float) -> None:
    """Load the page and capture it."""
    page = browser.new_page(
        viewport={"width": options.width, "height": options.height or 900},
        color_scheme="dark" if options.dark else "light",
        device_scale_factor=scale,
    )
    page.goto(options.report.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    start = options.at
    if options.open:
        page.locator("#search").fill(options.open)
        page.locator("#list .query").first.click()
        page.wait_for_selector("#list .query[aria-expanded=true]")
        start = start or "#explorer"
    if start:
        script = "(selector) => document.querySelector(selector).scrollIntoView({behavior: 'instant'})"
        page.evaluate(script, start)
    page.screenshot(path=options.out, full_page=options.height is None)
    page.close()


if __name__ == "__main__":
    main()
