"""Which expert a query is sent to. Experts are ranked for a query as documents are, so success is Success@n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.adapters.pipeline.pairs import Given, paired, queries
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.evaluation.notebook import Columns, Table, Tabular
from rankgauge.stats.proportions import wilson_interval
from rankgauge.stats.results import Interval

Route = str | Sequence[str] | None
DEEPEST = 10  # the largest n whose accuracy is told
NOWHERE = ""  # in the confusions, where a query was sent to no expert


@dataclass(frozen=True)
class Expert:
    """How one expert fared: of the queries that were its own, and of those that it was sent."""

    name: str
    own: int
    sent: int
    right: int

    @property
    def recall(self) -> float | None:
        """The share of its own queries that it was sent; None where it has none."""
        return self.right / self.own if self.own else None

    @property
    def precision(self) -> float | None:
        """The share of the queries that it was sent that are its own; None where it was sent none."""
        return self.right / self.sent if self.sent else None


@dataclass(frozen=True)
class RoutingResult(Tabular):
    """The share of queries sent to their best expert, and who was taken for whom."""

    accuracy: float | None
    n: int
    interval: Interval
    top: dict[int, float]  # n → share of queries whose best expert is among the first n
    confusion: dict[str, dict[str, int]]  # best expert → chosen expert → queries
    experts: tuple[Expert, ...]

    def __str__(self) -> str:
        if self.accuracy is None:
            return "routing   no queries"
        ends = ""
        if self.interval.low is not None and self.interval.high is not None:
            ends = f" (95 % {100 * self.interval.low:.1f} to {100 * self.interval.high:.1f})"
        more = "".join(f", {100 * share:.1f} % in the first {n}" for n, share in self.top.items() if n > 1)
        return f"routing   {100 * self.accuracy:.1f} % to the right expert{ends}{more}; {queries(self.n)}"

    def summary_table(self) -> Table:
        """The confusion table: best experts down, chosen experts across."""
        chosen = sorted({name for row in self.confusion.values() for name in row} | set(self.confusion))
        by_name = {expert.name: expert for expert in self.experts}
        rows = [
            [best, *(row.get(name, 0) for name in chosen), by_name[best].recall, by_name[best].precision]
            for best, row in self.confusion.items()
        ]
        return Table(["best \\ chosen", *(name or "none" for name in chosen), "recall", "precision"], rows, str(self))

    def frame_columns(self) -> Columns:
        """One row for each pair of best and chosen expert."""
        cells = [(best, name, count) for best, row in self.confusion.items() for name, count in row.items()]
        return {name: [cell[at] for cell in cells] for at, name in enumerate(("best", "chosen", "queries"))}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "routing_accuracy": self.accuracy,
            "n": self.n,
            "low": self.interval.low,
            "high": self.interval.high,
            "confidence": self.interval.confidence,
            "top": {str(n): share for n, share in self.top.items()},
            "confusion": self.confusion,
            "experts": [
                {"name": e.name, "own": e.own, "sent": e.sent, "recall": e.recall, "precision": e.precision}
                for e in self.experts
            ],
        }


def routing_accuracy(routes: Given[Route], optimal_experts: Given[str]) -> RoutingResult:
    """How often a query was sent to its best expert.

    A route is an expert, a list of them with the best first (for the accuracy of the first n), or None where the query
    was sent nowhere, which counts as wrong. The interval is Wilson's.
    """
    sent, best = paired(routes, optimal_experts, ("routes", "optimal_experts"))
    ranked = {query: _ranked(query, route) for query, route in sent.items()}
    for query, expert in best.items():
        if not isinstance(expert, str) or not expert:
            raise InputTypeError(f"the best expert of query {shown(query)} must be a name, found {expert!r}")
    deepest = min(DEEPEST, max((len(route) for route in ranked.values()), default=1))
    names = {n: f"Success@{n}" for n in range(1, max(1, deepest) + 1)}
    scores = evaluate({query: [expert] for query, expert in best.items()}, ranked, list(names.values()))
    top = {n: value for n, name in names.items() if (value := scores[name]) is not None}
    first = [value for value in scores.per_query("Success@1").values() if value is not None]
    pairs = Counter((expert, (ranked[query] or [NOWHERE])[0]) for query, expert in best.items())
    confusion: dict[str, dict[str, int]] = {}
    for (expert, chosen), count in sorted(pairs.items()):
        confusion.setdefault(expert, {})[chosen] = count
    return RoutingResult(top.get(1), len(best), wilson_interval(first), top, confusion, _experts(pairs))


def _ranked(query: str, route: Route) -> list[str]:
    given: object = route
    listed: list[Any] = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    if not all(isinstance(name, str) and name for name in listed):
        raise InputTypeError(f"the route of query {shown(query)} must be names of experts, found {route!r}")
    if len(set(listed)) < len(listed):
        raise InputError(f"the route of query {shown(query)} names an expert twice: {', '.join(map(shown, listed))}")
    return listed


def _experts(pairs: Counter[tuple[str, str]]) -> tuple[Expert, ...]:
    own: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    for (best, chosen), count in pairs.items():
        own[best] += count
        sent[chosen] += count
    known = sorted((own.keys() | sent.keys()) - {NOWHERE})
    return tuple(Expert(name, own[name], sent[name], pairs[name, name]) for name in known)
