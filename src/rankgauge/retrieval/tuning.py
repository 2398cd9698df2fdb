"""Tune a fusion on development queries, and report its value on test queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np

from rankgauge.comparison.answer_sentences import reuse_sentence
from rankgauge.core.formatting import number
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run
from rankgauge.core.settings import Section, check_settings, check_values, setting
from rankgauge.errors import UsageError, held_warnings, warn_user
from rankgauge.evaluation.evaluate import DEFAULT_DEPTH, AnyQrels, AnyRun, evaluate, needed_depth
from rankgauge.evaluation.query_split import QuerySplit, split_queries
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.io.sources import check_runs
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.retrieval.fusion import DEFAULT_NORMALIZATION, DEFAULT_RRF_K, fuse

# The grid of a tuning: fusion methods with their parameters.

TUNED_METHODS = ("rrf", "weighted")
TUNED_NORMALIZATIONS = ("min-max", "z-score", "rank")
TUNED_RRF_KS = (10.0, 30.0, 60.0, 100.0)
MAX_CHOICES = 20_000


@dataclass(frozen=True)
class Tuning:
    """What a fusion is tuned for, and what is tried."""

    measure: str = setting("nDCG@10", "Optimize this measure.", Section.MEASURES, flag="-m/--measure NAME", common=True)
    methods: tuple[str, ...] = setting(
        TUNED_METHODS,
        "Try a method of fusion; repeatable.  [default: both]",
        Section.TUNING,
        flag="--method",
        choices=TUNED_METHODS,
        common=True,
    )
    steps: int = setting(10, "Try weights in steps of 1/N.", Section.TUNING, flag="--steps N", limits="1<=x<=100")

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_TUNING = Tuning()


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
    check_values(Tuning, {"methods": methods, "steps": steps})
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
    return choices


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
    split: QuerySplit
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
    labels: AnyQrels,
    results: Sequence[AnyRun] = (),
    *,
    measure: str = DEFAULT_TUNING.measure,
    methods: Sequence[str] = DEFAULT_TUNING.methods,
    steps: int = DEFAULT_TUNING.steps,
    k: int | None = None,
    dev: Sequence[str] | None = None,
    test: Sequence[str] | None = None,
    reading: Reading | None = None,
) -> TuningResult:
    """Try every choice on the development queries, and measure the best one once on the test queries.

    The best has the highest value, or the lowest if lower is better for the measure; among equals, the simplest is
    taken. The split is half and half, by a hash of the query id, unless ``dev`` or ``test`` is given; queries of one
    ``unit`` (a column of the judgments) are on the same side. Labels and results are those of ``evaluate_runs``; a live
    retriever is asked the queries of the labels, once. ``reading`` says how files are read and labels are matched.
    """
    qrels, runs = _opened(labels, results, measure, reading or Reading())
    if len(runs) < 2:
        raise UsageError(f"tuning a fusion needs at least two runs, found {len(runs)}")
    tuned_measure = parse_measure(measure).frozen(qrels)
    queries = split_queries(qrels, dev, test)
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


def _opened(labels: AnyQrels, results: Sequence[AnyRun], measure: str, reading: Reading) -> tuple[Qrels, list[Run]]:
    """Judgments and runs in memory."""
    are_open = bool(results) and all(isinstance(run, Run) for run in results)
    if isinstance(labels, Qrels) and are_open and reading.matches_ids:
        return labels, [run for run in results if isinstance(run, Run)]
    check_runs(results)
    depth = max(DEFAULT_DEPTH, needed_depth([parse_measure(measure)]))
    opened = open_inputs(labels, results, reading, None, Opening(depth, depth, needs_rankings=True)).judged(reading)
    for note in opened.notes:
        warn_user(note.message)
    return as_qrels(opened.labels, reading), [run for one in opened.results for run in runs_and_notes(one, reading)[0]]


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


def _rows(ids: Ids, queries: Sequence[str]) -> Ints:
    """The rows of the ids that are among the queries."""
    selected = set(queries)
    return np.array([row for row, query in enumerate(ids.to_text()) if query in selected], dtype=np.int64)
