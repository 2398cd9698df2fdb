"""The results of intervals, tests and corrections, and the checks of their options."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from rankgauge.errors import UsageError, shown


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none.

    ``alternative='greater'`` is a lower bound and leaves the upper end open, ``'less'`` an upper bound. An open end is
    the largest or smallest possible value (1 for a proportion), or infinite if there is none.
    """

    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    estimate: float | None = None
    alternative: Alternative = "two-sided"
    units: int | None = None  # the number of units, if queries share them
    resamples: int | None = None
    seed: int | None = None

    def with_open_end(self, least: float, most: float) -> Interval:
        """The interval with the open end of a one-sided interval filled in."""
        if self.alternative == "greater":
            return replace(self, high=most)
        return replace(self, low=least) if self.alternative == "less" else self

    def to_dict(self) -> dict[str, Any]:
        """For JSON; an infinite end is null."""
        low, high = (None if end is None or math.isinf(end) else end for end in (self.low, self.high))
        return {"low": low, "high": high, "confidence": self.confidence, "method": self.method, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class TestResult:
    """A p value with its statistic, or the reason why there is none.

    ``alternative='greater'`` tests whether the first is greater than the second.
    """

    __test__: ClassVar[bool] = False  # pytest collects any class whose name begins with Test

    statistic: float | None
    p: float | None
    n: int
    method: str
    alternative: Alternative
    reason: str | None = None
    estimate: float | None = None
    df: float | None = None
    exact: bool | None = None  # True if the null distribution was enumerated, False if it was sampled
    resamples: int | None = None
    seed: int | None = None
    units: int | None = None
    margin: float | None = None


def check_alternative(alternative: str) -> None:
    """Raise unless it is one of the three alternatives."""
    check_choice("alternative", alternative, ALTERNATIVES)


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless a value is one of the choices."""
    if value not in choices:
        raise UsageError(f"{option} must be one of {', '.join(choices)}, found {shown(str(value))}")


def check_between(option: str, value: float, low: float, high: float) -> None:
    """Raise unless a number is strictly between two others."""
    if not low < value < high:
        raise UsageError(f"{option} must lie between {low:g} and {high:g}, found {value!r}")


def tail_probability(confidence: float, alternative: Alternative) -> float:
    """The probability left outside at each closed end of an interval."""
    check_between("confidence", confidence, 0, 1)
    check_alternative(alternative)
    return (1 - confidence) / 2 if alternative == "two-sided" else 1 - confidence


# The names and the defaults of options, apart from the tests, so that a command line can list them cheaply.

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
PairedTest = Literal["t", "randomization", "wilcoxon", "sign", "bootstrap"]
PAIRED_TESTS: tuple[PairedTest, ...] = get_args(PairedTest)
PERMUTATIONS = 100_000  # the default number for tests that permute
RESAMPLES = 10_000  # the default number for bootstraps
