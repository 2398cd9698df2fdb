"""Paths into JSON: ``hits.hits``, ``$.hits.hits[*]._source.id``, ``matches[0]['a.b']``.

A step is a key, an index, or ``[*]`` for every item of a list. A key with other characters than letters, digits, ``_``
and ``-`` is quoted: ``"a.b".c`` or ``['a.b'].c``, with a backslash before a quotation mark or a backslash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.errors import UsageError, shown

EVERY_ITEM = None  # the step [*]
SHOWN_KEYS = 8
MAX_INDEX_DIGITS = 9
Step = str | int | None

_QUOTES = "\"'"


class PathNotFound(Exception):
    """A document has nothing at a path; the message says where the path ends and what is there."""


@dataclass(frozen=True)
class Selector:
    """A parsed path."""

    text: str
    steps: tuple[Step, ...]

    @property
    def is_list(self) -> bool:
        """Whether it selects a list of values, by ``[*]``."""
        return EVERY_ITEM in self.steps

    def select(self, document: Any) -> Any:
        """The value at the path; with ``[*]`` the list of all values, lists within lists joined."""
        values = [document]
        for number, step in enumerate(self.steps):
            if step is EVERY_ITEM:
                values = [item for value in values for item in self._items(value, number)]
            else:
                values = [self._child(value, number, step) for value in values]
        return values if self.is_list else values[0]

    def _items(self, value: Any, number: int) -> list[Any]:
        if not isinstance(value, list):
            raise PathNotFound(f"{self._place(number)} is {describe(value)}, expected a list")
        return value

    def _child(self, value: Any, number: int, step: str | int) -> Any:
        if isinstance(step, str):
            if not isinstance(value, dict):
                found = f"{self._place(number)} is {describe(value)}, expected an object with {shown(step)}"
                raise PathNotFound(found)
            if step not in value:
                raise PathNotFound(f"{self._place(number)} has no {shown(step)}: it is {describe(value)}")
            return value[step]
        if not isinstance(value, list):
            raise PathNotFound(f"{self._place(number)} is {describe(value)}, expected a list")
        if not -len(value) <= step < len(value):
            raise PathNotFound(f"{self._place(number)} has no item [{step}]: it is {describe(value)}")
        return value[step]

    def _place(self, number: int) -> str:
        """The path up to a step, as a user would write it."""
        return path_text(self.steps[:number])


def parse_selector(text: str) -> Selector:
    """Parse a path; an error names the character."""
    return Selector(text, tuple(_Parser(text).steps()))


def path_text(steps: tuple[Step, ...]) -> str:
    """Steps as a path that :func:`parse_selector` reads."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, str):
            escaped = step.replace("\\", "\\\\").replace("'", "\\'")
            parts.append(f".{step}" if step and all(map(_is_plain, step)) else f"['{escaped}']")
        else:
            parts.append("[*]" if step is EVERY_ITEM else f"[{step}]")
    return "".join(parts)


def describe(value: Any) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, dict):
        keys = [shown(key, 30) for key in list(value)[:SHOWN_KEYS]]
        more = f" and {len(value) - SHOWN_KEYS} more" if len(value) > SHOWN_KEYS else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list of {plural(len(value), 'item')}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the text {shown(value)}" if isinstance(value, str) else f"the number {shown(str(value))}"


def _is_plain(character: str) -> bool:
    return character.isalnum() or character in "_-"


class _Parser:
    """Reads one path from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def steps(self) -> list[Step]:
        if not self.text:
            raise self.error("a path such as hits.hits")
        steps: list[Step] = []
        if self.text == "$" or self.text.startswith(("$.", "$[")):
            self.position = 1
        elif not self.text.startswith("["):
            steps.append(self.key())
        while self.position < len(self.text):
            steps.append(self.step())
        return steps

    def step(self) -> Step:
        if self.take("."):
            return self.key()
        if self.take("["):
            step = self.bracket()
            if not self.take("]"):
                raise self.error("']'")
            return step
        raise self.error("'.' or '['")

    def key(self) -> str:
        if self.current() in _QUOTES and self.current():
            return self.quoted()
        start = self.position
        while self.position < len(self.text) and _is_plain(self.text[self.position]):
            self.position += 1
        if start == self.position:
            raise self.error("a key")
        return self.text[start : self.position]

    def bracket(self) -> Step:
        if self.take("*"):
            return EVERY_ITEM
        if self.current() and self.current() in _QUOTES:
            return self.quoted()
        start = self.position
        self.take("-")
        digits = self.position
        while self.current() and self.current() in "0123456789":
            self.position += 1
        if not 0 < self.position - digits <= MAX_INDEX_DIGITS:
            self.position = digits
            raise self.error("an index, * or a quoted key")
        return int(self.text[start : self.position])

    def quoted(self) -> str:
        quote, start = self.current(), self.position
        self.position += 1
        characters: list[str] = []
        while self.position < len(self.text) and self.current() != quote:
            if self.take("\\") and not self.current():
                break
            characters.append(self.current())
            self.position += 1
        if not self.take(quote):
            self.position = start
            raise self.error(f"a key that ends with {quote}")
        return "".join(characters)

    def current(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self, character: str) -> bool:
        found = self.current() == character
        self.position += found
        return found

    def error(self, expected: str) -> UsageError:
        found = shown(self.text[self.position :], 20) if self.position < len(self.text) else "the end"
        return UsageError(f"expected {expected} at character {self.position + 1}, found {found}")
