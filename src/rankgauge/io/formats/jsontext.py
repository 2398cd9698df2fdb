"""JSON, read so that nothing is lost: repeated keys are kept, and what JSON does not have is refused."""

from __future__ import annotations

import json
from typing import Any

from rankgauge.errors import InputError, shown


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs: a key that stands in it twice is still there twice."""

    def names(self) -> list[str]:
        """The keys, in order (under another name: dict() takes whatever has keys() for a mapping)."""
        return [key for key, _ in self]

    def once(self, source: str, line: int | None) -> dict[str, Any]:
        """The object as a dict; raises where a key stands twice."""
        out = dict(self)
        if len(out) != len(self):
            seen: set[str] = set()
            key = next(key for key in self.names() if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InputError.at(source, line, f"expected each key once in an object, found {shown(key)} twice")
        return out


def parse(source: str, line: int | None, data: bytes) -> Any:
    """The value of a JSON text; objects are :class:`Pairs`. A line of None means a document of several lines."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        lines = line is None and error.msg == "Extra data"
        raise InputError.at(
            source,
            at,
            f"not JSON: {error.msg}: {shown(text[error.pos : error.pos + 100])}",
            hint="one object a line? say so: format='jsonl' or 'log', --from" if lines else None,
        ) from None
    except RecursionError:
        raise InputError.at(source, line, "JSON is nested too deeply") from None
    except ValueError as error:
        raise InputError.at(source, line, f"not JSON: {error}") from None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON number: leave the document out, or give it a finite number")


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_refused)  # made once: lines are many
