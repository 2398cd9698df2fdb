"""Judgments, runs and measures in; scores out. Every file is read here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.core.hits import Hits, Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats
from rankgauge.core.views import HtmlView, ResultTuple
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.notes import JoinFacts, notes_on, number_cutoffs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.measures.spec import Measure

AnyQrels = Qrels | Mapping[str, Any] | str | Path | Any  # or a frame
AnyRun = Run | Mapping[str, Any] | str | Path | Any
SHOWN_NAMES = 6


@dataclass(frozen=True, eq=False)
class Evaluation(HtmlView):
    """Runs on the same judgments: what was read, joined and scored. Every result is made from this."""

    qrels: Qrels  # as the conventions see them
    joined: tuple[Joined, ...]  # none if some runs were scored elsewhere
    scores: tuple[Scores, ...]
    texts: Mapping[str, str] = field(default_factory=dict)  # of queries

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


def evaluate(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Scores:
    """Score one run.

    Judgments and run may be paths, ``{query: {document: number}}``, ``{query: [documents]}``, frames, or ``Qrels`` and
    ``Run``. ``conventions`` says from which grade a document is relevant and which queries count; ``reading`` says how
    files are read.
    """
    scores = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading).scores
    check_one_run(run, [one.run for one in scores])
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
    runs, each of which gets its scores.
    """
    conventions = conventions or Conventions()
    requested = conventions.measures(measures)
    return evaluate_measures(qrels, runs, requested, conventions=conventions, reading=reading, queries=queries)


def evaluate_measures(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    requested: tuple[Measure, ...],
    *,
    conventions: Conventions,
    reading: Reading | None = None,
    queries: Any = None,
) -> Evaluation:
    """Score several runs with measures that have their grade of relevance already."""
    from rankgauge.io.pipeline.parallel import join_each
    from rankgauge.io.read import as_qrels
    from rankgauge.io.sources import check_runs

    reading = reading or Reading()
    judgments = as_qrels(qrels, reading)
    for measure in requested:
        measure.check_judgments(judgments.judgments)
    texts: dict[str, str] = {}
    if queries is not None:
        from rankgauge.io.queries import as_queries

        queries = as_queries(queries, limits=reading.limits)
        judgments = judgments.with_columns(queries.columns)
        texts = queries.known_texts()
    judgments = conventions.judgments(judgments)
    check_runs(runs)
    if any(isinstance(run, Scores) for run in runs):
        scores = _scores_of_each(judgments, runs, requested, conventions, reading)
        return Evaluation(judgments, (), tuple(scores), texts).uniquely_named()
    joins = join_each(judgments, runs, reading, conventions.compat)
    scores = [score(judgments, joined, requested, conventions) for joined in joins]
    return Evaluation(judgments, tuple(joins), tuple(scores), texts).uniquely_named()


def _scores_of_each(
    qrels: Qrels, runs: Sequence[AnyRun], requested: tuple[Measure, ...], conventions: Conventions, reading: Reading
) -> list[Scores]:
    """The scores of runs of which some are scored already."""
    from rankgauge.evaluation.scored_runs import scores_on
    from rankgauge.io.pipeline.parallel import join_each

    scores: list[Scores] = []
    for run in runs:
        if isinstance(run, Scores):
            scores.append(scores_on(qrels, run, requested, conventions, fingerprint=reading.fingerprint))
        else:
            joins = join_each(qrels, [run], reading, conventions.compat)
            scores += [score(qrels, joined, requested, conventions) for joined in joins]
    return scores


def score(qrels: Qrels, joined: Joined, requested: tuple[Measure, ...], conventions: Conventions) -> Scores:
    """Apply measures to a join."""
    hits = joined.hits
    if len(hits) and not np.any(hits.status != Status.MISSING):
        samples = joined.sample if joined.queries else (), tuple(qrels.queries.head(3))
        raise no_common_query(joined.name, qrels.name, samples, _near_ids(joined))
    measures = tuple(measure.frozen(qrels) for measure in requested)
    cutoffs = number_cutoffs(measures)
    facts = JoinFacts.of(hits, cutoffs)
    if hits.judgments == "passages":
        from rankgauge.evaluation.passage_conventions import conventions_on

        conventions = conventions_on(qrels, conventions)
    return Scores(
        run=joined.name,
        run_sha256=joined.sha256,
        qrels=qrels.name,
        qrels_sha256=None if joined.sha256 is None else qrels.sha256,
        queries=hits.queries.names,
        measures=measures,
        values=query_values(hits, measures),
        averaged=averaged_queries(facts, conventions),
        status=hits.status,
        without_relevant=facts.without_relevant,
        conventions=conventions,
        notes=joined.notes + notes_on(facts, cutoffs, run_queries=None if conventions.split else joined.queries),
        columns=hits.columns,
        requested=requested,
    )


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


def query_values(hits: Hits, measures: Sequence[Measure]) -> Floats:
    """Queries × measures; the value of a query depends on nothing but its own rows."""
    return np.column_stack([measure(hits) for measure in measures]) if len(hits) else np.zeros((0, len(measures)))


def averaged_queries(facts: JoinFacts, conventions: Conventions) -> NDArray[np.bool_]:
    """Which queries count."""
    averaged: NDArray[np.bool_] = facts.status != Status.FAILED
    if conventions.query_set == "both":
        averaged &= facts.status != Status.MISSING
    if conventions.no_relevant == "skip":
        averaged &= ~facts.without_relevant
    return averaged


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
