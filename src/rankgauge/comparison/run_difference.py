"""How much two runs differ, without judgments: overlap, Jaccard index and rank-biased overlap, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.result_views import HtmlView
from rankgauge.core.run import Run, Status
from rankgauge.core.settings import Section, check_settings, check_values, setting
from rankgauge.errors import InputError, shown
from rankgauge.stats.rank_correlation import rbo

RBO_DEPTH = 100  # results of each run that RBO sees: with p = 0.9 the rest weighs 0.003%
DIFFERENCE_MEASURES = ("overlap", "jaccard", "rbo")


@dataclass(frozen=True)
class ComparedDepth:
    """How much of two rankings is compared."""

    k: int = setting(
        10, "Compare the top K of each ranking.", Section.MEASURES, flag="--k K", limits=">=1", common=True
    )
    p: float = setting(
        0.9, "Set the persistence of RBO: higher looks deeper.", Section.MEASURES, flag="--p P", limits="0<x<1"
    )

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_DEPTH = ComparedDepth()


@dataclass(frozen=True)
class QueryDifference:
    """The two rankings of one query, up to the depth, and how much they have in common.

    ``overlap`` is the share of the top k that both have (of the longer ranking, if both have fewer than k results),
    ``jaccard`` the size of the intersection divided by that of the union. ``rbo`` takes the order into account, and
    weighs the top most. All are 1 for equal rankings, and None if both are empty.
    """

    query: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    overlap: float | None
    jaccard: float | None
    rbo: float | None

    @property
    def is_same(self) -> bool:
        """Whether the top k are the same documents in the same order."""
        return self.first == self.second

    @property
    def is_reordered(self) -> bool:
        """Whether the top k are the same documents in another order."""
        return not self.is_same and set(self.first) == set(self.second)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = {name: getattr(self, name) for name in DIFFERENCE_MEASURES}
        return {"query": self.query, **values, "first": list(self.first), "second": list(self.second)}


@dataclass(frozen=True)
class RunDifference(HtmlView):
    """Two runs, query by query, those that differ most first."""

    names: tuple[str, str]
    k: int
    p: float
    queries: tuple[QueryDifference, ...]
    missing: tuple[tuple[str, ...], tuple[str, ...]]  # queries that only the other run has
    failed: tuple[str, ...] = ()  # queries that a retriever could not answer

    def __repr__(self) -> str:
        changed, first, second = len(self.queries) - self.same, *self.names
        differ = f"the top {self.k} of {changed:,} of {plural(len(self.queries), 'query')} differ"
        return f"RunDifference({first!r}, {second!r}: {differ})"

    @cached_property
    def means(self) -> dict[str, float | None]:
        """The mean of each value over the queries that have one."""
        out: dict[str, float | None] = {}
        for name in DIFFERENCE_MEASURES:
            values = [value for query in self.queries if (value := getattr(query, name)) is not None]
            out[name] = sum(values) / len(values) if values else None
        return out

    @property
    def same(self) -> int:
        """The number of queries with the same top k."""
        return sum(query.is_same for query in self.queries)

    @property
    def reordered(self) -> int:
        """The number of queries with the same documents in another order."""
        return sum(query.is_reordered for query in self.queries)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "runs": list(self.names),
            "k": self.k,
            "p": self.p,
            "queries": len(self.queries),
            "same": self.same,
            "reordered": self.reordered,
            "means": self.means,
            "missing": {name: list(queries) for name, queries in zip(self.names, self.missing, strict=True)},
            "failed": list(self.failed),
            "per_query": [query.to_dict() for query in self.queries],
        }


def diff_runs(
    first: Run, second: Run, *, k: int = DEFAULT_DEPTH.k, p: float = DEFAULT_DEPTH.p, names: Sequence[str] = ()
) -> RunDifference:
    """Compare the top k of two runs without judgments; queries that failed in either are left out."""
    check_values(ComparedDepth, {"k": k, "p": p})
    labels = tuple(names) or (first.name, second.name)
    sides = [_rankings(run, max(k, RBO_DEPTH)) for run in (first, second)]
    shared = [query for query in sides[0] if query in sides[1]]
    if not shared:
        queries = [next(iter(side), None) for side in sides]
        examples = " and ".join("none" if query is None else shown(query) for query in queries)
        raise InputError(f"the runs have no query in common: {examples}")
    failed = sorted({query for side in sides for query, ranking in side.items() if ranking is None})
    rows = []
    for query in shared:
        one, other = sides[0][query], sides[1][query]
        if one is not None and other is not None:
            rows.append(_difference(query, one, other, k, p))
    rows.sort(key=lambda row: (1.0 if row.rbo is None else row.rbo, 1.0 if row.overlap is None else row.overlap))
    missing = [tuple(query for query in sides[1 - side] if query not in sides[side]) for side in (0, 1)]
    return RunDifference((labels[0], labels[1]), k, p, tuple(rows), (missing[0], missing[1]), tuple(failed))


def _rankings(run: Run, depth: int) -> dict[str, list[str] | None]:
    """The first documents of each query; None if the query failed."""
    top = run.top(depth)
    docs, offsets = top.docs.to_text(), top.offsets.tolist()
    failed = np.asarray(top.status) == Status.FAILED
    return {
        query: None if failed[row] else docs[offsets[row] : offsets[row + 1]]
        for row, query in enumerate(top.queries.to_text())
    }


def _difference(query: str, one: list[str], other: list[str], k: int, p: float) -> QueryDifference:
    first, second = tuple(one[:k]), tuple(other[:k])
    if not first and not second:
        return QueryDifference(query, first, second, None, None, None)
    common, union = len({*first} & {*second}), len({*first} | {*second})
    similarity = rbo(one, other, p=p).value if one and other else 0.0
    return QueryDifference(query, first, second, common / max(len(first), len(second)), common / union, similarity)
