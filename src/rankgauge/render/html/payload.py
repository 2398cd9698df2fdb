"""What the scripts look into: values of each query, tops of rankings, snippets; packed, and no larger than allowed."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.core.tables import Floats
from rankgauge.evaluation.slices import groups
from rankgauge.render.html.cast import Cast
from rankgauge.render.html.figures.differences import axes_of, shown_values
from rankgauge.render.html.rankings import Tops
from rankgauge.render.html.text import cut, plain
from rankgauge.report.report import Report

TEXT = 240  # signs of a query that are kept
SAMPLED = 16  # of so many queries one is packed to see whether all will fit
SNIPPET = 180  # signs of a document that are kept


@dataclass(frozen=True)
class Plenty:
    """How much is put in."""

    depth: int  # documents of each ranking
    measures: int | None  # for how many measures each document's share is told; None for all
    snippets: int  # signs of all of them together
    digits: int  # of a value between 0 and 1
    below: bool = False  # whether it is told at which rank a judged document stands that is no longer listed
    queries: int | None = None  # for how many queries there are rankings, those that differ most; None for all


# From all to little: the first that fits is taken.
LESS_AND_LESS = (
    Plenty(20, None, 400_000, 6, below=True),
    Plenty(20, 1, 200_000, 6, below=True),
    Plenty(20, 1, 100_000, 5),
    Plenty(10, None, 100_000, 5),
    Plenty(10, 1, 100_000, 4),
    Plenty(10, 1, 40_000, 4),
    Plenty(10, 1, 0, 4),
    Plenty(5, 1, 0, 4),
    Plenty(5, 1, 0, 4, queries=2000),
    Plenty(5, 1, 0, 4, queries=500),
)


def payload(report: Report, cast: Cast, tops: Tops, room: int) -> str:
    """The data as base64 of gzip of JSON, in at most ``room`` signs where that can be."""
    order, last = _most_different(cast), LESS_AND_LESS[-1]
    for plenty in LESS_AND_LESS:
        chosen = order[: plenty.queries]
        base = _base(report, cast, plenty.digits)
        sampled = _rankings(report, cast, tops, replace(plenty, snippets=0), chosen[::SAMPLED])
        if plenty is not last and len(pack(base)) + SAMPLED * len(pack(sampled)) > room * 1.1:
            continue
        packed = pack({**base, **_rankings(report, cast, tops, plenty, chosen)})
        if len(packed) <= room:
            break
    return packed


def pack(data: dict[str, Any]) -> str:
    """JSON, gzip without a date, base64."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _base(report: Report, cast: Cast, digits: int) -> dict[str, Any]:
    first = cast.scores[0]
    texts = [cut(report.texts.get(query, ""), TEXT) for query in first.queries]
    columns = []
    for name in report.by:
        found = list(groups(first.columns, name))
        codes = np.zeros(len(first), dtype=np.int64)
        for code, (_, chosen) in enumerate(found):
            codes[chosen] = code
        columns.append({"name": plain(name), "labels": [plain(title) for title, _ in found], "codes": codes.tolist()})
    return {
        "systems": [{"name": plain(system.name), "colour": system.colour} for system in cast.systems],
        "baseline": cast.baseline,
        "queries": [plain(query) for query in first.queries],
        "texts": texts if any(texts) else None,
        "columns": columns,
        "measures": [_measure(cast, place, digits) for place in range(len(first.measures))],
    }


def _measure(cast: Cast, place: int, digits: int) -> dict[str, Any]:
    measure = cast.scores[0].measures[place]
    values = [shown_values(one, place) for one in cast.scores]
    scale = scale_of(values, digits)
    return {
        "name": measure.name,
        "lower": measure.definition.better == "lower",
        "whole": measure.definition.aggregate == "sum",
        "scale": scale,
        "values": [whole(one.tolist(), scale) for one in values],
        **axes_of(cast.scores, place).to_dict(),
    }


def scale_of(values: Sequence[Floats], digits: int) -> int:
    """By what values are multiplied, so that whole numbers hold what the page shows of them."""
    largest = max((float(np.nanmax(np.abs(one), initial=0.0)) for one in values), default=0.0)
    if not math.isfinite(largest) or largest < 10:
        return int(10**digits)
    return int(10 ** max(0, digits - math.floor(math.log10(largest))))


def whole(values: Sequence[float], scale: int) -> list[int | None]:
    """Values as whole numbers; null where there is none."""
    return [round(value * scale) if math.isfinite(value) else None for value in values]


