"""Whether anything is retrieved at all: what a gate saves, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.pairs import Given, named, paired
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.evaluation.notebook import Columns, Table, Tabular
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import Interval


@dataclass(frozen=True)
class GateResult(Tabular):
    """Retrievals saved and what they cost.

    ``efficiency`` is the percentage of all queries for which retrieval was rightly skipped. It says nothing of those
    wrongly skipped: a gate that skips everything has the best efficiency that there is.
    """

    efficiency: float | None
    n: int
    saved: int  # skipped, and not needed
    wrongly_skipped: tuple[str, ...]
    wrongly_retrieved: tuple[str, ...]
    rightly_retrieved: int
    precision: float | None  # of the queries for which it retrieved, those that needed it
    recall: float | None  # of the queries that needed it, those for which it retrieved
    quality_lost: Interval | None  # mean over the queries whose quality is known

    def __str__(self) -> str:
        if self.efficiency is None:
            return "gate      no queries"
        said = [
            f"gate      {self.efficiency:.1f} % of {self.n} retrievals rightly saved",
            f"{len(self.wrongly_skipped)} wrongly skipped",
            f"{len(self.wrongly_retrieved)} wrongly retrieved",
            f"precision {_share(self.precision)}",
            f"recall {_share(self.recall)}",
        ]
        lost = self.quality_lost
        if lost is not None and lost.estimate is not None:
            said.append(f"quality lost {lost.estimate:.4f}" + _ends(lost))
        return ", ".join(said)

    def summary_table(self) -> Table:
        """Needed or not against retrieved or not."""
        rows = [
            ["needed", self.rightly_retrieved, len(self.wrongly_skipped)],
            ["not needed", len(self.wrongly_retrieved), self.saved],
        ]
        return Table(["retrieval", "retrieved", "skipped"], rows, str(self))

    def frame_columns(self) -> Columns:
        """The queries that the gate got wrong."""
        wrong = {"wrongly skipped": self.wrongly_skipped, "wrongly retrieved": self.wrongly_retrieved}
        rows = [(query, what) for what, queries in wrong.items() for query in queries]
        return {"query": [query for query, _ in rows], "what": [what for _, what in rows]}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        lost = self.quality_lost
        return {
            "gate_efficiency": self.efficiency,
            "n": self.n,
            "saved": self.saved,
            "wrongly_skipped": list(self.wrongly_skipped),
            "wrongly_retrieved": list(self.wrongly_retrieved),
            "rightly_retrieved": self.rightly_retrieved,
            "precision": self.precision,
            "recall": self.recall,
            "quality_lost": None
            if lost is None
            else {"mean": lost.estimate, "low": lost.low, "high": lost.high, "n": lost.n, "reason": lost.reason},
        }


def gate_efficiency(
    retrieved: Given[bool],
    needed: Given[bool],
    *,
    quality: Given[float | None] | None = None,
    quality_skipped: Given[float | None] | None = None,
) -> GateResult:
    """The percentage of queries for which retrieval was rightly skipped, and beside it what a gate gets wrong.

    ``quality`` is what each query has where retrieval runs (nDCG of a shadow run, say; None where it is not known),
    ``quality_skipped`` what it has without (0 where it is not given): their difference over the skipped queries,
    averaged over all whose quality is known, is what the gate loses.
    """
    ran, wants = paired(retrieved, needed, ("retrieved", "needed"))
    for name, given in (("retrieved", ran), ("needed", wants)):
        for query, value in given.items():
            if not isinstance(value, (bool, np.bool_)):
                raise InputTypeError(f"{name} of query {shown(query)} must be True or False, found {value!r}")
    saved = sum(not ran[query] and not wants[query] for query in ran)
    skipped = tuple(query for query in ran if wants[query] and not ran[query])
    extra = tuple(query for query in ran if ran[query] and not wants[query])
    # The queries for which the gate retrieved are a set that should be those which need it.
    chosen, right = [query for query in ran if ran[query]], [query for query in wants if wants[query]]
    shares = evaluate({"gate": right}, {"gate": chosen}, ["SetP", "SetR"]) if ran else None
    return GateResult(
        efficiency=100 * saved / len(ran) if ran else None,
        n=len(ran),
        saved=saved,
        wrongly_skipped=skipped,
        wrongly_retrieved=extra,
        rightly_retrieved=len(chosen) - len(extra),
        precision=shares["SetP"] if shares is not None and chosen else None,
        recall=shares["SetR"] if shares is not None and right else None,
        quality_lost=None if quality is None else _lost(ran, quality, quality_skipped),
    )


def _lost(
    ran: Mapping[str, bool], quality: Given[float | None], quality_skipped: Given[float | None] | None
) -> Interval:
    having = _known(ran, quality, "quality")
    without = {} if quality_skipped is None else _known(ran, quality_skipped, "quality_skipped")
    gated = {query: value if ran[query] else without.get(query, 0.0) for query, value in having.items()}
    return difference_interval(list(having.values()), list(gated.values()))


def _known(ran: Mapping[str, bool], given: Given[float | None], what: str) -> dict[str, float]:
    found = named(given, what)
    if not isinstance(given, Mapping) and len(found) != len(ran):
        raise InputError(f"{what} has {len(found)} queries, retrieved has {len(ran)}")
    return {query: float(value) for query in ran if (value := found.get(query)) is not None}


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" (95 % {interval.low:+.4f} to {interval.high:+.4f})"
