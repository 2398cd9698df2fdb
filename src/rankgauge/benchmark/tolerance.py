"""Which differences between stored and recomputed results do not count, because another SciPy computes them.

Scores, means and differences are exact on every machine. Statistics derived from them use SciPy's distributions, which
may differ in the last digits from version to version.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rankgauge.benchmark.json_fields import FieldDifference

RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
INTERVAL_ENDS = ("low", "high")
# The names of statistics in JSON: ends of intervals, p values, effect sizes, what the queries can detect.
DERIVED_FIELDS = frozenset(
    (
        *(*INTERVAL_ENDS, "p", "p_corrected", "p_equivalent", "p_equivalent_corrected", "d_z", "hedges_g"),
        "minimum_detectable_difference",
    )
)
SENTENCE_FIELDS = frozenset({"answer"})  # texts that show such statistics, rounded
_DECIMAL = re.compile(r"([+−-]?[0-9][0-9,]{0,30}\.[0-9]+)")  # bounded: a text of digits is not searched again and again
_SIGNS = "+−-"


def derived_values(data: Any) -> Iterator[float]:
    """All derived statistics in JSON."""
    if isinstance(data, dict):
        yield from (value for key, value in data.items() if key in DERIVED_FIELDS and isinstance(value, float))
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from derived_values(inner)


def within_tolerance(field: FieldDifference, derived: Iterable[float]) -> bool:
    """Whether two values of a field in JSON differ only as versions of SciPy may.

    ``derived`` are all recomputed statistics, which a sentence may show.
    """
    stored, recomputed = field.stored, field.recomputed
    if field.key in DERIVED_FIELDS and isinstance(stored, float) and isinstance(recomputed, float):
        # An end of an interval is a difference of two larger numbers, so its error is relative to the whole interval.
        scales = [field.beside.get(end) for end in INTERVAL_ENDS] if field.key in INTERVAL_ENDS else []
        scale = max((abs(end) for end in scales if isinstance(end, float)), default=0.0)
        return math.isclose(stored, recomputed, rel_tol=RELATIVE_TOLERANCE, abs_tol=_absolute(scale))
    if field.key in SENTENCE_FIELDS and isinstance(stored, str) and isinstance(recomputed, str):
        return same_but_for_rounding(stored, recomputed, tuple(derived))
    return False


def same_but_for_rounding(stored: str, recomputed: str, derived: Sequence[float]) -> bool:
    """Whether two texts differ only in numbers that are derived statistics halfway between two roundings."""
    old, new = _DECIMAL.split(stored), _DECIMAL.split(recomputed)
    return (
        len(old) == len(new)
        and old[::2] == new[::2]
        and all(a == b or _is_halfway(a, b, derived) for a, b in zip(old[1::2], new[1::2], strict=True))
    )


def _is_halfway(first: str, second: str, derived: Sequence[float]) -> bool:
    """Whether two texts are roundings of the same statistic, one down and one up."""
    decimals = {len(text.partition(".")[2]) for text in (first, second)}
    if len(decimals) > 1 or (first[0] in _SIGNS) != (second[0] in _SIGNS):
        return False
    half_unit = 0.5 * 10.0 ** -decimals.pop()
    one, other = (float(text.replace("−", "-").replace(",", "")) for text in (first, second))
    return any(
        max(abs(abs(one) - abs(value)), abs(abs(other) - abs(value))) <= half_unit + _absolute(abs(value))
        for value in derived
    )


def _absolute(scale: float) -> float:
    return max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * scale)
