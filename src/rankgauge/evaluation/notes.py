"""Caveats about one run: what to know of a join before trusting a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.run import Status
from rankgauge.core.tables import count_by
from rankgauge.errors import Note, shown
from rankgauge.measures.spec import Measure

POOL_DEPTH = 10  # the depth at which unjudged documents are counted
SHOWN_CUTOFFS = 10

__all__ = ["Note", "merge_notes", "notes_on"]


def merge_notes(runs: Sequence[tuple[str, Iterable[Note]]]) -> list[tuple[Note, tuple[str, ...]]]:
    """Each note once, with the names of the runs it is about; with no name if it is about all of them."""
    names_of: dict[Note, list[str]] = {}
    for name, notes in runs:
        for note in notes:
            names_of.setdefault(note, []).append(name)
    return [(note, () if len(names) == len(runs) else tuple(names)) for note, names in names_of.items()]


def notes_on(hits: Hits, measures: Iterable[Measure], *, run_queries: int) -> tuple[Note, ...]:
    """The caveats about one run."""
    notes = [
        _queries(hits, "queries-missing", hits.status == Status.MISSING, "judged but not in the run"),
        _queries(hits, "queries-failed", hits.status == Status.FAILED, "failed: not averaged"),
        _extra(hits, run_queries),
        _queries(
            hits,
            "no-relevant",
            (count_by(hits.judged_query[hits.judged > 0], len(hits)) == 0) & (hits.judgments != "passages"),
            "without relevant documents",
        ),
        _negative(hits),
        _unjudged(hits),
    ]
    cutoffs = sorted({measure.cutoff for measure in measures if isinstance(measure.cutoff, int)})
    notes += [_ties(hits, cutoff) for cutoff in cutoffs]
    notes.append(_shallow(hits, cutoffs))
    return tuple(note for note in notes if note is not None)


def _queries(hits: Hits, code: str, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], what: str) -> Note | None:
    rows = np.flatnonzero(mask)
    if not len(rows):
        return None
    return Note(code, f"{plural(len(rows), 'query')} {what}: {_sample(hits, rows)}")


def _extra(hits: Hits, run_queries: int) -> Note | None:
    extra = run_queries - int((hits.status != Status.MISSING).sum())
    if not extra:
        return None
    return Note("queries-unjudged", f"{plural(extra, 'query')} of the run without any judgment: left out")


def _negative(hits: Hits) -> Note | None:
    count = int((hits.judged < 0).sum())
    if not count:
        return None
    return Note("negative-grades", f"{plural(count, 'judgment')} with a negative grade: counted as unjudged")


def _unjudged(hits: Hits) -> Note | None:
    if not len(hits.rank) and hits.retrieved.any():
        return Note(
            "nothing-judged",
            "none of the retrieved documents is judged: are the ids the same on both sides? "
            "`rankgauge runs validate RUN --qrels QRELS` compares them",
        )
    top = hits.top(POOL_DEPTH)
    retrieved = int(top.retrieved.sum())
    unjudged = retrieved - int((top.grade >= 0).sum())
    if not unjudged:
        return None
    share = 100 * unjudged / retrieved
    return Note(
        "unjudged", f"{share:.0f}% of the documents in the top {POOL_DEPTH} are unjudged ({unjudged} of {retrieved})"
    )


def _ties(hits: Hits, cutoff: int) -> Note | None:
    straddle = (hits.tie_first <= cutoff) & (hits.tie_last > cutoff)
    rows = np.flatnonzero(count_by(hits.query[straddle], len(hits)))
    if not len(rows):
        return None
    from rankgauge.validation.codes import tie_message  # only if there are ties: evaluations should start fast

    return Note(
        "tie-at-cutoff",
        f"{tie_message(f'rank {cutoff}', judged=True)} in {plural(len(rows), 'query')}: {_sample(hits, rows)}",
    )


def _shallow(hits: Hits, cutoffs: list[int]) -> Note | None:
    deepest = int(hits.retrieved.max(initial=0))
    beyond = [cutoff for cutoff in cutoffs if cutoff > deepest]
    if not beyond or not deepest:
        return None
    cutoffs_text = listing((f"@{cutoff}" for cutoff in beyond), SHOWN_CUTOFFS)
    documents = plural(deepest, "document")
    return Note("shallow-run", f"the run has at most {documents} per query, fewer than {cutoffs_text} needs")


def _sample(hits: Hits, rows: Ints) -> str:
    return listing(shown(hits.queries[row]) for row in rows.tolist())
