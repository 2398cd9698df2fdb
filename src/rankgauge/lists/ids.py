"""What a caller may give for ids: one of them, or several, checked once and in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputTypeError

AnyIds = str | Iterable[str]


def several(given: AnyIds, what: str) -> list[str]:
    """The ids in order; a single string is one id. What is wrong with one of them is said as everywhere else."""
    if isinstance(given, (str, bytes)):
        return _checked([given], what)
    if isinstance(given, Mapping):
        raise InputTypeError(
            f"{what}s must be ids, found a mapping", hint="give the ids, and the grades as relevance_grades"
        )
    try:
        found: list[Any] = list(given)
    except TypeError:
        raise InputTypeError(f"{what}s must be one id or a list of them, found {type(given).__name__}") from None
    return _checked(found, what)


def in_order(given: AnyIds, what: str = "retrieved id") -> list[str]:
    """The same, for ids whose order matters."""
    if isinstance(given, Set):
        raise InputTypeError(
            f"{what}s must be a list, best first, found a {type(given).__name__}", hint="a set has no order"
        )
    return several(given, what)


def _checked(found: list[Any], what: str) -> list[str]:
    # One look at all of them together is many times quicker than one at each, and nearly always enough.
    try:
        together = "".join(found)
        if "" not in found and "\0" not in together:
            together.encode("utf-8", "surrogateescape")
            return found
    except (TypeError, UnicodeEncodeError):
        pass
    return [encode_id(value, what).decode("utf-8", "surrogateescape") for value in found]
