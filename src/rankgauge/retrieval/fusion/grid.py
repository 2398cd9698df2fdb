"""The grid of a tuning: fusion methods with their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

from rankgauge.errors import UsageError
from rankgauge.retrieval.fusion.fusion import DEFAULT_NORMALIZATION, DEFAULT_RRF_K

TUNED_METHODS = ("rrf", "weighted")
TUNED_NORMALIZATIONS = ("min-max", "z-score", "rank")
TUNED_RRF_KS = (10.0, 30.0, 60.0, 100.0)
MAX_CHOICES = 20_000


@dataclass(frozen=True)
class FusionChoice:
    """A fusion method with its parameters."""

    method: str
    weights: tuple[float, ...]
    normalization: str = DEFAULT_NORMALIZATION
    rrf_k: float = DEFAULT_RRF_K

    def __str__(self) -> str:
        weights = ",".join(f"{weight:g}" for weight in self.weights)
        parameter = f"--rrf-k {self.rrf_k:g}" if self.method == "rrf" else f"--normalization {self.normalization}"
        return f"--method {self.method} --weights {weights} {parameter}"


def weight_vectors(parts: int, steps: int) -> Iterator[tuple[float, ...]]:
    """Weights in steps of 1/steps that sum to 1, each the correctly rounded quotient."""
    # Stars and bars: the positions of parts - 1 bars among steps + parts - 1 give the number of stars of each part.
    for bars in combinations(range(steps + parts - 1), parts - 1):
        ends = (-1, *bars, steps + parts - 1)
        yield tuple((after - before - 1) / steps for before, after in pairwise(ends))


def fusion_choices(run_count: int, methods: Sequence[str], steps: int) -> list[FusionChoice]:
    """All choices to try, the simplest first: among equals, the first is taken."""
    weightings = comb(steps + run_count - 1, run_count - 1)
    if weightings * len(TUNED_NORMALIZATIONS) > MAX_CHOICES:
        raise UsageError(
            f"{weightings * len(TUNED_NORMALIZATIONS):,} ways to weight {run_count} runs, expected at most "
            f"{MAX_CHOICES:,}",
            hint="use fewer runs or fewer steps",
        )
    equal = (1 / run_count,) * run_count
    by_inequality = sorted(
        weight_vectors(run_count, steps), key=lambda weights: sum((weight - 1 / run_count) ** 2 for weight in weights)
    )
    choices: list[FusionChoice] = []
    for method in methods:
        if method == "rrf":
            constants = (DEFAULT_RRF_K, *(k for k in TUNED_RRF_KS if k != DEFAULT_RRF_K))
            choices += [FusionChoice("rrf", (1.0,) * run_count, rrf_k=k) for k in constants]
            choices += [FusionChoice("rrf", weights) for weights in by_inequality if weights != equal]
        elif method == "weighted":
            choices += [
                FusionChoice("weighted", weights, normalization)
                for normalization in TUNED_NORMALIZATIONS
                for weights in by_inequality
            ]
        else:
            raise UsageError(f"only {' and '.join(TUNED_METHODS)} have parameters to tune, found {method}")
    return choices
