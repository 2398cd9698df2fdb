"""What is tried: ways of fusing, with their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

from rankgauge.errors import UsageError

NORMALISED = ("min-max", "z-score", "rank")
RRF_KS = (10.0, 30.0, 60.0, 100.0)
MOST = 20_000


@dataclass(frozen=True)
class Choice:
    """One way of fusing."""

    method: str
    weights: tuple[float, ...]
    normalise: str = "min-max"
    rrf_k: float = 60.0

    def __str__(self) -> str:
        listed = ",".join(f"{weight:g}" for weight in self.weights)
        more = f"--rrf-k {self.rrf_k:g}" if self.method == "rrf" else f"--normalise {self.normalise}"
        return f"--method {self.method} --weights {listed} {more}"


def simplex(parts: int, steps: int) -> Iterator[tuple[float, ...]]:
    """Weights in steps of 1/steps that add up to 1, each exact to the last bit of a division."""
    # Bars between stars: where parts - 1 bars stand among steps + parts - 1 places says how many stars each part has.
    for bars in combinations(range(steps + parts - 1), parts - 1):
        ends = (-1, *bars, steps + parts - 1)
        yield tuple((after - before - 1) / steps for before, after in pairwise(ends))


def grid(runs: int, methods: Sequence[str], steps: int) -> list[Choice]:
    """Everything to be tried, the plainest first: the first of equals is taken."""
    ways = comb(steps + runs - 1, runs - 1)
    if ways * len(NORMALISED) > MOST:
        raise UsageError(f"{ways} ways to weigh {runs} runs", hint=f"at most {MOST}: fewer runs, or fewer steps")
    out: list[Choice] = []
    even = tuple(1 / runs for _ in range(runs))
    weights = sorted(simplex(runs, steps), key=lambda given: sum((one - 1 / runs) ** 2 for one in given))
    for method in methods:
        if method == "rrf":
            out += [Choice("rrf", (1.0,) * runs, rrf_k=k) for k in (60.0, *(k for k in RRF_KS if k != 60.0))]
            out += [Choice("rrf", given) for given in weights if given != even]
        elif method == "weighted":
            out += [Choice("weighted", given, normalise=how) for how in NORMALISED for given in weights]
        else:
            raise UsageError(f"only rrf and weighted have anything to tune, found {method}")
    return out
