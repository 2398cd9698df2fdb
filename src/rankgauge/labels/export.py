"""Judgments of a sampled pool as qrels: what is in the pool and was not drawn has grade −1, as infAP needs it."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.labels.records import PoolItem

UNDRAWN = -1.0


def with_undrawn(qrels: Qrels, pool: Sequence[PoolItem]) -> Qrels:
    """The judgments, and the pooled documents without one as grade −1; raise unless the pool is a uniform sample.

    infAP takes the judged documents for a uniform random sample of the pool: a stratified sample has other
    probabilities, and an adaptive pool has none.
    """
    strategies = sorted({item.inclusion.strategy for item in pool} - {"uniform"})
    if strategies:
        raise InputError(
            f"infAP assumes that every document of a pool was equally likely, and this pool is {', '.join(strategies)}",
            hint="pool with --strategy uniform; a stratified sample is for `rankgauge labels estimate`",
        )
    names = qrels.queries.to_text()
    rows = [
        (names[number], doc, grade)
        for number, doc, grade in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True)
    ]
    judged = {(query, doc) for query, doc, _ in rows}
    rows += [(item.query, item.doc, UNDRAWN) for item in pool if (item.query, item.doc) not in judged]
    queries, docs, grades = zip(*rows, strict=True)
    return Qrels.from_columns(queries, docs, grades, name=qrels.name)
