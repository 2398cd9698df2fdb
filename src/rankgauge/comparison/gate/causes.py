"""Why a measure dropped: the retriever, documents that are gone, labels that grew, or labels that rotted.

A relevant document that the baseline retrieved and that this run has for no query at all may have been renamed or
removed. If the ids of the corpus are given, this is known: the corpus does not have the document any more, or the run
has documents that the corpus never had. Without them it is a suspicion. Either way the drop is split into the queries
that lost such documents and the others, each part with its bounds. That the others show no significant drop is not
evidence that the retriever is as good as before: only bounds that exclude a drop are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgauge.comparison.change_parts import ChangeParts, CrossedScores, Method, rescored, version_pair
from rankgauge.comparison.gate.baseline import Baseline, aligned_scores, mean_of
from rankgauge.comparison.gate.compared_measures import ComparedMeasure, PairedQueries
from rankgauge.comparison.gate.decision import Decision
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.label_changes import JudgmentChanges, judgment_changes
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import plural
from rankgauge.core.ids import IdIndex, Ids
from rankgauge.core.qrels import ANSWERABLE, Qrels
from rankgauge.core.verdicts import NOT_WORSE, DifferenceOutcome
from rankgauge.errors import held_warnings
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyRun, Evaluation, evaluate_measures, needs_answers
from rankgauge.evaluation.scores import Scores
from rankgauge.io.read import documents_of
from rankgauge.io.reading_options import Reading
from rankgauge.measures.measure import Measure
from rankgauge.validation.label_rot import LabelCheck

Cause = Literal["ranking", "lost documents", "both", "unclear", "unknown"]
Bounds = tuple[float | None, float | None]
KnownIds = Callable[[], Ids]  # reads those of the corpus
Retrieved = Mapping[str, Collection[str]]  # query → the judged documents that a run has for it


@dataclass(frozen=True, slots=True)
class DropShare:
    """How a measure's change splits; the two parts sum to it."""

    measure: str
    within: float  # contributed by the queries that lost documents
    within_bounds: Bounds
    elsewhere: float  # contributed by all other queries
    elsewhere_bounds: Bounds
    outcome: DifferenceOutcome  # of the other queries by themselves


@dataclass(frozen=True, slots=True)
class Blame:
    """Relevant documents that are gone, the queries that lost them, and what a drop has to do with them."""

    cause: Cause
    documents: tuple[str, ...]
    queries: tuple[str, ...]
    unknown_documents: tuple[str, ...]  # documents of this run that the corpus does not have
    corpus: bool  # whether a corpus was given
    shares: tuple[DropShare, ...]


