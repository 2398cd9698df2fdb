"""JSON, read without losing anything: repeated keys are kept, and what is not JSON is refused."""

from __future__ import annotations

import json
from typing import Any

from rankgauge.errors import InputError, shown


class JsonPairs(list[tuple[str, Any]]):
    """An object as its keys and values: a key that appears twice is there twice."""

    def names(self) -> list[str]:
        """The keys, in order (not called keys, because dict() treats whatever has keys() as a mapping)."""
        return [key for key, _ in self]

    def to_dict(self, source: str, line: int | None) -> dict[str, Any]:
        """The object as a dict; raises if a key appears twice."""
        values = dict(self)
        if len(values) != len(self):
            seen: set[str] = set()
            for key in self.names():
                if key in seen:
                    raise InputError.at(source, line, f"expected each key once in an object, found {shown(key)} twice")
                seen.add(key)
        return values


def parse_json(source: str, line: int | None, data: bytes) -> Any:
    """The value of a JSON text; objects are :class:`JsonPairs`. A line of None means a text of several lines."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        may_be_lines = line is None and error.msg == "Extra data"
        raise InputError.at(
            source,
            error.lineno if line is None else line,
            f"not JSON: {error.msg}: {shown(text[error.pos : error.pos + 100])}",
            hint="if it has one object per line: format='jsonl' or 'log', --from" if may_be_lines else None,
        ) from None
    except RecursionError:
        raise InputError.at(source, line, "JSON is nested too deeply") from None
    except ValueError as error:
        raise InputError.at(source, line, f"not JSON: {error}") from None


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number: leave the document out, or give it a finite number")


_DECODER = json.JSONDecoder(object_pairs_hook=JsonPairs, parse_constant=_reject_constant)  # made once for many lines
