"""Find the weights of a fusion on development queries, and say what they are worth on test queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.measures.parse import parse_measure
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.fusion.grid import Choice, grid
from rankgauge.retrieval.fusion.split import Split, split

SCHEMA = "rankgauge.tuning/1"
SIDES = ("dev", "test")


@dataclass(frozen=True)
class Line:
    """One run, or the tuned fusion: its value on both sides; None where there is nothing to average."""

    name: str
    dev: float | None
    test: float | None


@dataclass(frozen=True, eq=False)
class Tuned:
    """What was chosen, out of how many, and its value on both sides beside that of each run and of plain fusion.

    ``run`` is the tuned fusion of the test queries alone.
    """

    choice: Choice
    tried: int
    measure: str
    split: Split
    lines: tuple[Line, ...]
    run: Run

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": SCHEMA,
            "measure": self.measure,
            "choice": {
                "method": self.choice.method,
                "weights": list(self.choice.weights),
                "normalise": self.choice.normalise if self.choice.method == "weighted" else None,
                "rrf_k": self.choice.rrf_k if self.choice.method == "rrf" else None,
            },
            "tried": self.tried,
            "queries": {"dev": len(self.split.dev), "test": len(self.split.test)},
            "values": [{"name": line.name, "dev": line.dev, "test": line.test} for line in self.lines],
        }


def tune(
    qrels: Qrels,
    runs: Sequence[Run],
    *,
    measure: str = "nDCG@10",
    methods: Sequence[str] = ("rrf", "weighted"),
    steps: int = 10,
    k: int | None = None,
    dev: Sequence[str] | None = None,
    test: Sequence[str] | None = None,
) -> Tuned:
    """Try every choice on the development queries, take the best, and measure it once on the test queries.

    The split is by a hash of the query id, half and half, unless ``dev`` or ``test`` are given. The first of equals
    is taken, which is the plainest.
    """
    if len(runs) < 2:
        raise UsageError(f"tuning a fusion needs two runs or more, found {len(runs)}")
    wanted = parse_measure(measure).frozen(qrels)
    falling = wanted.definition.better == "lower"
    sides = split(qrels.queries.to_text(), dev, test)
    judged = {side: qrels.select(_places(qrels.queries, getattr(sides, side))) for side in SIDES}
    asked = {side: [run.select(_places(run.queries, getattr(sides, side))) for run in runs] for side in SIDES}

    def value(side: str, run: Run) -> float | None:
        return evaluate(judged[side], run, wanted)[wanted] if len(run.queries) else None

    choices = grid(len(runs), methods, steps)
    best, most = choices[0], -np.inf
    for choice in choices:
        found = value("dev", fused(asked["dev"], choice, k))
        worth = -np.inf if found is None else -found if falling else found
        if worth > most:
            best, most = choice, worth
    # Only now are the test queries looked at.
    made = fused(asked["test"], best, k)
    plain = Choice("rrf", (1.0,) * len(runs))
    lines = [
        Line(run.name, value("dev", asked["dev"][place]), value("test", asked["test"][place]))
        for place, run in enumerate(runs)
    ]
    lines.append(
        Line("rrf", value("dev", fused(asked["dev"], plain, k)), value("test", fused(asked["test"], plain, k)))
    )
    lines.append(Line("tuned", value("dev", fused(asked["dev"], best, k)), value("test", made)))
    return Tuned(best, len(choices), str(wanted), sides, tuple(lines), made)


def fused(runs: Sequence[Run], choice: Choice, k: int | None) -> Run:
    """The fusion of a choice."""
    return fuse(
        runs,
        choice.method,
        k=k,
        weights=choice.weights,
        normalise=choice.normalise,
        rrf_k=choice.rrf_k,
        name="tuned",
    )


def _places(queries: Ids, wanted: Sequence[str]) -> Ints:
    """Where the wanted queries stand."""
    known = set(wanted)
    return np.array([place for place, query in enumerate(queries.to_text()) if query in known], dtype=np.int64)
