"""The top of each ranking: which document is at which rank, its grade, and its contribution to each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankgauge.comparison.attribution import shares
from rankgauge.core.hits import Hits
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.report.report import Report

TOP_DEPTH = 20


@dataclass(frozen=True)
class TopRanking:
    """The top of one system's ranking, query by query. Contributions are those of the hits within ``TOP_DEPTH``."""

    docs: list[list[str]]
    hits: Hits  # all of them: the rank of a judged document is known at any depth
    top_hits: Hits
    contributions: list[Floats]  # for each measure

    @cached_property
    def ranks(self) -> list[dict[int, int]]:
        """For each query, the rank of each judged document that was retrieved, by its row in the judgments."""
        return _by_query(self.hits, self.hits.ordinal.tolist(), self.hits.rank.tolist())

    @cached_property
    def rows(self) -> list[dict[int, int]]:
        """For each query, the row in the judgments of the document at each rank, if it has one."""
        return _by_query(self.top_hits, self.top_hits.rank.tolist(), self.top_hits.ordinal.tolist())

    def contributions_at(self, query: int, measure: int) -> dict[int, float]:
        """The contribution of the document at each rank, if it has one."""
        begin, end = int(self.top_hits.offsets[query]), int(self.top_hits.offsets[query + 1])
        ranks, values = self.top_hits.rank[begin:end].tolist(), self.contributions[measure][begin:end].tolist()
        return {rank: value for rank, value in zip(ranks, values, strict=True) if value}


def top_rankings(report: Report, page_systems: PageSystems) -> list[TopRanking | None]:
    """The tops of all systems on the page; None for a system that has no ranking."""
    rankings: dict[str, TopRanking] = {}
    for run, joined, scores in zip(report.runs, report.joined, report.scores, strict=True):
        if run is not None:
            top_hits = joined.hits.where(joined.hits.rank <= TOP_DEPTH)
            docs = _top_docs(run, joined.hits, report)
            contributions = [shares(measure, top_hits) for measure in scores.measures]
            rankings[scores.run] = TopRanking(docs, joined.hits, top_hits, contributions)
    return [rankings.get(system.name) for system in page_systems.systems]


def _top_docs(run: Run, hits: Hits, report: Report) -> list[list[str]]:
    """The documents at the top of each judged query."""
    zeros = np.zeros(len(run.queries), dtype=np.int64)
    judged, query_indices = report.qrels.query_index.find(run.queries, zeros)
    top = run.select(judged).top(TOP_DEPTH, report.scores[0].conventions.compat)
    names = top.docs.to_text()
    docs: list[list[str]] = [[] for _ in range(len(hits))]
    for row, query in enumerate(query_indices.tolist()):
        docs[query] = names[int(top.offsets[row]) : int(top.offsets[row + 1])]
    return docs


def _by_query(hits: Hits, keys: Sequence[int], values: Sequence[int]) -> list[dict[int, int]]:
    offsets = hits.offsets.tolist()
    return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(offsets)]
