"""Compare systems with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.attribution import Moves, explain
from rankgauge.comparison.result import Comparison, Difference, Interaction, SliceDifference
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats
from rankgauge.errors import UsageError, nearest
from rankgauge.evaluation import AnyQrels, AnyRun, Conventions, Names, Scores, asked_measures, joined_scores
from rankgauge.notes import Note
from rankgauge.slices import groups
from rankgauge.stats.correction import Correction as Listed
from rankgauge.stats.correction import correct
from rankgauge.stats.effect import effect
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.maxt import maxt
from rankgauge.stats.power import detectable_difference
from rankgauge.stats.results import Alternative
from rankgauge.stats.tests import PAIRED_TESTS, PairedTest, paired_test
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

    def __post_init__(self) -> None:
        for name, value, known in (
            ("test", self.test, PAIRED_TESTS),
            ("correction", self.correction, CORRECTIONS),
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
    baseline: str | int = 0,
    statistics: Statistics | None = None,
    conventions: Conventions | None = None,
    rel: float | None = None,
    by: Sequence[str] = (),
    topics: Any = None,
    moved: int = 3,
    **reading: Any,
) -> Comparison:
    """Compare runs with one of them.

    ``runs`` are as for ``evaluate``, or a dict of name to run; ``baseline`` is a name or a place among them. ``by``
    names columns of the queries to look into; ``topics`` is a file with such columns and with the queries' texts;
    ``moved`` is for how many queries each way the documents that moved them are told.
    """
    names, given = _named(runs)
    judged, joined, scores, texts = joined_scores(
        qrels, given, asked_measures(measures, conventions, rel), conventions or Conventions(), topics=topics, **reading
    )
    names = names or unique_names([one.name for one in joined])
    scores = [replace(one, run=name) for one, name in zip(scores, names, strict=True)]
    return compare_scores(
        judged, joined, scores, baseline=baseline, statistics=statistics, by=by, texts=texts, moved=moved
    )


def compare_scores(
    judged: Qrels,
    joined: Sequence[Joined],
    scores: Sequence[Scores],
    *,
    baseline: str | int = 0,
    statistics: Statistics | None = None,
    by: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    moved: int = 3,
) -> Comparison:
    """Compare what ``joined_scores`` made, where each run has a name of its own."""
    statistics = statistics or Statistics()
    names = [one.run for one in scores]
    place = _baseline(names, baseline)
    pairs = [_Pair(scores[n], scores[place], names[n], statistics) for n in range(len(names)) if n != place]
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
        slices=tuple(sliced),
        interactions=tuple(interactions),
        moved=_moved(judged, joined, scores, place, names, moved) if moved else {},
        texts=dict(texts or {}),
        notes=tuple(note for pair in pairs for note in pair.notes()),
    )


def _named(runs: Sequence[AnyRun] | Mapping[str, AnyRun]) -> tuple[list[str] | None, list[AnyRun]]:
    names, given = (list(runs), list(runs.values())) if isinstance(runs, Mapping) else (None, list(runs))
    if len(given) < 2:
        raise UsageError(f"a comparison needs at least two runs, found {len(given)}")
    return names, given


def unique_names(names: Sequence[str]) -> list[str]:
    """Names that are told apart by a number where two runs have the same."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _baseline(names: Sequence[str], wanted: str | int) -> int:
    if isinstance(wanted, int) and -len(names) <= wanted < len(names):
        return wanted % len(names)
    if wanted in names:
        return list(names).index(str(wanted))
    close = nearest(str(wanted), list(names))
    raise UsageError(
        f"no run is called '{wanted}'; there are {', '.join(names)}", hint=f"did you mean {close}?" if close else None
    )


