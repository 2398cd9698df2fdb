"""Split an iterable into lists of a fixed size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last one possibly shorter (itertools has this from Python 3.12 on)."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
