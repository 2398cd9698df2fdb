"""What intervals and tests give back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from rankgauge.errors import UsageError, shown

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none.

    ``alternative='greater'`` is a lower bound and leaves the upper end open, ``'less'`` an upper bound: an open end is
    where the quantity ends (1 for a proportion), infinite where it does not.
    """

    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    estimate: float | None = None
    alternative: Alternative = "two-sided"
    units: int | None = None  # how many, where queries share them
    resamples: int | None = None
    seed: int | None = None

    def opened(self, least: float, most: float) -> Interval:
        """The interval with the end that a one-sided one leaves open."""
        if self.alternative == "greater":
            return replace(self, high=most)
        return replace(self, low=least) if self.alternative == "less" else self

    def to_dict(self) -> dict[str, Any]:
        """For JSON; an end that is open, or beyond any float, is null."""
        low, high = (None if end is None or math.isinf(end) else end for end in (self.low, self.high))
        return {"low": low, "high": high, "confidence": self.confidence, "method": self.method, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class TestResult:
    """A p value and what it was made of, or the reason why there is none.

    ``alternative='greater'`` asks whether the first is greater than the second.
    """

    __test__: ClassVar[bool] = False  # pytest takes any name that begins with Test

    statistic: float | None
    p: float | None
    n: int
    method: str
    alternative: Alternative
    reason: str | None = None
    estimate: float | None = None
    df: float | None = None
    exact: bool | None = None  # for a distribution that was enumerated, or drawn from
    resamples: int | None = None
    seed: int | None = None
    units: int | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """The p values of a family of hypotheses, corrected for their number. None stays None and is not counted."""

    p: tuple[float | None, ...]
    family: int
    method: str
    controls: str
    assumption: str
    alternative: Alternative = "two-sided"
    statistic: tuple[float | None, ...] = ()
    estimate: tuple[float | None, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()  # which two systems, where the hypotheses are pairs
    n: int | None = None
    units: int | None = None
    exact: bool | None = None
    resamples: int | None = None
    seed: int | None = None
    reason: str | None = None


def check_alternative(alternative: str) -> None:
    """Refuse anything but the three."""
    check_choice("alternative", alternative, ALTERNATIVES)


def check_choice(option: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a word that is not one of those known."""
    if value not in known:
        raise UsageError(f"{option} must be one of {', '.join(known)}, found {shown(str(value))}")


def check_between(option: str, value: float, low: float, high: float) -> None:
    """Refuse a number that does not lie strictly between two others."""
    if not low < value < high:
        raise UsageError(f"{option} must lie between {low:g} and {high:g}, found {value!r}")


def check_resamples(resamples: int) -> None:
    """Refuse a number of resamples that says nothing."""
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, found {resamples!r}")


def tail_probability(confidence: float, alternative: Alternative) -> float:
    """The probability left outside at each closed end of an interval."""
    check_between("confidence", confidence, 0, 1)
    check_alternative(alternative)
    return (1 - confidence) / 2 if alternative == "two-sided" else 1 - confidence
