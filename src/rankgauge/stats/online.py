"""Tests that never end: the level of each test in a sequence, so that errors are controlled over many of them.

A sequence has periods of N tests. Within a period,

any      each test has the level α / N. The probability of any false alarm is at most α, by the union bound, under any
         dependence.
lond     the level is α / N · (D + 1) after D alarms: the expected share of false alarms among alarms is at most α if
         the p values are positively dependent (PRDS), as those of tests that share a baseline are. Javanmard and
         Montanari, On online control of false discovery rate, 2015; Zrnic, Ramdas and Jordan, Asynchronous online
         testing of multiple hypotheses, JMLR 2021 (dependence, and tests that run at the same time).
e-lond   the same with e-values: an alarm is an e-value of at least 1 / level, under any dependence. Xu and Ramdas,
         Online multiple testing with e-values, AISTATS 2024.

All tests of a period have the same share of α. Shares of an endless sequence must sum to α, so that they become smaller
than any number of draws can show. Rules that earn back α from small p values (LORD++, SAFFRON) assume independent
tests.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import UsageError
from rankgauge.stats.names import ONLINE_CONTROLS as ONLINE_CONTROLS
from rankgauge.stats.names import OnlineControl as OnlineControl
from rankgauge.stats.results import Alternative, check_alternative, check_between, check_choice
from rankgauge.stats.samples import Units, sample

DRAWS_BEYOND = 10  # draws that exceed a critical value at least, on average
MAX_DRAWS = 1_000_000


def online_level(alpha: float, tests: int, alarms: int = 0, control: OnlineControl = "any") -> float:
    """The level of the next test of a period of ``tests``, after this number of alarms in the period."""
    check_between("alpha", alpha, 0, 1)
    check_choice("control", control, ONLINE_CONTROLS)
    if tests < 1 or alarms < 0:
        raise UsageError(f"a sequence has at least 1 test and 0 alarms, found {tests} and {alarms}")
    return alpha / tests if control == "any" else min(alpha, alpha / tests * (alarms + 1))


def draws_for_level(level: float) -> int:
    """How many draws make a level reachable, with some to spare; raises if these are too many."""
    if level * MAX_DRAWS < DRAWS_BEYOND:
        raise UsageError(
            f"a level of {level:.2g} needs more than {MAX_DRAWS:,} draws, so the test could hardly ever fail",
            hint="choose fewer builds per period, or a test without draws, such as t",
        )
    return math.ceil(DRAWS_BEYOND / level - 1e-9)


def sign_flip_e_value(
    differences: ArrayLike, *, level: float, alternative: Alternative = "less", units: Units | None = None
) -> float:
    """An e-value of the hypothesis that each difference is as likely as its negative: its mean is at most 1 under it.

    With x the differences in the direction that is tested, divided by the root of their sum of squares, it is Π exp(λ
    x) / cosh(λ x). Given the sizes |x|, the signs are fair coins, and each factor has the mean 1. For the level at
    which it is wanted, λ = sqrt(2 ln(1 / level)) is the best choice: the e-value is about exp(λ z − λ² / 2) for a sum
    z, and reaches 1 / level at z = λ. The level must not depend on other tests, since λ must not.

    De la Peña, A general class of exponential inequalities for martingales and ratios, Annals of Probability 1999; Vovk
    and Wang, E-values: calibration, combination and applications, Annals of Statistics 2021.
    """
    check_alternative(alternative)
    check_between("level", level, 0, 1)
    if alternative == "two-sided":
        sides: tuple[Alternative, ...] = ("less", "greater")
        return sum(sign_flip_e_value(differences, level=level, alternative=side, units=units) for side in sides) / 2
    totals = sample(differences, units, name="differences").totals
    spread = math.sqrt(float(np.square(totals).sum()))
    if not spread:
        return 1.0
    x = math.sqrt(-2 * math.log(level)) * totals / spread * (-1.0 if alternative == "less" else 1.0)
    # x − ln cosh x = ln 2 − ln(1 + exp(−2 x)), which does not overflow
    return math.exp(float((math.log(2.0) - np.logaddexp(0.0, -2 * x)).sum()))
