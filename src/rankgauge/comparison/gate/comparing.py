"""A run beside a baseline, and beside a fixed anchor if there is one: what dropped, and why.

Both baselines are compared at once, and corrected together like measures: a slow decline, of which a recent baseline is
a part, still drops against the anchor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.blame import Blame, absent_documents, blame, lost_documents, unknown_documents
from rankgauge.comparison.gate.growth import with_current_labels
from rankgauge.comparison.gate.inputs import RunAgain
from rankgauge.comparison.gate.pairing import (
    PairedQueries,
    compare_measures,
    pair_queries,
    sensitivity_notes,
    unpaired_notes,
)
from rankgauge.comparison.gate.result import ComparedMeasure, GateResult
from rankgauge.core.ids import Ids

KnownIds = Callable[[], Ids]


def compare_with_baselines(
    result: GateResult, gated: int, known_ids: KnownIds | None, run: RunAgain | None
) -> GateResult:
    """The result with its comparison with the baseline, and with the cause if a measure got worse.

    ``run`` is the tested run, if there is more than its scores.
    """
    stored = result.baseline
    if stored is None:
        return result
    baselines = [stored] if stored.anchor is None else [stored, stored.anchor]
    current = [with_current_labels(baseline, result.evaluation, gated, run) for baseline in baselines]
    several = [pair_queries(scores, baseline, gated) for scores, baseline, _ in current]
    compared = compare_measures(several, result.rule)
    scores, baseline, growth = current[0]
    notes = (*result.notes, *unpaired_notes(scores, baseline, several[0]), *sensitivity_notes(compared[0], result.rule))
    anchored = compared[1] if stored.anchor is not None else ()
    result = replace(result, compared=compared[0], anchored=anchored, notes=notes, growth=growth)
    dropped = [place for place, rows in enumerate(compared) if _is_worse(rows)]
    if not dropped:
        return result
    place = dropped[0]
    return replace(result, blame=_blame(result, baselines[place], (compared[place], several[place]), known_ids, run))


def _is_worse(rows: tuple[ComparedMeasure, ...]) -> bool:
    return any(row.decision.outcome == "worse" for row in rows)


def _blame(
    result: GateResult,
    before: Baseline,
    compared: tuple[tuple[ComparedMeasure, ...], PairedQueries],
    known_ids: KnownIds | None,
    run: RunAgain | None,
) -> Blame:
    """What a drop has to do with documents that are gone; ``known_ids`` reads those of the corpus."""
    gone: dict[str, list[str]] = {}
    unknown: list[str] = []
    if run is not None:
        now = Baseline.of(result.evaluation, 0)
        gone = lost_documents(before.retrieved, now.retrieved, result.evaluation.qrels)
    if gone and run is not None:
        candidates = sorted({doc for docs in gone.values() for doc in docs})
        corpus_docs = None if known_ids is None else known_ids()
        unknown = [] if corpus_docs is None else unknown_documents(run.documents(), corpus_docs)
        # If the run has ids that the corpus never had, a document in the corpus may still have changed its id.
        others = [] if corpus_docs is None or unknown else [corpus_docs]
        missing = absent_documents(candidates, chain(run.documents(), others))
        gone = {query: [doc for doc in docs if doc in missing] for query, docs in gone.items()}
    lost = {query: docs for query, docs in gone.items() if docs}
    rows, pairs = compared
    found = blame(rows, pairs, result.rule, lost, unknown=unknown, corpus=known_ids is not None)
    return found if before.retrieved else replace(found, cause="unknown")
