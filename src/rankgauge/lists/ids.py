"""The ids that a caller passes in: one string or several ids, checked once and in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputTypeError

AnyIds = str | Iterable[str]


def id_list(ids: AnyIds, label: str) -> list[str]:
    """Return the ids as a checked list; a single string is one id. ``label`` names an id in errors."""
    if isinstance(ids, (str, bytes)):
        return _check_ids([ids], label)
    if isinstance(ids, Mapping):
        raise InputTypeError(
            f"{label}s must be ids, found a mapping", hint="pass the ids here and the grades as relevance_grades"
        )
    try:
        values: list[Any] = list(ids)
    except TypeError:
        raise InputTypeError(f"{label}s must be one id or a list of ids, found {type(ids).__name__}") from None
    return _check_ids(values, label)


def ranked_ids(ids: AnyIds, label: str = "retrieved id") -> list[str]:
    """Return ids whose order matters, best first; a set is an error."""
    if isinstance(ids, Set):
        raise InputTypeError(
            f"{label}s must be a list, best first, found a {type(ids).__name__}", hint="a set has no order"
        )
    return id_list(ids, label)


def _check_ids(values: list[Any], label: str) -> list[str]:
    # One check of all ids joined together is much faster than one check per id, and nearly always enough.
    try:
        text = "".join(values)
        if "" not in values and "\0" not in text:
            text.encode("utf-8", "surrogateescape")
            return values
    except (TypeError, UnicodeEncodeError):
        pass
    return [encode_id(value, label).decode("utf-8", "surrogateescape") for value in values]
