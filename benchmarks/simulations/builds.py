"""200 builds in a row: how many false alarms does each way to gate give, and how soon does it find a drop?

The retriever is deterministic, and one build in five changes the ranking of a tenth of the queries for better or worse
alike; or it does not repeat itself, and every build has noise of single queries and of the whole run. A drop is made up
of losses of 0.5. Gates are tested as arrays, with fewer resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.simulations._populations import RANGE, Floats, Population
from benchmarks.simulations._tables import SEED, table
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.significance import PairedColumns, family_tests
from rankgauge.comparison.statistics_options import Statistics, is_significant

QUERIES, BUILDS, RESAMPLES = 100, 200, 399
SEQUENCES, DROP_SEQUENCES = 20, 40
DROPS, LATEST = (0.03, 0.05, 0.08), 20
LOSS = 0.5  # of each query that a drop affects
MARGIN, RUNS = 0.02, 5
QUERY_NOISE, RUN_NOISE, CHANGED, CHANGING = 0.1, 0.01, 0.1, 0.2


class Deterministic:
    """The same values until a build changes the ranking of some queries."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.values = rng, np.zeros(QUERIES)

    def build(self) -> Floats:
        if self.rng.random() < CHANGING:
            changed = self.rng.random(QUERIES) < CHANGED
            self.values = np.where(changed, self.rng.normal(0, QUERY_NOISE, QUERIES), self.values)
        return self.values


class Noisy:
    """Other values in every build, of each query and of the whole run."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def build(self) -> Floats:
        return self.rng.normal(0, RUN_NOISE) + self.rng.normal(0, QUERY_NOISE, QUERIES)


Retriever = Deterministic | Noisy


@dataclass
class Gate:
    """A gate against stored runs: it fails if a drop is significant and at least the margin."""

    rule: GateRule
    runs: int = 1
    stored: list[Floats] = field(default_factory=list)

    def start(self, retriever: Retriever) -> None:
        """Store the baseline."""
        self.stored = [retriever.build() for _ in range(self.runs)]

    def fails(self, now: Floats, seed: int) -> bool:
        baseline = np.mean(self.stored, axis=0)
        columns = PairedColumns(now[:, np.newaxis], baseline[:, np.newaxis], (RANGE,))
        statistics = replace(self.rule.statistics, alternative="less", seed=seed)
        (test,) = family_tests(columns, statistics, sensitivity=False)
        drop = float((baseline - now).mean())
        return is_significant(test.p_corrected, statistics.alpha) and drop >= self.rule.margin


def rule(margin: float = 0.0, confidence: float = 0.95) -> GateRule:
    return GateRule(margin, Statistics(confidence=confidence, resamples=RESAMPLES))


GATES: dict[str, Callable[[], Gate]] = {
    "one run, 5%": lambda: Gate(rule()),
    f"one run, `--margin {MARGIN:g}`": lambda: Gate(rule(MARGIN)),
    "one run, `--confidence 0.99`": lambda: Gate(rule(confidence=0.99)),
    f"{RUNS} runs, 5%": lambda: Gate(rule(), RUNS),
    f"{RUNS} runs, `--confidence 0.99`": lambda: Gate(rule(confidence=0.99), RUNS),
}
RETRIEVERS: dict[str, Callable[[np.random.Generator], Retriever]] = {"deterministic": Deterministic, "noisy": Noisy}


def false_alarms(make: Callable[[], Gate], kind: Callable[[np.random.Generator], Retriever]) -> Floats:
    """The number of failing builds in each sequence in which nothing got worse."""
    counts = []
    for sequence in range(SEQUENCES):
        retriever, gate = kind(np.random.default_rng([SEED, sequence])), make()
        gate.start(retriever)
        counts.append(sum(gate.fails(retriever.build(), seed) for seed in range(BUILDS)))
    return np.array(counts, dtype=np.float64)


def builds_until_found(
    make: Callable[[], Gate], kind: Callable[[np.random.Generator], Retriever], drop: float
) -> Floats:
    """How many builds after a drop the gate fails for the first time, in each sequence; LATEST + 1 if not at all."""
    found = []
    for sequence in range(DROP_SEQUENCES):
        retriever, gate = kind(np.random.default_rng([SEED, sequence])), make()
        gate.start(retriever)
        lost = np.where(np.arange(QUERIES) < round(QUERIES * drop / LOSS), LOSS, 0.0)
        failing = (build for build in range(1, LATEST + 1) if gate.fails(retriever.build() - lost, build))
        found.append(next(failing, LATEST + 1))
    return np.array(found, dtype=np.float64)


def rows() -> Iterator[list[str]]:
    for name, kind in RETRIEVERS.items():
        for label, make in GATES.items():
            alarms = false_alarms(make, kind)
            cells = [name, label, f"{alarms.mean():.1f}", f"{np.quantile(alarms, 0.9):.0f}"]
            for drop in DROPS:
                found = builds_until_found(make, kind, drop)
                middle = float(np.median(found))
                median = f"> {LATEST}" if middle > LATEST else f"{middle:.0f}"
                cells.append(f"{median} ({np.mean(found == 1):.0%})")
            yield cells


def tables(_population: Population) -> Iterator[str]:
    """False alarms, and the builds until a drop is found."""
    yield table(
        f"{BUILDS} builds of {QUERIES} queries without a drop: failing builds, mean and 90th percentile over "
        f"{SEQUENCES} sequences; and after a drop: the median number of builds until the first fails, with the share "
        f"of sequences in which it is the first build, over {DROP_SEQUENCES} sequences ({RESAMPLES} resamples, seed "
        f"{SEED})",
        ["retriever", "gate", "false alarms", "90%", *(f"drop of {drop:g}" for drop in DROPS)],
        rows(),
    )
