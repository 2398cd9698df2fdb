"""Judgments, runs and measures in; scores out. Every file is read here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.core.hits import Hits, Joined
from rankgauge.core.qrels import Qrels, are_unlabeled
from rankgauge.core.result_views import HtmlView, ResultTuple
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, Note, UsageError, printable, shown, warn_user
from rankgauge.evaluation.caveats import EXPECTS_NOTHING, JoinFacts, notes_on, number_cutoffs, unreachable_notes
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.label_versions import LabelVersions
from rankgauge.evaluation.result_depth import depth_of
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import is_dataset, open_source
from rankgauge.io.reading_options import Reading
from rankgauge.measures.column_measures import column_name
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

if TYPE_CHECKING:
    from rankgauge.io.results import OpenedInputs

AnyQrels = Qrels | Mapping[str, Any] | str | Path | Any  # or a frame
AnyRun = Run | Mapping[str, Any] | str | Path | Any
SHOWN_NAMES = 6
DEFAULT_DEPTH = 100  # of a live ranking, if a measure looks at all of it


@dataclass(frozen=True, eq=False)
class Evaluation(HtmlView):
    """Runs on the same judgments: what was read, joined and scored. Every result is made from this."""

    qrels: Qrels  # as the conventions see them
    joined: tuple[Joined, ...]  # none if some runs were scored elsewhere
    scores: tuple[Scores, ...]
    texts: Mapping[str, str] = field(default_factory=dict)  # of queries
    beside_scores: tuple[Joined | None, ...] = ()  # the join of each ranking, if there are scores, too

    def join_of(self, row: int) -> Joined | None:
        """The join of one of the systems; None if it is known by its scores alone."""
        joins = self.joined or self.beside_scores
        return joins[row] if joins else None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", ResultTuple(self.scores))

    def __repr__(self) -> str:
        return f"Evaluation({', '.join(map(repr, self.scores))})"

    def uniquely_named(self) -> Evaluation:
        """The evaluation with a number after each name that an earlier run has."""
        return self.renamed(unique_names([run.run for run in self.scores]))

    def renamed(self, names: Sequence[str]) -> Evaluation:
        """The evaluation with the systems' own names."""
        scores = tuple(replace(run, run=name) for run, name in zip(self.scores, names, strict=True))
        return replace(self, scores=scores)


class StoredValues(Protocol):
    """Values that were made already, such as those of a file of scores."""

    def scores_like(self, like: Scores, qrels: Qrels) -> Scores:
        """The values in the shape of other scores."""


