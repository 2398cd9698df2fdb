"""The beginning of a file, from which its format is detected."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any

from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.text import BOM

HEAD_BYTES = 1 << 16
OBJECT = re.compile(rb'\s*\{\s*["}]')
ARRAY = re.compile(rb"\s*\[\s*[{\]]")


class Head:
    """The first bytes, and what they show. Pass all the data there is: only its beginning is looked at."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.begin = len(BOM) if data.startswith(BOM) else 0

    @cached_property
    def text(self) -> bytes:
        """The first bytes without a byte order mark."""
        return self.data[self.begin : self.begin + HEAD_BYTES]

    @cached_property
    def lines(self) -> list[bytes]:
        """The complete lines among them that are not blank, without their line endings."""
        parts = self.text.split(b"\n")
        if len(parts) > 1 and len(self.text) == HEAD_BYTES:
            parts.pop()  # an incomplete line
        return [part.rstrip(b"\r") for part in parts if part.strip()]

    @cached_property
    def line(self) -> bytes:
        """The first line that is not blank."""
        return self.lines[0] if self.lines else b""

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins with an object or an array of objects."""
        return self.is_array or bool(OBJECT.match(self.text))

    @cached_property
    def is_array(self) -> bool:
        """Whether it begins with an array of objects."""
        return bool(ARRAY.match(self.text))

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The object on the first line, or the first of an array; None if there is none."""
        data = memoryview(self.data)
        begin = self.begin + len(self.text) - len(self.text.lstrip())
        if self.is_array:
            return self._decode(bytes(data[begin + 1 :]).lstrip())
        end = self.data.find(b"\n", begin)
        if end < 0 and not self.data.endswith((b"}", b" ", b"\t", b"\r")):
            return None  # only the beginning of a long line
        return self._decode(self.data[begin : end if end >= 0 else None], must_end=True)

    def _decode(self, data: bytes, *, must_end: bool = False) -> dict[str, Any] | None:
        decoder = json.JSONDecoder(object_pairs_hook=JsonPairs)
        text = data.decode("utf-8", "surrogateescape")
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, JsonPairs) or (must_end and text[end:].strip()):
            return None
        return dict(value)
