"""Judgments, runs and measures in; scores out. Every file is read here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import listing
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.notes import notes_on
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.measures.spec import Measure

AnyQrels = Qrels | Mapping[str, Any] | str | Path | Any  # or a frame
AnyRun = Run | Mapping[str, Any] | str | Path | Any
SHOWN_NAMES = 6


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Runs on the same judgments: what was read, joined and scored. Every result is made from this."""

    qrels: Qrels  # as the conventions see them
    joined: tuple[Joined, ...]
    scores: tuple[Scores, ...]
    texts: Mapping[str, str] = field(default_factory=dict)  # of queries

    def uniquely_named(self) -> Evaluation:
        """The same with a number after a name that an earlier run has."""
        return self.renamed(unique_names([run.run for run in self.scores]))

    def renamed(self, names: Sequence[str]) -> Evaluation:
        """The same with the systems' own names."""
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
    topics: Any = None,
) -> Evaluation:
    """Score several runs on the same judgments; ``topics`` holds the queries' texts and columns.

    Runs with the same name are numbered: "bm25", "bm25 (2)". A file or folder with a column of run names holds several
    runs, each of which gets its scores.
    """
    conventions = conventions or Conventions()
    requested = conventions.measures(measures)
    return evaluate_measures(qrels, runs, requested, conventions=conventions, reading=reading, topics=topics)


def evaluate_measures(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    requested: tuple[Measure, ...],
    *,
    conventions: Conventions,
    reading: Reading | None = None,
    topics: Any = None,
) -> Evaluation:
    """The same for measures that have their grade of relevance already."""
    from rankgauge.io.join.inputs import as_qrels
    from rankgauge.io.join.parallel import join_each

    reading = reading or Reading()
    judgments = conventions.judgments(as_qrels(qrels, reading))
    for measure in requested:
        measure.check_judgments(judgments.judgments)
    texts: dict[str, str] = {}
    if topics is not None:
        from rankgauge.io.queries import as_queries

        queries = as_queries(topics, limits=reading.limits)
        judgments = judgments.with_columns(queries.columns)
        texts = queries.known_texts()
    joins = join_each(judgments, runs, reading, conventions.compat)
    scores = [score(judgments, joined, requested, conventions) for joined in joins]
    return Evaluation(judgments, tuple(joins), tuple(scores), texts).uniquely_named()


def score(qrels: Qrels, joined: Joined, requested: tuple[Measure, ...], conventions: Conventions) -> Scores:
    """Apply measures to a join."""
    hits = joined.hits
    if len(hits) and not np.any(hits.status != Status.MISSING):
        if not joined.queries:
            raise InputError(f"run {shown(joined.name)} is empty", hint="a query without results has an empty ranking")
        raise InputError(
            f"run {shown(joined.name)} and judgments {shown(qrels.name)} have no query in common: "
            f"{_sample(joined.sample)} and {_sample(qrels.queries.head(3))}",
            hint="\nhint: ".join([*_near_ids(joined), "query ids must be the same bytes on both sides"]),
        )
    measures = tuple(measure.frozen(qrels) for measure in requested)
    values = np.column_stack([measure(hits) for measure in measures]) if len(hits) else np.zeros((0, len(measures)))
    without = hits.relevant_judged(np.nextafter(0, 1)) == 0
    if hits.judgments == "passages":  # every query has some, whether or not a chunk that was read contains it
        without = np.zeros(len(hits), dtype=bool)
    averaged = hits.status != Status.FAILED
    if conventions.query_set == "both":
        averaged &= hits.status != Status.MISSING
    if conventions.no_relevant == "skip":
        averaged &= ~without
    return Scores(
        run=joined.name,
        run_sha256=joined.sha256,
        qrels=qrels.name,
        qrels_sha256=None if joined.sha256 is None else qrels.sha256,
        queries=hits.queries.names,
        measures=measures,
        values=values,
        averaged=averaged,
        status=hits.status,
        without_relevant=without,
        conventions=conventions,
        notes=joined.notes + notes_on(hits, measures, run_queries=joined.queries),
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


def _sample(queries: Iterable[bytes]) -> str:
    return ", ".join(shown(query) for query in queries)
