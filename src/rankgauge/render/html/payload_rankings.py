"""The tops of the rankings, with judgments and contributions, as the scripts read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.comparison.document_changes import shares
from rankgauge.core.arrays import Floats, count_by, group_of, offsets_of
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints, concatenate, number_ids
from rankgauge.core.run import Run
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Measure
from rankgauge.render.html.page_systems import PageSystems
from rankgauge.render.html.page_text import shorten_end
from rankgauge.render.html.payload_packing import Packer
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
    for scores, joined in zip(report.scores, report.joined, strict=bool(report.joined)):
        if joined.shown is not None:
            rankings[scores.run] = _top_ranking(joined.shown, joined.hits, scores, report)
    return [rankings.get(system.name) for system in page_systems.systems]


def _top_ranking(run: Run, hits: Hits, scores: Scores, report: Report) -> TopRanking:
    """The documents at the top of each judged query, in the order of the judged queries."""
    zeros = np.zeros(len(run.queries), dtype=np.int64)
    judged, query_indices = report.qrels.query_index.find(run.queries, zeros)
    top = run.select(judged).top(SHOWN_DEPTH, scores.conventions.compat)
    query = query_indices[group_of(top.offsets)]
    order = np.argsort(query, kind="stable")
    return TopRanking(top.docs.take(order), offsets_of(query[order], len(hits)), hits, scores.measures)


SNIPPET_CHARACTERS = 180  # of a document that are kept


@dataclass(frozen=True)
class PayloadSize:
    """How much data the page holds."""

    depth: int  # documents of each ranking
    measures: int | None  # measures for which each document's contribution is included; None for all
    snippets: int  # characters of all snippets together
    digits: int  # of a value between 0 and 1
    below: bool = False  # whether to include the ranks of judged documents below the depth
    queries: int | None = None  # queries that have rankings, those that differ most; None for all


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """The rankings of some queries.

    A row is one document at one rank of one system: by system, query and rank. An entry is one document of one query,
    whichever systems ranked it: by query and document. Documents are distinct; short ids come first, then the order is
    that of their bytes, so that numbers ascend.
    """

    docs: Ids
    queries: Ints  # in ascending order
    system: Ints  # of each row
    query: Ints  # of each row, as a place in ``queries``
    rank: Ints
    entry: Ints
    entry_query: Ints
    entry_doc: Ints

    @property
    def entry_counts(self) -> Ints:
        """The number of entries of each query."""
        return count_by(self.entry_query, len(self.queries))

    @property
    def place(self) -> Ints:
        """The entry of each row, counted from the first one of its query."""
        counts = self.entry_counts
        places: Ints = self.entry - (np.cumsum(counts) - counts)[self.query]
        return places

    @property
    def gaps(self) -> Ints:
        """The number of documents between each entry and the one before it in the same query."""
        first = np.diff(self.entry_query, prepend=-1) != 0
        gaps: Ints = np.where(first, self.entry_doc, np.diff(self.entry_doc, prepend=0) - 1)
        return gaps


def ranked_documents(docs: Ids, system: Ints, query: Ints, rank: Ints, queries: Ints) -> RankedDocuments:
    """Rankings from rows by system, query and rank; ``docs`` may repeat."""
    numbers, count = number_ids(docs, np.zeros(len(docs), dtype=np.int64))
    first = np.zeros(count, dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(docs))[::-1]
    distinct = docs.take(first)
    by_length = np.argsort(distinct.length, kind="stable")
    order = by_length[distinct.take(by_length).order(distinct.length[by_length])]
    places = np.empty(count, dtype=np.int64)
    places[order] = np.arange(count)
    entries, entry = np.unique(query * max(count, 1) + places[numbers], return_inverse=True)
    return RankedDocuments(
        distinct.take(order), queries, system, query, rank, entry, entries // max(count, 1), entries % max(count, 1)
    )


def pack_rankings(
    packer: Packer,
    tops: Sequence[TopRanking | None],
    scales: Sequence[int],
    size: PayloadSize,
    queries: Sequence[int],
    *,
    snippets: Mapping[str, str] | None = None,
    baseline: int = 0,
) -> dict[str, Any]:
    """The rankings of some queries; ``scales`` has the factor for each measure's contributions."""
    ranked = [(system, top) for system, top in enumerate(tops) if top is not None]
    if not ranked:
        return {"rankings": None}
    measures = len(scales) if size.measures is None else size.measures
    chosen = np.sort(np.array(queries, dtype=np.int64))
    place_of = np.full(len(ranked[0][1].offsets) - 1, -1, dtype=np.int64)
    place_of[chosen] = np.arange(len(chosen))
    kept = [np.flatnonzero((top.rank <= size.depth) & (place_of[top.query] >= 0)) for _, top in ranked]
    tops_and_rows = [(top, rows) for (_, top), rows in zip(ranked, kept, strict=True)]
    documents = ranked_documents(
        concatenate([top.docs.take(rows) for top, rows in tops_and_rows]),
        np.repeat(np.array([system for system, _ in ranked]), [len(rows) for rows in kept]),
        place_of[np.concatenate([top.query[rows] for top, rows in tops_and_rows])],
        np.concatenate([top.rank[rows] for top, rows in tops_and_rows]),
        chosen,
    )
    judgment = np.concatenate([top.judgment[rows] for top, rows in tops_and_rows])
    entry_judgment = np.full(len(documents.entry_doc), -1, dtype=np.int64)
    entry_judgment[documents.entry[judgment >= 0]] = judgment[judgment >= 0]
    contributions = [
        np.concatenate([top.contributions(index)[rows] for top, rows in tops_and_rows]) for index in range(measures)
    ]
    judged = entry_judgment[entry_judgment >= 0]
    grades = np.full(len(entry_judgment), np.nan)
    grades[entry_judgment >= 0] = ranked[0][1].hits.judged[judged]
    packed_grades = pack_grades(packer, grades)
    return {
        "ranked": [top is not None for top in tops],
        "depth": size.depth,
        "contribution_measures": measures,
        "rankings": {
            **packed_documents(packer, documents, len(tops), None if len(chosen) == len(place_of) else chosen),
            "grades": packed_grades,
            "contributions": [
                _packed_contributions(packer, np.rint(values * scale), grades[documents.entry], packed_grades["list"])
                for values, scale in zip(contributions, scales, strict=False)
            ],
            "below": [
                packer.numbers(_below(top, judged, size.depth)) if top is not None and size.below else None
                for top in tops
            ],
        },
        "snippets": _moved_snippets(packer, documents, contributions[0], snippets or {}, size, baseline, len(tops)),
    }


