"""What is known of the same queries twice: by place where both are lists, by name where both are mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from rankgauge.errors import InputError, InputTypeError, shown

First = TypeVar("First")
Second = TypeVar("Second")
Given = Mapping[str, First] | Sequence[First]


def queries(number: int) -> str:
    """So many queries, in words."""
    return f"{number} {'query' if number == 1 else 'queries'}"


def named(given: Given[First], what: str) -> dict[str, First]:
    """A value for each query; those of a list are named by their number, which is as wide as the largest."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputTypeError(f"{what} must be a list or a mapping from query to value, found {type(given).__name__}")
    width = len(str(len(given)))
    return {str(number).zfill(width): value for number, value in enumerate(given, 1)}


def paired(
    first: Given[First], second: Given[Second], names: tuple[str, str]
) -> tuple[dict[str, First], dict[str, Second]]:
    """Both for the same queries; a query that only one of them has is an error."""
    if isinstance(first, Mapping) != isinstance(second, Mapping):
        raise InputTypeError(f"{names[0]} and {names[1]} must be both lists or both mappings")
    one, two = named(first, names[0]), named(second, names[1])
    if not isinstance(first, Mapping) and len(one) != len(two):
        raise InputError(f"{names[0]} has {len(one)} queries, {names[1]} has {len(two)}")
    for have, lack, missing in ((one, two, names[1]), (two, one, names[0])):
        odd = [query for query in have if query not in lack]
        if odd:
            raise InputError(f"{missing} lacks {len(odd)} of the queries: {', '.join(map(shown, odd[:3]))}")
    return one, {query: two[query] for query in one}
