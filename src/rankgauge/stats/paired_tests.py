"""Tests of two systems: paired over the same queries, unpaired, and for equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import UsageError
from rankgauge.stats.bootstrap import bootstrap_test
from rankgauge.stats.distributions import binomial_cdf, normal_tail, t_tail, tail
from rankgauge.stats.draws import DEFAULT_RESAMPLING, PERMUTATIONS, Resampling
from rankgauge.stats.randomization import flip_test, randomization_test
from rankgauge.stats.results import PAIRED_TESTS, Alternative, PairedTest, TestResult, check_alternative, check_choice
from rankgauge.stats.samples import Floats, Ints, Sample, Units, paired, sample, too_few, vector

NO_SPREAD = "all differences are equal and not 0, so their variance cannot be estimated"
NO_SPREAD_IN_EITHER = "all values are equal within each side, so their variance cannot be estimated"


def paired_t(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> TestResult:
    """Student's paired t test; with the cluster-robust error and (units − 1) degrees of freedom if units are shared.

    Without a second, the first must hold differences.
    """
    check_alternative(alternative)
    return t_test(paired(first, second, units), alternative)


def t_test(data: Sample, alternative: Alternative) -> TestResult:
    """Student's t test of whether the mean of a sample is 0."""
    mean = data.mean if len(data) else None
    result = TestResult(None, None, len(data), "paired t", alternative, estimate=mean, units=data.shared)
    if data.units < 2:
        return replace(result, reason=too_few(data))
    df = data.units - 1
    if not data.whole.any():
        return replace(result, statistic=0.0, p=1.0, df=df)
    if data.constant:
        return replace(result, reason=NO_SPREAD)
    t = data.mean / data.standard_error
    return replace(result, statistic=t, p=t_tail(t, df, alternative), df=df)


def sign_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> TestResult:
    """The exact sign test; queries without a difference are left out. A shared unit has the sign of its total.

    The statistic is the number of positive differences.
    """
    check_alternative(alternative)
    data = paired(first, second, units)
    mean = data.mean if len(data) else None
    # The total of a unit of several queries may be 0 except for rounding.
    rounding = np.where(data.sizes > 1, data.sizes, 0)
    signs = np.where(np.abs(data.totals) <= rounding, 0, np.sign(data.totals))
    wins, losses = int(np.count_nonzero(signs > 0)), int(np.count_nonzero(signs < 0))
    result = TestResult(float(wins), None, len(data), "sign", alternative, estimate=mean, exact=True, units=data.shared)
    if not len(data):
        return replace(result, statistic=None, reason="there are no differences")
    at_most = binomial_cdf(wins, wins + losses) if wins + losses else 1.0
    at_least = binomial_cdf(losses, wins + losses) if wins + losses else 1.0
    return replace(result, p=tail(at_most, at_least, alternative))


