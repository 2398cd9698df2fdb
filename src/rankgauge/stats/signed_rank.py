"""Wilcoxon's signed-rank test, exact for as many queries as that is cheap, with ties and zeros as they come."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.distributions import normal_tail, tail
from rankgauge.stats.results import Alternative, TestResult, check_alternative, check_choice
from rankgauge.stats.samples import Floats, Ints, Units, paired

EXACT_UP_TO = 300  # the work grows with the cube: about 30 ms here


def wilcoxon(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    zeros: Literal["drop", "pratt"] = "drop",
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> TestResult:
    """Wilcoxon's signed-rank test, with midranks for ties. The statistic is the sum of the positive ranks.

    ``zeros='pratt'`` ranks the zero differences too before it drops them (Pratt, JASA 1959). Up to 300 differences the
    distribution is enumerated over all signs, ties included; beyond, it is normal with variance Σ rank² / 4, which has
    the ties in it. Where units are shared, the signed ranks of a unit flip together (Rosner, Glynn and Lee, The
    Wilcoxon signed rank test for paired comparisons of clustered data, Biometrics 2006).
    """
    check_alternative(alternative)
    check_choice("zeros", zeros, ("drop", "pratt"))
    found = paired(first, second, units)
    result = TestResult(None, None, len(found), "Wilcoxon signed rank", alternative, units=found.shared)
    if not len(found):
        return replace(result, reason="there are no differences")
    result = replace(result, estimate=found.mean)
    nonzero = found.whole != 0
    ranks = np.zeros(len(found), dtype=np.int64)
    if zeros == "pratt":
        ranks[nonzero] = doubled_ranks(np.abs(found.whole))[nonzero]
    else:
        ranks[nonzero] = doubled_ranks(np.abs(found.whole[nonzero]))
    signed = ranks * np.sign(found.whole).astype(np.int64)
    positive = int(signed[signed > 0].sum())
    by_unit = np.bincount(found.unit, signed).astype(np.int64)
    by_unit = by_unit[by_unit != 0]
    result = replace(result, statistic=positive / 2, exact=len(by_unit) <= EXACT_UP_TO)
    if not len(by_unit):
        return replace(result, p=1.0)
    if result.exact:
        chances = sums_of_positive(np.abs(by_unit))
        place = int(by_unit[by_unit > 0].sum())
        at_most, at_least = float(chances[: place + 1].sum()), float(chances[place:].sum())
        return replace(result, p=tail(at_most, at_least, alternative))
    z = float(by_unit.sum() / np.sqrt(np.square(by_unit.astype(np.float64)).sum()))
    return replace(result, p=normal_tail(z, alternative))


def doubled_ranks(values: Floats) -> Ints:
    """Twice the midranks, which are whole numbers."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((2 * last - count + 1)[place.reshape(-1)], dtype=np.int64)


def sums_of_positive(parts: Ints) -> Floats:
    """The chance of each sum of those parts that get a plus, where each gets one by the toss of a coin."""
    chances = np.zeros(int(parts.sum()) + 1)
    chances[0] = 1.0
    reached = 0
    for part in np.sort(parts).tolist():
        before = chances[: reached + 1] / 2
        chances[: reached + 1] = before
        chances[part : part + reached + 1] += before
        reached += part
    return chances
