"""How much gold, and how much text, is in the first chunks of each ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.formatting import plural
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.passage_judgments import Extents, PassageJudgments, Unit
from rankgauge.core.tables import Floats, sum_by
from rankgauge.errors import InputError, MeasureError, shown


@dataclass(frozen=True, eq=False)
class TextCounts:
    """The units of text of each query: of its gold, of the gold that was retrieved, and of all that was retrieved.

    Gold counts once, however many passages it belongs to and however often it is retrieved. Retrieved text counts each
    time.
    """

    gold: Floats
    retrieved_gold: Floats
    retrieved: Floats


def count_text(hits: Hits, unit: Unit, cutoff: int | Ints | None, budget: int | None) -> TextCounts:
    """Count within the first ranks, or within the first units of text; the last chunk within a budget is cut off."""
    judgments, extents = _extents(hits, unit)
    hits = hits.top(cutoff)
    length = extents.chunk_length[hits.ordinal]
    if budget is not None:
        check_lengths(hits, unit, budget)
        length = np.clip(budget - (hits.running(length) - length), 0, length).astype(np.int64)
    kept = np.zeros(len(hits.judged), dtype=np.int64)
    kept[hits.ordinal] = length
    covered = np.clip(kept[extents.ordinal] - extents.within_chunk, 0, extents.length)
    return TextCounts(
        gold=sum_by(judgments.passage_query, extents.own_length, len(hits)),
        retrieved_gold=union_length(extents.part_query, extents.position, extents.position + covered, len(hits)),
        retrieved=hits.sum(length),
    )


def union_length(query: Ints, begin: Ints, end: Ints, queries: int) -> Floats:
    """The length of the union of each query's intervals."""
    if not len(begin):
        return np.zeros(queries)
    lowest = int(begin.min())
    shift = query * (int(end.max()) - lowest + 1) - lowest  # so that no interval reaches those of another query
    order = np.argsort(begin + shift, kind="stable")
    first, last = (begin + shift)[order], (end + shift)[order]
    reached = np.concatenate([first[:1], np.maximum.accumulate(last)[:-1]])
    return sum_by(query[order], np.maximum(last - np.maximum(first, reached), 0), queries)


def check_lengths(hits: Hits, unit: Unit, budget: int | None = None) -> None:
    """Raise if a chunk that counts is not among the judged ones, so that its length is not known."""
    length = _extents(hits, unit)[1].chunk_length[hits.ordinal]
    is_known = hits.rank == hits.position  # up to the first chunk without a judgment
    is_short = hits.sum(is_known.astype(np.int64)) < hits.retrieved
    if budget is not None:
        is_short &= hits.sum(np.where(is_known, length, 0)) < budget
    queries = np.flatnonzero(is_short)
    if len(queries):
        raise InputError(
            f"the length of a retrieved chunk of query {shown(hits.queries[int(queries[0])])} is not known "
            f"({plural(len(queries), 'such query', 'such queries')})",
            hint="give the texts of all retrieved chunks",
        )


def _extents(hits: Hits, unit: Unit) -> tuple[PassageJudgments, Extents]:
    judgments = hits.by_group
    assert isinstance(judgments, PassageJudgments)
    if unit not in judgments.extents:
        raise MeasureError("tokens were not counted", hint="choose a tokenizer, or write unit='characters'")
    return judgments, judgments.extents[unit]
