"""How differences are tested, and over what their p values are corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.core.formatting import plural
from rankgauge.errors import UsageError, nearest
from rankgauge.stats.results import ALTERNATIVES, PAIRED_TESTS, Alternative, PairedTest
from rankgauge.stats.seeds import PERMUTATIONS

if TYPE_CHECKING:
    from rankgauge.stats.correction import Correction as ListCorrection

Correction = Literal["none", "bonferroni", "holm", "bh", "by", "maxt", "tukey"]
CORRECTIONS: tuple[Correction, ...] = ("holm", "bonferroni", "bh", "by", "maxt", "tukey", "none")
SIGN_TESTS = ("randomization", "wilcoxon", "sign")  # their p is a share of the ways to assign signs to the queries
CORRECTION_LABELS: dict[str, str] = {
    "none": "not corrected",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "by": "Benjamini–Yekutieli",
    "maxt": "single-step max-T",
    "tukey": "randomized Tukey HSD",
}


@dataclass(frozen=True)
class Statistics:
    """How differences are tested: p is compared with 1 − ``confidence``, which is also the confidence of intervals."""

    test: PairedTest = "randomization"
    correction: Correction = "holm"
    confidence: float = 0.95
    alternative: Alternative = "two-sided"
    resamples: int = PERMUTATIONS
    seed: int = 0
    equivalence_margin: float | None = None  # systems are tested for being equivalent within ± this margin
    target_difference: float | None = None  # the number of queries that would show it is computed

    def __post_init__(self) -> None:
        for name, valid, expected in (
            ("equivalence_margin", _is_positive(self.equivalence_margin), "be a number above 0"),
            ("target_difference", _is_positive(self.target_difference), "be a number above 0"),
            ("confidence", _is_between(self.confidence, 0, 1), "lie between 0 and 1"),
            ("resamples", _is_integer(self.resamples) and self.resamples > 0, "be a whole number of at least 1"),
            ("seed", _is_integer(self.seed), "be a whole number"),
        ):
            if not valid:
                raise UsageError(f"{name} must {expected}, found {getattr(self, name)!r}")
        for name, value, choices in (
            ("test", self.test, PAIRED_TESTS),
            ("correction", self.correction, CORRECTIONS),
            ("alternative", self.alternative, ALTERNATIVES),
        ):
            if value not in choices:
                close = nearest(str(value), list(choices))
                raise UsageError(
                    f"{name} must be one of {', '.join(choices)}, found '{value}'",
                    hint=f"did you mean {close}?" if close else None,
                )
        if self.correction == "tukey" and self.alternative != "two-sided":
            raise UsageError("Tukey's test of all pairs is two-sided", hint="use the correction maxt or holm")

    @property
    def alpha(self) -> float:
        """The largest p that is significant."""
        return round(1 - self.confidence, 12)

    def strictest_alpha(self, size: int) -> float:
        """The level that the correction can leave to one of ``size`` p values, at worst."""
        if self.correction == "none" or size < 2:
            return self.alpha
        factor = sum(1 / rank for rank in range(1, size + 1)) if self.correction == "by" else 1.0
        return self.alpha / (size * factor)


def is_significant(p: float | None, alpha: float) -> bool:
    """Whether a p, corrected if there are several, is at most alpha; a missing p is not significant."""
    return p is not None and p <= alpha


def separate_correction(correction: str) -> ListCorrection:
    """The correction of p values that are computed separately, if those of the systems are computed jointly."""
    listed: dict[str, ListCorrection] = {"none": "none", "bonferroni": "bonferroni", "bh": "bh", "by": "by"}
    return listed.get(correction, "holm")


def describe_family(correction: str, size: int, *factors: tuple[int, str]) -> str:
    """The correction, over how many p values, and what they are of; tests without a p are not counted."""
    if correction == "none" or size < 2:
        return CORRECTION_LABELS["none"]
    without = math.prod(count for count, _ in factors) - size
    product = " × ".join(plural(count, noun) for count, noun in factors)
    missing = f", {without} without p" if without else ""
    return f"{CORRECTION_LABELS[correction]} over {size} comparisons ({product}{missing})"


def _is_between(value: Any, low: float, high: float) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and low < float(value) < high


def _is_positive(value: Any) -> bool:
    return value is None or _is_between(value, 0, math.inf)


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)