class _Pair:
    """A system and the baseline, over the queries that both have."""

    def __init__(self, system: Scores, base: Scores, name: str, statistics: Statistics) -> None:
        self.system, self.base, self.name, self.statistics = system, base, name, statistics
        self.both = system.averaged & base.averaged
        self.units = system.columns.get("unit")

    def values(self, place: int, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The values of a measure on both sides, for chosen queries that have them."""
        one, other = self.system.values[:, place], self.base.values[:, place]
        kept = chosen & ~np.isnan(one) & ~np.isnan(other)
        return one[kept], other[kept], kept

    def differences(self, chosen: NDArray[np.bool_] | None = None, labels: tuple[str, ...] = ()) -> list[Difference]:
        """One for each measure; p is not corrected yet."""
        chosen = self.both if chosen is None else self.both & chosen
        return [self._difference(place, chosen, labels) for place in range(len(self.system.measures))]

    def _difference(self, place: int, chosen: NDArray[np.bool_], labels: tuple[str, ...]) -> Difference:
        measure, how = self.system.measures[place], self.statistics
        one, other, kept = self.values(place, chosen)
        units = None if self.units is None else self.units[kept]
        binary = units is None and len(one) > 1 and set(np.unique([one, other]).tolist()) <= {0.0, 1.0}
        interval = difference_interval(
            one, other, method="newcombe" if binary else "t", level=how.level, alternative=how.alternative, units=units
        )
        tested = paired_test(
            how.test,
            one,
            other,
            alternative=how.alternative,
            units=units,
            resamples=how.resamples,
            seed=how.seed,
            labels=(self.base.run, self.name, measure.name, *labels),
        )
        found = effect(one, other)
        seen = detectable_difference(found.sd, found.n, alpha=1 - how.level) if found.sd else None
        gap = float(np.cumsum(one - other)[-1]) / len(one) if len(one) else None
        return Difference(
            system=self.name,
            measure=measure.name,
            n=len(one),
            value=_mean(one),
            baseline=_mean(other),
            difference=gap,
            interval=interval,
            p=tested.p,
            p_corrected=tested.p,
            effect=found,
            detectable=None if seen is None else seen.difference,
            reason=tested.reason,
        )

    def notes(self) -> list[Note]:
        """What a reader must know of this pair."""
        only = [(self.system, self.base), (self.base, self.system)]
        out = []
        for one, other in only:
            missing = int((one.averaged & ~other.averaged).sum())
            if missing:
                out.append(
                    Note("unpaired", f"{missing} queries of {one.run} are not averaged for {other.run}: left out")
                )
        if self.system.run_sha256 and self.system.run_sha256 == self.base.run_sha256:
            out.append(Note("same-run", f"{self.name} and {self.base.run} are the same file"))
        return out


def _mean(values: Floats) -> float | None:
    return float(np.cumsum(values)[-1]) / len(values) if len(values) else None


def _corrected(listed: list[list[Difference]], pairs: list[_Pair], how: Statistics) -> list[Difference]:
    rows = [row for one in listed for row in one]
    if how.correction == "maxt":
        everyone = np.logical_and.reduce([pair.both for pair in pairs])
        columns = [
            pair.system.values[everyone, place] - pair.base.values[everyone, place]
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


def _tukey(rows: list[Difference], pairs: list[_Pair], how: Statistics) -> list[Difference]:
    """Each system against the baseline, corrected for all pairs of systems on its measure."""
    everyone = np.logical_and.reduce([pair.both for pair in pairs])
    units = None if pairs[0].units is None else pairs[0].units[everyone]
    corrected: dict[tuple[str, str], float | None] = {}
    for place, measure in enumerate(pairs[0].system.measures):
        columns = [pairs[0].base.values[everyone, place], *(pair.system.values[everyone, place] for pair in pairs)]
        found = tukey(np.nan_to_num(np.column_stack(columns)), units=units, resamples=how.resamples, seed=how.seed)
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
    if how.correction == "maxt":
        over += ", joint sign flips: assumes that under the null all signs of a query flip together"
    resampled = f", {how.resamples:,} resamples, seed {how.seed}" if how.test in ("randomization", "bootstrap") else ""
    return f"{how.test} test{resampled}; {over}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _sliced(
    pairs: list[_Pair], whole: list[Difference], by: Sequence[str], how: Statistics
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
                adjusted = correct([row.p for row in rows], _within_slices(how.correction))
                total = next(d for d in whole if (d.system, d.measure) == (pair.name, measure.name)).difference or 0.0
                for (label, _), row, p in zip(found, rows, adjusted.p, strict=True):
                    against = (row.difference or 0.0) * total < 0
                    sliced.append(SliceDifference(name, label, replace(row, p_corrected=p), against))
                interactions.append(_interaction(pair, place, name))
    return sliced, interactions


def _within_slices(correction: Correction) -> Listed:
    """Groups are corrected one after the other where systems are taken jointly."""
    return "holm" if correction == "maxt" or correction == "tukey" else correction


def _interaction(pair: _Pair, place: int, by: str) -> Interaction:
    """A one-way analysis of variance of the differences between groups."""
    one, other, kept = pair.values(place, pair.both)
    labels = [chosen[kept] for _, chosen in groups(pair.system.columns, by)]
    parts = [(one - other)[chosen] for chosen in labels if chosen.sum() >= SMALLEST_SLICE]
    measure = pair.system.measures[place].name
    size = sum(map(len, parts))
    if len(parts) < 2 or size <= len(parts):
        return Interaction(by, pair.name, measure, None, "fewer than two groups with at least two queries")
    everything = np.concatenate(parts)
    within = float(sum(((part - part.mean()) ** 2).sum() for part in parts))
    between = float(((everything - everything.mean()) ** 2).sum()) - within
    if within <= 1e-24:
        return Interaction(by, pair.name, measure, None, "the differences do not vary within groups")
    from scipy.special import fdtrc

    f = (between / (len(parts) - 1)) / (within / (size - len(parts)))
    return Interaction(by, pair.name, measure, float(fdtrc(len(parts) - 1, size - len(parts), max(f, 0.0))))


def _moved(
    qrels: Qrels, joined: Sequence[Joined], scores: Sequence[Scores], base: int, names: list[str], most: int
) -> dict[str, tuple[Moves, ...]]:
    """For each system the queries that moved most on the first measure, and the documents that moved them."""
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
        out[name] = tuple(explain(measure, qrels, joined[base].hits, joined[place].hits, n) for n in [*up, *down])
    return out
