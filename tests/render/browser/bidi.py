"""A client for WebDriver BiDi, the protocol that Firefox speaks itself: no driver is needed.

It knows only what the tests need: open a page, evaluate a script there, collect what the console says.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

START_SECONDS, ANSWER_SECONDS = 60, 30
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class BidiError(RuntimeError):
    """The browser refused a command, or a script raised an exception."""


class BidiPage:
    """One tab. ``messages`` is what the console said, with errors that no script caught."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._number = connection, 0
        self.messages: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self._context: str = self.call("browsingContext.create", type="tab")["context"]

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result; log entries that arrive meanwhile are kept."""
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._connection.recv(timeout=ANSWER_SECONDS))
            if answer.get("method") == "log.entryAdded":
                self.messages.append(f"{answer['params']['level']}: {answer['params']['text']}")
            if answer.get("id") == self._number:
                if answer["type"] == "error":
                    raise BidiError(f"{method}: {answer['message']}")
                return answer["result"]

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        url = path.resolve().as_uri()
        self.call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, through JSON; a promise is awaited."""
        result = self.call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({script}) ?? null))()",
            target={"context": self._context},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise BidiError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def wait_for(self, script: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self.evaluate(script):
            if time.monotonic() > deadline:
                raise TimeoutError(script)
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press and release keys, one after the other, as a keyboard does."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call(
            "input.performActions",
            context=self._context,
            actions=[{"type": "key", "id": "keyboard", "actions": strokes}],
        )


@contextmanager
def firefox_page(firefox: Path, profile: Path) -> Iterator[BidiPage]:
    """A tab of a Firefox without a window, which ends afterward; ``profile`` is an empty folder for its files."""
    from websockets.sync.client import connect

    command = [str(firefox), "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    log = profile.parent / "firefox.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            with connect(f"{_address(process, log)}/session", max_size=None) as connection:
                yield BidiPage(connection)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where Firefox listens: it chooses a free port and prints it."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if found := LISTENING.search(log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise BidiError(f"Firefox did not start:\n{log.read_text(errors='replace')[-2000:]}")
