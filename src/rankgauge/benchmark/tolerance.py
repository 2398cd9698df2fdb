"""Which differences between stored and recomputed results do not count, because another SciPy computes them.

Scores, means and differences are exact on every machine. Statistics derived from them use SciPy's distributions, which
may differ in the last digits from version to version.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

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


def is_close(field: FieldDifference) -> bool:
    """Whether two values of a derived statistic in JSON differ only as versions of SciPy may."""
    stored, recomputed = field.stored, field.recomputed
    if field.key not in DERIVED_FIELDS or not isinstance(stored, float) or not isinstance(recomputed, float):
        return False
    # An end of an interval is a difference of two larger numbers, so its error is relative to the whole interval.
    scales = [field.beside.get(end) for end in INTERVAL_ENDS] if field.key in INTERVAL_ENDS else []
    scale = max((abs(end) for end in scales if isinstance(end, float)), default=0.0)
    return math.isclose(stored, recomputed, rel_tol=RELATIVE_TOLERANCE, abs_tol=_absolute(scale))


def within_tolerance(field: FieldDifference, derived: Sequence[float]) -> bool:
    """Whether a field in JSON differs only as it may; ``derived`` are the statistics that do, which sentences show."""
    if field.key in SENTENCE_FIELDS and isinstance(field.stored, str) and isinstance(field.recomputed, str):
        return same_but_for_rounding(field.stored, field.recomputed, derived)
    return is_close(field)


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
