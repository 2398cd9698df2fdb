"""How differences are tested, and over what their p values are corrected."""

from __future__ import annotations

import math
from typing import Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import UsageError, nearest
from rankgauge.stats.results import ALTERNATIVES, PAIRED_TESTS, PERMUTATIONS, RESAMPLES, Alternative, PairedTest

Scope = Literal["all pairs", "baseline", "best"]  # of the differences that are corrected together
FEWEST_SYSTEMS, MOST_SYSTEMS = 3, 40  # that are compared in all pairs; 40 systems are 780 pairs
LARGEST_CHANGES = 3  # of queries, each way: how many a comparison shows
ROPE = 0.01  # of measures from 0 to 1
SIGN_TESTS = ("randomization", "wilcoxon", "sign")  # their p is a share of the ways to assign signs to the queries
NOT_CORRECTED = "not corrected"


@dataclass(frozen=True)
class Statistics:
    """How differences are tested: p is compared with 1 − ``confidence``, which is also the confidence of intervals.

    By default, p values and simultaneous intervals come from the same draws of a studentized bootstrap (max-t); other
    tests are corrected by Holm's method, over the same family. ``rope`` is the
    region of practical equivalence: a difference whose interval lies within ± ``rope`` does not matter; None is 0.01
    for measures from 0 to 1, and no region for others.
    """

    test: PairedTest = setting(
        "bootstrap", "Choose the paired test of a difference.", Section.STATISTICS, choices=PAIRED_TESTS
    )
    confidence: float = setting(
        0.95,
        "Set the confidence of intervals; a p of at most 1 − LEVEL is significant.",
        Section.STATISTICS,
        flag="--confidence LEVEL",
        limits="0<x<1",
        common=True,
    )
    alternative: Alternative = "two-sided"
    resamples: int | None = setting(
        None,
        "Set the number of draws.  [default: 10,000 bootstrap resamples, 100,000 permutations]",
        Section.STATISTICS,
        flag="statistics.resamples",
        limits=">=1",
    )
    seed: int = setting(
        0, "Seed the random numbers; the same seed gives the same p.", Section.STATISTICS, flag="statistics.seed"
    )
    rope: float | None = setting(
        None,
        "Call runs equivalent if the interval of their difference is within ± this.  [default: 0.01 for measures from "
        "0 to 1, else none]",
        Section.STATISTICS,
        flag="statistics.rope",
        limits=">0",
    )
    target_difference: float | None = setting(
        None,
        "Show how many queries are needed to detect a true difference of this size with 80% power.",
        Section.STATISTICS,
        flag="statistics.target_difference",
        limits=">0",
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.alternative not in ALTERNATIVES:
            close = nearest(self.alternative, ALTERNATIVES)
            raise UsageError(
                f"alternative: expected one of {', '.join(ALTERNATIVES)}, found {self.alternative!r}",
                hint=f"did you mean {close}?" if close else None,
            )

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return round(1 - self.confidence, 12)

    @property
    def is_joint(self) -> bool:
        """Whether p values and intervals come from the same draws and agree."""
        return self.test == "bootstrap"

    @property
    def correction(self) -> str:
        """How p is corrected for the number of comparisons."""
        return "max-t" if self.is_joint else "Holm"

    @property
    def draws(self) -> int | None:
        """The number of resamples or permutations; None if the test has none."""
        if self.test == "bootstrap":
            return RESAMPLES if self.resamples is None else self.resamples
        if self.test == "randomization":
            return PERMUTATIONS if self.resamples is None else self.resamples
        return None

    @property
    def description(self) -> str:
        """The test and its draws."""
        draws = "" if self.draws is None else f", {self.draws:,} resamples, seed {self.seed}"
        return f"{self.test} test{draws}"

    def rope_of(self, low: float, high: float) -> float | None:
        """The region of practical equivalence of a measure with this range."""
        return ROPE if self.rope is None and (low, high) == (0.0, 1.0) else self.rope

    def intervals_of(self, family: int) -> str:
        """What the intervals of a family of this size are: for each difference alone, or for all together."""
        if family < 2:
            return ""
        return "simultaneous" if self.is_joint else "unadjusted"

    def strictest_alpha(self, size: int) -> float:
        """The level that the correction can leave to one of ``size`` p values, at worst."""
        return self.alpha if size < 2 else self.alpha / size


def is_significant(p: float | None, alpha: float) -> bool:
    """Whether a p, corrected if there are several, is at most alpha; a missing p is not significant."""
    return p is not None and p <= alpha


def describe_family(correction: str, size: int, *factors: tuple[int, str]) -> str:
    """The correction, over how many p values, and what they are of; tests without a p are not counted."""
    if size < 2:
        return NOT_CORRECTED
    without = math.prod(count for count, _ in factors) - size
    product = " × ".join(plural(count, noun) for count, noun in factors)
    missing = f", {without} without p" if without else ""
    return f"{correction} over {size} comparisons ({product}{missing})"
