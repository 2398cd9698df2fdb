"""The top of each ranking: which document is at which rank, its judgment, and its contribution to each value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.comparison.attribution import shares
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Measure
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.report.report import SHOWN_DEPTH, Report


@dataclass(frozen=True, eq=False)
class TopRanking:
    """The top of one system's ranking: rows by query and rank, for the first ``SHOWN_DEPTH`` ranks."""

    docs: Ids
    offsets: Ints  # of each query's rows
    hits: Hits  # all of them: the rank of a judged document is known at any depth
    measures: tuple[Measure, ...]

    @cached_property
    def query(self) -> Ints:
        """The query of each row."""
        return group_of(self.offsets)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row."""
        return np.arange(1, len(self.docs) + 1) - self.offsets[:-1][self.query]

    @cached_property
    def top_hits(self) -> Hits:
        """The hits within the first ranks."""
        return self.hits.where(self.hits.rank <= SHOWN_DEPTH)

    @cached_property
    def hit_rows(self) -> Ints:
        """The row of each of these hits."""
        rows: Ints = self.offsets[:-1][self.top_hits.query] + self.top_hits.rank - 1
        return rows

    @cached_property
    def judgment(self) -> Ints:
        """The row of each document in the judgments; −1 if it has none."""
        judgment = np.full(len(self.docs), -1, dtype=np.int64)
        judgment[self.hit_rows] = self.top_hits.ordinal
        return judgment

    @cached_property
    def _memo(self) -> dict[int, Floats]:
        return {}

    def contributions(self, measure: int) -> Floats:
        """The contribution of each row to the value of its query."""
        if measure not in self._memo:
            values = np.zeros(len(self.docs))
            values[self.hit_rows] = shares(self.measures[measure], self.top_hits)
            self._memo[measure] = values
        return self._memo[measure]


def top_rankings(report: Report, page_systems: PageSystems) -> list[TopRanking | None]:
    """The tops of all systems on the page; None for a system that has no ranking."""
    rankings: dict[str, TopRanking] = {}
    for run, joined, scores in zip(report.runs, report.joined, report.scores, strict=True):
        if run is not None:
            rankings[scores.run] = _top_ranking(run, joined.hits, scores, report)
    return [rankings.get(system.name) for system in page_systems.systems]


def _top_ranking(run: Run, hits: Hits, scores: Scores, report: Report) -> TopRanking:
    """The documents at the top of each judged query, in the order of the judged queries."""
    zeros = np.zeros(len(run.queries), dtype=np.int64)
    judged, query_indices = report.qrels.query_index.find(run.queries, zeros)
    top = run.select(judged).top(SHOWN_DEPTH, scores.conventions.compat)
    query = query_indices[group_of(top.offsets)]
    order = np.argsort(query, kind="stable")
    return TopRanking(top.docs.take(order), offsets_of(query[order], len(hits)), hits, scores.measures)
