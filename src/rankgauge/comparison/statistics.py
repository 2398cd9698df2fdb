"""How differences are tested, and over what their p values are corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

from rankgauge.errors import UsageError, nearest
from rankgauge.stats.correction import Correction as Listed
from rankgauge.stats.results import ALTERNATIVES, Alternative
from rankgauge.stats.tests import PAIRED_TESTS, PairedTest

Correction = Literal["none", "bonferroni", "holm", "bh", "by", "maxt", "tukey"]
CORRECTIONS: tuple[Correction, ...] = ("holm", "bonferroni", "bh", "by", "maxt", "tukey", "none")
SAID: dict[str, str] = {
    "none": "not corrected",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "by": "Benjamini–Yekutieli",
    "maxt": "single-step max-T",
    "tukey": "randomised Tukey HSD",
}


@dataclass(frozen=True)
class Statistics:
    """How differences are tested."""

    test: PairedTest = "randomization"
    correction: Correction = "holm"
    confidence: float = 0.95
    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    margin: float | None = None  # within which systems are tested for being equivalent
    wanted: float | None = None  # a difference, of which it is said how many queries would show it

    def __post_init__(self) -> None:
        for name, fine, wanted in (
            ("margin", self.margin is None or _real(self.margin, 0, math.inf), "be a number above 0"),
            ("wanted", self.wanted is None or _real(self.wanted, 0, math.inf), "be a number above 0"),
            ("confidence", _real(self.confidence, 0, 1), "lie between 0 and 1"),
            ("resamples", _whole(self.resamples) and self.resamples > 0, "be a whole number of at least 1"),
            ("seed", _whole(self.seed), "be a whole number"),
        ):
            if not fine:
                raise UsageError(f"{name} must {wanted}, found {getattr(self, name)!r}")
        for name, value, known in (
            ("test", self.test, PAIRED_TESTS),
            ("correction", self.correction, CORRECTIONS),
            ("alternative", self.alternative, ALTERNATIVES),
        ):
            if value not in known:
                close = nearest(str(value), list(known))
                raise UsageError(
                    f"{name} must be one of {', '.join(known)}, found '{value}'",
                    hint=f"did you mean {close}?" if close else None,
                )
        if self.correction == "tukey" and self.alternative != "two-sided":
            raise UsageError("Tukey's test of all pairs is two-sided", hint="use the correction maxt, or holm")

    @property
    def alpha(self) -> float:
        """What a p must be below."""
        return round(1 - self.confidence, 12)


def one_by_one(correction: str) -> Listed:
    """How p values are corrected that are made one by one, where those of systems are made jointly."""
    known: dict[str, Listed] = {"none": "none", "bonferroni": "bonferroni", "bh": "bh", "by": "by"}
    return known.get(correction, "holm")


def over(correction: str, size: int, *factors: tuple[int, str]) -> str:
    """Which correction, over how many p values, and what they are of; what has no p is not counted."""
    if correction == "none" or size < 2:
        return SAID["none"]
    without = math.prod(count for count, _ in factors) - size
    listed = " × ".join(many(count, what) for count, what in factors)
    return f"{SAID[correction]} over {size} comparisons ({listed}{f', {without} without p' if without else ''})"


def many(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _real(value: Any, low: float, high: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and low < float(value) < high


def _whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)
