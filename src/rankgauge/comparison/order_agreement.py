"""Whether the order of the systems is the same by two sets of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankgauge.core.formatting import number
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run
from rankgauge.errors import Note, UsageError, printable, warn_user
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_opened, needed_depth, unique_names
from rankgauge.evaluation.scores import Scores
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import OpenedInputs, Opening, open_inputs
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames
from rankgauge.stats.rank_correlation import Agreement, discordant_pairs, kendall_tau, tau_ap

Values = tuple[float | None, float | None]  # under the first judgments and under the second


@dataclass(frozen=True)
class Swap:
    """Two systems in opposite order: the better one by the first judgments is the worse one by the second."""

    better: str
    worse: str
    better_values: tuple[float, float]
    worse_values: tuple[float, float]

    @property
    def size(self) -> float:
        """The smaller of the two differences, by the first judgments and by the second."""
        return min(abs(one - other) for one, other in zip(self.better_values, self.worse_values, strict=True))


@dataclass(frozen=True)
class OrderAgreement:
    """The order of systems by one measure under the first judgments and under the second."""

    measure: Measure
    values: Mapping[str, Values]
    tau: Agreement
    tau_ap: Agreement  # the first judgments are the truth
    swaps: tuple[Swap, ...] = ()  # the largest first

    @property
    def pairs(self) -> int:
        """The number of pairs of systems."""
        return len(self.values) * (len(self.values) - 1) // 2


@dataclass(frozen=True)
class QrelsAgreement(HtmlView):
    """How two sets of judgments agree on the order of systems, for each measure."""

    qrels: tuple[str, str]
    queries: tuple[int, int]  # of each
    shared_queries: int
    measures: tuple[OrderAgreement, ...]
    scores: tuple[tuple[Scores, ...], tuple[Scores, ...]]  # of the systems, under each

    def __repr__(self) -> str:
        values = ", ".join(f"{row.measure.name} {number(row.tau.value, 3)}" for row in self.measures)
        return f"QrelsAgreement({self.qrels[0]!r}, {self.qrels[1]!r}: Kendall's tau {values})"

    def __getitem__(self, measure: str) -> OrderAgreement:
        """The agreement by a measure, under its canonical name."""
        for row in self.measures:
            if row.measure.name == measure:
                return row
        raise KeyError(f"{measure} was not evaluated; there are {', '.join(row.measure.name for row in self.measures)}")

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(run.run for run in self.scores[0])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        sides = [
            {"name": name, "sha256": scores[0].qrels_sha256, "queries": queries}
            for name, queries, scores in zip(self.qrels, self.queries, self.scores, strict=True)
        ]
        return {
            "qrels": sides,
            "shared_queries": self.shared_queries,
            "runs": [{"name": run.run, "sha256": run.run_sha256} for run in self.scores[0]],
            "measures": [_measure_data(row) for row in self.measures],
        }


def qrels_agreement(
    first: AnyQrels,
    second: AnyQrels,
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
    opening: Opening | None = None,
) -> QrelsAgreement:
    """Score runs with two sets of judgments and compare the two orders, measure by measure.

    Each set averages over its own queries, so the two need not share any. Labels and results are as for ``compare``; a
    live retriever is asked the queries of the first labels, whose texts may be those of ``queries``. ``opening`` says
    how retrievers are asked. Both sets of labels are ids.
    """
    names, listed = (list(runs), list(runs.values())) if isinstance(runs, Mapping) else (None, list(runs))
    conventions, reading = conventions or Conventions(), replace(reading or Reading(), fingerprint=True)
    depth = needed_depth(conventions.measures(measures))
    opening = opening or Opening(depth)
    opening = replace(opening, depth=depth, needs_rankings=True, newest="named", log_is_system=False)
    if not reading.matches_ids:
        raise UsageError("agreement matches labels by exact ids", hint="leave out match in section reading")
    opened = open_inputs(first, listed, reading, queries, opening)
    other = open_inputs(second, [], reading, queries, opening)
    if opened.is_by_text or other.is_by_text:
        raise UsageError(
            "agreement takes labels by ids, not by text",
            hint="write judgments of the quotes: rankgauge labels resolve LABELS --chunks CHUNKS -o FILE",
        )
    loaded = [  # with the same default measures, whatever kind of labels each side has
        replace(one, labels=as_qrels(one.labels, reading), are_cases=False) for one in (opened, other)
    ]
    sides: list[Qrels] = []
    scored: list[tuple[Scores, Scores]] = []
    notes = [*opened.notes, *other.notes]
    for run in _runs_of(opened, reading, notes):
        evaluations = [
            evaluate_opened(replace(one, results=[run]), measures, conventions=conventions, reading=reading)
            for one in loaded
        ]
        sides = sides or [evaluation.qrels for evaluation in evaluations]
        scored.append((evaluations[0].scores[0], evaluations[1].scores[0]))
    if len(scored) < 2:
        raise UsageError(f"an order of systems needs at least two runs, found {len(scored)}")
    for note in dict.fromkeys(notes):
        warn_user(note.message)
    systems = names if names and len(names) == len(scored) else unique_names([pair[0].run for pair in scored])
    by_side = tuple(
        tuple(replace(pair[side], run=name) for name, pair in zip(systems, scored, strict=True)) for side in (0, 1)
    )
    labels = unique_names([side.name for side in sides])
    requested = by_side[0][0].requested
    return QrelsAgreement(
        qrels=(labels[0], labels[1]),
        queries=(len(sides[0].queries), len(sides[1].queries)),
        shared_queries=len({*sides[0].queries} & {*sides[1].queries}),
        measures=tuple(_order_agreement(measure, index, by_side, labels) for index, measure in enumerate(requested)),
        scores=(by_side[0], by_side[1]),
    )


def _runs_of(opened: OpenedInputs, reading: Reading, notes: list[Note]) -> Iterator[Run]:
    """The runs, one after the other: they do not stay in memory."""
    for result in opened.results:
        runs, found = runs_and_notes(result, reading)
        notes += found
        yield from runs


def _order_agreement(
    measure: Measure, index: int, sides: Sequence[Sequence[Scores]], labels: Sequence[str]
) -> OrderAgreement:
    """The agreement by one measure. Its parameters may come from the judgments, so it is found by its index."""
    first, second = ([run[run.measures[index]] for run in side] for side in sides)
    systems = [run.run for run in sides[0]]
    values = dict(zip(systems, zip(first, second, strict=True), strict=True))
    direction, n = measure.definition.direction, len(systems)
    present = [(one, other) for one, other in values.values() if one is not None and other is not None]
    if not direction or len(present) < n:
        without = [printable(label) for label, side in zip(labels, (first, second), strict=True) if None in side]
        reason = (
            f"a system has no value under {' and '.join(without)}"
            if without
            else "neither a higher nor a lower value is better"
        )
        return OrderAgreement(
            measure, values, Agreement(None, n, "Kendall tau-b", reason), Agreement(None, n, "tau-ap", reason)
        )
    x, y = [direction * one for one, _ in present], [direction * other for _, other in present]
    swaps = [
        Swap(systems[better], systems[worse], present[better], present[worse])
        for better, worse in discordant_pairs(x, y)
    ]
    swaps.sort(key=lambda swap: -swap.size)
    return OrderAgreement(measure, values, kendall_tau(x, y), tau_ap(x, y), tuple(swaps))


def _measure_data(row: OrderAgreement) -> dict[str, Any]:
    return {
        "measure": row.measure.name,
        "tau": row.tau.value,
        "tau_reason": row.tau.reason,
        "tau_ap": row.tau_ap.value,
        "tau_ap_reason": row.tau_ap.reason,
        "pairs": row.pairs,
        "values": {system: list(values) for system, values in row.values.items()},
        "swaps": [
            {
                "better": swap.better,
                "worse": swap.worse,
                "better_values": list(swap.better_values),
                "worse_values": list(swap.worse_values),
            }
            for swap in row.swaps
        ],
    }
