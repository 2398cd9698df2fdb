"""A real browser. Where it is absent these tests are skipped with a line that says so."""

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
ARTEFACTS = Path(__file__).parent / "artefacts"
Open = Callable[..., "Page"]


@pytest.fixture(scope="module")  # not longer: while it is there, asyncio has a loop that other tests cannot start
def browser() -> Iterator[Browser]:
    require("browser", CHROMIUM.exists() and find_spec("playwright") is not None)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open a file; at the end nothing must have been said in the console, and nothing asked for but the file."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(path: Path, *, width: int = 1280, dark: bool = False, javascript: bool = True, **more: Any) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.resolve().as_uri())
        if javascript:
            page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert all(url.startswith("file:") and url.count(".html") == 1 for url in asked), asked
    assert len(asked) == len(contexts)


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where pictures are put for people to look at."""
    ARTEFACTS.mkdir(exist_ok=True)
    return ARTEFACTS
