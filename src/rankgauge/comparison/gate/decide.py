"""Did any measure drop, by more than luck and by at least the margin? Arrays in, one decision a measure out.

A drop fails where it is significant and at least the margin. Significant means: one-sided, corrected over all gated
measures by max-T, so that of all the builds in which nothing changed a share of at most alpha fails, however many
measures are gated. What does not fail is either shown to be no worse than the margin, or it is open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from numpy.typing import ArrayLike

from rankgauge.errors import UsageError
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.maxt import maxt
from rankgauge.stats.power import detectable_difference, queries_needed
from rankgauge.stats.randomization import PERMUTATIONS
from rankgauge.stats.results import check_between
from rankgauge.stats.samples import Floats, Sample, Units, matrix, sample
from rankgauge.stats.tests import equivalence, paired_test

Outcome = Literal["worse", "no worse", "inconclusive", "unchanged"]
ROUNDING = 1e-12
POWER = 0.8
LABELS = ("gate",)


@dataclass(frozen=True, slots=True)
class Rule:
    """When a drop fails, and how that is found out."""

    margin: float = 0.0  # smaller drops never fail
    alpha: float = 0.05  # the share of builds that may fail though nothing changed
    power: float = POWER  # at which the smallest drop that could have been seen is stated
    resamples: int = PERMUTATIONS
    seed: int = 0

    def __post_init__(self) -> None:
        check_between("alpha", self.alpha, 0, 1)
        check_between("power", self.power, self.alpha, 1)
        if not 0 <= self.margin < math.inf:
            raise UsageError(f"margin must be a number from 0, found {self.margin!r}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one measure. Differences are now − then, positive where it got better."""

    outcome: Outcome
    difference: float
    low: float | None  # of the interval at 1 − alpha, for this measure alone
    high: float | None
    p: float | None  # of the drop, corrected over all gated measures
    p_no_worse: float | None  # of not being worse by the margin, for this measure alone
    smallest_drop: float | None  # that would have failed with the power asked for; None where nothing varies
    detectable: float | None  # the same, were there no margin
    needed: int | None  # queries that would show a drop of the margin, where these do not
    n: int
    units: int  # how many of them are independent


def decide(differences: ArrayLike, rule: Rule | None = None, *, units: Units | None = None) -> tuple[Decision, ...]:
    """A row for each query, a column for each gated measure; a decision for each column."""
    rule = rule or Rule()
    values = matrix(differences, "differences")
    tested = maxt(values, alternative="less", units=units, resamples=rule.resamples, seed=rule.seed, labels=LABELS)
    return tuple(_decision(column, p, len(tested.p), rule, units) for column, p in zip(values.T, tested.p, strict=True))


def _decision(column: Floats, p: float | None, family: int, rule: Rule, units: Units | None) -> Decision:
    one = sample(column, units)
    no_worse = _no_worse(column, rule, units)
    interval = difference_interval(column, confidence=1 - rule.alpha, units=units)
    # Bonferroni's level is the strictest that max-T can come to: the power is at least the one asked for.
    seen, needed = _seen(one, rule, rule.alpha / family)
    return Decision(
        outcome=_outcome(one, rule, p, no_worse),
        difference=one.mean if len(one) else 0.0,
        low=interval.low,
        high=interval.high,
        p=p,
        p_no_worse=no_worse,
        smallest_drop=None if seen is None else max(seen, _past(one, rule)),
        detectable=seen,
        needed=needed,
        n=len(one),
        units=one.units,
    )


def _outcome(one: Sample, rule: Rule, p: float | None, no_worse: float | None) -> Outcome:
    if not len(one):
        return "inconclusive"
    if not one.whole.any():
        return "unchanged"
    drop = -one.mean
    if p is not None and p <= rule.alpha and drop > 0 and drop >= rule.margin - ROUNDING:
        return "worse"
    return "no worse" if no_worse is not None and no_worse <= rule.alpha else "inconclusive"


def _no_worse(column: Floats, rule: Rule, units: Units | None) -> float | None:
    """p of the one-sided test that a change is above −margin: by t, or by signs where all queries changed alike."""
    kinds: tuple[Literal["t"], Literal["randomization"]] = ("t", "randomization")
    drawn: dict[str, Any] = {"units": units, "resamples": rule.resamples, "seed": rule.seed, "labels": LABELS}
    for kind in kinds:
        if rule.margin > 0:
            result = equivalence(column, margin=rule.margin, test=kind, alternative="greater", **drawn)
        else:
            result = paired_test(kind, column, alternative="greater", **drawn)
        if result.p is not None:
            return result.p
    return None


def _seen(one: Sample, rule: Rule, alpha: float) -> tuple[float | None, int | None]:
    """The smallest drop that so many units show, and how many would show the margin, where that is smaller."""
    sd = _sd(one)
    if sd is None:
        return None, None
    found = sd * _in_deviations(one.units, rule.power, alpha)
    if not 0 < rule.margin < found:
        return found, None
    return found, queries_needed(rule.margin, sd, power=rule.power, alpha=alpha, alternative="greater").n


@cache
def _in_deviations(units: int, power: float, alpha: float) -> float:
    """The smallest drop that so many units show, in standard deviations: it takes a search, and builds repeat it."""
    found = detectable_difference(1.0, units, power=power, alpha=alpha, alternative="greater").difference
    return math.inf if found is None else found


def _past(one: Sample, rule: Rule) -> float:
    """The true drop whose measured value is at least the margin as often as the power says."""
    return rule.margin + t_quantile(rule.power, one.units - 1) * one.standard_error if rule.margin else 0.0


def _sd(one: Sample) -> float | None:
    """The spread of the units' differences; None where it is unknown."""
    if one.units < 2 or one.constant:
        return None
    return one.standard_error * math.sqrt(one.units)
