"""Did the retriever get worse, or did ids or the corpus change under the labels?

A relevant document that the baseline retrieved and that this run has for no query at all may have been renamed or
removed. If the ids of the corpus are given, this is known: the corpus does not have the document any more, or the run
has documents that the corpus never had. Without them it is a suspicion. Either way the drop is split into the queries
that lost such documents and the others, each part with its bounds. That the others show no significant drop is not
evidence that the retriever is as good as before: only bounds that exclude a drop are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.comparison.gate.decide import Decision, Outcome, Rule, decide
from rankgauge.core.ids import IdIndex, Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats

if TYPE_CHECKING:
    from rankgauge.comparison.gate.pairing import PairedQueries
    from rankgauge.comparison.gate.result import ComparedMeasure

Cause = Literal["retriever", "lost documents", "both", "unclear", "unknown"]
Bounds = tuple[float | None, float | None]
Retrieved = Mapping[str, Sequence[str]]  # query → the judged documents that a run has for it


@dataclass(frozen=True, slots=True)
class DropShare:
    """How a measure's change splits; the two parts sum to it."""

    measure: str
    within: float  # contributed by the queries that lost documents
    within_bounds: Bounds
    elsewhere: float  # contributed by all other queries
    elsewhere_bounds: Bounds
    outcome: Outcome  # of the other queries by themselves


@dataclass(frozen=True, slots=True)
class Blame:
    """Relevant documents that are gone, the queries that lost them, and what a drop has to do with them."""

    cause: Cause
    documents: tuple[str, ...]
    queries: tuple[str, ...]
    unknown_documents: tuple[str, ...]  # documents of this run that the corpus does not have
    corpus: bool  # whether a corpus was given
    shares: tuple[DropShare, ...]


def lost_documents(before: Retrieved, now: Retrieved, qrels: Qrels) -> dict[str, list[str]]:
    """For each query the relevant documents that the baseline had and that this run has for no judged query."""
    retrieved = {doc for docs in now.values() for doc in docs}
    gone = {query: [doc for doc in docs if doc not in retrieved] for query, docs in before.items()}
    relevant = np.flatnonzero(qrels.grades > 0)
    rows = zip(qrels.query[relevant].tolist(), qrels.docs.take(relevant).to_text(), strict=True)
    names = qrels.queries.to_text()
    relevant_pairs = {(names[query], doc) for query, doc in rows}
    lost = {query: [doc for doc in docs if (query, doc) in relevant_pairs] for query, docs in gone.items()}
    return {query: docs for query, docs in lost.items() if docs}


def absent_documents(documents: Sequence[str], columns: Iterable[Ids]) -> set[str]:
    """The documents that appear in none of the columns of ids."""
    ids = Ids.from_text(list(documents), "document id")
    index = IdIndex(ids, np.zeros(len(ids), dtype=np.int64))
    missing = np.ones(len(ids), dtype=bool)
    for column in columns:
        _, rows = index.find(column, np.zeros(len(column), dtype=np.int64))
        missing[rows] = False
    return {doc for doc, is_missing in zip(documents, missing.tolist(), strict=True) if is_missing}


def unknown_documents(columns: Iterable[Ids], corpus: Ids) -> list[str]:
    """The documents in the columns of a run that a corpus does not have, each once."""
    index = IdIndex(corpus, np.zeros(len(corpus), dtype=np.int64))
    documents: set[str] = set()
    for column in columns:
        known, _ = index.find(column, np.zeros(len(column), dtype=np.int64))
        unknown = np.ones(len(column), dtype=bool)
        unknown[known] = False
        documents.update(column.take(np.flatnonzero(unknown)).to_text())
    return sorted(documents)


def blame(
    compared: Sequence[ComparedMeasure],
    pairs: PairedQueries,
    rule: Rule,
    lost: Mapping[str, Sequence[str]],
    *,
    unknown: Sequence[str] = (),
    corpus: bool,
) -> Blame:
    """Split the drops between the queries that lost documents and the others, which are tested by themselves."""
    touched = np.array([query in lost for query in pairs.queries], dtype=bool)
    improvement = pairs.improvement
    within, others = (decide(pairs.turned.select(part), rule) for part in (touched, ~touched))
    shares = tuple(
        DropShare(
            row.measure,
            _part(improvement[touched, column], len(touched)),
            _bounds(within[column], len(touched)),
            _part(improvement[~touched, column], len(touched)),
            _bounds(others[column], len(touched)),
            others[column].outcome,
        )
        for column, row in enumerate(compared)
        if row.decision.difference < 0
    )
    worse = {row.measure for row in compared if row.decision.outcome == "worse"}
    elsewhere = {share.outcome for share in shares if share.measure in worse}
    return Blame(
        _cause(elsewhere, lost=bool(touched.any()), corpus=corpus),
        tuple(sorted({doc for docs in lost.values() for doc in docs})),
        tuple(query for query in pairs.queries if query in lost),
        tuple(unknown),
        corpus,
        shares,
    )


def _cause(elsewhere: Collection[Outcome], *, lost: bool, corpus: bool) -> Cause:
    """What is known; ``elsewhere`` are the outcomes of the queries that lost nothing, on measures that got worse."""
    if not lost:
        return "retriever"
    if "worse" in elsewhere:
        return "both" if corpus else "retriever"
    is_held = all(outcome in ("no worse", "unchanged") for outcome in elsewhere)
    return "lost documents" if corpus and is_held else "unclear"


def _bounds(decision: Decision, queries: int) -> Bounds:
    """The bounds of a part's contribution to the change over all queries."""
    share = decision.n / queries
    low, high = decision.interval.low, decision.interval.high
    return None if low is None else low * share, None if high is None else high * share


def _part(differences: Floats, queries: int) -> float:
    return float(differences.sum()) / queries
