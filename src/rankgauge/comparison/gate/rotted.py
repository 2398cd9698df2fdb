"""Labels rotted, or did the retriever get worse? The part of an evaluation whose labels still fit answers that.

A query is left out if one of its relevant labels no longer fits: a chunk with the same id and another text is judged
wrongly, and the texts that replaced it are not judged at all. On the other queries both sides are as comparable as
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.errors import held_warnings
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyRun, Evaluation, evaluate_measures
from rankgauge.evaluation.notes import Note
from rankgauge.io.options import Reading
from rankgauge.measures.spec import Measure
from rankgauge.validation.label_rot import LabelCheck

LEFT_OUT = "queries-unjudged"
NO_HASHES = Note(
    "no-text-hashes",
    "the judgments keep no text hashes, so a document whose text changed under its id is not found: "
    "`rankgauge labels check --stamp` adds them",
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
