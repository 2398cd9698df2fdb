"""Caveats about one run: what to know of a join before trusting a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import count_by
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing, plural, text_of
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels, are_unlabeled, expects_nothing
from rankgauge.core.run import Status
from rankgauge.errors import Note, shown
from rankgauge.measures.measure import Measure

POOL_DEPTH = 10  # the depth at which unjudged documents are counted
SHALLOW_RUN, SHALLOW_POOL = "shallow-run", "shallow-pool"  # codes of what makes values incomplete
EXPECTS_NOTHING, FORBIDDEN_UNSEEN = "expects-nothing", "forbidden-unseen"
QUERIES_MISSING = "queries-missing"
UNJUDGED_SHARE = 0.01  # from which they are a caveat
SHOWN_CUTOFFS = 10
_CUTOFF = re.compile(r"@(\d+)")

__all__ = [
    "EXPECTS_NOTHING",
    "FORBIDDEN_UNSEEN",
    "QUERIES_MISSING",
    "JoinFacts",
    "Note",
    "caveat_sentences",
    "incomplete_measures",
    "merge_notes",
    "notes_on",
    "number_cutoffs",
    "several_expected",
    "unreachable_notes",
]


def merge_notes(runs: Sequence[tuple[str, Iterable[Note]]]) -> list[tuple[Note, tuple[str, ...]]]:
    """Each note once, with the names of the runs it is about; with no name if it is about all of them."""
    names_of: dict[Note, list[str]] = {}
    for name, notes in runs:
        for note in notes:
            names_of.setdefault(note, []).append(name)
    return [(note, () if len(names) == len(runs) else tuple(names)) for note, names in names_of.items()]


def caveat_sentences(runs: Sequence[tuple[str, Iterable[Note]]]) -> list[str]:
    """Each note once as a sentence, ties last, which matter least; one about some of several runs names them."""
    merged = sorted(merge_notes(runs), key=lambda pair: pair[0].code == "tie-at-cutoff")
    return [f"{', '.join(names)}: {note.message}" if names else note.message for note, names in merged]


@dataclass(frozen=True, eq=False)
class JoinFacts:
    """What the caveats about a run are made from, per query: facts of parts of a run can be put together."""

    queries: Ids
    status: NDArray[np.uint8]
    without_relevant: NDArray[np.bool_]
    negative: Ints  # judgments with a negative grade
    nonrelevant: Ints  # judgments with the grade 0
    pooled: Ints  # judgments whose grade is not negative: the documents that somebody judged
    relevant: Ints  # judgments whose grade is at least 1
    retrieved: Ints
    judged: Ints  # retrieved documents with a judgment
    judged_in_pool: Ints  # of them, those among the first POOL_DEPTH whose grade is not negative
    tied: NDArray[np.bool_]  # queries × cutoffs: whether a tie with a judged document extends beyond the cutoff
    expects_nothing: NDArray[np.bool_]  # test cases without an answer: counted apart
    unlabeled: NDArray[np.bool_]  # queries of which only forbidden documents are known

    @property
    def lists_only_relevant(self) -> bool:
        """Whether no document is judged not relevant: the labels name relevant documents, as those of RAG do.

        Then "judged" means "relevant", and the share of unjudged documents is one minus precision: it says nothing
        about the labels.
        """
        return not (self.nonrelevant.any() or self.negative.any())

    def without_forbidden(self, qrels: Qrels) -> JoinFacts:
        """The facts of these judgments if forbidden documents are not counted as judged: they are only a guard."""
        judged = count_by(qrels.query[qrels.grades == 0], len(qrels.queries)).tolist()
        nonrelevant = dict(zip(qrels.queries.to_text(), judged, strict=True))
        counts = [nonrelevant.get(name, 0) - len(qrels.forbidden.get(name, ())) for name in self.queries.to_text()]
        return replace(self, nonrelevant=np.maximum(np.array(counts, dtype=np.int64), 0))

    @classmethod
    def of(cls, hits: Hits, cutoffs: Sequence[int]) -> JoinFacts:
        """The facts of a join."""
        top = hits.top(POOL_DEPTH)
        tied = np.zeros((len(hits), len(cutoffs)), dtype=bool)
        for column, cutoff in enumerate(cutoffs):
            straddle = (hits.tie_first <= cutoff) & (hits.tie_last > cutoff)
            tied[:, column] = count_by(hits.query[straddle], len(hits)) > 0
        return cls(
            queries=hits.queries,
            status=hits.status,
            without_relevant=(without := _without_relevant(hits)),
            negative=count_by(hits.judged_query[hits.judged < 0], len(hits)),
            nonrelevant=count_by(hits.judged_query[hits.judged == 0], len(hits)),
            pooled=count_by(hits.judged_query[hits.judged >= 0], len(hits)),
            relevant=hits.relevant_judged(1),
            retrieved=hits.retrieved,
            judged=hits.count,
            judged_in_pool=count_by(top.query[top.grade >= 0], len(hits)),
            tied=tied,
            expects_nothing=without & expects_nothing(hits.columns, len(hits)),
            unlabeled=without & are_unlabeled(hits.columns, len(hits)),
        )


def _without_relevant(hits: Hits) -> NDArray[np.bool_]:
    """Whether a query has no relevant document; gold passages count whether or not a chunk that was read has them."""
    if hits.judgments == "passages":
        from rankgauge.core.passage_judgments import PassageJudgments  # which most evaluations do without

        assert isinstance(hits.by_group, PassageJudgments)
        lacks_passages: NDArray[np.bool_] = np.diff(hits.by_group.passage_offsets) == 0
        return lacks_passages
    without: NDArray[np.bool_] = hits.relevant_judged(np.nextafter(0, 1)) == 0
    return without


def several_expected(qrels: Qrels) -> tuple[Note, ...]:
    """A note on test cases that list several documents: recall is not the hit rate, which many call recall."""
    relevant = count_by(qrels.query[qrels.grades > 0], len(qrels.queries))
    count = int((relevant > 1).sum())
    if not count:
        return ()
    verb = "lists" if count == 1 else "list"
    text = "R@10 is the share of them that is found, Success@10 whether any is"
    return (Note("several-expected", f"{plural(count, 'case')} {verb} several expected documents: {text}"),)


def number_cutoffs(measures: Iterable[Measure]) -> list[int]:
    """The cutoffs of measures that are numbers, ascending."""
    return sorted({measure.cutoff for measure in measures if isinstance(measure.cutoff, int)})


def notes_on(
    facts: JoinFacts, cutoffs: Sequence[int], *, run_queries: int | None, known: Iterable[Note] = ()
) -> tuple[Note, ...]:
    """The caveats about one run; the cutoffs are those of its facts.

    ``run_queries`` is the number of queries of the run; None if part of the queries is evaluated and the others are
    left out on purpose. ``known`` are notes of the join, which saw the ids.
    """
    codes = {note.code for note in known}
    notes = [
        _queries(facts, QUERIES_MISSING, _missing(facts), "judged but not in the run"),
        _queries(facts, "queries-failed", facts.status == Status.FAILED, "failed: not averaged"),
        _extra(facts, run_queries),
        _queries(facts, "no-relevant", _nothing_relevant(facts), "without relevant documents"),
        _queries(facts, "queries-unlabeled", facts.unlabeled, "without labels, averaged by Leak alone"),
        _nothing_expected(facts),
        _negative(facts),
        _unjudged(facts),
    ]
    notes += [_ties(facts, column, cutoff) for column, cutoff in enumerate(cutoffs)]
    notes += [_shallow_run(facts, cutoffs), _shallow_pool(facts, cutoffs)]
    return tuple(note for note in notes if note is not None and note.code not in codes)


def unreachable_notes(facts: JoinFacts, measures: Iterable[Measure], hits: Hits | None = None) -> tuple[Note, ...]:
    """How many queries have more relevant documents than the cutoff of RecallAll, so that it is 0 for any ranking.

    Without the join, only what is relevant from grade 1 on is known.
    """
    notes = []
    for measure in measures:
        if measure.definition.name != "RecallAll":
            continue
        if hits is not None:
            _, values = measure.applied(hits)
            rows = np.flatnonzero(hits.relevant_judged(values["rel"]) > values["cutoff"])
        elif measure["rel"] == 1 and isinstance(measure.cutoff, int):
            rows = np.flatnonzero(facts.relevant > measure.cutoff)
        else:
            continue
        if len(rows):
            verb = "has" if len(rows) == 1 else "have"
            text = f"{plural(len(rows), 'query')} {verb} more relevant documents than {measure} looks at"
            names = listing(shown(facts.queries[row]) for row in rows.tolist())
            notes.append(Note("more-relevant-than-k", f"{text}, and cannot reach 1: {names}"))
    return tuple(notes)


def _queries(facts: JoinFacts, code: str, mask: NDArray[np.bool_], what: str) -> Note | None:
    rows = np.flatnonzero(mask)
    if not len(rows):
        return None
    return Note(code, f"{plural(len(rows), 'query')} {what}: {_sample(facts, rows)}")


def _nothing_relevant(facts: JoinFacts) -> NDArray[np.bool_]:
    """Queries whose judged documents are all not relevant, or that have none, and nothing says why."""
    nothing: NDArray[np.bool_] = facts.without_relevant & ~facts.expects_nothing & ~facts.unlabeled
    return nothing


def _missing(facts: JoinFacts) -> NDArray[np.bool_]:
    """Queries that should be in the run; one that expects nothing need not be."""
    missing: NDArray[np.bool_] = (facts.status == Status.MISSING) & ~facts.expects_nothing
    return missing


def _nothing_expected(facts: JoinFacts) -> Note | None:
    count = int(facts.expects_nothing.sum())
    if not count:
        return None
    is_empty = facts.expects_nothing & (facts.retrieved == 0) & (facts.status != Status.FAILED)
    verb = "expects" if count == 1 else "expect"
    returned = f"{int(is_empty.sum())} returned nothing"
    return Note(EXPECTS_NOTHING, f"{plural(count, 'case')} {verb} nothing, not averaged: {returned}")


def _extra(facts: JoinFacts, run_queries: int | None) -> Note | None:
    extra = 0 if run_queries is None else run_queries - int((facts.status != Status.MISSING).sum())
    if not extra:
        return None
    return Note("queries-unjudged", f"{plural(extra, 'query')} of the run without any judgment: left out")


def _negative(facts: JoinFacts) -> Note | None:
    count = int(facts.negative.sum())
    if not count:
        return None
    return Note("negative-grades", f"{plural(count, 'judgment')} with a negative grade: counted as unjudged")


def _unjudged(facts: JoinFacts) -> Note | None:
    if not facts.judged.any() and facts.retrieved.any():
        from rankgauge.core.id_overlap import nothing_judged  # few runs need it

        return nothing_judged()
    if facts.lists_only_relevant:
        return None
    retrieved = int(np.minimum(facts.retrieved, POOL_DEPTH).sum())
    unjudged = retrieved - int(facts.judged_in_pool.sum())
    if unjudged < UNJUDGED_SHARE * retrieved or not unjudged:
        return None
    share = text_of(unjudged / retrieved, "share")
    return Note(
        "unjudged", f"{share} of the documents in the top {POOL_DEPTH} are unjudged ({unjudged} of {retrieved})"
    )


def _ties(facts: JoinFacts, column: int, cutoff: int) -> Note | None:
    rows = np.flatnonzero(facts.tied[:, column])
    if not len(rows):
        return None
    from rankgauge.validation.codes import tie_message  # only if there are ties: evaluations should start fast

    return Note(
        "tie-at-cutoff",
        f"{tie_message(f'rank {cutoff}', judged=True)} in {plural(len(rows), 'query')}: {_sample(facts, rows)}",
    )


def _shallow_run(facts: JoinFacts, cutoffs: Sequence[int]) -> Note | None:
    deepest = int(facts.retrieved.max(initial=0))
    beyond = [cutoff for cutoff in cutoffs if cutoff > deepest]
    if not beyond or not deepest:
        return None
    cutoffs_text = listing((f"@{cutoff}" for cutoff in beyond), SHOWN_CUTOFFS)
    documents = plural(deepest, "document")
    return Note(SHALLOW_RUN, f"the run has at most {documents} per query, fewer than {cutoffs_text} needs")


def _shallow_pool(facts: JoinFacts, cutoffs: Sequence[int]) -> Note | None:
    """Whether most queries have fewer judged documents than the run has above a cutoff.

    Up to ``POOL_DEPTH``, the share of unjudged documents says more.
    """
    answered = facts.retrieved > 0
    if facts.lists_only_relevant or not answered.any():
        return None
    pooled, retrieved = facts.pooled[answered], facts.retrieved[answered]
    shallow = {k: int((pooled < np.minimum(retrieved, k)).sum()) for k in cutoffs if k > POOL_DEPTH}
    beyond = [k for k, count in shallow.items() if count > len(pooled) / 2]
    if not beyond:
        return None
    cutoffs_text = listing((f"@{k}" for k in beyond), SHOWN_CUTOFFS)
    median = f"the median query has {plural(int(np.median(pooled)), 'judged document')}"
    return Note(SHALLOW_POOL, f"the judgments are shallower than {cutoffs_text} needs: {median}")


def incomplete_measures(measures: Sequence[Measure], notes: Iterable[Note]) -> dict[str, str]:
    """The measures whose cutoff is beyond the depth of the run or of its judgments, each with the reason.

    The notes say it, so that it is known of stored scores too. Their first cutoff is the smallest.
    """
    reasons: dict[str, str] = {}
    for note in notes:
        first = _CUTOFF.search(note.message) if note.code in (SHALLOW_RUN, SHALLOW_POOL) else None
        if first is not None:
            for measure in measures:
                if isinstance(measure.cutoff, int) and measure.cutoff >= int(first[1]):
                    known = reasons.get(measure.name)
                    reasons[measure.name] = note.message if known is None else f"{known}; {note.message}"
    return {measure.name: reasons[measure.name] for measure in measures if measure.name in reasons}


def _sample(facts: JoinFacts, rows: Ints) -> str:
    return listing(shown(facts.queries[row]) for row in rows.tolist())