def packed_documents(packer: Packer, documents: RankedDocuments, systems: int, chosen: Ints | None) -> dict[str, Any]:
    """The documents of each query, and the rankings as places among them; ``chosen`` are the queries, if not all."""
    cells = documents.system * len(documents.queries) + documents.query
    return {
        "queries": None if chosen is None else packer.numbers(chosen),
        "docs": packer.ids(documents.docs),
        "counts": packer.numbers(documents.entry_counts),
        "gaps": packer.numbers(documents.gaps),
        "lengths": packer.numbers(count_by(cells, systems * len(documents.queries))),
        "places": packer.numbers(documents.place),
    }


def pack_grades(packer: Packer, grades: Floats) -> dict[str, Any]:
    """The grade of each entry as a place in the list of grades; missing if it is not judged."""
    judged = ~np.isnan(grades)
    distinct, places = np.unique(grades[judged], return_inverse=True)
    codes = np.full(len(grades), np.nan)
    codes[judged] = places
    listed = [int(grade) if grade == int(grade) else grade for grade in distinct.tolist()]
    return {"list": listed, "codes": packer.numbers(codes)}


def _packed_contributions(packer: Packer, values: Floats, grades: Floats, listed: Sequence[float]) -> dict[str, Any]:
    """The contributions of the rows whose grade contributes anything anywhere: most measures ignore grade 0."""
    contributing = [place for place, grade in enumerate(listed) if values[grades == grade].any()]
    rows = np.isin(grades, [listed[place] for place in contributing])
    return {"grades": contributing, "values": packer.numbers(values[rows])}


def _below(top: TopRanking, judged: Ints, depth: int) -> Ints:
    """The rank of each judged document if this system ranks it below the depth, otherwise 0."""
    ranks = np.zeros(len(top.hits.judged), dtype=np.int64)
    ranks[top.hits.ordinal] = top.hits.rank
    return np.where(ranks[judged] > depth, ranks[judged], 0)


def _moved_snippets(
    packer: Packer,
    documents: RankedDocuments,
    contributions: Floats,
    snippets: Mapping[str, str],
    size: PayloadSize,
    baseline: int,
    systems: int,
) -> dict[str, Any]:
    """The beginnings of documents that moved, the largest contributions first, until the space is used up."""
    chosen = (
        []
        if not snippets or not size.snippets
        else [*_fitting(documents, contributions, snippets, size, baseline, systems)]
    )
    return {"docs": packer.numbers(np.array([doc for doc, _ in chosen])), "texts": [text for _, text in chosen]}


def _fitting(
    documents: RankedDocuments,
    contributions: Floats,
    snippets: Mapping[str, str],
    size: PayloadSize,
    baseline: int,
    systems: int,
) -> Iterator[tuple[int, str]]:
    weights = _moved_weights(documents, contributions, baseline, systems)
    space = size.snippets
    for doc in np.argsort(-weights, kind="stable").tolist():
        if np.isneginf(weights[doc]):
            return
        name = documents.docs[doc].decode("utf-8", "surrogateescape")
        if name in snippets:
            text = shorten_end(snippets[name], SNIPPET_CHARACTERS)
            space -= len(text) + len(name)
            if space < 0:
                return
            yield doc, text


def _moved_weights(documents: RankedDocuments, contributions: Floats, baseline: int, systems: int) -> Floats:
    """By how much each document that moved changed the first measure, at most; −infinity if it moved nowhere.

    With a single system all documents count.
    """
    ranks = np.zeros((systems, len(documents.entry_doc)), dtype=np.int64)
    values = np.zeros(ranks.shape)
    ranks[documents.system, documents.entry] = documents.rank
    values[documents.system, documents.entry] = contributions
    before = (0, 0.0) if systems == 1 else (ranks[baseline], values[baseline])
    changes = np.where(ranks != before[0], np.abs(values - before[1]), -np.inf).max(axis=0)
    weights = np.full(len(documents.docs), -np.inf)
    np.maximum.at(weights, documents.entry_doc, changes)
    return weights
