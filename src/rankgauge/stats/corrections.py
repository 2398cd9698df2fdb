"""Holm's correction for multiple testing: adjusted p values, to be compared directly with the level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.errors import InputError


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """The p values of a family of hypotheses, corrected for their number. None stays None and is not counted."""

    p: tuple[float | None, ...]
    family: int


def holm(p: Sequence[float | None]) -> FamilyResult:
    """The i-th smallest p times the hypotheses not yet rejected (m − i + 1), never below that of a smaller p.

    Holm, A simple sequentially rejective multiple test procedure, Scandinavian J. Statistics 1979.
    """
    indices = [index for index, value in enumerate(p) if value is not None]
    values = np.array([p[index] for index in indices], dtype=np.float64)
    outside = values[~((values >= 0) & (values <= 1))]
    if len(outside):
        raise InputError(f"p values must lie between 0 and 1, found {outside[0]:g}")
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(order), 0, -1)), 1.0)
    out: list[float | None] = [None] * len(p)
    for index, value in zip(indices, corrected.tolist(), strict=True):
        out[index] = value
    return FamilyResult(tuple(out), len(indices))
