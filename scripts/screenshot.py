"""Take a screenshot of a report: ``python scripts/screenshot.py REPORT.html OUT.png [--dark] [--width N]``.

Without ``--height`` the whole page is captured; with it, one screen, starting at the element named by ``--at``.
Needs Debian's chromium and playwright (``make test-deps``, the test extra).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dark", action="store_true", help="use the dark theme")
    parser.add_argument("--width", type=int, default=1280, metavar="PIXELS", help="width of the screen")
    parser.add_argument("--height", type=int, metavar="PIXELS", help="capture only one screen of this height")
    parser.add_argument("--at", metavar="SELECTOR", help="start at this element, such as #queries")
    options = parser.parse_args()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": options.width, "height": options.height or 900},
            color_scheme="dark" if options.dark else "light",
            device_scale_factor=2 if options.height else 1,
        )
        page.goto(options.report.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        if options.at:
            script = "(selector) => document.querySelector(selector).scrollIntoView({behavior: 'instant'})"
            page.evaluate(script, options.at)
        page.screenshot(path=options.out, full_page=options.height is None)
        browser.close()


if __name__ == "__main__":
    main()
