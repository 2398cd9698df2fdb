"""Plain, slow definitions of the statistics, to check the fast ones against."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise, permutations, product

NOISE = 1e-9  # in brute force two sums that differ by rounding are the same


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def t_statistic(values: Sequence[float]) -> float:
    """Student's t; infinite where nothing varies."""
    centre = mean(values)
    scatter = math.fsum((value - centre) ** 2 for value in values)
    if scatter < 1e-18:
        return 0.0 if abs(centre) < NOISE else math.copysign(math.inf, centre)
    return centre / math.sqrt(scatter / (len(values) - 1) / len(values))


def totals(values: Sequence[float], units: Sequence[Hashable]) -> list[float]:
    """The sum of each unit."""
    out: dict[Hashable, float] = {}
    for value, unit in zip(values, units, strict=True):
        out[unit] = out.get(unit, 0.0) + value
    return list(out.values())


def extreme(value: float, observed: float, alternative: str) -> bool:
    """Whether a value is at least as extreme as the observed one."""
    if alternative == "greater":
        return value >= observed - NOISE
    if alternative == "less":
        return value <= observed + NOISE
    return abs(value) >= abs(observed) - NOISE


def flips(values: Sequence[float]) -> Iterator[list[float]]:
    """The values under every pattern of signs."""
    for signs in product((1, -1), repeat=len(values)):
        yield [sign * value for sign, value in zip(signs, values, strict=True)]


def randomization_p(values: Sequence[float], alternative: str) -> float:
    """Fisher's test over all sign patterns, zeros included."""
    observed = math.fsum(values)
    found = [extreme(math.fsum(flipped), observed, alternative) for flipped in flips(values)]
    return sum(found) / len(found)


def midranks(values: Sequence[float]) -> list[float]:
    return [
        sum(other < value - NOISE for other in values) + (sum(abs(other - value) <= NOISE for other in values) + 1) / 2
        for value in values
    ]


def wilcoxon_p(values: Sequence[float], zeros: str, alternative: str) -> tuple[float, float]:
    """The sum of positive ranks and its p over all sign patterns."""
    kept = list(values) if zeros == "pratt" else [value for value in values if value]
    ranks = [rank for rank, value in zip(midranks([abs(v) for v in kept]), kept, strict=True) if value]
    signs = [1 if value > 0 else -1 for value in kept if value]
    half = sum(ranks) / 2
    observed = sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign > 0)
    sums = [sum(r for r, s in zip(ranks, pattern, strict=True) if s) for pattern in product((0, 1), repeat=len(ranks))]
    hits = sum(extreme(value - half, observed - half, alternative) for value in sums)
    return observed, hits / len(sums)


def strict_tau_ap(truth: Sequence[float], order: Sequence[int]) -> float:
    """The AP correlation of an order of places, best first, with true scores."""
    n = len(order)
    total = sum(
        sum(truth[above] > truth[order[i]] for above in order[:i]) / i
        for i in range(1, n)
    )  # fmt: skip
    return 2 / (n - 1) * total - 1


def tau_ap(truth: Sequence[float], estimate: Sequence[float]) -> float:
    """The mean over all orders that the estimate allows."""
    allowed = [
        order
        for order in permutations(range(len(truth)))
        if all(estimate[a] >= estimate[b] for a, b in pairwise(order))
    ]
    return mean([strict_tau_ap(truth, order) for order in allowed])


def rbo(first: Sequence[Hashable], second: Sequence[Hashable], p: float, depth: int = 2000) -> float:
    """Rank-biased overlap summed to a great depth, with the agreement beyond the ends extrapolated."""
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    at_end = len(set(short) & set(long[:s]))
    total, agreement = 0.0, 0.0
    for d in range(1, depth + 1):
        if d <= n:
            overlap: float = len(set(short[:d]) & set(long[:d]))
            if d > s:
                overlap += at_end / s * (d - s)
            agreement = overlap / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


def philox(key: int, count: int) -> list[int]:
    """Philox4x64-10 by its definition (Salmon et al. 2011), with the counter from 1."""
    mask = (1 << 64) - 1
    out: list[int] = []
    for counter in range(1, count // 4 + 2):
        word = [counter & mask, counter >> 64, 0, 0]
        k = [key & mask, key >> 64]
        for _ in range(10):
            one, two = 0xD2E7470EE14C6C93 * word[0], 0xCA5A826395121157 * word[2]
            word = [two >> 64 ^ word[1] ^ k[0], two & mask, one >> 64 ^ word[3] ^ k[1], one & mask]
            k = [k[0] + 0x9E3779B97F4A7C15 & mask, k[1] + 0xBB67AE8584CAA73B & mask]
        out += word
    return out[:count]


def holm(p: Iterable[float]) -> list[float]:
    """Holm's adjusted p values: the smallest level at which the procedure rejects, searched over the candidates."""
    values = list(p)
    m, ordered = len(values), sorted(values)
    return [min(1.0, max((m - i) * ordered[i] for i in range(ordered.index(value) + 1))) for value in values]
