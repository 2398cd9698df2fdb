"""Relevant documents that the baseline retrieved and that a run has for no query at all.

Such a document may have been renamed or removed. If the ids of the corpus are given, this is known: the corpus does not
have the document any more, or the run has documents that the corpus never had.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline, ranks_of
from rankgauge.core.ids import IdIndex, Ids
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.evaluate import AnyRun, Evaluation
from rankgauge.io.read import documents_of
from rankgauge.io.reading_options import Reading

Retrieved = Mapping[str, Collection[str]]  # query → the judged documents that a run has for it


@dataclass(frozen=True, slots=True)
class LostDocuments:
    """The relevant documents that are gone, by the query that lost them."""

    of_query: Mapping[str, Sequence[str]]
    unknown: tuple[str, ...] = ()  # documents of this run that the corpus does not have
    is_checked: bool = False  # whether a corpus was given

    @property
    def documents(self) -> list[str]:
        """Each document once."""
        return sorted({doc for docs in self.of_query.values() for doc in docs})

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        queries = {query: list(docs) for query, docs in self.of_query.items()}
        return {"queries": queries, "not_in_corpus": list(self.unknown), "corpus": self.is_checked}


@dataclass(frozen=True, eq=False)
class RunAgain:
    """A run that was scored and is read again, for the documents without a label."""

    source: AnyRun
    reading: Reading

    def documents(self) -> Iterator[Ids]:
        """All documents in it, in several columns."""
        return documents_of(self.source, self.reading)


def find_lost(before: Baseline, evaluation: Evaluation, run: RunAgain, corpus: Ids | None) -> LostDocuments:
    """What the tested run of an evaluation lost against a baseline whose rankings are known."""
    now = ranks_of(evaluation.joined[0].hits, evaluation.qrels)
    gone = lost_documents(before.retrieved, now, evaluation.qrels)
    if not gone:
        return LostDocuments({}, is_checked=corpus is not None)
    unknown = [] if corpus is None else unknown_documents(run.documents(), corpus)
    # If the run has ids that the corpus never had, a document in the corpus may still have changed its id.
    others = [] if corpus is None or unknown else [corpus]
    candidates = sorted({doc for docs in gone.values() for doc in docs})
    missing = absent_documents(candidates, chain(run.documents(), others))
    lost = {query: [doc for doc in docs if doc in missing] for query, docs in gone.items()}
    return LostDocuments({query: docs for query, docs in lost.items() if docs}, tuple(unknown), corpus is not None)


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
