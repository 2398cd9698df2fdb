"""Did the retriever get worse, or did ids or the corpus change under the labels?

A relevant document that the baseline retrieved, and that stands nowhere in this run, for no query at all, may have been
renamed or removed. Where the ids of the corpus are given, that is known: the corpus does not have it any more, or the
run has documents that the corpus never had. Without them it is a suspicion. Either way the drop is split into the
queries that lost such documents and the others, which are tested again by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.gate.decide import Decision, Outcome, Rule, decide
from rankgauge.core.ids import Ids, Index
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.stats.samples import Units

Cause = Literal["retriever", "ids or corpus", "both", "unclear"]
Retrieved = Mapping[str, Sequence[str]]  # query → the judged documents that a run has for it


@dataclass(frozen=True, slots=True)
class Share:
    """How a measure's change splits; the two parts sum to it."""

    measure: str
    within: float  # what the queries that lost documents add to the change
    elsewhere: float  # what all other queries add
    outcome: Outcome  # of the other queries by themselves


@dataclass(frozen=True, slots=True)
class Blame:
    """Relevant documents that are gone, where they were, and what a drop has to do with them."""

    cause: Cause
    documents: tuple[str, ...]
    queries: tuple[str, ...]
    strangers: tuple[str, ...]  # documents of this run that the corpus does not have
    corpus: bool  # whether it was looked at
    shares: tuple[Share, ...]


def lost(before: Retrieved, now: Retrieved, qrels: Qrels) -> dict[str, list[str]]:
    """For each query the relevant documents that the baseline had and that this run has for no judged query."""
    seen = {doc for docs in now.values() for doc in docs}
    gone = {query: [doc for doc in docs if doc not in seen] for query, docs in before.items()}
    qrels = qrels.as_documents()
    relevant = np.flatnonzero(qrels.grades > 0)
    pairs = zip(qrels.query[relevant].tolist(), qrels.docs.take(relevant).to_text(), strict=True)
    names = qrels.queries.to_text()
    wanted = {(names[number], doc) for number, doc in pairs}
    kept = {query: [doc for doc in docs if (query, doc) in wanted] for query, docs in gone.items()}
    return {query: docs for query, docs in kept.items() if docs}


def absent(documents: Sequence[str], *columns: Ids) -> set[str]:
    """The documents that stand in none of some columns of ids."""
    wanted = Ids.from_text(list(documents), "document id")
    index = Index(wanted, np.zeros(len(wanted), dtype=np.int64))
    missing = np.ones(len(wanted), dtype=bool)
    for column in columns:
        _, places = index.find(column, np.zeros(len(column), dtype=np.int64))
        missing[places] = False
    return {doc for doc, is_missing in zip(documents, missing.tolist(), strict=True) if is_missing}


def strange(run: Ids, corpus: Ids) -> list[str]:
    """The documents of a run that a corpus does not have, each once."""
    index = Index(corpus, np.zeros(len(corpus), dtype=np.int64))
    known, _ = index.find(run, np.zeros(len(run), dtype=np.int64))
    rest = np.ones(len(run), dtype=bool)
    rest[known] = False
    return sorted(set(run.take(np.flatnonzero(rest)).to_text()))


def blame(
    missing: Mapping[str, Sequence[str]],
    queries: Sequence[str],
    measures: Sequence[str],
    differences: Floats,
    decisions: Sequence[Decision],
    *,
    strangers: Sequence[str] = (),
    corpus: bool,
    rule: Rule,
    units: Units | None = None,
) -> Blame:
    """Split the drops between the queries that lost documents and the others."""
    touched = np.array([query in missing for query in queries], dtype=bool)
    rest = decide(differences[~touched], rule, units=None if units is None else np.asarray(units)[~touched])
    n = len(queries)
    shares = tuple(
        Share(name, _part(differences[touched, place], n), _part(differences[~touched, place], n), rest[place].outcome)
        for place, (name, decision) in enumerate(zip(measures, decisions, strict=True))
        if decision.difference < 0
    )
    worse = {name for name, decision in zip(measures, decisions, strict=True) if decision.outcome == "worse"}
    still = any(share.outcome == "worse" for share in shares if share.measure in worse)
    documents = sorted({doc for docs in missing.values() for doc in docs})
    return Blame(
        _cause(touched, still=still, corpus=corpus),
        tuple(documents),
        tuple(query for query in queries if query in missing),
        tuple(strangers),
        corpus,
        shares,
    )


def _cause(touched: NDArray[np.bool_], *, still: bool, corpus: bool) -> Cause:
    if not touched.any():
        return "retriever"
    if still:
        return "both" if corpus else "retriever"
    return "ids or corpus" if corpus else "unclear"


def _part(differences: Floats, n: int) -> float:
    return float(differences.sum()) / n
