"""Tune a fusion on development queries, and report its value on test queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankgauge.comparison.reuse import reuse_sentence
from rankgauge.core.formatting import number
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.views import HtmlView
from rankgauge.errors import UsageError, held_warnings
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.fusion.grid import TUNED_METHODS, FusionChoice, fusion_choices
from rankgauge.retrieval.fusion.split import Split, split

TUNING_SCHEMA = "rankgauge.tuning/1"


@dataclass(frozen=True)
class TuningScore:
    """The values of a run, or of a fusion, on both sides; None if there is nothing to average."""

    name: str
    dev: float | None
    test: float | None


@dataclass(frozen=True, eq=False)
class TuningResult(HtmlView):
    """The best choice, and its values on both sides beside those of each run and of unweighted fusion.

    ``run`` is the tuned fusion of the test queries only. The last of the ``scores`` is that of the tuned fusion.
    """

    choice: FusionChoice
    choices_tried: int
    measure: str
    split: Split
    scores: tuple[TuningScore, ...]
    run: Run

    def __repr__(self) -> str:
        return (
            f"TuningResult({self.choice}: {self.measure} {number(self.value)} on {len(self.split.test)} test queries)"
        )

    @property
    def value(self) -> float | None:
        """The value of the tuned fusion on the test queries, which no choice was tried on."""
        return self.scores[-1].test

    @property
    def notes(self) -> list[str]:
        """What to know before trusting the values on the development queries."""
        sentence = reuse_sentence(self.choices_tried, "choice", "tried", len(self.split.dev))
        return [] if sentence is None else [sentence]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": TUNING_SCHEMA,
            "measure": self.measure,
            "value": self.value,
            "choice": {
                "method": self.choice.method,
                "weights": list(self.choice.weights),
                "normalization": self.choice.normalization if self.choice.method == "weighted" else None,
                "rrf_k": self.choice.rrf_k if self.choice.method == "rrf" else None,
            },
            "choices_tried": self.choices_tried,
            "queries": {"dev": len(self.split.dev), "test": len(self.split.test)},
            "scores": [asdict(score) for score in self.scores],
            "notes": self.notes,
        }


@dataclass(frozen=True, eq=False)
class _Side:
    """The judgments and the runs of the queries on one side of the split."""

    qrels: Qrels
    runs: Sequence[Run]
    measure: Measure

    @classmethod
    def select(cls, qrels: Qrels, runs: Sequence[Run], measure: Measure, queries: Sequence[str]) -> _Side:
        judgments = qrels.select(_rows(qrels.queries, queries))
        return cls(judgments, [run.select(_rows(run.queries, queries)) for run in runs], measure)

    def score(self, run: Run) -> float | None:
        return evaluate(self.qrels, run, self.measure)[self.measure] if len(run.queries) else None

    def score_choice(self, choice: FusionChoice, k: int | None) -> float | None:
        with held_warnings():  # about scores of a run that is not returned
            return self.score(apply_choice(self.runs, choice, k))


def tune(
    qrels: Qrels,
    runs: Sequence[Run],
    *,
    measure: str = "nDCG@10",
    methods: Sequence[str] = TUNED_METHODS,
    steps: int = 10,
    k: int | None = None,
    dev: Sequence[str] | None = None,
    test: Sequence[str] | None = None,
) -> TuningResult:
    """Try every choice on the development queries, and measure the best one once on the test queries.

    The best has the highest value, or the lowest if lower is better for the measure; among equals, the simplest is
    taken. The split is half and half, by a hash of the query id, unless ``dev`` or ``test`` is given; queries of one
    ``unit`` (a column of the judgments) are on the same side.
    """
    if len(runs) < 2:
        raise UsageError(f"tuning a fusion needs at least two runs, found {len(runs)}")
    tuned_measure = parse_measure(measure).frozen(qrels)
    queries = split(qrels.queries.to_text(), dev, test, _units(qrels))
    dev_side = _Side.select(qrels, runs, tuned_measure, queries.dev)
    choices = fusion_choices(len(runs), methods, steps)
    best = _best_choice(choices, dev_side, k)
    # The test queries are used only from here on.
    test_side = _Side.select(qrels, runs, tuned_measure, queries.test)
    tuned_run = apply_choice(test_side.runs, best, k)
    unweighted = FusionChoice("rrf", (1.0,) * len(runs))
    scores = [
        *(
            TuningScore(run.name, dev_side.score(dev_side.runs[row]), test_side.score(test_side.runs[row]))
            for row, run in enumerate(runs)
        ),
        TuningScore("rrf", dev_side.score_choice(unweighted, k), test_side.score_choice(unweighted, k)),
        TuningScore("tuned", dev_side.score_choice(best, k), test_side.score(tuned_run)),
    ]
    return TuningResult(best, len(choices), str(tuned_measure), queries, tuple(scores), tuned_run)


def apply_choice(runs: Sequence[Run], choice: FusionChoice, k: int | None) -> Run:
    """Fuse runs as a choice says."""
    return fuse(
        runs,
        choice.method,
        k=k,
        weights=choice.weights,
        normalization=choice.normalization,
        rrf_k=choice.rrf_k,
        name="tuned",
    )


def _best_choice(choices: Sequence[FusionChoice], side: _Side, k: int | None) -> FusionChoice:
    """The first of the choices with the best value."""
    lower_is_better = side.measure.definition.direction < 0
    best, best_utility = choices[0], -np.inf
    for choice in choices:
        value = side.score_choice(choice, k)
        utility = -np.inf if value is None else -value if lower_is_better else value
        if utility > best_utility:
            best, best_utility = choice, utility
    return best


def _units(qrels: Qrels) -> dict[str, str]:
    """The unit of each query that has one."""
    if "unit" not in qrels.columns:
        return {}
    labels = zip(qrels.queries.to_text(), qrels.columns["unit"].tolist(), strict=True)
    return {query: str(unit) for query, unit in labels if unit is not None and unit == unit}


def _rows(ids: Ids, queries: Sequence[str]) -> Ints:
    """The rows of the ids that are among the queries."""
    selected = set(queries)
    return np.array([row for row, query in enumerate(ids.to_text()) if query in selected], dtype=np.int64)
