"""Did the retriever get worse, or did ids or the corpus change under the labels?

A relevant document that the baseline retrieved and that this run has for no query at all may have been renamed or
removed. If the ids of the corpus are given, this is known: the corpus does not have the document any more, or the run
has documents that the corpus never had. Without them it is a suspicion. Either way the drop is split into the queries
that lost such documents and the others, which are tested again by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.gate.decide import Outcome, Rule, decide
from rankgauge.core.ids import IdIndex, Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats

if TYPE_CHECKING:
    from rankgauge.comparison.gate.pairing import PairedQueries
    from rankgauge.comparison.gate.result import ComparedMeasure

Cause = Literal["retriever", "ids or corpus", "both", "unclear"]
Retrieved = Mapping[str, Sequence[str]]  # query → the judged documents that a run has for it


@dataclass(frozen=True, slots=True)
class DropShare:
    """How a measure's change splits; the two parts sum to it."""

    measure: str
    within: float  # contributed by the queries that lost documents
    elsewhere: float  # contributed by all other queries
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
    qrels = qrels.as_documents()
    relevant = np.flatnonzero(qrels.grades > 0)
    rows = zip(qrels.query[relevant].tolist(), qrels.docs.take(relevant).to_text(), strict=True)
    names = qrels.queries.to_text()
    relevant_pairs = {(names[query], doc) for query, doc in rows}
    lost = {query: [doc for doc in docs if (query, doc) in relevant_pairs] for query, docs in gone.items()}
    return {query: docs for query, docs in lost.items() if docs}


def absent_documents(documents: Sequence[str], *columns: Ids) -> set[str]:
    """The documents that appear in none of the columns of ids."""
    ids = Ids.from_text(list(documents), "document id")
    index = IdIndex(ids, np.zeros(len(ids), dtype=np.int64))
    missing = np.ones(len(ids), dtype=bool)
    for column in columns:
        _, rows = index.find(column, np.zeros(len(column), dtype=np.int64))
        missing[rows] = False
    return {doc for doc, is_missing in zip(documents, missing.tolist(), strict=True) if is_missing}


def unknown_documents(run: Ids, corpus: Ids) -> list[str]:
    """The documents of a run that a corpus does not have, each once."""
    index = IdIndex(corpus, np.zeros(len(corpus), dtype=np.int64))
    known, _ = index.find(run, np.zeros(len(run), dtype=np.int64))
    unknown = np.ones(len(run), dtype=bool)
    unknown[known] = False
    return sorted(set(run.take(np.flatnonzero(unknown)).to_text()))


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
    others = decide(pairs.turned.select(~touched), rule)
    shares = tuple(
        DropShare(
            row.measure,
            _part(improvement[touched, column], len(touched)),
            _part(improvement[~touched, column], len(touched)),
            others[column].outcome,
        )
        for column, row in enumerate(compared)
        if row.decision.difference < 0
    )
    worse = {row.measure for row in compared if row.decision.outcome == "worse"}
    worse_elsewhere = any(share.outcome == "worse" for share in shares if share.measure in worse)
    return Blame(
        _cause(touched, worse_elsewhere=worse_elsewhere, corpus=corpus),
        tuple(sorted({doc for docs in lost.values() for doc in docs})),
        tuple(query for query in pairs.queries if query in lost),
        tuple(unknown),
        corpus,
        shares,
    )


def _cause(touched: NDArray[np.bool_], *, worse_elsewhere: bool, corpus: bool) -> Cause:
    if not touched.any():
        return "retriever"
    if worse_elsewhere:
        return "both" if corpus else "retriever"
    return "ids or corpus" if corpus else "unclear"


def _part(differences: Floats, queries: int) -> float:
    return float(differences.sum()) / queries
