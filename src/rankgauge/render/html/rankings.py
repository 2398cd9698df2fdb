"""The tops of the rankings: which document stands where, its grade, and its share in each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankgauge.comparison.attribution import shares
from rankgauge.core.hits import Hits
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.render.html.cast import Cast
from rankgauge.report.report import Report

DEPTH = 20


@dataclass(frozen=True)
class Top:
    """One system's tops, query by query. Shares are those of the hits down to ``DEPTH``, for each measure."""

    docs: list[list[str]]
    hits: Hits  # all of them: the rank of a judged document is known at any depth
    above: Hits  # those down to the depth
    shares: list[Floats]

    @cached_property
    def ranks(self) -> list[dict[int, int]]:
        """For each query, the rank of each judged document that was retrieved, by its row in the judgments."""
        return _by_query(self.hits, self.hits.ordinal.tolist(), self.hits.rank.tolist())

    @cached_property
    def rows(self) -> list[dict[int, int]]:
        """For each query, the row in the judgments of the document at each rank, where it has one."""
        return _by_query(self.above, self.above.rank.tolist(), self.above.ordinal.tolist())

    def shares_at(self, query: int, measure: int) -> dict[int, float]:
        """The share of the document at each rank, where it has one."""
        begin, end = int(self.above.offsets[query]), int(self.above.offsets[query + 1])
        ranks, found = self.above.rank[begin:end].tolist(), self.shares[measure][begin:end].tolist()
        return {rank: share for rank, share in zip(ranks, found, strict=True) if share}


@dataclass(frozen=True)
class Tops:
    """Those of all systems, None for one that has no ranking; or why there are none at all."""

    systems: list[Top | None] = field(default_factory=list)
    missing: str | None = None

    @property
    def known(self) -> list[Top]:
        """Those that there are."""
        return [top for top in self.systems if top is not None]


def tops_of(report: Report, cast: Cast) -> Tops:
    """The tops of the rankings that were kept."""
    found: dict[str, Top] = {}
    for run, joined, scores in zip(report.runs, report.joined, report.scores, strict=True):
        if run is None:
            return Tops(missing=f"the ranking of {scores.run} was not kept")
        docs = _docs(run, joined.hits, report)
        above = joined.hits.where(joined.hits.rank <= DEPTH)
        found[scores.run] = Top(docs, joined.hits, above, [shares(measure, above) for measure in scores.measures])
    return Tops([found.get(system.name) for system in cast.systems])


def _docs(run: Run, hits: Hits, report: Report) -> list[list[str]]:
    """The documents at the top of each judged query."""
    zeros = np.zeros(len(run.queries), dtype=np.int64)
    known, number = report.qrels.query_index.find(run.queries, zeros)
    top = run.select(known).top(DEPTH, report.scores[0].conventions.compat)
    names = top.docs.to_text()
    out: list[list[str]] = [[] for _ in range(len(hits))]
    for place, query in enumerate(number.tolist()):
        out[query] = names[int(top.offsets[place]) : int(top.offsets[place + 1])]
    return out


def _by_query(hits: Hits, keys: Sequence[int], values: Sequence[int]) -> list[dict[int, int]]:
    ends = hits.offsets.tolist()
    return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]
