"""Compare systems with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.agreement import measures_agree
from rankgauge.comparison.attribution import Moves, explain
from rankgauge.comparison.family import corrected, whole
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Comparison
from rankgauge.comparison.slicing import interactions, sliced
from rankgauge.comparison.statistics import CORRECTIONS, Correction, Statistics
from rankgauge.comparison.stored import stored_baseline, stored_scores
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.errors import UsageError, nearest
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Conventions, Names, Scores, asked_measures, joined_scores

__all__ = ["CORRECTIONS", "Correction", "Statistics", "compare", "compare_scores", "unique_names"]


def compare(
    qrels: AnyQrels,
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    measures: Names | None = None,
    *,
    baseline: str | int | Path | Baseline = 0,
    statistics: Statistics | None = None,
    conventions: Conventions | None = None,
    rel: float | None = None,
    by: Sequence[str] = (),
    topics: Any = None,
    moved: int = 3,
    **reading: Any,
) -> Comparison:
    """Compare runs with one of them.

    ``runs`` are as for ``evaluate``, or a dict of name to run; ``baseline`` is a name or a place among them, or a file
    that ``rankgauge gate --write-baseline`` made, whose measures are then the default. ``by`` names columns of the
    queries to look into; ``topics`` is a file with such columns and with the queries' texts; ``moved`` is for how many
    queries each way the documents that moved them are told.
    """
    stored = stored_baseline(baseline)
    names, given = _named(runs, 2 if stored is None else 1)
    asked = asked_measures(measures or (None if stored is None else stored.measures), conventions, rel)
    reading = {"fingerprint": stored is not None} | reading
    judged, joined, scores, texts = joined_scores(
        qrels, given, asked, conventions or Conventions(), topics=topics, **reading
    )
    names = names or unique_names([one.name for one in joined])
    scores = [replace(one, run=name) for one, name in zip(scores, names, strict=True)]
    rankings: list[Joined | None] = [*joined]
    if stored is not None:
        before = stored_scores(stored, scores[0], judged)
        scores = [replace(before, run="baseline" if before.run in names else before.run), *scores]
        rankings, baseline = [None, *rankings], 0
    return compare_scores(
        judged, rankings, scores, baseline=baseline, statistics=statistics, by=by, texts=texts, moved=moved
    )


def compare_scores(
    judged: Qrels,
    joined: Sequence[Joined | None],
    scores: Sequence[Scores],
    *,
    baseline: str | int | Path | Baseline = 0,
    statistics: Statistics | None = None,
    by: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    moved: int = 3,
) -> Comparison:
    """Compare what ``joined_scores`` made, where each run has a name of its own; None is a ranking nobody knows."""
    statistics = statistics or Statistics()
    names = [one.run for one in scores]
    place = _baseline(names, baseline)
    pairs = [Pair(scores[n], scores[place], statistics) for n in range(len(names)) if n != place]
    rows = [row for pair in pairs for row in pair.differences()]
    family = whole(rows, pairs, statistics)
    differences = corrected(rows, family, statistics)
    groups = {name: sliced(pairs, differences, name, statistics) for name in by}
    between, between_family = interactions(pairs, list(groups), statistics)
    return Comparison(
        scores=tuple(scores),
        names=tuple(names),
        baseline=names[place],
        differences=tuple(differences),
        test=statistics.test,
        correction=statistics.correction,
        family=family.said,
        family_size=family.size,
        confidence=statistics.confidence,
        margin=statistics.margin,
        wanted=statistics.wanted,
        agreement=measures_agree(scores),
        slices=tuple(row for found, _ in groups.values() for row in found),
        slice_families={name: said for name, (_, said) in groups.items()},
        interactions=tuple(between),
        interaction_family=between_family if by else None,
        moved=_moved(judged, joined, scores, place, names, moved) if moved else {},
        texts=dict(texts or {}),
        notes=(*(note for pair in pairs for note in pair.notes()), *family.notes),
    )


def _named(runs: Sequence[AnyRun] | Mapping[str, AnyRun], least: int) -> tuple[list[str] | None, list[AnyRun]]:
    names, given = (list(runs), list(runs.values())) if isinstance(runs, Mapping) else (None, list(runs))
    if len(given) < least:
        raise UsageError(
            f"a comparison needs at least two runs, found {len(given)}",
            hint="one is enough where --baseline names a stored baseline" if given else None,
        )
    return names, given


def unique_names(names: Sequence[str]) -> list[str]:
    """Names that are told apart by a number where two runs have the same."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _baseline(names: Sequence[str], wanted: str | int | Path | Baseline) -> int:
    if isinstance(wanted, int) and -len(names) <= wanted < len(names):
        return wanted % len(names)
    if wanted in names:
        return list(names).index(str(wanted))
    close = nearest(str(wanted), list(names))
    raise UsageError(
        f"no run is called '{wanted}'; there are {', '.join(names)}", hint=f"did you mean {close}?" if close else None
    )


def _moved(
    qrels: Qrels, joined: Sequence[Joined | None], scores: Sequence[Scores], base: int, names: list[str], most: int
) -> dict[str, tuple[Moves, ...]]:
    """For each system the queries that moved most on the first measure; what moved them, where rankings are known."""
    out = {}
    measure = scores[base].measures[0]
    for place, name in enumerate(names):
        if place == base:
            continue
        both = scores[place].averaged & scores[base].averaged
        gaps = np.where(both, scores[place].values[:, 0] - scores[base].values[:, 0], 0.0)
        gaps = np.nan_to_num(gaps)
        up = [n for n in np.argsort(-gaps, kind="stable")[:most].tolist() if gaps[n] > 0]
        down = [n for n in np.argsort(gaps, kind="stable")[:most].tolist() if gaps[n] < 0]
        before, after = joined[base], joined[place]
        out[name] = tuple(
            Moves(scores[base].queries[n], float(gaps[n]), (), float(gaps[n]))
            if before is None or after is None
            else explain(measure, qrels, before.hits, after.hits, n)
            for n in [*up, *down]
        )
    return out