def blame_drop(
    evaluation: Evaluation,
    before: Baseline,
    compared: Sequence[ComparedMeasure],
    pairs: PairedQueries,
    rule: GateRule,
    known_ids: KnownIds | None,
    run: RunAgain | None,
) -> Blame:
    """What a drop of this run against a baseline has to do with documents that are gone.

    ``run`` is this run, if there is more than its scores.
    """
    gone: dict[str, list[str]] = {}
    unknown: list[str] = []
    if run is not None:
        now = Baseline.of(evaluation, 0)
        gone = lost_documents(before.retrieved, now.retrieved, evaluation.qrels)
    if gone and run is not None:
        candidates = sorted({doc for docs in gone.values() for doc in docs})
        corpus_docs = None if known_ids is None else known_ids()
        unknown = [] if corpus_docs is None else unknown_documents(run.documents(), corpus_docs)
        # If the run has ids that the corpus never had, a document in the corpus may still have changed its id.
        others = [] if corpus_docs is None or unknown else [corpus_docs]
        missing = absent_documents(candidates, chain(run.documents(), others))
        gone = {query: [doc for doc in docs if doc in missing] for query, docs in gone.items()}
    lost = {query: docs for query, docs in gone.items() if docs}
    found = blame(compared, pairs, rule, lost, unknown=unknown, corpus=known_ids is not None)
    return found if before.retrieved else replace(found, cause="unknown")


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
    rule: GateRule,
    lost: Mapping[str, Sequence[str]],
    *,
    unknown: Sequence[str] = (),
    corpus: bool,
) -> Blame:
    """Split the drops between the queries that lost documents and the others, which are tested by themselves."""
    touched = np.array([query in lost for query in pairs.queries], dtype=bool)
    improvement = pairs.improvement
    within = pairs.decide(rule, touched)
    others = pairs.decide(rule, ~touched) if lost else [row.decision for row in compared]
    sizes = np.count_nonzero(~np.isnan(improvement), axis=0).tolist()
    shares = tuple(
        DropShare(
            row.measure,
            _part(improvement[touched, column], sizes[column]),
            _bounds(within[column], sizes[column]),
            _part(improvement[~touched, column], sizes[column]),
            _bounds(others[column], sizes[column]),
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


def _cause(elsewhere: Collection[DifferenceOutcome], *, lost: bool, corpus: bool) -> Cause:
    """What is known; ``elsewhere`` are the outcomes of the queries that lost nothing, on measures that got worse."""
    if not lost:
        return "ranking"
    if "worse" in elsewhere:
        return "both"
    is_held = all(outcome in NOT_WORSE for outcome in elsewhere)
    return "lost documents" if corpus and is_held else "unclear"


def _bounds(decision: Decision, queries: int) -> Bounds:
    """The bounds of a part's contribution to the change over all queries."""
    share = decision.n / queries
    low, high = decision.interval.low, decision.interval.high
    return None if low is None else low * share, None if high is None else high * share


def _part(differences: Floats, queries: int) -> float:
    return float(np.nansum(differences)) / queries


# A stored baseline whose labels have changed since: both sides with the same labels, on the queries they share.
#
# Today's run is scored again with the baseline's labels. If the baseline has its runs too, they are scored again with
# today's, and both versions count alike. Only what this says of the systems is tested; the rest of the change is
# reported as that of the labels and of the queries.


@dataclass(frozen=True, eq=False)
class RunAgain:
    """A run that was scored and is read again, for what is not in its scores."""

    source: AnyRun
    reading: Reading

    def rescored(self, qrels: Qrels, like: Scores) -> Scores:
        """Its scores with other judgments; measures and conventions stay."""
        return rescored(self.source, qrels, like, replace(self.reading, fingerprint=False, keep_rankings=False))

    def documents(self) -> Iterator[Ids]:
        """All documents in it, in several columns."""
        return documents_of(self.source, self.reading)


@dataclass(frozen=True)
class LabelGrowth:
    """What changed in the labels, and what that did to each gated measure."""

    changes: JudgmentChanges
    method: Method
    parts: tuple[ChangeParts, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        parts = [part.to_dict() for part in self.parts]
        return {"method": self.method, "changes": self.changes.to_dict(), "parts": parts}


class ComparableScores(NamedTuple):
    """The scores of this run and a baseline with the same labels, and what changed in the labels since."""

    scores: Scores
    baseline: Baseline
    growth: LabelGrowth | None


def with_current_labels(stored: Baseline, evaluation: Evaluation, gated: int, run: RunAgain | None) -> ComparableScores:
    """The scores of this run and the baseline as they can be compared; raises if they cannot.

    ``run`` is this run, to be scored with the labels of the baseline; None if there is only its scores.
    """
    scores, qrels = evaluation.scores[0], evaluation.qrels
    if stored.source is None or stored.judgments is None or run is None or stored.qrels_sha256 == qrels.sha256:
        stored.check_comparable(scores, qrels)
        return ComparableScores(scores, stored, None)
    stored.check_conventions(scores)
    stored.check_classes(qrels)
    current = scores.only(scores.measures[:gated])
    older = _with_columns_of(stored.judgments, qrels)
    now_older = run.rescored(older, current)
    before = aligned_scores(stored, now_older)
    is_known = not needs_answers(current.measures)  # what a stored run refused is not
    rankings = [one.ranking for one in stored.runs if one.ranking is not None and is_known]
    again = [rescored(one, qrels, current) for one in rankings] if len(rankings) == len(stored.runs) else []
    crossing = CrossedScores(before, current, False, _mean(again) if again else None, now_older)
    pair = version_pair(crossing, changes := judgment_changes(older, qrels))
    growth = LabelGrowth(changes, pair.method, pair.parts)
    return ComparableScores(pair.system, _on_shared_queries(stored, pair.system, before, again), growth)


def _on_shared_queries(stored: Baseline, system: Scores, before: Scores, again: list[Scores]) -> Baseline:
    """The baseline with the values of each of its runs that the system's are compared with."""
    queries = [query for query, averaged in zip(system.queries, system.averaged, strict=True) if averaged]
    kept = [query for query in queries if query in stored.row_of]
    rows = [stored.row_of[query] for query in kept]
    columns = [stored.measures.index(measure.name) for measure in before.measures]
    runs = []
    for index, run in enumerate(stored.runs):
        values = run.values[rows][:, columns]
        if again:
            row_of = {query: row for row, query in enumerate(again[index].queries)}
            values = (values + again[index].values[[row_of[query] for query in kept]]) / 2
        runs.append(replace(run, values=values))
    names = tuple(measure.name for measure in system.measures)
    return replace(stored, measures=names, queries=tuple(kept), runs=tuple(runs))


def _mean(scores: list[Scores]) -> Scores:
    """The mean of several runs of one system, query by query, over the queries that all have."""
    averaged = np.logical_and.reduce([one.averaged for one in scores])
    return replace(scores[0], values=mean_of([one.values for one in scores]), averaged=averaged)


def _with_columns_of(older: Qrels, qrels: Qrels) -> Qrels:
    """The older judgments with the columns of today's queries, which a cutoff may be in."""
    names = qrels.queries.to_text()
    columns = {
        name: dict(zip(names, column.tolist(), strict=True))
        for name, column in qrels.columns.items()
        if name != ANSWERABLE  # which belongs to the labels
    }
    return older.with_columns(columns)


# Labels rotted, or did the retriever get worse? The part of an evaluation whose labels still fit answers that.
#
# A query is left out if one of its relevant labels no longer fits: a chunk with the same id and another text is judged
# wrongly, and the texts that replaced it are not judged at all. On the other queries both sides are as comparable as
# before.

LEFT_OUT = "queries-unjudged"
NO_HASHES = Note(
    "no-text-hashes",
    "the judgments keep no text hashes, so a document whose text changed under its id is not found: "
    "`rankgauge runs validate --stamp` adds them",
)


def fitting_part(
    runs: Sequence[AnyRun],
    judgments: Qrels,
    check: LabelCheck,
    requested: tuple[Measure, ...],
    conventions: Conventions,
    reading: Reading,
) -> Evaluation:
    """Runs on the queries whose relevant labels all fit; no scores if there is no such query."""
    queries = judgments.queries.to_text()
    fitting = np.array([at for at, query in enumerate(queries) if query not in check.rotted_queries], dtype=np.int64)
    part = judgments.select(fitting)
    with held_warnings():  # they were issued when the runs were scored on all queries
        tested = evaluate_measures(part, runs, requested, conventions=conventions, reading=reading)
    # That the other queries of a run have no judgments now says nothing about the run.
    kept = [tuple(note for note in scores.notes if note.code != LEFT_OUT) for scores in tested.scores]
    scores = tuple(replace(scores, notes=notes) for scores, notes in zip(tested.scores, kept, strict=True))
    return replace(tested, scores=scores)


def fitting_baseline(stored: Baseline, judged_sha256: str, part: Evaluation) -> Baseline:
    """The baseline on the queries that are still tested; ``judged_sha256`` is the hash of all of today's judgments."""
    kept = stored.only(part.qrels.queries.to_text())
    if stored.anchor is not None:
        kept = replace(kept, anchor=fitting_baseline(stored.anchor, judged_sha256, part))
    is_unchanged = stored.qrels_sha256 == judged_sha256
    return replace(kept, qrels_sha256=part.qrels.sha256) if is_unchanged else kept


def grade_zero_notes(check: LabelCheck | None) -> list[Note]:
    """A note about labels that rotted and that no query is left out for."""
    count = 0 if check is None else sum(label.grade <= 0 for label in check.rotted)
    if not count:
        return []
    text = f"{plural(count, 'label')} of documents that were not relevant no longer fit the corpus; they stay in use"
    return [Note("rotted-nonrelevant", text)]
