"""JSON as the extension reads it, value by value with regular expressions: what the fuzzers of tables compare with."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

MAX_NUMBER, MAX_DEPTH = 300, 64  # longer or deeper ones are left to Python
BLANKS = re.compile(rb"[ \t\r\n]*")
BLANKS_IN_LINE = re.compile(rb"[ \t\r]*")
TEXT = re.compile(rb'"((?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+)"')
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
WORD = re.compile(rb"true|false|null")
ESCAPE = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.")
Kind = Literal["text", "integer", "real", "true", "false", "null", "nested", "missing"]


class NotJsonError(Exception):
    """Not JSON, or nothing that the extension reads."""


class OddError(Exception):
    """Left to Python."""


@dataclass(frozen=True)
class Value:
    """A value: its kind, and its bytes without quotation marks."""

    kind: Kind
    raw: bytes = b""

    @property
    def text(self) -> bytes:
        """A text with its escapes replaced."""
        return ESCAPE.sub(_unescaped, self.raw)

    @property
    def number(self) -> float:
        """A number, as Python's float reads it."""
        if self.kind in ("true", "false"):
            return float(self.kind == "true")
        if self.kind not in ("integer", "real"):
            raise OddError
        return float(self.raw) if self.kind == "real" else float(self.raw) + 0.0


def _unescaped(match: re.Match[bytes]) -> bytes:
    character = json.loads(b'"%b"' % match[0])
    try:
        if character == "\0":
            raise OddError
        return bytes(character.encode())
    except UnicodeEncodeError:
        raise OddError from None


class Json:
    """A position in a text."""

    def __init__(self, text: bytes, at: int, *, in_line: bool = False) -> None:
        self.text, self.at, self._blanks = text, at, BLANKS_IN_LINE if in_line else BLANKS
        self.skip_blanks()

    def skip_blanks(self) -> None:
        """Go to the next byte that is not white space."""
        match = self._blanks.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def takes(self, byte: bytes) -> bool:
        """Whether this byte is next; if so, it and the white space behind it are skipped."""
        if self.text[self.at : self.at + 1] != byte:
            return False
        self.at += 1
        self.skip_blanks()
        return True

    def value(self, depth: int) -> Value:
        """The next value."""
        if self.text[self.at : self.at + 1] in (b"{", b"["):
            begin = self.at
            if depth >= MAX_DEPTH:
                raise NotJsonError
            if self.text[begin : begin + 1] == b"{":
                self.members(depth)
            else:
                self.list(depth)
            return Value("nested")
        for pattern in (TEXT, NUMBER, WORD):
            match = pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                if pattern is TEXT:
                    return Value("text", match[1])
                if pattern is WORD:
                    return Value(match[0].decode())  # type: ignore[arg-type]  # the pattern has no other words
                if len(match[0]) > MAX_NUMBER:
                    raise NotJsonError
                return Value("real" if match[1] or match[2] else "integer", match[0])
        raise NotJsonError

    def members(self, depth: int) -> list[tuple[Value, Value]]:
        """The names and values of an object, up to the byte behind it."""
        found: list[tuple[Value, Value]] = []
        if not self.takes(b"{"):
            raise NotJsonError
        while not self._ends(b"}", bool(found)):
            match = TEXT.match(self.text, self.at)
            if match is None:
                raise NotJsonError
            self.at = match.end()
            self.skip_blanks()
            if not self.takes(b":"):
                raise NotJsonError
            found.append((Value("text", match[1]), self.value(depth + 1)))
            self.skip_blanks()
        return found

    def list(self, depth: int) -> None:
        """The values of a list, up to the byte behind it."""
        self.takes(b"[")
        count = 0
        while not self._ends(b"]", bool(count)):
            self.value(depth + 1)
            self.skip_blanks()
            count += 1

    def _ends(self, closing: bytes, has_values: bool) -> bool:
        """Whether a list or object ends here; a comma follows each value that is not the last."""
        if self.text[self.at : self.at + 1] == closing:
            self.at += 1
            return True
        if has_values and not self.takes(b","):
            raise NotJsonError
        return False

    def ends(self, closing: bytes, is_last: bool) -> bool:
        """Whether the outermost list or object ends here, and the file with it; otherwise a comma must follow."""
        self.skip_blanks()
        if self.text[self.at : self.at + 1] == b",":
            self.at += 1
            return False
        if not self.takes(closing) or not is_last or self.at < len(self.text):
            raise NotJsonError
        return True
