"""From a run to what it did with each query: answered or refused, how sure, and which forbidden documents it returned.

Made only if a measure needs it, because it takes the whole run in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Joined
from rankgauge.core.ids import Ints
from rankgauge.core.qrels import Qrels, expects_nothing
from rankgauge.core.query_answers import Leak, Mask, QueryAnswers
from rankgauge.core.ranking import UNRANKED
from rankgauge.core.run import Run, RunExtras, Status
from rankgauge.errors import InputError, Note, UsageError, shown
from rankgauge.evaluation.caveats import FORBIDDEN_UNSEEN
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.forbidden_documents import SLASH, check_fields, check_rules, parse_rule, unseen_entries
from rankgauge.measures.measure import Measure
from rankgauge.stats.proportions import auroc

if TYPE_CHECKING:
    from rankgauge.evaluation.scores import Scores
    from rankgauge.stats.results import Interval

LISTED = "listed as forbidden"
SKIPPED_NAMES = ("skipped", "retrieval_skipped", "gate_skipped")  # columns of a pipeline's log
NEEDED_NAMES = ("needs_retrieval", "retrieval_needed", "needed")
ALWAYS_ANSWERS = "always-answers"
FEW_TOP_SCORES = 3  # so many different scores of first results are ranks in disguise


def with_answers(qrels: Qrels, joined: Joined, measures: Sequence[Measure], conventions: Conventions) -> Joined:
    """The join with what the run did with each query; the run must be in memory."""
    run = joined.run
    if run is None:
        name = next(measure for measure in measures if measure.definition.needs_answers)
        raise UsageError(
            f"{name} needs the whole run of {shown(joined.name)}, of which only values are here",
            hint="name the run itself instead of values that were computed elsewhere",
        )
    is_guarding = bool(conventions.forbid) or any(measure.definition.over == "guarded" for measure in measures)
    if is_guarding and not qrels.forbidden and not conventions.forbid:
        raise UsageError(
            "Leak needs to know which documents are forbidden, and nothing says it",
            hint='list them in the cases or the log ("forbidden": ["id"]), in a file '
            "(--set reading.forbidden=FILE), or by a rule (--forbid 'tenant != case.tenant')",
        )
    answers = _QueryFacts(qrels, joined, run, conventions).answers(is_guarding)
    return replace(joined, hits=replace(joined.hits, answers=answers))


def _are_rank_numbers(scores: Floats) -> bool:
    """Whether the scores of several results are n, n − 1, …, 1."""
    return len(scores) > 1 and np.array_equal(scores, np.arange(len(scores), 0, -1))


def forbidden_by_rules(joins: Iterable[Joined]) -> dict[str, list[str]]:
    """The documents of some runs that a rule forbids, by query."""
    documents: dict[str, dict[str, None]] = {}
    for joined in joins:
        for leak in () if joined.hits.answers is None else joined.hits.answers.leaks:
            if leak.reason != LISTED:
                documents.setdefault(leak.query, {})[leak.document] = None
    return {query: list(docs) for query, docs in documents.items()}


class _QueryFacts:
    """A run while its queries are looked at, one by one in the order of the join."""

    def __init__(self, qrels: Qrels, joined: Joined, run: Run, conventions: Conventions) -> None:
        self.qrels, self.joined, self.conventions = qrels, joined, conventions
        self.hits, self.run = joined.hits, run.ranked(conventions.compat)
        self.extras = run.extras or joined.extras or RunExtras()
        self.names = self.hits.queries.to_text()
        self.unseen: list[str] = []  # forbidden entries and rules that match no id
        row_of = {query: row for row, query in enumerate(self.run.queries.to_text())}
        self.rows = [row_of.get(name) for name in self.names]

    def answers(self, is_guarding: bool) -> QueryAnswers:
        """All that is known."""
        count = len(self.names)
        begins, scores, docs = self.run.offsets.tolist(), self.run.scores, self.run.docs.to_text()
        sizes = np.array([0 if row is None else begins[row + 1] - begins[row] for row in self.rows], dtype=np.int64)
        top = np.full(count, -np.inf)
        for number, row in enumerate(self.rows):
            if row is not None and sizes[number]:
                given = self.extras.given.get(self.names[number])
                top[number] = given.get(docs[begins[row]], -np.inf) if given else scores[begins[row]]
        has_scores = self._has_scores(sizes)
        rank, is_guarded, leaks = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool), list[Leak]()
        if is_guarding:
            leaks = self._leaks(is_guarded)
            for leak in reversed(leaks):
                rank[self.names.index(leak.query)] = leak.rank
        is_answered = self._answered(sizes, top, has_scores)
        return QueryAnswers(
            is_unanswerable=self._unanswerable(),
            is_answered=is_answered,
            is_classed=self._classed(),
            top_score=top,
            forbidden_rank=rank,
            is_guarded=is_guarded & (self.hits.status != Status.MISSING),
            relevant_rank=self._relevant_ranks(),
            has_scores=has_scores,
            leaks=tuple(leaks),
            guards=len(set(chain.from_iterable(self.qrels.forbidden.values()))) + len(self.conventions.forbid),
            unseen=tuple(self.unseen),
        )

    def _has_scores(self, sizes: Any) -> bool:
        """Whether scores are more than positions: a list without scores gets n, n − 1, …, 1."""
        begins, scores, given = self.run.offsets.tolist(), self.run.scores, self.extras.given
        if any(given.values()):
            return True
        return not all(
            np.array_equal(scores[begins[row] : begins[row + 1]], np.arange(size, 0, -1))
            for row, size in zip(self.rows, sizes.tolist(), strict=True)
            if row is not None and size
        )

    def _answered(self, sizes: Any, top: Any, has_scores: bool) -> Mask:
        least = self.conventions.min_score
        if least is not None:
            self._check_scores_fall()
        if least is not None and not has_scores and sizes.any() and not self.extras.refused:
            raise InputError(
                f"{self.joined.name}: measures.min_score needs scores, and the results have none",
                hint='give each result its score: {"id": "…", "score": 0.8}, or say of each query whether it was '
                'refused: "refused": true',
            )
        if least is not None and has_scores and not self.extras.refused:
            self._check_no_rank_numbers()
        is_answered: Mask = sizes > 0 if least is None else top >= least
        for number, name in enumerate(self.names):
            if name in self.extras.refused:
                is_answered[number] = not self.extras.refused[name]
        return is_answered

    def _check_no_rank_numbers(self) -> None:
        """Raise if some lists have descending rank numbers in place of scores, as a run may that was made of a log."""
        begins, scores = self.run.offsets.tolist(), self.run.scores
        if np.array_equal(scores, np.floor(scores)):
            return  # they may be counts
        rows = {name: row for name, row in zip(self.names, self.rows, strict=True) if row is not None}
        lists = {name: scores[begins[row] : begins[row + 1]] for name, row in rows.items()}
        ranked = [name for name, own in lists.items() if name not in self.extras.given and _are_rank_numbers(own)]
        if ranked:
            raise InputError(
                f"{self.joined.name}: measures.min_score needs scores, and {plural(len(ranked), 'list')} of several "
                f"have rank numbers in their place ({listing(map(shown, ranked), 3)})",
                hint="name the log that has the scores",
            )

    def _check_scores_fall(self) -> None:
        """Raise if scores rise along a list: nothing says which way a threshold would run."""
        rising = [
            query
            for query, scores in self.extras.given.items()
            if any(a < b for a, b in pairwise(scores.values())) and query not in self.extras.refused
        ]
        if rising:
            raise InputError(
                f"{self.joined.name}: measures.min_score needs scores that fall along each list, and those of "
                f"{plural(len(rising), 'list')} rise ({listing(map(shown, rising), 3)})",
                hint="say what they mean: --set reading.scores=distance (or similarity, or ignore)",
            )

    def _relevant_ranks(self) -> Ints:
        if self.hits.judgments == "passages":  # found where chunks so far cover enough of a passage
            from rankgauge.measures.subtopic_ranks import appearances

            found, ranks = appearances(self.hits, self.conventions.grade), np.full(len(self.names), UNRANKED)
            np.minimum.at(ranks, found.query, found.rank)
            return np.where(ranks == UNRANKED, 0, ranks).astype(np.int64)
        relevant = self.hits.relevant(self.conventions.grade)
        return relevant.first(relevant.rank).astype(np.int64)

    def _unanswerable(self) -> Mask:
        without = self.hits.relevant_judged(np.nextafter(0, 1)) == 0
        is_unanswerable: Mask = without & expects_nothing(self.hits.columns, len(self.names))
        return is_unanswerable

    def _classed(self) -> Mask:
        """Queries that failed are neither answered nor refused, nor are those that a pipeline rightly skipped."""
        skipped, needed = self._flag(SKIPPED_NAMES), self._flag(NEEDED_NAMES)
        is_needed = ~self._unanswerable() if needed is None else needed
        rightly = np.zeros(len(self.names), dtype=bool) if skipped is None else skipped & ~is_needed
        is_classed: Mask = (self.hits.status != Status.FAILED) & ~rightly
        return is_classed

    def _flag(self, names: Sequence[str]) -> Mask | None:
        column = next((self.hits.columns[name] for name in names if name in self.hits.columns), None)
        return None if column is None else np.array([value is True for value in column.tolist()], dtype=bool)

    def _leaks(self, is_guarded: Mask) -> list[Leak]:
        """All forbidden documents of the run, and to which queries a list or rule applies."""
        rules = [parse_rule(text) for text in self.conventions.forbid]
        docs, begins, metadata = self.run.docs.to_text(), self.run.offsets.tolist(), self.extras.metadata
        columns = {name: column.tolist() for name, column in self.hits.columns.items()}
        check_fields(rules, docs, metadata, columns, self.joined.name)
        relevant = self._relevant_documents()
        seen = {*docs, *chain.from_iterable(relevant.values())}
        entries = dict.fromkeys(chain.from_iterable(self.qrels.forbidden.values()))
        self.unseen = unseen_entries(entries, seen, self.joined.name)
        folders = {entry for entry in entries if entry.endswith(SLASH) and entry not in seen}
        unused_rules = {rule.text: rule for rule in rules}
        leaks: list[Leak] = []
        for number, name in enumerate(self.names):
            case = {column: values[number] for column, values in columns.items()}
            applied = [(rule, value) for rule in rules if (value := rule.value_for(case)) is not None]
            listed = set(self.qrels.forbidden.get(name, ()))
            own_folders = tuple(listed & folders)
            is_guarded[number] = bool(applied) or name in self.qrels.forbidden
            row = self.rows[number]
            if row is None or not is_guarded[number]:
                continue
            for place, doc in enumerate(docs[begins[row] : begins[row + 1]], 1):
                reason = LISTED if doc in listed or doc.startswith(own_folders) else None
                for rule, value in applied if reason is None else ():
                    if rule.forbids(doc, metadata.get(doc), value):
                        reason = rule.text
                        break
                if reason is None:
                    continue
                if doc in relevant.get(name, ()):
                    raise InputError(
                        f"document {shown(doc)} is relevant for query {shown(name)}, and forbidden by {shown(reason)}",
                        hint="correct the labels, the metadata, or the rule",
                    )
                leaks.append(Leak(name, doc, place, reason))
                unused_rules.pop(reason, None)
        check_rules(unused_rules.values(), seen, metadata, self.joined.name)
        self.unseen += [rule.text for rule in unused_rules.values() if rule.is_about_ids]
        return leaks

    def _relevant_documents(self) -> dict[str, set[str]]:
        relevant = np.flatnonzero(self.qrels.grades > 0)
        names, found = self.qrels.queries.to_text(), dict[str, set[str]]()
        rows = zip(self.qrels.query[relevant].tolist(), self.qrels.docs.take(relevant).to_text(), strict=True)
        for query, doc in rows:
            found.setdefault(names[query], set()).add(doc)
        return found


def answer_notes(answers: QueryAnswers | None, measures: Sequence[Measure], has_min_score: bool) -> tuple[Note, ...]:
    """What to know of answers and refusals before trusting their numbers."""
    if answers is None:
        return ()
    notes = []
    if answers.unseen:
        text = f"{len(answers.unseen)} of {answers.guards} forbidden entries and rules match no id seen"
        notes.append(Note(FORBIDDEN_UNSEEN, f"{text}: {listing(map(shown, answers.unseen), 3)}"))
    names = [measure.name for measure in measures if measure.definition.name in REFUSALS]
    if names and not has_min_score and answers.is_unanswerable.any() and answers.is_answered[answers.is_classed].all():
        text = "every query was answered, those without an answer, too"
        notes.append(Note(ALWAYS_ANSWERS, f"{', '.join(names)}: {text}; --set measures.min_score=SCORE refuses"))
    known = answers.top_score[np.isfinite(answers.top_score)]
    is_used = has_min_score or bool(answers.is_unanswerable.any())
    if is_used and answers.has_scores and len(known) > FEW_TOP_SCORES and len(set(known.tolist())) <= FEW_TOP_SCORES:
        count = len(set(known.tolist()))
        text = f"the first results have only {count} different scores, as if they were ranks: a threshold means little"
        notes.append(Note("scores-are-ranks", text))
    return tuple(notes)


REFUSALS = ("WrongRefusal", "FalseAnswer", "RightRefusal")


# Which threshold? The score of a query is its highest; the curve says what each threshold would cost.


@dataclass(frozen=True)
class Threshold:
    """What a minimum score would do: the share of right answers, and that of false answers."""

    score: float
    right_answers: float
    false_answers: float


@dataclass(frozen=True)
class ThresholdCurve:
    """How well the highest score separates queries that have an answer from those that have none."""

    cutoff: int
    auroc: float
    interval: Interval
    answerable: int
    unanswerable: int
    thresholds: tuple[Threshold, ...]  # every score at which something changes, ascending

    def sample(self, count: int) -> list[Threshold]:
        """Some thresholds, spread over the shares of false answers; the first and the last are among them."""
        rows = np.unique(np.linspace(0, len(self.thresholds) - 1, count).round().astype(int))
        return [self.thresholds[row] for row in rows.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "auroc": self.auroc,
            "ci": self.interval.to_dict(),
            "cutoff": self.cutoff,
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "thresholds": [
                {"score": row.score, "right_answers": row.right_answers, "false_answers": row.false_answers}
                for row in self.thresholds
            ],
        }


def threshold_curve(scores: Scores, confidence: float = 0.95) -> ThresholdCurve | None:
    """The curve of a run; None if it has no scores, or lacks queries with or without an answer."""
    answers = scores.answers
    if answers is None or not answers.has_scores or answers.relevant_rank is None:
        return None
    counted = answers.is_classed & scores.averaged
    positive, negative = counted & ~answers.is_unanswerable, counted & answers.is_unanswerable
    if not positive.any() or not negative.any():
        return None
    cutoffs = [measure.cutoff for measure in scores.measures if measure.definition.name == "RightAnswer"]
    cutoff = max((cutoff for cutoff in cutoffs if isinstance(cutoff, int)), default=CURVE_CUTOFF)
    is_found = (answers.relevant_rank > 0) & (answers.relevant_rank <= cutoff)
    top, known = answers.top_score, np.unique(answers.top_score[counted & np.isfinite(answers.top_score)])
    thresholds = []
    for score in known.tolist():
        right, false = ((top >= score) & is_found)[positive], (top >= score)[negative]
        thresholds.append(Threshold(float(score), float(right.mean()), float(false.mean())))
    value, interval = auroc(top[positive], top[negative], confidence=confidence)
    counts = int(positive.sum()), int(negative.sum())
    return ThresholdCurve(cutoff, value, interval, *counts, tuple(thresholds))


CURVE_CUTOFF = 10
