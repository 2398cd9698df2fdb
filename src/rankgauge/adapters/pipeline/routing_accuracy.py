"""Which expert a query is sent to. Experts are ranked for a query like documents, so success is Success@n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.adapters.pipeline.paired_values import QueryValues, align_queries
from rankgauge.core.formatting import percent, plural, text_of
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import Columns, SummaryTable, Tabular
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.stats.results import Interval

Route = str | Sequence[str] | None
LARGEST_N = 10  # the largest n for which the accuracy in the top n is reported
NO_EXPERT = ""  # in the confusions, for a query that was sent to no expert


@dataclass(frozen=True)
class Expert:
    """The results of one expert: on the queries for which it is the best, and on those sent to it."""

    name: str
    own: int
    sent: int
    correct: int

    @property
    def recall(self) -> float | None:
        """The share of its own queries that were sent to it; None if it has none."""
        return self.correct / self.own if self.own else None

    @property
    def precision(self) -> float | None:
        """The share of the queries sent to it that are its own; None if none were sent."""
        return self.correct / self.sent if self.sent else None


@dataclass(frozen=True)
class RoutingResult(Tabular):
    """The share of queries sent to their best expert, and which experts were confused."""

    accuracy: float | None
    n: int
    interval: Interval
    top: dict[int, float]  # n → share of queries whose best expert is among the first n
    confusion: dict[str, dict[str, int]]  # best expert → chosen expert → queries
    experts: tuple[Expert, ...]

    def __repr__(self) -> str:
        return f"RoutingResult({self})"

    def __str__(self) -> str:
        if self.accuracy is None:
            return "routing   no queries"
        ends, low, high = "", self.interval.low, self.interval.high
        if low is not None and high is not None:
            ends = f" ({percent(self.interval.confidence)} CI {text_of(low, 'share')} to {text_of(high, 'share')})"
        top = "".join(f", {text_of(share, 'share')} in the top {n}" for n, share in self.top.items() if n > 1)
        return f"routing   {text_of(self.accuracy, 'share')} to the best expert{ends}{top}; {plural(self.n, 'query')}"

    def summary_table(self) -> SummaryTable:
        """The confusion table: best experts down, chosen experts across."""
        chosen = sorted({name for row in self.confusion.values() for name in row} | set(self.confusion))
        by_name = {expert.name: expert for expert in self.experts}
        rows = [
            [best, *(row.get(name, 0) for name in chosen), by_name[best].recall, by_name[best].precision]
            for best, row in self.confusion.items()
        ]
        return SummaryTable(
            ["best \\ chosen", *(name or "none" for name in chosen), "recall", "precision"], rows, str(self)
        )

    def frame_columns(self) -> Columns:
        """One row per pair of best and chosen expert."""
        cells = [(best, name, count) for best, row in self.confusion.items() for name, count in row.items()]
        return {name: [cell[column] for cell in cells] for column, name in enumerate(("best", "chosen", "queries"))}

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


def routing_accuracy(routes: QueryValues[Route], optimal_experts: QueryValues[str]) -> RoutingResult:
    """The share of queries that were sent to their best expert.

    A route is an expert, a list of experts with the best first (for the accuracy in the top n), or None if the query
    was sent nowhere, which counts as wrong. The interval is Wilson's.

    >>> routing_accuracy(["auth", "auth"], ["auth", "billing"]).accuracy
    0.5
    """
    routed, best = align_queries(routes, optimal_experts, ("routes", "optimal_experts"))
    ranked = {query: _check_route(query, route) for query, route in routed.items()}
    for query, expert in best.items():
        if not isinstance(expert, str) or not expert:
            raise InputTypeError(f"the best expert of query {shown(query)} must be a name, found {expert!r}")
    longest = min(LARGEST_N, max((len(route) for route in ranked.values()), default=1))
    names = {n: f"Success@{n}" for n in range(1, max(1, longest) + 1)}
    scores = evaluate(
        Qrels.from_lists({query: [expert] for query, expert in best.items()}), ranked, list(names.values())
    )
    top = {n: value for n, name in names.items() if (value := scores[name]) is not None}
    pairs = Counter((expert, (ranked[query] or [NO_EXPERT])[0]) for query, expert in best.items())
    confusion: dict[str, dict[str, int]] = {}
    for (expert, chosen), count in sorted(pairs.items()):
        confusion.setdefault(expert, {})[chosen] = count
    interval = scores.interval("Success@1")
    return RoutingResult(top.get(1), len(best), interval, top, confusion, _experts(pairs))


def _check_route(query: str, route: Route) -> list[str]:
    value: object = route
    names: list[Any] = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(name, str) and name for name in names):
        raise InputTypeError(f"the route of query {shown(query)} must be names of experts, found {route!r}")
    if len(set(names)) < len(names):
        raise InputError(f"the route of query {shown(query)} names an expert twice: {', '.join(map(shown, names))}")
    return names


def _experts(pairs: Counter[tuple[str, str]]) -> tuple[Expert, ...]:
    own: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    for (best, chosen), count in pairs.items():
        own[best] += count
        sent[chosen] += count
    names = sorted((own.keys() | sent.keys()) - {NO_EXPERT})
    return tuple(Expert(name, own[name], sent[name], pairs[name, name]) for name in names)
