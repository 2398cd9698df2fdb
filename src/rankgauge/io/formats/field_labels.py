"""Labels with several fields, such as a document and a clause, or a path and lines; and the same fields of results.

``doc_id=metadata.doc`` compares the field ``doc_id`` of a label with what a result has at a path.
``start..end=from..to`` is a range of two fields on either side. A label and a result become ids that list the values,
so that two results with the same values are one; ``match`` compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.formats.json_text import JsonPairs, describe_json

RANGE = re.compile(r"[Ll]?(\d+)(?:\s*[-–:]\s*[Ll]?(\d+))?")
BETWEEN = ".."
EXAMPLE = "--match-field doc_id=metadata.doc --match-field clause=metadata.clause"
Compare = Callable[[str, str], bool]
ABSENT = object()
WRAPPERS = ("node", "document")  # of a result with its score


@dataclass(frozen=True)
class MatchField:
    """A field of labels, or two that are a range, and the path or paths of the same thing in a result."""

    label: tuple[str, ...]
    result: tuple[str, ...]

    @property
    def is_range(self) -> bool:
        """Whether values overlap rather than being equal."""
        return len(self.label) > 1 or len(self.result) > 1 or "line" in self.label[0].lower()

    @classmethod
    def parse(cls, text: str) -> MatchField:
        """From ``FIELD=PATH``, or ``FIELD`` if the path is the same."""
        label, sign, result = text.partition("=")
        sides = tuple(
            tuple(part.strip() for part in side.split(BETWEEN)) for side in (label, result if sign else label)
        )
        if not all(all(side) and len(side) <= 2 for side in sides):
            raise UsageError(f"--match-field takes FIELD=PATH, found {shown(text)}", hint=EXAMPLE)
        return cls(*sides)


class FieldLabels:
    """The ids of labels and of results that have several fields."""

    def __init__(self, fields: Sequence[MatchField]) -> None:
        self.fields = tuple(fields)

    @classmethod
    def of(cls, texts: Sequence[str]) -> FieldLabels:
        """From texts such as ``clause=metadata.clause``."""
        return cls([MatchField.parse(text) for text in texts])

    def __bool__(self) -> bool:
        return bool(self.fields)

    def label_id(self, value: Any) -> str:
        """The id of a label; raises if it lacks a field."""
        return self._id(value, [field.label for field in self.fields], "a label")

    def result_id(self, value: Any) -> str:
        """The id of a result, or of the first of a pair of a result and its score; raises if it lacks a field."""
        if isinstance(value, (tuple, list)) and len(value) == 2 and not isinstance(value, JsonPairs):
            value = value[0] if not hasattr(value, "_fields") else value
        return self._id(value, [field.result for field in self.fields], "a result")

    def _id(self, value: Any, sides: Sequence[tuple[str, ...]], what: str) -> str:
        texts = []
        for field, paths in zip(self.fields, sides, strict=True):
            found = [_at(value, path) for path in paths]
            if ABSENT in found or None in found:
                path = paths[found.index(ABSENT if ABSENT in found else None)]
                raise InputError(
                    f"{what} has no {shown(path)}: found {_described(value)}",
                    hint=f"name the place of each field: {EXAMPLE}",
                )
            texts.append(_range_text(found, what) if field.is_range else _text(found[0], what, paths[0]))
        return json.dumps(texts, ensure_ascii=False)

    def match(self, label: str, result: str, compare: Compare) -> bool:
        """Whether all fields match: ranges if they overlap, texts as ``compare`` says."""
        sides = self._values(label, "the label"), self._values(result, "the result")
        for field, wanted, found in zip(self.fields, *sides, strict=True):
            if not (_overlap(wanted, found) if field.is_range else compare(wanted, found)):
                return False
        return True

    def _values(self, name: str, what: str) -> list[str]:
        """The values that an id lists; raises if it is an id of another kind."""
        try:
            values = json.loads(name)
        except ValueError:
            values = None
        if not isinstance(values, list) or len(values) != len(self.fields):
            raise InputError(
                f"{what} {shown(name)} is an id without fields",
                hint="--match-field compares objects: the labels and results of a log, test cases and a live retriever",
            )
        return values


def _at(value: Any, path: str) -> Any:
    """What a value, or the node or document that it wraps, has at the end of a dotted path; ABSENT without it."""
    found = _follow(value, path)
    for name in WRAPPERS if found is ABSENT else ():
        wrapped = _follow(value, name)
        found = _follow(wrapped, path) if found is ABSENT and wrapped is not ABSENT else found
    return found


def _follow(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, JsonPairs):
            value = dict(value)
        value = value.get(name, ABSENT) if isinstance(value, Mapping) else getattr(value, name, ABSENT)
        if value is ABSENT:
            return ABSENT
    return value


def _text(value: Any, what: str, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputError(f"{what}: expected a text or a whole number as {shown(path)}, found {_described(value)}")
    return str(value)


def _range_text(values: Sequence[Any], what: str) -> str:
    """``10-20`` from two numbers, a list of two, an object with start and end, a text such as L10-L20, or a number."""
    value: Any = values[0] if len(values) == 1 else list(values)
    bounds = value if isinstance(value, (list, tuple)) and not isinstance(value, JsonPairs) else [value, value]
    if isinstance(value, (JsonPairs, Mapping)):
        bounds = [dict(value).get("start"), dict(value).get("end")]
    elif isinstance(value, str) and (match := RANGE.fullmatch(value.strip())):
        bounds = [int(match[1]), int(match[2] or match[1])]
    numbers = [one for one in bounds if isinstance(one, int) and not isinstance(one, bool)]
    if len(bounds) != 2 or len(numbers) != 2 or numbers[0] > numbers[1]:
        raise InputError(
            f"{what}: expected a range of whole numbers such as [10, 20] or 10-20, found {_described(value)}"
        )
    return f"{numbers[0]}-{numbers[1]}"


def _overlap(first: str, second: str) -> bool:
    (low, high), (begin, end) = (tuple(map(int, text.split("-"))) for text in (first, second))
    return low <= end and begin <= high


def _described(value: Any) -> str:
    if isinstance(value, JsonPairs):
        return ", ".join(shown(key) for key in value.names()) or "an empty object"
    if isinstance(value, Mapping):
        return ", ".join(shown(str(key)) for key in value) or "an empty object"
    return describe_json(value) if isinstance(value, (str, int, float, list, type(None))) else type(value).__name__
