"""The beginning of a file, as it is looked at to find out what the file is."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any

from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.text import BOM

LOOKED_AT = 1 << 16
OBJECT = re.compile(rb'\s*\{\s*["}]')
ARRAY = re.compile(rb"\s*\[\s*[{\]]")


class Head:
    """The first bytes, and what can be told from them. Give all there is: only the beginning is looked at."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.begin = len(BOM) if data.startswith(BOM) else 0

    @cached_property
    def text(self) -> bytes:
        """The first bytes without a byte order mark."""
        return self.data[self.begin : self.begin + LOOKED_AT]

    @cached_property
    def lines(self) -> list[bytes]:
        """The complete lines among them that have something on them, without their ends."""
        parts = self.text.split(b"\n")
        if len(parts) > 1 and len(self.text) == LOOKED_AT:
            parts.pop()  # cut in the middle
        return [part.rstrip(b"\r") for part in parts if part.strip()]

    @cached_property
    def line(self) -> bytes:
        """The first line that has something on it."""
        return self.lines[0] if self.lines else b""

    @cached_property
    def is_json(self) -> bool:
        """An object or an array of objects begins here."""
        return self.is_array or bool(OBJECT.match(self.text))

    @cached_property
    def is_array(self) -> bool:
        """An array of objects begins here."""
        return bool(ARRAY.match(self.text))

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The object on the first line, or the first of an array; None where there is none."""
        data = memoryview(self.data)
        begin = self.begin + len(self.text) - len(self.text.lstrip())
        if self.is_array:
            return self._decoded(bytes(data[begin + 1 :]).lstrip())
        end = self.data.find(b"\n", begin)
        return self._decoded(self.data[begin : end if end >= 0 else None], whole=True)

    def _decoded(self, data: bytes, *, whole: bool = False) -> dict[str, Any] | None:
        decoder = json.JSONDecoder(object_pairs_hook=Pairs)
        text = data.decode("utf-8", "surrogateescape")
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, Pairs) or (whole and text[end:].strip()):
            return None
        return dict(value)
