"""Corrections for multiple testing. Each returns adjusted p values, to be compared directly with the level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from rankgauge.errors import InputError
from rankgauge.stats.results import FamilyResult, check_choice
from rankgauge.stats.samples import Floats

PValues = Sequence[float | None]
FAMILY_WISE = "the probability of any false positive (family-wise error rate)"
DISCOVERY = "the expected share of false positives among all positives (false discovery rate)"
PER_TEST = "the probability of a false positive in each test alone"


def bonferroni(p: PValues) -> FamilyResult:
    """Each p times the number of tests. Dunn, Multiple comparisons among means, JASA 1961."""
    return _adjusted(p, "bonferroni", FAMILY_WISE, "none", lambda ordered: ordered * len(ordered))


def holm(p: PValues) -> FamilyResult:
    """The i-th smallest p times the hypotheses not yet rejected (m − i + 1), never below that of a smaller p.

    Holm, A simple sequentially rejective multiple test procedure, Scandinavian J. Statistics 1979.
    """

    def step_down(ordered: Floats) -> Floats:
        return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))

    return _adjusted(p, "holm", FAMILY_WISE, "none", step_down)


def benjamini_hochberg(p: PValues) -> FamilyResult:
    """The i-th smallest p times m / i, never above that of a larger p.

    Benjamini and Hochberg, Controlling the false discovery rate, J. Royal Statistical Society B 1995.
    """
    return _adjusted(p, "bh", DISCOVERY, "tests are independent or positively dependent", _step_up)


Correction = Literal["none", "bonferroni", "holm", "bh"]
P_VALUE_CORRECTIONS: tuple[Correction, ...] = ("none", "bonferroni", "holm", "bh")


def correct(p: PValues, method: Correction = "holm") -> FamilyResult:
    """Apply a correction by its name; ``none`` leaves every p unchanged."""
    check_choice("correction", method, P_VALUE_CORRECTIONS)
    corrections: dict[str, Callable[[PValues], FamilyResult]] = {
        "bonferroni": bonferroni,
        "holm": holm,
        "bh": benjamini_hochberg,
    }
    if method == "none":
        return _adjusted(p, "none", PER_TEST, "none", lambda ordered: ordered)
    return corrections[method](p)


def _step_up(ordered: Floats) -> Floats:
    m = len(ordered)
    return np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[::-1])[::-1]


def _adjusted(
    p: PValues, method: str, controls: str, assumption: str, adjust: Callable[[Floats], Floats]
) -> FamilyResult:
    """Adjust the p values that are not None, in ascending order, and put them back in place."""
    indices = [index for index, value in enumerate(p) if value is not None]
    values = np.array([p[index] for index in indices], dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError(f"p values must lie between 0 and 1, found {values[~((values >= 0) & (values <= 1))][0]:g}")
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(adjust(values[order]), 1.0)
    out: list[float | None] = [None] * len(p)
    for index, value in zip(indices, corrected.tolist(), strict=True):
        out[index] = value
    return FamilyResult(tuple(out), len(indices), method, controls, assumption)
