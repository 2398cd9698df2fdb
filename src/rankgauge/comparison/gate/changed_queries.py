"""The queries behind a verdict: those that lost most, or that are furthest from what is required.

Each has the relevant documents that it lost, with their ranks before and now, or the forbidden ones that it returned.
They are looked up only for the queries that are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rankgauge.comparison.gate.compared_measures import ComparedMeasure
from rankgauge.comparison.gate.requirements import LEAK, QueryGroup, Requirement
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.scores import none_if_nan
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.input_labels import TEXT_KEYS
from rankgauge.measures.measure import Measure

if TYPE_CHECKING:
    from rankgauge.comparison.gate.gate_result import GateResult, RequiredValue

MAX_DOCUMENTS = 5  # of one query

ListKind = Literal["drop", "undecided", "requirement", "each"]


class DocumentMove(NamedTuple):
    """A relevant or a forbidden document; a rank is None if it was not retrieved."""

    doc: str
    grade: float
    before: int | None
    now: int | None


@dataclass(frozen=True, slots=True)
class ChangedQuery:
    """A query with its values and the relevant documents that it lost or lacks, or the forbidden ones it returned."""

    query: str
    before: float | None
    now: float | None
    documents: tuple[DocumentMove, ...] = ()
    remark: str = ""

    def to_dict(self, texts: Mapping[str, str], documents: Mapping[str, str]) -> dict[str, Any]:
        """For JSON; with the texts of queries and documents that are given."""
        moves = [
            {**move._asdict(), **({"text": documents[move.doc]} if move.doc in documents else {})}
            for move in self.documents
        ]
        return {
            "query": self.query,
            "text": texts.get(self.query),
            "before": self.before,
            "now": self.now,
            "documents": moves,
        }


@dataclass(frozen=True, slots=True)
class QueryList:
    """The queries behind one check, the worst first; ``total`` counts those that are not listed too."""

    kind: ListKind
    check: str  # the measure or the requirement
    measure: str
    group: QueryGroup | None
    total: int
    queries: tuple[ChangedQuery, ...]
    of: int  # all queries of the check

    def to_dict(self, texts: Mapping[str, str], documents: Mapping[str, str]) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": self.kind,
            "check": self.check,
            "measure": self.measure,
            "group": None if self.group is None else self.group._asdict(),
            "total": self.total,
            "listed": [query.to_dict(texts, documents) for query in self.queries],
        }


def query_texts(qrels: Qrels, known: Mapping[str, str]) -> dict[str, str]:
    """The texts of queries, from a file of queries or from the labels; not those that are the ids."""
    texts = {**text_column(qrels), **known}
    return {query: text for query, text in texts.items() if text != query}


def text_column(qrels: Qrels) -> dict[str, str]:
    """The texts of queries that came with the labels."""
    column = next((name for name in qrels.columns if normalize_name(name) in TEXT_KEYS), None)
    if column is None:
        return {}
    pairs = zip(qrels.queries.to_text(), qrels.columns[column].tolist(), strict=True)
    return {query: text for query, text in pairs if isinstance(text, str)}


class QueryLookup:
    """The documents of single queries, before and now."""

    def __init__(self, result: GateResult) -> None:
        self.result, self.qrels = result, result.evaluation.qrels

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {query: row for row, query in enumerate(self.qrels.queries.to_text())}

    @cached_property
    def _joined_rows(self) -> dict[str, int]:
        return {query: row for row, query in enumerate(self.result.scores.queries)}

    def _now(self, query: str) -> dict[str, int]:
        """The rank of each judged document that this run has for a query."""
        row, hits = self._joined_rows.get(query), self.result.evaluation.joined[0].hits
        if row is None:
            return {}
        begin, end = int(hits.offsets[row]), int(hits.offsets[row + 1])
        documents = self.qrels.docs.take(hits.ordinal[begin:end]).to_text()
        return dict(zip(documents, hits.rank[begin:end].tolist(), strict=True))

    @cached_property
    def _before(self) -> Mapping[str, Mapping[str, int]]:
        baseline = self.result.baseline
        return {} if baseline is None else baseline.retrieved

    def moves(self, query: str, measure: Measure) -> tuple[DocumentMove, ...]:
        """The relevant documents that a query lost; without a baseline, those that it lacks. Of leaks, what leaked."""
        if measure.definition.name == LEAK:
            leaks = [leak for leak in self.result.scores.leaks(measure) if leak.query == query]
            return tuple(DocumentMove(leak.document, 0.0, None, leak.rank) for leak in leaks[:MAX_DOCUMENTS])
        row = self._rows.get(query)
        if row is None or self.qrels.judgments == "passages" or not self.result.evaluation.joined:
            return ()
        begin, end = int(self.qrels.offsets[row]), int(self.qrels.offsets[row + 1])
        docs = self.qrels.docs.take(np.arange(begin, end)).to_text()
        grades = self.qrels.grades[begin:end].tolist()
        before, now = self._before.get(query, {}), self._now(query)
        cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
        every = [
            DocumentMove(doc, grade, before.get(doc), now.get(doc))
            for doc, grade in zip(docs, grades, strict=True)
            if grade > 0
        ]
        lost = [
            move
            for move in every
            if move.before is not None
            and (cutoff is None or move.before <= cutoff)
            and (move.now is None or move.now > move.before)
        ]
        lacking = [move for move in every if move.now is None or (cutoff is not None and move.now > cutoff)]
        chosen = sorted(lost, key=lambda move: (move.before or 0, move.doc)) or lacking or every
        return tuple(chosen[:MAX_DOCUMENTS])


def query_lists(result: GateResult, limit: int) -> list[QueryList]:
    """The queries behind every check that failed or is undecided; if there is none, those that got worse."""
    lookup = QueryLookup(result)
    lists = [_each_list(result, lookup, requirement, limit) for requirement in _missed_each(result)]
    rows = result.rows
    failing = [row for row in rows if row.decision.outcome in ("worse", "undecided")]
    lists += [_loss_list(result, lookup, row, limit) for row in failing]
    missed = [row for row in result.required if not row.met and isinstance(row.requirement.measure, Measure)]
    lists += [_required_list(result, lookup, row, limit) for row in missed]
    if not lists and (silent := result.quiet_losses) is not None:
        lists = [_loss_list(result, lookup, silent, limit)]
    return [one for one in lists if one.queries]


def _missed_each(result: GateResult) -> list[Requirement]:
    held = result.held
    return [] if held is None else list(dict.fromkeys(miss.requirement for miss in held.in_state("missed")))


def _loss_list(result: GateResult, lookup: QueryLookup, row: ComparedMeasure, limit: int) -> QueryList:
    measure = result.measure_of(row.measure)
    queries = tuple(
        ChangedQuery(loss.query, loss.before, loss.now, lookup.moves(loss.query, measure))
        for loss in row.losses[:limit]
    )
    kind: ListKind = "undecided" if row.decision.outcome == "undecided" else "drop"
    return QueryList(kind, row.title, row.measure, row.group, row.worse, queries, row.decision.n)


def _each_list(result: GateResult, lookup: QueryLookup, requirement: Requirement, limit: int) -> QueryList:
    held = result.held
    misses = [] if held is None else [miss for miss in held.in_state("missed") if miss.requirement == requirement]
    measure = requirement.of_queries
    queries = tuple(
        ChangedQuery(miss.query, miss.before, miss.value, lookup.moves(miss.query, measure)) for miss in misses[:limit]
    )
    of = 0 if held is None else held.queries
    return QueryList("each", str(requirement), measure.name, None, len(misses), queries, of)


def _required_list(result: GateResult, lookup: QueryLookup, row: RequiredValue, limit: int) -> QueryList:
    """The queries with the values furthest from the bound that the mean missed."""
    scores = result.scores.only([row.requirement.of_queries])
    measure = scores.measures[0]
    is_about = measure.definition.over == "answerable" or ~np.isnan(scores.values[:, 0])
    members = np.flatnonzero(scores.averaged_for(measure) & is_about & result.members_of(row.group))
    values = scores.values[members, 0]
    wants_more = row.requirement.sign in (">", ">=")
    order = np.argsort(values if wants_more else -values, kind="stable")
    far = [place for place in order.tolist() if not row.requirement.is_met(none_if_nan(values[place]))]
    queries = tuple(
        ChangedQuery(
            query := scores.queries[int(members[place])],
            None,
            none_if_nan(values[place]),
            lookup.moves(query, measure) if wants_more or measure.definition.name == LEAK else (),
        )
        for place in far[:limit]
    )
    return QueryList("requirement", row.title, measure.name, row.group, len(far), queries, len(members))