def _rankings(report: Report, cast: Cast, tops: Tops, plenty: Plenty, queries: Sequence[int]) -> dict[str, Any]:
    if tops.missing is not None:
        return {"rankings": None, "missing": plain(tops.missing)}
    measures = len(cast.scores[0].measures) if plenty.measures is None else plenty.measures
    scales = [scale_of([shown_values(one, place) for one in cast.scores], plenty.digits) for place in range(measures)]
    chosen = set(queries)
    made = [_query(tops, query, plenty, scales) if query in chosen else None for query in range(len(cast.scores[0]))]
    return {
        "ranked": [top is not None for top in tops.systems],
        "depth": plenty.depth,
        "shared": measures,
        "rankings": made,
        "snippets": dict(_snippets(report, cast.baseline, tops, made, plenty)),
    }


def _most_different(cast: Cast) -> list[int]:
    """The queries whose values on the first measure lie furthest apart, in that order."""
    values = np.stack([shown_values(one, 0) for one in cast.scores])
    apart = np.nan_to_num(np.abs(values - values[cast.baseline])).max(axis=0)
    return [int(query) for query in np.argsort(-apart, kind="stable")]


def _query(tops: Tops, query: int, plenty: Plenty, scales: Sequence[int]) -> dict[str, Any]:
    """One query: documents by their best rank, grades, each ranking as places among these, shares as rank and share."""
    depth = plenty.depth
    docs: dict[str, int] = {}
    rows: list[int | None] = []  # of each document in the judgments
    rankings = [[] if top is None else top.docs[query][:depth] for top in tops.systems]
    for rank in range(depth):
        for top, ranking in zip(tops.systems, rankings, strict=True):
            if top is not None and rank < len(ranking) and ranking[rank] not in docs:
                docs[ranking[rank]] = len(docs)
                rows.append(top.rows[query].get(rank + 1))
    grades_of = tops.known[0].hits.judged
    grades = [None if row is None else _grade(float(grades_of[row])) for row in rows]
    return {
        "d": [plain(doc) for doc in docs],
        "g": grades,
        "r": [[docs[doc] for doc in ranking] for ranking in rankings],
        "s": [
            [[] if top is None else _sparse(top.shares_at(query, place), depth, scale) for top in tops.systems]
            for place, scale in enumerate(scales)
        ],
        "b": [
            _below(top.ranks[query], rows, depth) if plenty.below and top is not None else [] for top in tops.systems
        ],
    }


def _sparse(shares: dict[int, float], depth: int, scale: int) -> list[int]:
    """Rank and share of each document that has one, one after the other."""
    return [part for rank, share in shares.items() if rank <= depth for part in (rank, round(share * scale))]


def _below(ranks: dict[int, int], rows: Sequence[int | None], depth: int) -> list[int]:
    """Place and rank of the listed documents that this system has further down, as far as they are judged."""
    found = [(place, ranks.get(row, 0)) for place, row in enumerate(rows) if row is not None]
    return [part for place, rank in found if rank > depth for part in (place, rank)]


def _grade(grade: float) -> float:
    return int(grade) if grade == int(grade) else grade


def _snippets(
    report: Report, baseline: int, tops: Tops, made: Sequence[dict[str, Any] | None], plenty: Plenty
) -> Iterator[tuple[str, str]]:
    """The beginnings of documents that moved, from those that matter most on, until there is no room."""
    left = plenty.snippets
    if not report.snippets or not left:
        return
    weights: dict[str, float] = {}
    for query, one in enumerate(made):
        if one is not None:
            for doc, weight in _weights(tops, query, plenty.depth, baseline):
                weights[doc] = max(weights.get(doc, 0.0), weight)
    for doc, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
        if doc in report.snippets:
            text = cut(report.snippets[doc], SNIPPET)
            left -= len(text) + len(doc)
            if left < 0:
                return
            yield plain(doc), text


def _weights(tops: Tops, query: int, depth: int, baseline: int) -> Iterator[tuple[str, float]]:
    """How much each document that moved, moved the first measure; where nothing was before, all are taken to have."""
    found: list[dict[str, tuple[int, float]]] = []
    for top in tops.systems:
        shares = {} if top is None else top.shares_at(query, 0)
        docs = [] if top is None else top.docs[query][:depth]
        found.append({doc: (rank, shares.get(rank, 0.0)) for rank, doc in enumerate(docs, 1)})
    before = {} if len(found) == 1 else found[baseline]
    nowhere = (0, 0.0)
    for after in found:
        for doc in after.keys() | before.keys():
            (rank, share), (other, once) = after.get(doc, nowhere), before.get(doc, nowhere)
            if rank != other:
                yield doc, abs(share - once)
