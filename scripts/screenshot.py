"""Take a picture of a report: ``python scripts/screenshot.py REPORT.html OUT.png [--dark] [--width N]``.

Without ``--height`` the whole page is taken, with it what fits on a screen, from ``--at`` on.
Needs Debian's chromium and playwright (``make test-deps``, the test extra).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, help="only so many pixels")
    parser.add_argument("--at", metavar="SELECTOR", help="begin at this element, as in #queries")
    given = parser.parse_args()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": given.width, "height": given.height or 900},
            color_scheme="dark" if given.dark else "light",
            device_scale_factor=2 if given.height else 1,
        )
        page.goto(given.report.resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        if given.at:
            page.evaluate("(at) => document.querySelector(at).scrollIntoView({behavior: 'instant'})", given.at)
        page.screenshot(path=given.out, full_page=given.height is None)
        browser.close()


if __name__ == "__main__":
    main()
