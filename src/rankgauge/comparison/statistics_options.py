"""How differences are tested, and over what their p values are corrected."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import UsageError, nearest
from rankgauge.stats.results import ALTERNATIVES, PAIRED_TESTS, PERMUTATIONS, RESAMPLES, Alternative, PairedTest

if TYPE_CHECKING:
    from rankgauge.stats.corrections import Correction as ListCorrection

Correction = Literal["auto", "none", "bonferroni", "holm", "bh", "maxt", "tukey"]
CORRECTIONS: tuple[Correction, ...] = ("holm", "bonferroni", "bh", "maxt", "tukey", "none")
Scope = Literal["all pairs", "baseline", "best"]  # of the differences that are corrected together
FEWEST_SYSTEMS, MOST_SYSTEMS = 3, 40  # that are compared in all pairs; 40 systems are 780 pairs
JOINT_TESTS = ("bootstrap", "randomization")  # the tests that maxt has draws of
LARGEST_CHANGES = 3  # of queries, each way: how many a comparison shows
ROPE = 0.01  # of measures from 0 to 1
SIGN_TESTS = ("randomization", "wilcoxon", "sign")  # their p is a share of the ways to assign signs to the queries
CORRECTION_LABELS: dict[str, str] = {
    "none": "not corrected",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "maxt": "max-t",
    "tukey": "randomized Tukey HSD",
}


@dataclass(frozen=True)
class Statistics:
    """How differences are tested: p is compared with 1 − ``confidence``, which is also the confidence of intervals.

    By default, p values and simultaneous intervals come from the same draws of a studentized bootstrap. ``rope`` is the
    region of practical equivalence: a difference whose interval lies within ± ``rope`` does not matter; None is 0.01
    for measures from 0 to 1, and no region for others.
    """

    test: PairedTest = setting(
        "bootstrap", "Choose the paired test of a difference.", Section.STATISTICS, choices=PAIRED_TESTS
    )
    correction: Correction = setting(
        "auto",
        "Correct p for the number of comparisons.  [default: maxt, jointly with the intervals; holm with a --test that "
        "has no joint draws]",
        Section.STATISTICS,
        choices=("auto", *CORRECTIONS),
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
        flag="--resamples N",
        limits=">=1",
    )
    seed: int = setting(
        0, "Seed the random numbers; the same seed gives the same p.", Section.STATISTICS, flag="--seed N"
    )
    rope: float | None = setting(
        None,
        "Call runs equivalent if the interval of their difference lies within ±SIZE.  [default: 0.01 for measures from "
        "0 to 1, else none]",
        Section.STATISTICS,
        flag="--rope SIZE",
        limits=">0",
    )
    target_difference: float | None = setting(
        None,
        "Show how many queries are needed to detect a true difference of this size with 80% power.",
        Section.STATISTICS,
        flag="--target-difference DIFFERENCE",
        limits=">0",
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.correction == "auto":
            object.__setattr__(self, "correction", default_correction(self.test))
        if self.alternative not in ALTERNATIVES:
            close = nearest(self.alternative, ALTERNATIVES)
            raise UsageError(
                f"alternative: expected one of {', '.join(ALTERNATIVES)}, found {self.alternative!r}",
                hint=f"did you mean {close}?" if close else None,
            )
        if self.correction == "maxt" and self.test not in JOINT_TESTS:
            raise UsageError(
                f"the correction maxt has no draws of the test {self.test}",
                hint=f"use one of {', '.join(JOINT_TESTS)}, or another correction, such as holm",
            )
        if self.correction == "tukey" and self.alternative != "two-sided":
            raise UsageError("Tukey's test of all pairs is two-sided", hint="use the correction maxt or holm")

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return round(1 - self.confidence, 12)

    @property
    def is_joint(self) -> bool:
        """Whether p values and intervals come from the same draws and agree."""
        return self.test == "bootstrap" and self.correction == "maxt"

    @property
    def draws(self) -> int | None:
        """The number of resamples or permutations; None if the test has none."""
        if self.test == "bootstrap":
            return RESAMPLES if self.resamples is None else self.resamples
        if self.test == "randomization" or self.correction == "tukey":
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
        if family < 2 or self.correction == "none":
            return ""
        if self.is_joint:
            return "simultaneous"
        return "Bonferroni" if self.correction == "bonferroni" else "unadjusted"

    def strictest_alpha(self, size: int) -> float:
        """The level that the correction can leave to one of ``size`` p values, at worst."""
        return self.alpha if self.correction == "none" or size < 2 else self.alpha / size


def default_correction(test: str) -> Correction:
    """The correction of a test: joint if there are joint draws of it."""
    return "maxt" if test in JOINT_TESTS else "holm"


def is_significant(p: float | None, alpha: float) -> bool:
    """Whether a p, corrected if there are several, is at most alpha; a missing p is not significant."""
    return p is not None and p <= alpha


def separate_correction(correction: str) -> ListCorrection:
    """The correction of p values that are computed separately, if those of the systems are computed jointly."""
    listed: dict[str, ListCorrection] = {"none": "none", "bonferroni": "bonferroni", "bh": "bh"}
    return listed.get(correction, "holm")


def separately_corrected(statistics: Statistics) -> Statistics:
    """The statistics of groups of queries, which Tukey's test of all systems does not cover."""
    return replace(statistics, correction="holm") if statistics.correction == "tukey" else statistics


def of_weighted_means(statistics: Statistics) -> Statistics:
    """The statistics of weighted means: by the bootstrap, which is the only test that has weights."""
    return replace(separately_corrected(statistics), test="bootstrap")


def describe_family(correction: str, size: int, *factors: tuple[int, str]) -> str:
    """The correction, over how many p values, and what they are of; tests without a p are not counted."""
    if correction == "none" or size < 2:
        return CORRECTION_LABELS["none"]
    without = math.prod(count for count, _ in factors) - size
    product = " × ".join(plural(count, noun) for count, noun in factors)
    missing = f", {without} without p" if without else ""
    return f"{CORRECTION_LABELS[correction]} over {size} comparisons ({product}{missing})"
