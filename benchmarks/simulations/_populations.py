"""The queries that are drawn from: the scores of real runs, whose means are then the truth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rankgauge
from rankgauge.benchmark.plan import SHIPPED

Floats = NDArray[np.float64]

DEFAULTS = ("nDCG@10", "RR@10", "R@10")  # of every command, the primary one first
SIX = (*DEFAULTS, "AP", "P@10", "R@100")
MEANS = ("AP", "nDCG@10", "RR", "R@10")
MEASURES = (*SIX, "RR")
RANGE = (-1.0, 1.0)  # of a difference


@dataclass(frozen=True, eq=False)
class Population:
    """Scores of queries × measures × runs, the strongest run first."""

    description: str
    runs: tuple[str, ...]
    values: Floats

    def scores(self, run: int, measure: str) -> Floats:
        """The scores of a run."""
        return self.values[:, MEASURES.index(measure), run]

    def differences(self, first: int, second: int, measures: tuple[str, ...] = DEFAULTS) -> Floats:
        """The differences between two runs: queries × measures."""
        columns = [MEASURES.index(measure) for measure in measures]
        return np.asarray(self.values[:, columns, first] - self.values[:, columns, second])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Two pairs of runs: the strongest and the weakest, the strongest and the next."""
        return list(dict.fromkeys([(0, len(self.runs) - 1), (0, 1)]))

    @property
    def all_pairs(self) -> list[tuple[int, int]]:
        """Every pair of runs."""
        return list(combinations(range(len(self.runs)), 2))

    def pair_name(self, pair: tuple[int, int]) -> str:
        """What a pair is, independent of the names of its runs."""
        return f"strongest − {'weakest' if pair[1] == len(self.runs) - 1 else 'next'}"


def load(collection: Path | None) -> Population:
    """The scores of the runs in a folder, which has ``qrels.trec`` and ``runs/``, or of the bundled collection."""
    folder = SHIPPED if collection is None else collection
    found = [rankgauge.evaluate(folder / "qrels.trec", path, MEASURES) for path in sorted((folder / "runs").iterdir())]
    ordered = sorted(found, key=lambda scores: -float(scores.values[:, MEASURES.index("AP")].mean()))
    values = np.stack([scores.values for scores in ordered], axis=2)
    name = "the bundled collection" if collection is None else f"the collection {folder.name}"
    runs = tuple(scores.run for scores in ordered)
    return Population(f"Queries of {name}: {len(values)}; runs, the strongest first: {', '.join(runs)}.", runs, values)


def draw(rng: np.random.Generator, population: Floats, n: int) -> Floats:
    """Queries with replacement."""
    return np.asarray(population[rng.integers(0, len(population), n)])
