"""What a careful reader wants to know of a join before trusting a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.run import Status
from rankgauge.core.tables import count_by
from rankgauge.errors import Note, shown
from rankgauge.measures.spec import Measure

POOLED = 10  # the depth at which unjudged documents are counted
LISTED = 3

__all__ = ["Note", "notes_on", "told_once"]


def told_once(runs: Sequence[tuple[str, Iterable[Note]]]) -> list[tuple[Note, tuple[str, ...]]]:
    """Each note of some runs once, with those that it is of; with none where it is of all of them."""
    found: dict[Note, list[str]] = {}
    for name, notes in runs:
        for note in notes:
            found.setdefault(note, []).append(name)
    return [(note, () if len(names) == len(runs) else tuple(names)) for note, names in found.items()]


def notes_on(hits: Hits, measures: Iterable[Measure], *, run_queries: int) -> tuple[Note, ...]:
    """The warnings about one run."""
    found = [
        _queries(hits, "queries-missing", hits.status == Status.MISSING, "judged and not in the run"),
        _queries(hits, "queries-failed", hits.status == Status.FAILED, "failed: not averaged"),
        _extra(hits, run_queries),
        _queries(
            hits,
            "no-relevant",
            count_by(hits.judged_query[hits.judged > 0], len(hits)) == 0,
            "without relevant documents",
        ),
        _negative(hits),
        _unjudged(hits),
    ]
    cutoffs = sorted({measure.cutoff for measure in measures if isinstance(measure.cutoff, int)})
    found += [_ties(hits, cutoff) for cutoff in cutoffs]
    found.append(_shallow(hits, cutoffs))
    return tuple(note for note in found if note is not None)


def _queries(hits: Hits, code: str, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], what: str) -> Note | None:
    numbers = np.flatnonzero(chosen)
    if not len(numbers):
        return None
    return Note(code, f"{_count(len(numbers), 'query', 'queries')} {what}: {_listed(hits, numbers)}")


def _extra(hits: Hits, run_queries: int) -> Note | None:
    extra = run_queries - int((hits.status != Status.MISSING).sum())
    if not extra:
        return None
    return Note("queries-unjudged", f"{_count(extra, 'query', 'queries')} of the run not judged at all: left out")


def _negative(hits: Hits) -> Note | None:
    count = int((hits.judged < 0).sum())
    if not count:
        return None
    return Note("negative-grades", f"{_count(count, 'judgment has', 'judgments have')} a negative grade: not judged")


def _unjudged(hits: Hits) -> Note | None:
    if not len(hits.rank) and hits.retrieved.any():
        return Note(
            "nothing-judged",
            "none of the retrieved documents is judged: are the ids the same on both sides? "
            "`rankgauge runs validate RUN --qrels QRELS` looks into it",
        )
    top = hits.top(POOLED)
    retrieved = int(top.retrieved.sum())
    unjudged = retrieved - int((top.grade >= 0).sum())
    if not unjudged:
        return None
    share = 100 * unjudged / retrieved
    return Note(
        "unjudged", f"{share:.0f}% of the documents in the top {POOLED} are not judged ({unjudged} of {retrieved})"
    )


def _ties(hits: Hits, cutoff: int) -> Note | None:
    straddle = (hits.tie_first <= cutoff) & (hits.tie_last > cutoff)
    numbers = np.flatnonzero(count_by(hits.query[straddle], len(hits)))
    if not len(numbers):
        return None
    return Note(
        "tie-at-cutoff",
        f"a tie of scores with a judged document straddles rank {cutoff} in "
        f"{_count(len(numbers), 'query', 'queries')}: {_listed(hits, numbers)}",
    )


def _shallow(hits: Hits, cutoffs: list[int]) -> Note | None:
    deepest = int(hits.retrieved.max(initial=0))
    beyond = [cutoff for cutoff in cutoffs if cutoff > deepest]
    if not beyond or not deepest:
        return None
    listed = ", ".join(f"@{cutoff}" for cutoff in beyond)
    return Note("shallow-run", f"the run holds at most {deepest} documents a query, less than {listed} looks at")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _listed(hits: Hits, numbers: Ints) -> str:
    some = ", ".join(shown(hits.queries[number]) for number in numbers[:LISTED].tolist())
    return some + (", …" if len(numbers) > LISTED else "")
