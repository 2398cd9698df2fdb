"""The columns of judgments and runs: rows grouped by query, in read-only NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import InputTypeError, shown

Floats = NDArray[np.float64]
Column = NDArray[Any]
GEOMETRIC_FLOOR = 0.00001  # the smallest value in a geometric mean, as in trec_eval
Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """The array, made read-only (a copy if its memory belongs to another array)."""
    if array.flags.writeable and not array.flags.owndata:
        array = array.copy()
    array.flags.writeable = False
    return array


def offsets_of(group: Ints, groups: int) -> Ints:
    """The first row of each group, and the end of the last one, in rows sorted by group."""
    return np.concatenate([[0], np.cumsum(count_by(group, groups))]).astype(np.int64)


def group_of(offsets: Ints) -> Ints:
    """The group number of each row: the inverse of :func:`offsets_of`."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def within(groups: Ints, offsets: Ints) -> Ints:
    """All rows of the given groups, in order."""
    sizes = offsets[groups + 1] - offsets[groups]
    ends = np.cumsum(sizes)
    return np.repeat(offsets[groups] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def keep_freed_memory() -> None:
    """Make the allocator keep the memory of arrays for later ones, instead of requesting new pages again and again.

    Freeing one large array is what makes glibc do so. It saves a fifth of the time of reading a file.
    """
    np.empty(1 << 24, dtype=np.uint8)


def count_by(group: Ints, groups: int) -> Ints:
    """The number of rows of each group."""
    return np.bincount(group, minlength=groups).astype(np.int64)


def count_true(chosen: NDArray[np.bool_], offsets: Ints) -> Ints:
    """The number of chosen rows of each group."""
    before: Ints = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])
    return np.diff(before[offsets])


def sum_by(group: Ints, values: Floats | Ints, groups: int) -> Floats:
    """The sum of each group's values, added one by one: bincount does, unlike np.sum or np.add.reduceat."""
    if not len(group):
        return np.zeros(groups)
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64)


def steps(offsets: Ints) -> Iterator[Ints]:
    """The first row of every group, then the second of every group that has one, and so on."""
    rows = offsets[:-1][offsets[1:] > offsets[:-1]]
    ends = offsets[1:][offsets[1:] > offsets[:-1]]
    while len(rows):
        yield rows
        more = rows + 1 < ends
        rows, ends = rows[more] + 1, ends[more]


def running(values: Floats, offsets: Ints) -> Floats:
    """The sum of each group's values up to and including each row, added one by one.

    Differences of one long prefix sum would be faster but change the last digits.
    """
    out = values.copy()
    for step, rows in enumerate(steps(offsets)):
        if step:
            out[rows] += out[rows - 1]
    return out


def _numbers(values: list[Any], kind: type) -> Column:
    """The values as an array of numbers; as they are if one is too large for that."""
    try:
        return np.array(values, dtype=kind)
    except OverflowError:
        return np.array(values, dtype=object)


def query_columns(columns: Mapping[str, Any] | None, queries: Ids) -> dict[str, Column]:
    """Per-query columns as arrays aligned with the queries.

    A column is a mapping from query id to value (a query without a value gets ``None``, or NaN among numbers) or a
    sequence with one value per query.
    """
    out: dict[str, Column] = {}
    if not columns:
        return out
    names = queries.to_text()
    for name, values in columns.items():
        cells = [values.get(query) for query in names] if isinstance(values, Mapping) else list(values)
        if len(cells) != len(names):
            raise ValueError(f"column '{name}' has {len(cells)} values for {len(names)} queries")
        numeric = all(
            value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in cells
        )
        if numeric and any(value is not None for value in cells):
            whole = all(isinstance(value, int) for value in cells)
            kind: type = np.int64 if whole else np.float64
            array: Column = _numbers([np.nan if value is None else value for value in cells], kind)
        else:
            array = np.array(cells, dtype=object)
        out[name] = frozen(array)
    return out


# The best row of each group, as greedy rankings choose it.


def last_best(group: Ints, *values: Floats) -> Ints:
    """The best row of each group that has rows, which are sorted by group.

    The best has the largest first value; of several such rows the largest second value, and so on; then it is the last.
    """
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    is_first = np.concatenate([[True], group[1:] != group[:-1]])
    begins, number = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    is_best = np.ones(len(group), dtype=bool)
    for value in values:
        candidates = np.where(is_best, value, -np.inf)
        is_best &= candidates == np.maximum.reduceat(candidates, begins)[number]
    best: Ints = np.maximum.reduceat(np.where(is_best, np.arange(len(group)), -1), begins)
    return best


def checked_number(value: object, kind: str, query: object, doc: object) -> float:
    """A score or a grade, which ``kind`` says, as a float; an error names the query and the document."""
    try:
        if isinstance(value, (str, bytes)) or value is None:
            raise TypeError
        return float(value)  # type: ignore[arg-type]  # any object with __float__ is accepted
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            f"{kind} of document {shown(str(doc))} for query {shown(str(query))} must be a number, "
            f"found {type(value).__name__}: {shown(repr(value))}"
        ) from None
