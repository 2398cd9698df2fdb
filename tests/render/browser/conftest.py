"""A real browser. Without one these tests are skipped, and the reason is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.needs import require

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
SCREENSHOTS = Path(__file__).parent / "screenshots"
Open = Callable[..., "Page"]


@pytest.fixture(scope="module")  # not longer: while it runs, asyncio has a loop that blocks other tests
def browser() -> Iterator[Browser]:
    require("browser", CHROMIUM.exists() and find_spec("playwright") is not None)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open a file. At the end the console must be empty and nothing but the file may have been requested."""
    messages: list[str] = []
    requests: list[str] = []
    contexts = []

    def open_file(
        path: Path, *, width: int = 1280, dark: bool = False, javascript: bool = True, **options: Any
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.resolve().as_uri())
        if javascript:
            page.wait_for_selector("html[data-ready]")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert messages == []
    assert all(url.startswith("file:") and url.count(".html") == 1 for url in requests), requests
    assert len(requests) == len(contexts)


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder for screenshots that people look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return SCREENSHOTS
