"""The fields in which stored JSON differs from recomputed JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.errors import shown

MAX_VALUE_LENGTH = 60  # of a value in a message


@dataclass(frozen=True)
class FieldDifference:
    """A field that is not the same on both sides."""

    path: str  # as ``a.b[3].c``
    key: str  # the last name in the path
    message: str
    stored: Any = None
    recomputed: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)  # the recomputed object that has the field


def differing_fields(
    stored: Any, recomputed: Any, path: str = "", key: str = "", beside: Mapping[str, Any] | None = None
) -> Iterator[FieldDifference]:
    """Every value that differs; a list of another length, or a name that only one side has, is one difference."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for name in [*recomputed, *(name for name in stored if name not in recomputed)]:
            inner_path = f"{path}.{name}" if path else str(name)
            if name not in stored or name not in recomputed:
                message = "is missing" if name not in stored else "is not a field of this file"
                yield FieldDifference(inner_path, name, message)
            else:
                yield from differing_fields(stored[name], recomputed[name], inner_path, name, recomputed)
    elif isinstance(stored, list) and isinstance(recomputed, list):
        for index, (old, new) in enumerate(zip(stored, recomputed, strict=False)):
            yield from differing_fields(old, new, f"{path}[{index}]", key, beside)
        if len(stored) != len(recomputed):
            message = f"stored {plural(len(stored), 'entry')}, recomputed {len(recomputed):,}"
            yield FieldDifference(path, key, message)
    elif type(stored) is not type(recomputed) or stored != recomputed:
        yield FieldDifference(path, key, mismatch(stored, recomputed), stored, recomputed, beside or {})


def mismatch(stored: Any, recomputed: Any) -> str:
    """Both values, in words."""
    return f"stored {_value_text(stored)}, recomputed {_value_text(recomputed)}"


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return shown(value)
    return "nothing" if value is None else shown(json.dumps(value, ensure_ascii=False), MAX_VALUE_LENGTH)


def count_numbers(data: Any) -> int:
    """The number of values with decimals."""
    if isinstance(data, dict):
        return sum(map(count_numbers, data.values()))
    if isinstance(data, list):
        return sum(map(count_numbers, data))
    return int(isinstance(data, float))
