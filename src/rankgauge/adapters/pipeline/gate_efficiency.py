"""Whether anything is retrieved at all: what a gate saves, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.paired_values import (
    PIPELINE_MEASURE,
    QueryValues,
    align_queries,
    by_query,
    interval_text,
    paired_interval,
)
from rankgauge.core.formatting import number, plural, text_of
from rankgauge.core.result_views import Columns, SummaryTable, Tabular
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.measures.measure import Measure
from rankgauge.stats.results import Interval


@dataclass(frozen=True)
class GateEfficiency(Tabular):
    """Retrievals saved and what they cost.

    ``efficiency`` is the percentage of all queries for which retrieval was correctly skipped. It ignores the wrongly
    skipped queries: a gate that skips everything has the highest possible efficiency.
    """

    efficiency: float | None
    n: int
    saved: int  # skipped, and not needed
    wrongly_skipped: tuple[str, ...]
    wrongly_retrieved: tuple[str, ...]
    correctly_retrieved: int
    precision: float | None  # the share of queries with retrieval that needed it
    recall: float | None  # the share of queries that needed retrieval and got it
    quality_lost: Interval | None  # the mean over the queries whose quality is known

    def __repr__(self) -> str:
        return f"GateEfficiency({self})"

    def __str__(self) -> str:
        if self.efficiency is None:
            return "gate      no queries"
        share = text_of(self.efficiency / 100, "share")
        parts = [
            f"gate      retrieval correctly skipped for {share} of {plural(self.n, 'query')}",
            f"{len(self.wrongly_skipped)} wrongly skipped",
            f"{len(self.wrongly_retrieved)} wrongly retrieved",
            f"precision {number(self.precision, 3)}",
            f"recall {number(self.recall, 3)}",
        ]
        lost = self.quality_lost
        if lost is not None and lost.estimate is not None:
            parts.append(f"quality lost {number(lost.estimate)}{interval_text(lost, 4)}")
        return ", ".join(parts)

    def summary_table(self) -> SummaryTable:
        """Whether retrieval was needed against whether it happened."""
        rows = [
            ["needed", self.correctly_retrieved, len(self.wrongly_skipped)],
            ["not needed", len(self.wrongly_retrieved), self.saved],
        ]
        return SummaryTable(["retrieval", "retrieved", "skipped"], rows, str(self))

    def frame_columns(self) -> Columns:
        """The queries with a wrong decision."""
        wrong = {"wrongly skipped": self.wrongly_skipped, "wrongly retrieved": self.wrongly_retrieved}
        rows = [(query, decision) for decision, queries in wrong.items() for query in queries]
        return {"query": [query for query, _ in rows], "decision": [decision for _, decision in rows]}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        lost = self.quality_lost
        return {
            "gate_efficiency": self.efficiency,
            "n": self.n,
            "saved": self.saved,
            "wrongly_skipped": list(self.wrongly_skipped),
            "wrongly_retrieved": list(self.wrongly_retrieved),
            "correctly_retrieved": self.correctly_retrieved,
            "precision": self.precision,
            "recall": self.recall,
            "quality_lost": None
            if lost is None
            else {"mean": lost.estimate, "low": lost.low, "high": lost.high, "n": lost.n, "reason": lost.reason},
        }


def gate_efficiency(
    retrieved: QueryValues[bool],
    needed: QueryValues[bool],
    *,
    quality: QueryValues[float | None] | None = None,
    quality_skipped: QueryValues[float | None] | None = None,
    measure: str | Measure = PIPELINE_MEASURE,
) -> GateEfficiency:
    """The percentage of queries for which retrieval was correctly skipped, and the mistakes of the gate.

    ``quality`` is the value of ``measure`` for each query with retrieval (for example of a shadow run; None if it is
    not known), ``quality_skipped`` the value without retrieval (0 if it is not given): their difference over the
    skipped queries, averaged over all queries whose quality is known, is the quality that the gate loses.

    >>> gate_efficiency(retrieved=[True, False, False, True], needed=[True, True, False, False]).efficiency
    25.0
    """
    ran, needs = align_queries(retrieved, needed, ("retrieved", "needed"))
    for name, decisions in (("retrieved", ran), ("needed", needs)):
        for query, value in decisions.items():
            if not isinstance(value, (bool, np.bool_)):
                raise InputTypeError(f"{name} of query {shown(query)} must be True or False, found {value!r}")
    saved = sum(not ran[query] and not needs[query] for query in ran)
    wrongly_skipped = tuple(query for query in ran if needs[query] and not ran[query])
    wrongly_retrieved = tuple(query for query in ran if ran[query] and not needs[query])
    # The queries with retrieval are a set that should equal the set of those that need it.
    with_retrieval, in_need = [query for query in ran if ran[query]], [query for query in needs if needs[query]]
    judged, found = {"gate": in_need}, {"gate": with_retrieval}
    shares = evaluate(judged, found, ["SetP", "SetR"], conventions=Conventions(no_relevant="zero")) if ran else None
    return GateEfficiency(
        efficiency=100 * saved / len(ran) if ran else None,
        n=len(ran),
        saved=saved,
        wrongly_skipped=wrongly_skipped,
        wrongly_retrieved=wrongly_retrieved,
        correctly_retrieved=len(with_retrieval) - len(wrongly_retrieved),
        precision=shares["SetP"] if shares is not None and with_retrieval else None,
        recall=shares["SetR"] if shares is not None and in_need else None,
        quality_lost=None if quality is None else _quality_lost(ran, quality, quality_skipped, measure),
    )


def _quality_lost(
    ran: Mapping[str, bool],
    quality: QueryValues[float | None],
    quality_skipped: QueryValues[float | None] | None,
    measure: str | Measure,
) -> Interval:
    retrieving = _known_quality(ran, quality, "quality")
    skipping = {} if quality_skipped is None else _known_quality(ran, quality_skipped, "quality_skipped")
    gated = {query: value if ran[query] else skipping.get(query, 0.0) for query, value in retrieving.items()}
    return paired_interval(np.array(list(retrieving.values())), np.array(list(gated.values())), measure)


def _known_quality(ran: Mapping[str, bool], quality: QueryValues[float | None], name: str) -> dict[str, float]:
    values = by_query(quality, name)
    if not isinstance(quality, Mapping) and len(values) != len(ran):
        raise InputError(f"{name} has {plural(len(values), 'query')}, retrieved has {plural(len(ran), 'query')}")
    return {query: float(value) for query in ran if (value := values.get(query)) is not None}
