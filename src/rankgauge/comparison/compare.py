"""Compare systems with a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankgauge.comparison.agreement import measures_agree
from rankgauge.comparison.attribution import Moves, explain
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Comparison, Difference, Interaction, SliceDifference
from rankgauge.comparison.stored import stored_baseline, stored_scores
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.errors import UsageError, nearest
from rankgauge.evaluation import AnyQrels, AnyRun, Conventions, Names, Scores, asked_measures, joined_scores
from rankgauge.gating.baseline import Baseline
from rankgauge.slices import groups
from rankgauge.stats.correction import Correction as Listed
from rankgauge.stats.correction import correct
from rankgauge.stats.interaction import RESAMPLES, interaction
from rankgauge.stats.maxt import maxt
from rankgauge.stats.results import ALTERNATIVES, Alternative
from rankgauge.stats.tests import PAIRED_TESTS, PairedTest
from rankgauge.stats.tukey import tukey

Correction = Literal["none", "bonferroni", "holm", "bh", "by", "maxt", "tukey"]
CORRECTIONS: tuple[Correction, ...] = ("holm", "bonferroni", "bh", "by", "maxt", "tukey", "none")
SAID = {
    "none": "not corrected",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini–Hochberg",
    "by": "Benjamini–Yekutieli",
    "maxt": "single-step max-T",
    "tukey": "randomised Tukey HSD",
}
ASSUMED = {
    "bh": ", assumes that tests are independent or positively dependent",
    "maxt": ", joint sign flips: assumes that under the null all signs of a query flip together",
    "tukey": ", joint permutations: assumes that under the null the systems of a query are exchangeable",
}
DRAWN = ("randomization", "bootstrap", "bootstrap-centred")
JOINT = ("maxt", "tukey")  # corrections that make the p values of all systems together
SMALLEST_SLICE = 2


@dataclass(frozen=True)
class Statistics:
    """How differences are tested."""

    test: PairedTest = "randomization"
    correction: Correction = "holm"
    level: float = 0.95
    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    margin: float | None = None  # within which systems are tested for being equivalent
    wanted: float | None = None  # a difference, of which it is said how many queries would show it

    def __post_init__(self) -> None:
        for name, number in (("margin", self.margin), ("wanted", self.wanted)):
            if number is not None and not 0 < number < math.inf:
                raise UsageError(f"{name} must be a number above 0, found {number!r}")
        if self.correction == "tukey" and self.alternative != "two-sided":
            raise UsageError("Tukey's test of all pairs is two-sided", hint="use the correction maxt, or holm")
        for name, value, known in (
            ("test", self.test, PAIRED_TESTS),
            ("correction", self.correction, CORRECTIONS),
            ("alternative", self.alternative, ALTERNATIVES),
        ):
            if value not in known:
                close = nearest(str(value), list(known))
                raise UsageError(
                    f"{name} must be one of {', '.join(known)}, found '{value}'",
                    hint=f"did you mean {close}?" if close else None,
                )


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
    differences = _corrected([pair.differences() for pair in pairs], pairs, statistics)
    sliced, interactions = _sliced(pairs, differences, by, statistics)
    return Comparison(
        scores=tuple(scores),
        names=tuple(names),
        baseline=names[place],
        differences=tuple(differences),
        test=statistics.test,
        correction=statistics.correction,
        family=_family(len(differences), len(pairs), len(scores[0].measures), statistics),
        level=statistics.level,
        margin=statistics.margin,
        wanted=statistics.wanted,
        agreement=measures_agree(scores),
        slices=tuple(sliced),
        interactions=tuple(interactions),
        moved=_moved(judged, joined, scores, place, names, moved) if moved else {},
        texts=dict(texts or {}),
        notes=tuple(note for pair in pairs for note in pair.notes()),
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


def _corrected(listed: list[list[Difference]], pairs: list[Pair], how: Statistics) -> list[Difference]:
    rows = [row for one in listed for row in one]
    equal = correct([row.p_equivalent for row in rows], _one_by_one(how.correction)).p
    rows = [replace(row, p_equivalent_corrected=p) for row, p in zip(rows, equal, strict=True)]
    if how.correction == "maxt":
        everyone = np.logical_and.reduce([pair.both for pair in pairs])
        columns = [
            pair.ours[everyone, place] - pair.theirs[everyone, place]
            for pair in pairs
            for place in range(len(pair.system.measures))
        ]
        units = None if pairs[0].units is None else pairs[0].units[everyone]
        matrix = np.nan_to_num(np.column_stack(columns))
        found = maxt(matrix, alternative=how.alternative, units=units, resamples=how.resamples, seed=how.seed)
        return [replace(row, p_corrected=p) for row, p in zip(rows, found.p, strict=True)]
    if how.correction == "tukey":
        return _tukey(rows, pairs, how)
    adjusted = correct([row.p for row in rows], how.correction)
    return [replace(row, p_corrected=p) for row, p in zip(rows, adjusted.p, strict=True)]


def _tukey(rows: list[Difference], pairs: list[Pair], how: Statistics) -> list[Difference]:
    """Each system against the baseline, corrected for all pairs of systems on its measure."""
    everyone = np.logical_and.reduce([pair.both for pair in pairs])
    corrected: dict[tuple[str, str], float | None] = {}
    for place, measure in enumerate(pairs[0].system.measures):
        columns = [pairs[0].theirs[:, place], *(pair.ours[:, place] for pair in pairs)]
        matrix = np.column_stack(columns)
        kept = everyone & ~np.isnan(matrix).any(axis=1)
        units = None if pairs[0].units is None else pairs[0].units[kept]
        found = tukey(matrix[kept], units=units, resamples=how.resamples, seed=how.seed)
        for (one, other), p in zip(found.pairs, found.p, strict=True):
            if one == 0:
                corrected[pairs[other - 1].name, measure.name] = p
    return [replace(row, p_corrected=corrected[row.system, row.measure]) for row in rows]


def _family(size: int, systems: int, measures: int, how: Statistics) -> str:
    over = f"{SAID[how.correction]} over {size} comparisons ({_many(systems, 'system')} × {_many(measures, 'measure')})"
    if how.correction == "none" or size == 1:
        over = SAID["none"]
    if how.correction == "tukey":
        over = f"{SAID['tukey']} over all {(systems + 1) * systems // 2} pairs of systems on each measure"
    drawn = how.test in DRAWN or how.correction in JOINT
    resampled = f", {how.resamples:,} resamples, seed {how.seed}" if drawn else ""
    return f"{how.test} test{resampled}; {over}{ASSUMED.get(how.correction, '')}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _sliced(
    pairs: list[Pair], whole: list[Difference], by: Sequence[str], how: Statistics
) -> tuple[list[SliceDifference], list[Interaction]]:
    """The differences within groups, corrected for the number of groups, and whether groups differ."""
    sliced: list[SliceDifference] = []
    interactions: list[Interaction] = []
    for name in by:
        for pair in pairs:
            found = [
                (label, pair.differences(chosen, (name, label)))
                for label, chosen in groups(pair.system.columns, name)
                if int((chosen & pair.both).sum()) >= SMALLEST_SLICE
            ]
            for place, measure in enumerate(pair.system.measures):
                rows = [rows[place] for _, rows in found]
                adjusted = correct([row.p for row in rows], _one_by_one(how.correction))
                total = next(d for d in whole if (d.system, d.measure) == (pair.name, measure.name)).difference or 0.0
                equal = correct([row.p_equivalent for row in rows], _one_by_one(how.correction))
                for (label, _), row, p, same in zip(found, rows, adjusted.p, equal.p, strict=True):
                    against = (row.difference or 0.0) * total < 0
                    corrected = replace(row, p_corrected=p, p_equivalent_corrected=same)
                    sliced.append(SliceDifference(name, label, corrected, against))
                interactions.append(_interaction(pair, place, name))
    return sliced, interactions


def _one_by_one(correction: Correction) -> Listed:
    """How p values are corrected that are made one by one, where those of systems are made jointly."""
    return "holm" if correction == "maxt" or correction == "tukey" else correction


def _interaction(pair: Pair, place: int, by: str) -> Interaction:
    """Whether the differences differ between the groups that have at least two queries."""
    measure, how = pair.system.measures[place].name, pair.statistics
    found = {label: pair.values(place, pair.both & chosen) for label, chosen in groups(pair.system.columns, by)}
    large = {label: values for label, values in found.items() if len(values[0]) >= SMALLEST_SLICE}
    if len(large) < 2:
        return Interaction(by, pair.name, measure, None, "fewer than two groups with at least two queries")
    tested = interaction(
        np.concatenate([one - other for one, other, _ in large.values()]),
        [label for label, (one, _, _) in large.items() for _ in one],
        units=None if pair.units is None else np.concatenate([pair.units[kept] for _, _, kept in large.values()]),
        resamples=min(how.resamples, RESAMPLES),
        seed=how.seed,
        labels=(pair.base.run, pair.name, measure, by),
    )
    return Interaction(by, pair.name, measure, tested.p, tested.reason)


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
