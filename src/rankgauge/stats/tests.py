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
from rankgauge.stats.distributions import binomial_cdf, t_tail, tail
from rankgauge.stats.randomization import PERMUTATIONS, flip_test, randomization_test
from rankgauge.stats.results import Alternative, TestResult, check_alternative, check_choice
from rankgauge.stats.samples import Sample, Units, few, paired, sample, vector
from rankgauge.stats.seeds import RandomStream
from rankgauge.stats.signed_rank import wilcoxon

SAME = "all differences are equal and not 0, so their spread is unknown"


def paired_t(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> TestResult:
    """Student's paired t test, with the cluster-robust error and (units − 1) degrees of freedom where units are shared.

    Without a second, the first holds differences.
    """
    check_alternative(alternative)
    return t_test(paired(first, second, units), alternative)


def t_test(found: Sample, alternative: Alternative) -> TestResult:
    """Student's t test that the mean of a sample is 0."""
    mean = found.mean if len(found) else None
    result = TestResult(None, None, len(found), "paired t", alternative, estimate=mean, units=found.shared)
    if found.units < 2:
        return replace(result, reason=few(found))
    df = found.units - 1
    if not found.whole.any():
        return replace(result, statistic=0.0, p=1.0, df=df)
    if found.constant:
        return replace(result, reason=SAME)
    t = found.mean / found.standard_error
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
    found = paired(first, second, units)
    mean = found.mean if len(found) else None
    # A unit of several queries may come to nothing but for rounding.
    rounding = np.where(found.sizes > 1, found.sizes, 0)
    signs = np.where(np.abs(found.totals) <= rounding, 0, np.sign(found.totals))
    wins, losses = int(np.count_nonzero(signs > 0)), int(np.count_nonzero(signs < 0))
    result = TestResult(
        float(wins), None, len(found), "sign", alternative, estimate=mean, exact=True, units=found.shared
    )
    if not len(found):
        return replace(result, statistic=None, reason="there are no differences")
    at_most = float(binomial_cdf(wins, wins + losses)) if wins + losses else 1.0
    at_least = float(binomial_cdf(losses, wins + losses)) if wins + losses else 1.0
    return replace(result, p=tail(at_most, at_least, alternative))


def welch(first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided") -> TestResult:
    """Welch's t test of two systems on different queries.

    Welch, The generalization of 'Student's' problem when several different population variances are involved,
    Biometrika 1947.
    """
    check_alternative(alternative)
    left, right = sample(vector(first, "first")), sample(vector(second, "second"))
    result = TestResult(None, None, len(left) + len(right), "Welch t", alternative)
    if len(left) < 2 or len(right) < 2:
        return replace(result, reason=f"at least 2 queries a side are needed, found {len(left)} and {len(right)}")
    result = replace(result, estimate=left.mean - right.mean)
    if left.constant and right.constant:
        if abs(left.mean - right.mean) <= 1 / min(left.scale, right.scale):
            return replace(result, statistic=0.0, p=1.0)
        return replace(result, reason="all values of a side are equal on both sides, so their spread is unknown")
    a, b = (0.0 if side.constant else side.standard_error**2 for side in (left, right))
    df = (a + b) ** 2 / (a * a / (len(left) - 1) + b * b / (len(right) - 1))
    t = (left.mean - right.mean) / math.sqrt(a + b)
    return replace(result, statistic=t, p=t_tail(t, df, alternative), df=df)


def student_t(first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided") -> TestResult:
    """Student's t test of two systems on different queries, as if both varied equally. Welch's asks for less.

    Student, The probable error of a mean, Biometrika 1908.
    """
    check_alternative(alternative)
    left, right = sample(vector(first, "first")), sample(vector(second, "second"))
    result = TestResult(None, None, len(left) + len(right), "Student t", alternative)
    if len(left) < 2 or len(right) < 2:
        return replace(result, reason=f"at least 2 queries a side are needed, found {len(left)} and {len(right)}")
    df = len(left) + len(right) - 2
    result = replace(result, estimate=left.mean - right.mean, df=df)
    if left.constant and right.constant:
        if abs(left.mean - right.mean) <= 1 / min(left.scale, right.scale):
            return replace(result, statistic=0.0, p=1.0)
        return replace(result, reason="all values of a side are equal on both sides, so their spread is unknown")
    # n (n − 1) · error² is the sum of squares of a side: no spread, no squares.
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
    resamples: int = PERMUTATIONS,
    seed: int = 0,
    labels: tuple[str, ...] = (),
) -> TestResult:
    """Whether the difference lies within a margin of 0: two one-sided tests, of which the larger p counts.

    A small p says equivalent. ``alternative='greater'`` is the one test for non-inferiority, that the first is not
    worse by the margin; ``'less'`` that it is not better. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 1987.
    """
    check_alternative(alternative)
    check_choice("test", test, ("t", "randomization"))
    if not 0 < margin < math.inf:
        raise UsageError(f"margin must be a number above 0, found {margin!r}")
    found = paired(first, second, units)

    def one(side: Alternative) -> TestResult:
        moved = found.shifted(margin if side == "greater" else -margin)
        if test == "t":
            return t_test(moved, side)
        return flip_test(moved, side, resamples, RandomStream(seed, labels))

    sides: list[Alternative] = ["greater", "less"] if alternative == "two-sided" else [alternative]
    results = [one(side) for side in sides]
    worst = max(results, key=lambda result: math.inf if result.p is None else result.p)
    return replace(
        worst,
        method=f"{'TOST' if alternative == 'two-sided' else 'non-inferiority'}, {worst.method}",
        alternative=alternative,
        estimate=found.mean if len(found) else None,
        margin=margin,
    )


PairedTest = Literal["t", "randomization", "wilcoxon", "sign", "bootstrap", "bootstrap-centred"]
PAIRED_TESTS: tuple[PairedTest, ...] = ("t", "randomization", "wilcoxon", "sign", "bootstrap", "bootstrap-centred")


def paired_test(
    test: PairedTest,
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resamples: int = PERMUTATIONS,
    seed: int = 0,
    labels: tuple[str, ...] = (),
) -> TestResult:
    """Any of the paired tests by its name. Tests that draw nothing take no notice of the last three."""
    check_choice("test", test, PAIRED_TESTS)
    plain: dict[str, Callable[..., TestResult]] = {"t": paired_t, "wilcoxon": wilcoxon, "sign": sign_test}
    if test in plain:
        return plain[test](first, second, alternative=alternative, units=units)
    if test == "randomization":
        return randomization_test(
            first, second, alternative=alternative, units=units, resamples=resamples, seed=seed, labels=labels
        )
    return bootstrap_test(
        first,
        second,
        studentised=test == "bootstrap",
        alternative=alternative,
        units=units,
        resamples=resamples,
        seed=seed,
        labels=labels,
    )