def evaluate(
    qrels: AnyQrels,
    run: AnyRun | None = None,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Scores:
    """Score one run.

    Judgments and run may be paths, ``{query: {document: number}}``, ``{query: [documents]}``, frames, or ``Qrels`` and
    ``Run``. A log holds both, so it needs no run. Judgments may also be test cases or labels by text, and a run may be
    a live retriever: a function, an object, or its name. ``conventions`` says from which grade a document is relevant
    and which queries count; ``reading`` says how files are read.
    """
    runs = [] if run is None else [run]
    scores = _evaluate_any(
        qrels, runs, measures, conventions=conventions, reading=reading, log_is_system=run is None
    ).scores
    check_one_run(qrels if run is None else run, [one.run for one in scores])
    return scores[0]


def evaluate_runs(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
) -> Evaluation:
    """Score several runs on the same judgments; ``queries`` holds the queries' texts and columns.

    Runs with the same name are numbered: "bm25", "bm25 (2)". A file or folder with a column of run names holds several
    runs, each of which gets its scores. A log given as judgments is the first of the runs, too, and the labels of the
    last log apply to all. A live retriever is asked the queries of the judgments, or those of ``queries``.
    """
    return _evaluate_any(qrels, runs, measures, conventions=conventions, reading=reading, queries=queries)


def _evaluate_any(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    measures: MeasureNames | None,
    *,
    conventions: Conventions | None,
    reading: Reading | None,
    queries: Any = None,
    log_is_system: bool = True,
) -> Evaluation:
    """Score runs in any form on labels in any form."""
    from rankgauge.io.sources import can_be_scores, check_runs, is_plain

    conventions, reading = conventions or Conventions(), reading or Reading()
    check_runs(runs)
    if any(can_be_scores(one) for one in (qrels, *runs)):
        from rankgauge.io.input_kinds import later

        given: Evaluation | None = later("scores alone")(qrels, runs, measures, conventions, reading, queries)
        if given is not None:
            return given
    are_plain = is_plain(qrels, "qrels") and all(is_plain(run, "run") for run in runs)
    if not runs or not are_plain or not reading.matches_ids or reading.columns:
        from rankgauge.io.results import Opening, open_inputs

        depth = needed_depth(conventions.measures(measures))
        opening = Opening(depth, depth if measures else DEFAULT_DEPTH, log_is_system=log_is_system)
        opened = open_inputs(qrels, runs, reading, queries, opening)
        for note in opened.warnings:
            warn_user(note.message)
        return evaluate_opened(opened, measures, conventions=conventions, reading=reading)
    requested = conventions.measures(measures) if measures else None
    return evaluate_measures(qrels, runs, requested, conventions=conventions, reading=reading, queries=queries)


def evaluate_opened(
    opened: OpenedInputs, measures: MeasureNames | None, *, conventions: Conventions, reading: Reading
) -> Evaluation:
    """Score labels and results that were opened; values stored without their run have their own measures."""
    if not opened.results:
        labels = opened.labels
        what = str(labels) if isinstance(labels, (str, Path)) else str(getattr(labels, "name", "the first argument"))
        if isinstance(labels, (str, Path)) and not is_dataset(labels) and not Path(labels).is_dir():
            from rankgauge.io.input_kinds import is_live

            if is_live(labels):
                raise UsageError(
                    f"{printable(str(labels), None)} names a retriever, and labels come first",
                    hint="rankgauge evaluate cases.jsonl ./search.py:search",
                )
            with open_source(labels):  # what cannot be read is bad input
                pass
        raise UsageError(
            f"{what}: a single file must be a log with retrieved and relevant ids",
            hint="name results after the labels",
        )
    if opened.is_by_text:
        from rankgauge.io.input_kinds import later

        evaluation: Evaluation = later("evaluate by text")(
            opened.labels,
            opened.results,
            measures,
            conventions=conventions,
            reading=reading,
            queries=opened.queries,
        )
        return evaluation
    names = measures or opened.default_measures
    requested = conventions.measures(names) if names else None
    return evaluate_measures(
        opened.labels, opened.results, requested, conventions=conventions, reading=reading, queries=opened.queries
    )


def needed_depth(measures: Sequence[Measure]) -> int:
    """How many results of a query the measures look at: the deepest cutoff, or 100 if one of them has none."""
    # Answers and leaks are those of whatever depth the others need.
    others = [measure for measure in measures if measure.cutoff is not None or not measure.definition.needs_answers]
    cutoffs = [measure.cutoff for measure in others or measures]
    numbers = [cutoff for cutoff in cutoffs if isinstance(cutoff, int)]
    return max(numbers) if numbers and len(numbers) == len(cutoffs) else max([DEFAULT_DEPTH, *numbers])


def evaluate_measures(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    requested: tuple[Measure, ...] | None,
    *,
    conventions: Conventions,
    reading: Reading | None = None,
    queries: Any = None,
) -> Evaluation:
    """Score several runs with measures that have their grade of relevance already; None: the default ones."""
    from rankgauge.io.read import as_qrels
    from rankgauge.io.sources import check_runs

    reading = reading or Reading()
    judgments = as_qrels(qrels, reading)
    requested = conventions.measures(None, judgments) if requested is None else requested
    for measure in requested:
        measure.check_judgments(judgments.judgments)
    texts: dict[str, str] = {}
    if queries is not None:
        from rankgauge.io.queries import as_queries

        queries = as_queries(queries, limits=reading.limits)
        judgments = judgments.with_columns(queries.columns)
        texts = queries.known_texts()
    conventions.check_grades(judgments, requested)
    judgments = conventions.judgments(judgments)
    check_runs(runs)
    if any(hasattr(run, "scores_like") for run in runs):
        scores, joins_of_rankings = _scores_of_each(judgments, runs, requested, conventions, reading)
        evaluation = Evaluation(judgments, (), tuple(scores), texts, tuple(joins_of_rankings))
        return evaluation.uniquely_named()
    judgments, joins = _joins(judgments, runs, requested, conventions, reading)
    scores = [score(judgments, joined, requested, conventions) for joined in joins]
    _warn_of_swapped_values(joins)
    noted = dict.fromkeys(note for run in scores for note in run.notes if note.code == EXPECTS_NOTHING)
    for note in noted if isinstance(qrels, Mapping) else ():  # an empty list in a program may be a mistake
        warn_user(note.message, is_noted=True)
    return Evaluation(judgments, tuple(joins), tuple(scores), texts).uniquely_named()


def _warn_of_swapped_values(joins: Sequence[Joined]) -> None:
    from rankgauge.io.pipeline.joining import SWAPPED  # which made the joins

    for note in dict.fromkeys(note for joined in joins for note in joined.notes if note.code == SWAPPED):
        warn_user(note.message, is_noted=True)


def _joins(
    qrels: Qrels, runs: Sequence[AnyRun], requested: tuple[Measure, ...], conventions: Conventions, reading: Reading
) -> tuple[Qrels, list[Joined]]:
    """The join of each run; if a measure needs them, with the answers, for which the run is kept meanwhile.

    What a rule forbids in one of the runs is judged nonrelevant for all of them. A rule applies to queries without
    labels, too: the judgments returned have them.
    """
    from rankgauge.io.pipeline.parallel import join_each

    if any(map(column_name, requested)):
        from rankgauge.evaluation.column_values import columns_of, with_numbers  # which most evaluations do without

        rankings = [measure for measure in requested if column_name(measure) is None]
        qrels, joins = _joins(qrels, runs, tuple(rankings), conventions, reading)
        return qrels, [with_numbers(joined, columns_of(requested)) for joined in joins]
    if not needs_answers(requested) and not conventions.forbid:
        return qrels, join_each(qrels, runs, reading, conventions.compat)
    from rankgauge.evaluation.run_answers import forbidden_by_rules, with_answers  # which most evaluations do without

    kept = join_each(qrels, runs, replace(reading, keep_rankings=True), conventions.compat)
    others = _without_labels(qrels, kept) if conventions.forbid and conventions.split is None else []
    if others:
        qrels = qrels.with_unlabeled(others)
        again = join_each(qrels, [one.run for one in kept if one.run is not None], reading, conventions.compat)
        kept = [replace(joined, hits=other.hits) for joined, other in zip(kept, again, strict=True)]
    joins = [with_answers(qrels, joined, requested, conventions) for joined in kept]
    if qrels.by_group is None and (documents := forbidden_by_rules(joins)):
        whole = [joined.run for joined in joins if joined.run is not None]
        judged = join_each(qrels.with_nonrelevant(documents), whole, reading, conventions.compat)
        joins = [
            replace(joined, scored=replace(again.hits, answers=joined.hits.answers))
            for joined, again in zip(joins, judged, strict=True)
        ]
    return qrels, (joins if reading.keep_rankings else [replace(joined, run=None) for joined in joins])


def _without_labels(qrels: Qrels, joins: Iterable[Joined]) -> list[str]:
    """The queries of runs that are not among the judgments."""
    judged = set(qrels.queries.to_text())
    names = (name for joined in joins if joined.run is not None for name in joined.run.queries.to_text())
    return [name for name in dict.fromkeys(names) if name not in judged]


def needs_answers(measures: Iterable[Measure]) -> bool:
    """Whether a measure needs more of a run than its ranking."""
    return any(measure.definition.needs_answers for measure in measures)


def _scores_of_each(
    qrels: Qrels, runs: Sequence[AnyRun], requested: tuple[Measure, ...], conventions: Conventions, reading: Reading
) -> tuple[list[Scores], list[Joined | None]]:
    """The scores of runs of which some are scored already, and the joins of the others."""
    scores: list[Scores] = []
    kept: list[Joined | None] = []
    for run in runs:
        if hasattr(run, "scores_like"):
            values: StoredValues = run
            empty = Run.from_dict({query: {} for query in qrels.queries.to_text()})
            if any(map(column_name, requested)):
                from rankgauge.evaluation.column_values import columns_of, without_numbers

                empty = without_numbers(empty, columns_of(requested))
            _, (like,) = _joins(qrels, [empty], requested, conventions, reading)
            scores.append(values.scores_like(score(qrels, like, requested, conventions), qrels))
            kept.append(None)
        else:
            _, joins = _joins(qrels, [run], requested, conventions, reading)
            scores += [score(qrels, joined, requested, conventions) for joined in joins]
            kept += joins
    return scores, kept


def score(qrels: Qrels, joined: Joined, requested: tuple[Measure, ...], conventions: Conventions) -> Scores:
    """Apply measures to a join."""
    if joined.hits.answers is None and needs_answers(requested):
        from rankgauge.evaluation.run_answers import with_answers

        joined = with_answers(qrels, joined, requested, conventions)
    hits = joined.hits if joined.scored is None else joined.scored
    if len(hits) and not np.any((hits.status != Status.MISSING) & ~are_unlabeled(hits.columns, len(hits))):
        samples = joined.sample if joined.queries else (), tuple(qrels.queries.head(3))
        raise no_common_query(joined.name, qrels.name, samples, _near_ids(joined))
    measures = tuple(measure.frozen(qrels) for measure in requested)
    cutoffs = number_cutoffs(measures)
    facts = JoinFacts.of(hits, cutoffs)
    if qrels.forbidden or conventions.forbid:
        facts = facts.without_forbidden(qrels)
    if hits.judgments in ("passages", "labels"):
        from rankgauge.evaluation.passage_conventions import conventions_on

        conventions = conventions_on(qrels, conventions)
    return Scores(
        run=joined.name,
        run_sha256=joined.sha256,
        qrels=qrels.name,
        qrels_sha256=None if joined.sha256 is None else qrels.sha256,
        queries=hits.queries.names,
        measures=measures,
        values=query_values(hits, measures, _without_values(facts, conventions)),
        averaged=averaged_queries(facts, conventions, measures),
        status=hits.status,
        without_relevant=facts.without_relevant,
        conventions=conventions,
        notes=joined.notes
        + _join_notes(facts, measures, joined, conventions)
        + unreachable_notes(facts, measures, hits)
        + _answer_notes(hits, measures, conventions),
        columns=qrels.columns if any(map(column_name, measures)) else hits.columns,
        requested=requested,
        extras=joined.extras,
        answers=hits.answers,
        labels=LabelVersions(qrels),
        depth=depth_of(hits, joined.extras),
        holds_empty=joined.holds_empty,
    )


def _join_notes(
    facts: JoinFacts, measures: Sequence[Measure], joined: Joined, conventions: Conventions
) -> tuple[Note, ...]:
    """The caveats about a join; that some queries expect nothing is none if a measure is over them."""
    run_queries = None if conventions.split else joined.queries
    notes = notes_on(facts, number_cutoffs(measures), run_queries=run_queries, known=joined.notes)
    are_counted = _counts_all(measures) or conventions.no_relevant == "zero"
    return tuple(note for note in notes if note.code != EXPECTS_NOTHING) if are_counted else notes


def _answer_notes(hits: Hits, measures: Sequence[Measure], conventions: Conventions) -> tuple[Note, ...]:
    if hits.answers is None:
        return ()
    from rankgauge.evaluation.run_answers import answer_notes

    return answer_notes(hits.answers, measures, conventions.min_score is not None)


def check_one_run(source: AnyRun, names: Sequence[str]) -> None:
    """Raise if a source holds several runs and one is expected."""
    if len(names) > 1:
        where = str(source) if isinstance(source, (str, Path)) else None
        raise InputError.at(
            where,
            None,
            f"expected one run, found {len(names)}: {listing(map(shown, names), SHOWN_NAMES)}",
            hint="evaluate_runs(qrels, [source]) gives one result for each",
        )


def query_values(hits: Hits, measures: Sequence[Measure], expects_nothing: NDArray[np.bool_] | None = None) -> Floats:
    """Queries × measures; the value of a query depends on nothing but its own rows.

    If some queries are counted that expect nothing, only measures over such queries have a value of them.
    """
    values = np.column_stack([measure(hits) for measure in measures]) if len(hits) else np.zeros((0, len(measures)))
    if expects_nothing is not None and expects_nothing.any() and _counts_all(measures):
        is_ranking = np.array([measure.definition.over == "answerable" for measure in measures])
        values[np.ix_(expects_nothing, is_ranking)] = np.nan
    return values


def averaged_queries(facts: JoinFacts, conventions: Conventions, measures: Sequence[Measure] = ()) -> NDArray[np.bool_]:
    """Which queries count. Those that expect nothing do if a measure is over them."""
    averaged: NDArray[np.bool_] = facts.status != Status.FAILED
    others = np.zeros(len(averaged), dtype=bool)
    if _counts_all(measures):
        others = averaged & (facts.expects_nothing | facts.unlabeled)
    averaged &= ~_without_values(facts, conventions)
    if conventions.query_set == "both":
        averaged &= facts.status != Status.MISSING
    if conventions.no_relevant == "skip":
        averaged &= ~facts.without_relevant
    return averaged | others


def _without_values(facts: JoinFacts, conventions: Conventions) -> NDArray[np.bool_]:
    """The queries of which measures of rankings have no value."""
    return facts.unlabeled if conventions.no_relevant == "zero" else facts.expects_nothing | facts.unlabeled


def _counts_all(measures: Sequence[Measure]) -> bool:
    """Whether a measure is over queries that expect nothing, too."""
    return any(measure.definition.over != "answerable" for measure in measures)


def no_common_query(
    run: str, qrels: str, samples: tuple[Sequence[bytes], Sequence[bytes]], hints: Sequence[str] = ()
) -> InputError:
    """The error of a run without any judged query; the samples are of its queries, and of the judged ones."""
    run_queries, judged_queries = (", ".join(map(shown, queries)) for queries in samples)
    if not run_queries:
        return InputError(f"run {shown(run)} is empty", hint="a query without results has an empty ranking")
    return InputError(
        f"run {shown(run)} and judgments {shown(qrels)} have no query in common: {run_queries} and {judged_queries}",
        hint="\nhint: ".join([*hints, "query ids must be the same bytes on both sides"]),
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, numbered from the second of the same name on; no number makes a name that another run has."""
    counts: dict[str, int] = {}
    own, out = set(names), []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        numbered = name
        while counts[name] > 1 and (numbered := f"{name} ({counts[name]})") in own:
            counts[name] += 1
        out.append(numbered)
    return out


def _near_ids(joined: Joined) -> list[str]:
    """What is known about ids that nearly match."""
    return [note.message for note in joined.notes if note.code.startswith("ids-")]


# Runs that are scored already, by a cluster or in another process, where a run is expected.