def student_t(first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided") -> TestResult:
    """Student's t test of two systems on different queries, which assumes equal variances.

    Student, The probable error of a mean, Biometrika 1908.
    """
    check_alternative(alternative)
    left, right = sample(vector(first, "first")), sample(vector(second, "second"))
    result = TestResult(None, None, len(left) + len(right), "Student t", alternative)
    if len(left) < 2 or len(right) < 2:
        return replace(result, reason=f"at least 2 queries per side are needed, found {len(left)} and {len(right)}")
    df = len(left) + len(right) - 2
    result = replace(result, estimate=left.mean - right.mean, df=df)
    if left.constant and right.constant:
        if abs(left.mean - right.mean) <= 1 / min(left.scale, right.scale):
            return replace(result, statistic=0.0, p=1.0)
        return replace(result, reason=NO_SPREAD_IN_EITHER)
    # n (n − 1) · error² is the sum of squares of a side; 0 for a constant side.
    squares = sum(
        0.0 if side.constant else len(side) * (len(side) - 1) * side.standard_error**2 for side in (left, right)
    )
    t = (left.mean - right.mean) / math.sqrt(squares / df * (1 / len(left) + 1 / len(right)))
    return replace(result, statistic=t, p=t_tail(t, df, alternative))


def equivalence(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    margin: float,
    test: Literal["t", "randomization"] = "t",
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> TestResult:
    """Test whether the difference is within a margin of 0: two one-sided tests; the larger p is reported.

    A small p means equivalent. ``alternative='greater'`` is the single test of non-inferiority, that the first is not
    worse by the margin; ``'less'`` that it is not better by the margin. Schuirmann, J. Pharmacokinetics and
    Biopharmaceutics 1987.
    """
    check_alternative(alternative)
    check_choice("test", test, ("t", "randomization"))
    if not 0 < margin < math.inf:
        raise UsageError(f"margin must be a number above 0, found {margin!r}")
    data = paired(first, second, units)

    def one_sided(side: Alternative) -> TestResult:
        shifted = data.shifted(margin if side == "greater" else -margin)
        return t_test(shifted, side) if test == "t" else flip_test(shifted, side, resampling)

    sides: list[Alternative] = ["greater", "less"] if alternative == "two-sided" else [alternative]
    results = [one_sided(side) for side in sides]
    worst = max(results, key=lambda result: math.inf if result.p is None else result.p)
    return replace(
        worst,
        method=f"{'TOST' if alternative == 'two-sided' else 'non-inferiority'}, {worst.method}",
        alternative=alternative,
        estimate=data.mean if len(data) else None,
        margin=margin,
    )


def paired_test(
    test: PairedTest,
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> TestResult:
    """Run a paired test by its name. Tests that do not resample ignore ``resampling``."""
    check_choice("test", test, PAIRED_TESTS)
    without_resampling: dict[str, Callable[..., TestResult]] = {
        "t": paired_t,
        "wilcoxon": wilcoxon,
        "sign": sign_test,
    }
    if test in without_resampling:
        return without_resampling[test](first, second, alternative=alternative, units=units)
    # The one default number of resamples of this function, whichever test it runs.
    resampling = replace(resampling, resamples=resampling.count(PERMUTATIONS))
    if test == "randomization":
        return randomization_test(first, second, alternative=alternative, units=units, resampling=resampling)
    return bootstrap_test(first, second, alternative=alternative, units=units, resampling=resampling)


# Wilcoxon's signed-rank test, exact up to 300 queries, with ties and zeros.

MAX_EXACT_RANKS = 300  # the work grows with the cube: about 30 ms at this size


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
    distribution is enumerated over all signs, ties included; beyond that it is normal with variance Σ rank² / 4, which
    accounts for ties. If queries share units, the signed ranks of a unit flip together (Rosner, Glynn and Lee, The
    Wilcoxon signed rank test for paired comparisons of clustered data, Biometrics 2006).
    """
    check_alternative(alternative)
    check_choice("zeros", zeros, ("drop", "pratt"))
    data = paired(first, second, units)
    result = TestResult(None, None, len(data), "Wilcoxon signed rank", alternative, units=data.shared)
    if not len(data):
        return replace(result, reason="there are no differences")
    result = replace(result, estimate=data.mean)
    nonzero = data.whole != 0
    ranks = np.zeros(len(data), dtype=np.int64)
    if zeros == "pratt":
        ranks[nonzero] = doubled_ranks(np.abs(data.whole))[nonzero]
    else:
        ranks[nonzero] = doubled_ranks(np.abs(data.whole[nonzero]))
    signed = ranks * np.sign(data.whole).astype(np.int64)
    positive = int(signed[signed > 0].sum())
    by_unit = np.bincount(data.unit, signed).astype(np.int64)
    by_unit = by_unit[by_unit != 0]
    result = replace(result, statistic=positive / 2, exact=len(by_unit) <= MAX_EXACT_RANKS)
    if not len(by_unit):
        return replace(result, p=1.0)
    if result.exact:
        chances = sums_of_positive(np.abs(by_unit))
        observed = int(by_unit[by_unit > 0].sum())
        at_most, at_least = float(chances[: observed + 1].sum()), float(chances[observed:].sum())
        return replace(result, p=tail(at_most, at_least, alternative))
    z = float(by_unit.sum() / np.sqrt(np.square(by_unit.astype(np.float64)).sum()))
    return replace(result, p=normal_tail(z, alternative))


def doubled_ranks(values: Floats) -> Ints:
    """Twice the midranks, which are whole numbers."""
    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((2 * last - count + 1)[position.reshape(-1)], dtype=np.int64)


def sums_of_positive(parts: Ints) -> Floats:
    """The probability of each sum of the positive parts, if each part is positive with probability ½."""
    chances = np.zeros(int(parts.sum()) + 1)
    chances[0] = 1.0
    reached = 0
    for part in np.sort(parts).tolist():
        before = chances[: reached + 1] / 2
        chances[: reached + 1] = before
        chances[part : part + reached + 1] += before
        reached += part
    return chances
