"""Fisher's randomisation test: is the mean difference larger than with the two systems swapped at random?

A permutation gives each difference a random sign. Eight signs are the bits of a byte, and a table holds the sum of
eight differences under each of the 256 bytes, so a permutation costs one look-up for eight queries. Differences of 0
drop out. For few differences all sign patterns are counted instead of drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.stats.distributions import count_extreme
from rankgauge.stats.results import Alternative, TestResult, check_alternative, check_resamples
from rankgauge.stats.samples import Floats, Sample, Units, paired
from rankgauge.stats.seeds import BLOCK, RandomStream, blocks

PERMUTATIONS = 100_000
EXACT_UP_TO = 28  # differences: two halves of 2¹⁴ sums, which costs less than drawing
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little")


def randomization_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resamples: int = PERMUTATIONS,
    seed: int = 0,
    labels: tuple[str, ...] = (),
) -> TestResult:
    """Fisher's paired randomisation test of the mean difference. Where units are shared, whole units are swapped.

    With up to 28 differences that are not 0, p is the exact share of all sign patterns at least as extreme; otherwise
    (b + 1) / (B + 1), where b of B random patterns are. Fisher, The Design of Experiments, 1935; Smucker, Allan and
    Carterette, A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007.
    """
    check_alternative(alternative)
    check_resamples(resamples)
    return flip_test(paired(first, second, units), alternative, resamples, RandomStream(seed, labels))


def flip_test(found: Sample, alternative: Alternative, resamples: int, stream: RandomStream) -> TestResult:
    """The test that a sample is symmetric about 0."""
    mean = found.mean if len(found) else None
    result = TestResult(mean, None, len(found), "randomization", alternative, estimate=mean, units=found.shared)
    if not len(found):
        return replace(result, reason="there are no differences")
    parts = found.totals[found.totals != 0]
    if len(parts) <= EXACT_UP_TO:
        return replace(result, p=exact_p(parts, found.total, found.slack, alternative), exact=True)
    extreme = sum(
        count_extreme(sums[0], found.total, found.slack, alternative)
        for sums in flipped_sums(parts[:, np.newaxis], resamples, stream)
    )
    p = (extreme + 1) / (resamples + 1)
    return replace(result, p=p, exact=False, resamples=resamples, seed=int(stream.seed))


def exact_p(parts: Floats, observed: float, slack: float, alternative: Alternative) -> float:
    """The share of all sign patterns whose sum is at least as extreme, counted by meeting in the middle."""
    bound = (abs(observed) if alternative == "two-sided" else observed * (-1 if alternative == "less" else 1)) - slack
    if alternative == "two-sided" and bound <= 0:
        return 1.0
    left, right = all_sums(parts[::2]), np.sort(all_sums(parts[1::2]))
    reached = len(right) * len(left) - int(np.searchsorted(right, bound - left, side="left").sum())
    # Patterns come in pairs of opposite sums: what holds for "greater" holds for "less", and twice for both.
    return reached * (2 if alternative == "two-sided" else 1) / (len(left) * len(right))


def all_sums(parts: Floats) -> Floats:
    """The sum under every sign pattern."""
    sums = np.zeros(1)
    for part in parts.tolist():
        sums = np.concatenate([sums + part, sums - part])
    return sums


def flipped_sums(parts: Floats, resamples: int, stream: RandomStream) -> Iterator[Floats]:
    """The sum of each column of ``parts`` under random signs of its rows, a block of permutations at a time."""
    tables = sign_tables(parts)
    for number, size in blocks(resamples):
        source = stream.child("sign flips", f"block {number}").source()
        yield look_up(tables, source.bytes(len(tables), size + -size % 8)[:, :size])


def enumerated_sums(parts: Floats) -> Iterator[Floats]:
    """The sum of each column of ``parts`` under every sign pattern of its rows, a block at a time."""
    tables = sign_tables(parts)
    for number, size in blocks(1 << len(parts)):
        pattern = np.arange(size, dtype=np.int64) + number * BLOCK
        yield look_up(tables, np.array([(pattern >> 8 * row) & 255 for row in range(len(tables))], dtype=np.uint8))


def sign_tables(parts: Floats) -> Floats:
    """For each eight rows of ``parts`` and each of its columns, the sum under each of the 256 patterns of signs."""
    padded = np.zeros((len(parts) + -len(parts) % 8, parts.shape[1]))
    padded[: len(parts)] = parts
    tables: Floats = np.einsum("be,rec->rcb", _SIGNS, padded.reshape(-1, 8, parts.shape[1]))
    return np.ascontiguousarray(tables)


def look_up(tables: Floats, patterns: NDArray[np.uint8]) -> Floats:
    """The sum of each column for each pattern of signs, given as one row of bytes for each eight queries."""
    sums = np.zeros((tables.shape[1], patterns.shape[1]))
    part = np.empty_like(sums)
    for table, pattern in zip(tables, patterns, strict=True):
        np.take(table, pattern, axis=1, out=part, mode="wrap")  # the mode that does not buffer; no byte is out of range
        sums += part
    return sums
