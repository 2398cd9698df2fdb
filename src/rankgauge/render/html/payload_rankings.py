"""The rankings in the data for the scripts: one record per query, and the beginnings of documents that moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.render.html.rankings import TopRanking
from rankgauge.render.html.text import plain, shorten_end

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


def pack_rankings(
    tops: Sequence[TopRanking | None],
    scales: Sequence[int],
    size: PayloadSize,
    queries: Sequence[int],
    *,
    snippets: Mapping[str, str] | None = None,
    baseline: int = 0,
) -> dict[str, Any]:
    """The rankings of some queries; ``scales`` has the factor for each measure's contributions."""
    ranked = [top for top in tops if top is not None]
    if not ranked:
        return {"rankings": None}
    measures = len(scales) if size.measures is None else size.measures
    included = set(queries)
    records = [
        _query_record(tops, query, size, scales[:measures]) if query in included else None
        for query in range(len(ranked[0].docs))
    ]
    return {
        "ranked": [top is not None for top in tops],
        "depth": size.depth,
        "contribution_measures": measures,
        "rankings": records,
        "snippets": dict(_moved_snippets(tops, snippets or {}, size, baseline, sorted(included))),
    }


def _query_record(
    tops: Sequence[TopRanking | None], query: int, size: PayloadSize, scales: Sequence[int]
) -> dict[str, Any]:
    """One query: documents (d) by their best rank, their grades (g), rankings (r) as indices into the documents.

    Contributions (c) are by measure and system, ranks below the depth (b) by system.
    """
    depth = size.depth
    docs: dict[str, int] = {}
    rows: list[int | None] = []  # of each document in the judgments
    rankings = [[] if top is None else top.docs[query][:depth] for top in tops]
    for rank in range(depth):
        for top, ranking in zip(tops, rankings, strict=True):
            if top is not None and rank < len(ranking) and ranking[rank] not in docs:
                docs[ranking[rank]] = len(docs)
                rows.append(top.rows[query].get(rank + 1))
    judged = next(top for top in tops if top is not None).hits.judged
    return {
        "d": [plain(doc) for doc in docs],
        "g": [None if row is None else _grade(float(judged[row])) for row in rows],
        "r": [[docs[doc] for doc in ranking] for ranking in rankings],
        "c": [
            [[] if top is None else _contributions(top.contributions_at(query, index), depth, scale) for top in tops]
            for index, scale in enumerate(scales)
        ],
        "b": [_below(top.ranks[query], rows, depth) if size.below and top is not None else [] for top in tops],
    }


def _contributions(values: dict[int, float], depth: int, scale: int) -> list[int]:
    """Rank and contribution of each document that has one, alternating."""
    return [part for rank, value in values.items() if rank <= depth for part in (rank, round(value * scale))]


def _below(ranks: dict[int, int], rows: Sequence[int | None], depth: int) -> list[int]:
    """Index and rank, alternating, of the judged documents that this system ranks below the depth."""
    judged = [(index, ranks.get(row, 0)) for index, row in enumerate(rows) if row is not None]
    return [part for index, rank in judged if rank > depth for part in (index, rank)]


def _grade(grade: float) -> float:
    return int(grade) if grade == int(grade) else grade


def _moved_snippets(
    tops: Sequence[TopRanking | None],
    snippets: Mapping[str, str],
    size: PayloadSize,
    baseline: int,
    queries: Sequence[int],
) -> Iterator[tuple[str, str]]:
    """The beginnings of documents that moved, the largest contributions first, until the space is used up."""
    space = size.snippets
    if not snippets or not space:
        return
    weights: dict[str, float] = {}
    for query in queries:
        for doc, weight in _moved_weights(tops, query, size.depth, baseline):
            weights[doc] = max(weights.get(doc, 0.0), weight)
    for doc, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
        if doc in snippets:
            text = shorten_end(snippets[doc], SNIPPET_CHARACTERS)
            space -= len(text) + len(doc)
            if space < 0:
                return
            yield plain(doc), text


def _moved_weights(
    tops: Sequence[TopRanking | None], query: int, depth: int, baseline: int
) -> Iterator[tuple[str, float]]:
    """By how much each moved document changed the first measure; with a single system every document counts."""
    ranked: list[dict[str, tuple[int, float]]] = []
    for top in tops:
        values = {} if top is None else top.contributions_at(query, 0)
        docs = [] if top is None else top.docs[query][:depth]
        ranked.append({doc: (rank, values.get(rank, 0.0)) for rank, doc in enumerate(docs, 1)})
    before = {} if len(ranked) == 1 else ranked[baseline]
    absent = (0, 0.0)
    for after in ranked:
        for doc in after.keys() | before.keys():
            (rank, value), (old_rank, old_value) = after.get(doc, absent), before.get(doc, absent)
            if rank != old_rank:
                yield doc, abs(value - old_value)
