"""Whether the queries could show any drop: the test of the gate, as if every query had fallen to the worst value.

If that would not be significant either, nothing was decided: three queries that all fell from 1 to 0 are not evidence
that nothing got worse. The same test says how many queries like these would be enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.significance import PairedColumns, family_tests
from rankgauge.comparison.statistics_options import is_significant
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints

MOST_QUERIES = 2_000  # up to which the number of queries that would be enough is looked for
NEARLY_EQUAL = 1e-6  # added to differences, so that tests that need a variance have one


def undecided_columns(
    columns: PairedColumns, worst: Floats, candidates: Sequence[int], rule: GateRule
) -> dict[int, int | None]:
    """Which of the columns can show no drop at all, each with the number of queries that could; None if unknown.

    Values are turned so that higher is better, and ``worst`` has the lowest of each column.
    """
    if not candidates:
        return {}
    every = np.arange(len(columns.system))
    significant = _falls(columns, worst, every, rule)
    return {column: _queries_needed(columns, worst, column, rule) for column in candidates if not significant[column]}


def _falls(columns: PairedColumns, worst: Floats, rows: Ints, rule: GateRule) -> list[bool]:
    """Whether each column would be significantly worse if all of these rows, which may be repeated, fell."""
    copies = np.arange(len(rows)) // len(columns.system)
    baseline = columns.baseline[rows]
    system = np.where(np.isnan(columns.system[rows]), np.nan, worst)
    units = None
    if columns.units is not None:
        units = np.array(
            [f"{copy} {unit}" for copy, unit in zip(copies, columns.units[rows], strict=True)], dtype=object
        )
    fallen = replace(columns, system=system, baseline=baseline, units=units)
    alternative = "two-sided" if rule.two_sided else "less"
    statistics = replace(rule.statistics, alternative=alternative)
    tests = family_tests(fallen, statistics, sensitivity=False)
    if any(test.p_corrected is None for test in tests):  # some tests have no p if all differences are equal
        shifted = replace(fallen, system=system - NEARLY_EQUAL * (np.arange(len(rows)) % 2)[:, np.newaxis])
        again = family_tests(shifted, statistics, sensitivity=False)
        tests = [one if one.p_corrected is not None else other for one, other in zip(tests, again, strict=True)]
    return [is_significant(test.p_corrected, rule.alpha) for test in tests]


def _queries_needed(columns: PairedColumns, worst: Floats, column: int, rule: GateRule) -> int | None:
    """The smallest number of queries like these that could show a drop."""
    present = ~np.isnan(columns.differences[:, column])
    n, total = int(present.sum()), len(present)
    target = n
    while target < MOST_QUERIES:
        target = target + 1 if target < n + 20 else math.ceil(target * 1.25)
        rows = np.resize(np.arange(total), math.ceil(total * target / n))
        if _falls(columns, worst, rows, rule)[column]:
            return int(present[rows].sum())
    return None
