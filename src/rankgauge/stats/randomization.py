"""Fisher's randomization test: is the mean difference larger than with the two systems swapped at random?

A permutation gives each difference a random sign. Eight signs are the bits of a byte, and a table holds the sum of
eight differences under each of the 256 bytes, so a permutation costs one lookup per eight queries. Differences of 0
are dropped. With few differences all sign patterns are enumerated instead of sampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.stats.distributions import count_extreme
from rankgauge.stats.draws import (
    DEFAULT_RESAMPLING,
    PERMUTATIONS,
    RESAMPLES_PER_BLOCK,
    RandomStream,
    Resampling,
    blocks,
)
from rankgauge.stats.results import Alternative, TestResult, check_alternative
from rankgauge.stats.samples import Floats, Sample, Units, paired

MAX_EXACT_DIFFERENCES = 28  # two halves of 2¹⁴ sums, which is cheaper than sampling
_BYTE_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")


def randomization_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> TestResult:
    """Fisher's paired randomization test of the mean difference. If queries share units, whole units are swapped.

    With up to 28 differences that are not 0, p is the exact share of all sign patterns at least as extreme; otherwise
    (b + 1) / (B + 1), where b of B random patterns are. Fisher, The Design of Experiments, 1935; Smucker, Allan and
    Carterette, A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007.
    """
    check_alternative(alternative)
    return flip_test(paired(first, second, units), alternative, resampling)


def flip_test(data: Sample, alternative: Alternative, resampling: Resampling) -> TestResult:
    """Test whether a sample is symmetric about 0."""
    resamples, stream = resampling.count(PERMUTATIONS), resampling.stream
    mean = data.mean if len(data) else None
    result = TestResult(mean, None, len(data), "randomization", alternative, estimate=mean, units=data.shared)
    if not len(data):
        return replace(result, reason="there are no differences")
    parts = data.totals[data.totals != 0]
    if len(parts) <= MAX_EXACT_DIFFERENCES:
        return replace(result, p=exact_p(parts, data.total, data.slack, alternative), exact=True)
    extreme = sum(
        count_extreme(sums[0], data.total, data.slack, alternative)
        for sums in flipped_sums(parts[:, np.newaxis], resamples, stream)
    )
    p = (extreme + 1) / (resamples + 1)
    return replace(result, p=p, exact=False, resamples=resamples, seed=int(stream.seed))


def exact_p(parts: Floats, observed: float, slack: float, alternative: Alternative) -> float:
    """The share of all sign patterns whose sum is at least as extreme, by meeting in the middle."""
    bound = (abs(observed) if alternative == "two-sided" else observed * (-1 if alternative == "less" else 1)) - slack
    if alternative == "two-sided" and bound <= 0:
        return 1.0
    left, right = all_sums(parts[::2]), np.sort(all_sums(parts[1::2]))
    reached = len(right) * len(left) - int(np.searchsorted(right, bound - left, side="left").sum())
    # Patterns come in pairs of opposite sums: "greater" and "less" have the same count, "two-sided" twice that.
    return reached * (2 if alternative == "two-sided" else 1) / (len(left) * len(right))


def all_sums(parts: Floats) -> Floats:
    """The sum under every sign pattern."""
    sums = np.zeros(1)
    for part in parts.tolist():
        sums = np.concatenate([sums + part, sums - part])
    return sums


def flipped_sums(parts: Floats, resamples: int, stream: RandomStream) -> Iterator[Floats]:
    """The sum of each column of ``parts`` under random signs of its rows, one block of permutations at a time."""
    tables = sign_tables(parts)
    for number, size in blocks(resamples):
        bits = stream.child("sign flips", f"block {number}").bits()
        yield look_up(tables, bits.bytes(len(tables), size + -size % 8)[:, :size])


def enumerated_sums(parts: Floats) -> Iterator[Floats]:
    """The sum of each column of ``parts`` under every sign pattern of its rows, one block at a time."""
    tables = sign_tables(parts)
    for number, size in blocks(1 << len(parts)):
        pattern = np.arange(size, dtype=np.int64) + number * RESAMPLES_PER_BLOCK
        yield look_up(tables, np.array([(pattern >> 8 * row) & 255 for row in range(len(tables))], dtype=np.uint8))


def sign_tables(parts: Floats) -> Floats:
    """For every eight rows of ``parts`` and each of its columns, the sum under each of the 256 sign patterns."""
    padded = np.zeros((len(parts) + -len(parts) % 8, parts.shape[1]))
    padded[: len(parts)] = parts
    tables: Floats = np.einsum("be,rec->rcb", _BYTE_SIGNS, padded.reshape(-1, 8, parts.shape[1]))
    return np.ascontiguousarray(tables)


def look_up(tables: Floats, patterns: NDArray[np.uint8]) -> Floats:
    """The sum of each column under each sign pattern, given as one row of bytes per eight queries."""
    sums = np.zeros((tables.shape[1], patterns.shape[1]))
    part = np.empty_like(sums)
    for table, pattern in zip(tables, patterns, strict=True):
        np.take(table, pattern, axis=1, out=part, mode="wrap")  # the mode that does not buffer; no byte is out of range
        sums += part
    return sums
